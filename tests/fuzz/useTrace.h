// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/trace/Trace.h"

namespace lanescope::fuzz {

/// Selection of the reports to make from a trace.
struct ReportsMade {
    size_t first = 0;
    size_t count = SIZE_MAX;  ///< From the first on, wrapping around.
};

/// Uses a trace like the programs; a sanitizer detects accesses out of range.
void useTrace(const Trace& trace, ReportsMade made = {});
/// Uses one part of a trace, selected by `turn`, for callers with very many traces.
void usePartOf(const Trace& trace, size_t turn);
/// Uses only the sums for selections.
void useSums(const Trace& trace);

}  // namespace lanescope::fuzz
