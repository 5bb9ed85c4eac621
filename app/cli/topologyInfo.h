// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/trace/Trace.h"

namespace lanescope::cli {

/// How the GPUs of a trace are joined, as the matrix of `nvidia-smi topo -m`, whether NVLink was
/// used, and what went from each GPU to each other. Ends with a line break.
std::string topologyAsText(const Trace& trace);
/// The same for programs: "gpus", "links", "nvlink".
std::string topologyAsJson(const Trace& trace);

}  // namespace lanescope::cli
