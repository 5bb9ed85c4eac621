// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// The name with each run of digits as one '#': "step 12" is "step #". Programs number their steps,
/// so this is what the steps of a run have in common.
std::string rangePattern(std::string_view name);

/// The words of a name in small letters, parted by anything but letters and by a capital after a
/// small letter: "ProfilerStep#12" are "profiler" and "step". O(n).
std::vector<std::string> wordsOf(std::string_view name);

/// Names of ranges that differ in numbers only, as one; what compilers and frameworks write around
/// a name is left out (`knownRangeName`). Refers to the trace. One thread.
class RangeFamilies {
  public:
    explicit RangeFamilies(const Trace& trace) : trace_(trace) {}

    /// The number of the family of a name, which is counted as one of it. O(1) but for the first of
    /// each name.
    uint32_t of(StringIndex text);
    /// Counts the names of all ranges, so that what follows is of the whole trace. O(ranges).
    void addAll();
    /// "step #"; of a family of one its name.
    std::string nameOf(uint32_t family) const;
    size_t sizeOf(uint32_t family) const { return families_[family].texts.size(); }
    /// What a search for all of them finds: the longest part of their names without a number.
    std::string searchFor(uint32_t family) const;

  private:
    struct Family {
        std::string pattern;
        std::set<std::string> names;  ///< As people know them; two at most, to tell one from more.
        std::set<StringIndex> texts;
    };

    const Trace& trace_;
    std::unordered_map<StringIndex, uint32_t> ofText_;
    std::unordered_map<std::string, uint32_t> byPattern_;
    std::vector<Family> families_;
};

}  // namespace lanescope
