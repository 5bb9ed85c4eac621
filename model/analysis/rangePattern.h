// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Returns the name with each number as one '#': "step 12" gives "step #". Programs number their steps, so the steps of
/// a run have this in common. Digits before a letter belong to a word: "conv2d" and "c10d" stay.
std::string rangePattern(std::string_view name);

/// Returns the words of a name in lower case, also those by capitals: "ProfilerStep#12" gives "profiler" and "step".
std::vector<std::string> wordsOf(std::string_view name);

/// Returns true if one of the words of a name is one of `words`. O(n).
bool hasWord(std::string_view name, std::span<const std::string_view> words);

/// Returns true if a name has a word for evaluations or checks. Some of these words also name forward passes of a
/// training, and count only without gradients. O(n).
bool namesEvaluation(std::string_view name, bool isWithoutGradients);

/// Returns the numbers that names of one pattern carry: those at the only place where they differ, if they ascend from
/// name to name; of a single name its only number. Nullopt if there is no such place. O(length).
std::optional<std::vector<int64_t>> ownNumbers(std::span<const std::string_view> names);

/// Groups names of ranges that differ only in numbers, without additions of compilers and
/// frameworks (`knownRangeName`). Refers to the trace. One thread.
class RangeFamilies {
  public:
    explicit RangeFamilies(const Trace& trace) : trace_(trace) {}

    /// Returns the family of a name and counts the name. O(1) except for the first of each name.
    uint32_t of(StringIndex text);
    /// Counts the names of all ranges, so that later results cover the whole trace. O(ranges).
    void addAll();
    /// Returns "step #", or the name of a family with one name.
    std::string nameOf(uint32_t family) const;
    size_t sizeOf(uint32_t family) const { return families_[family].texts.size(); }
    /// Returns a search text that finds all of them: the longest part of their names without a number.
    std::string searchFor(uint32_t family) const;

  private:
    struct Family {
        std::string pattern;
        std::set<std::string> names;  ///< Their known names; at most two, to distinguish one from more.
        std::set<StringIndex> texts;
    };

    const Trace& trace_;
    std::unordered_map<StringIndex, uint32_t> ofText_;
    std::unordered_map<std::string, uint32_t> byPattern_;
    std::vector<Family> families_;
};

}  // namespace lanescope
