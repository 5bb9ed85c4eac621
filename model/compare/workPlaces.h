// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/compare/GpuWork.h"

namespace lanescope::compare {

/// At which line of Python the work of each contributor was launched. Refers to the trace. One
/// thread.
class WorkPlaces {
  public:
    /// O(stacks log stacks).
    explicit WorkPlaces(const Trace& trace);

    /// O(1), of a kernel of a CUDA graph O(log n).
    void add(const GpuWork& work);

    /// "launched at train.py:212 in GPT.forward" for each contributor: where more than half of its
    /// time comes from. "called from" it, of a thread without Python as that of autograd;
    /// "captured at" it, of a CUDA graph. Empty where no line has as much. O(contributors * lines).
    std::vector<std::string> texts(size_t contributors) const;

  private:
    const Trace& trace_;
    std::vector<uint32_t> frames_;  ///< By stack: the frame that stands for its line.
    /// By contributor and place, which is a frame and how it is meant.
    std::unordered_map<uint64_t, int64_t> launchedNs_;
    std::unordered_map<ContributorTable::Id, int64_t> wholeNs_;
};

}  // namespace lanescope::compare
