// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Checks that traces can be parts of one run: no recording is in two of them, no rank is in two of them, and no
/// program without ranks ran twice, one after the other. The records of NCCL Inspector of a rank are not its trace. A
/// rank on two hosts at the same time may be a rank of each host. The error names both files. O(n log n) in the traces.
Result<void> checkTogether(std::span<const TracePtr> traces);

/// Returns a sentence that names the first two traces of different programs (`programOf`); empty if there are none.
std::string differentPrograms(std::span<const TracePtr> traces);

}  // namespace lanescope
