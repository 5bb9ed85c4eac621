// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "model/load/sqlite/LoadContext.h"
#include "model/trace/EventRef.h"
#include "model/values/LargeMemory.h"

namespace lanescope {

/// Which operators of a file are the backward of which: it names rows of the table of ranges, which
/// are ranges of the trace once that was read.
class BackwardRows {
  public:
    explicit BackwardRows(LargeMemory* memory) : pairs_(memory), ranges_(memory) {}

    /// Reads the table that says it. O(n log n).
    void read(LoadContext& context);
    bool isEmpty() const { return pairs_.empty(); }
    /// Takes what a row of the file became. O(log n).
    void see(int64_t fileRow, EventRef range);
    /// Gives the builder the pairs of which both ends were seen, and counts the others. O(n log n).
    void give(TraceBuilder& builder) const;

  private:
    struct Range {
        int64_t fileRow;
        EventRef range;
    };
    EventRef rangeOf(int64_t fileRow) const;

    LargeVector<std::pair<int64_t, int64_t>> pairs_;
    LargeVector<Range> ranges_;  ///< Those that pairs name, each once, by their row.
};

}  // namespace lanescope
