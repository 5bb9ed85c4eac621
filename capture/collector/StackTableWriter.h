// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "model/format/Inserter.h"
#include "model/format/tables/Stacks.h"

namespace lanescope::capture {

/// A Python stack as the trace has it: its innermost frame, and the stack without that.
struct TraceStack {
    int64_t parent = 0;              ///< 0 if there is none.
    int64_t function = 0, file = 0;  ///< Strings of the trace; `file` 0: none.
    uint32_t line = 0;
    bool operator==(const TraceStack&) const = default;
};

/// Writes `LANESCOPE_STACKS`: each stack once, whichever thread or process it came from.
class StackTableWriter {
  public:
    StackTableWriter(const Database& database, FirstError& error);

    /// The id of `stack`, written down when it is new. Ids begin at 1 and are greater than those of
    /// parents.
    int64_t intern(const TraceStack& stack);

  private:
    struct Hash {
        size_t operator()(const TraceStack& stack) const;
    };

    Inserter<tables::Stacks> rows_;
    std::unordered_map<TraceStack, int64_t, Hash> ids_;
};

}  // namespace lanescope::capture
