// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/trace/Trace.h"

namespace lanescope::fuzz {

/// Which reports are made of a trace.
struct ReportsMade {
    size_t first = 0;
    size_t count = SIZE_MAX;  ///< From the first on, around the end.
};

/// Uses a trace as the programs do; whatever is out of range shows under a sanitizer.
void useTrace(const Trace& trace, ReportsMade made = {});
/// One part of that, all of them by turns: for those that are given very many traces.
void usePartOf(const Trace& trace, size_t turn);
/// Only what the sums for selections are used for.
void useSums(const Trace& trace);

}  // namespace lanescope::fuzz
