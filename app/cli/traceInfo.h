// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/trace/Trace.h"

namespace lanescope::cli {

/// What `lanescope info` prints of a trace: producer, host, processes, GPUs, counts, health.
std::string infoAsText(const Trace& trace);
/// The same as one JSON object; times in nanoseconds. Always valid UTF-8.
std::string infoAsJson(const Trace& trace);

}  // namespace lanescope::cli
