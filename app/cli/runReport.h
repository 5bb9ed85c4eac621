// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "capture/collector/Collector.h"

namespace lanescope::cli {

/// "1,234 kernels, 56 memcpys": the kinds of which there are any; "no event" if there are none.
std::string countsSentence(const capture::ImportCounts& counts);

/// Says where the trace is and what is in it.
void sayWhatIsIn(const capture::CollectedRun& run);

/// Says how long the trace took to close, and what of the logs was unread when that began. Nothing
/// of a trace that was not recorded just now.
void sayHowItClosed(const capture::CollectedRun& run);

/// Says what is doubtful about the trace, worst first; leaves a long list to `lanescope info`.
void reportWarnings(const capture::CollectedRun& run);

}  // namespace lanescope::cli
