// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/CounterSeries.h"
#include "model/trace/Health.h"
#include "model/trace/counterValues.h"

namespace lanescope {

/// Counts what a builder leaves out, and says so.
class SkipTally {
  public:
    /// `where` is what the user knows the place by.
    void addRows(std::string_view where, int64_t rows);
    void addValues(std::string_view where, int64_t values);
    /// What became of a cumulative counter.
    void addCounter(const CounterValues& values);
    /// Adds a note for each place and for counters that went backwards.
    void note(std::vector<HealthNote>& health) const;

  private:
    struct Tally {
        int64_t rows = 0;
        int64_t values = 0;
    };
    std::map<std::string, Tally, std::less<>> byPlace_;
    int64_t resets_ = 0, wraps_ = 0;
};

}  // namespace lanescope
