// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/flame/FlameTree.h"
#include "model/trace/Trace.h"
#include "model/values/MixedMap.h"

namespace lanescope {

/// What ran on GPUs as names of a tree, each text made once. Copies are one by direction, whatever
/// their bytes. Refers to both. One thread.
class WorkNames {
  public:
    WorkNames(const Trace& trace, FlameTree& tree) : trace_(trace), tree_(tree) {}

    /// Its number among the names of the tree.
    uint32_t numberOf(EventRef work);
    FlameTree::Frame frameOf(EventRef work) const;

  private:
    const Trace& trace_;
    FlameTree& tree_;
    MixedMap<uint64_t, uint32_t> known_;
};

}  // namespace lanescope
