// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope::views {

/// How busy GPUs and CPU threads were in each pixel column, in [0, 1]: the mean over the GPUs, and
/// over the threads that call CUDA.
struct OverviewActivity {
    std::vector<float> gpu;
    std::vector<float> cpu;
};

/// Reads the summing lanes of GPUs and processes where there are any, else all streams and threads.
/// O(pixels * lanes), independent of the number of events.
OverviewActivity overviewActivity(const Trace& trace, TimeRange range, int pixelWidth);

}  // namespace lanescope::views
