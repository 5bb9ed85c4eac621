// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "capture/collector/Collector.h"

namespace lanescope::cli {

/// What `record` and `recover` do with a trace before it gets its name: summary and index, as
/// `TraceClosing` makes them. Shows progress on stderr where that is a terminal. Ctrl+C or SIGTERM
/// leaves out what is not done yet, and the trace gets its name at once; what fails is said, and
/// the trace is whole all the same. `summaries` is the folder that a summary in a file of its own
/// goes to; empty: there is none.
capture::ClosingSteps closeRecorded(const std::filesystem::path& summaries = {});

}  // namespace lanescope::cli
