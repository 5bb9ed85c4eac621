// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "capture/log/LogReader.h"
#include "model/format/Result.h"

namespace lanescope::capture {

class TraceWriter;

/// Notes in the health of the trace what of a log could not be read: `problem`, bytes at its end,
/// blocks inside, and records that make no sense. `process` is whose log it is, if that is known.
/// To be called when the log was read to its end.
void writeLogTrouble(const log::LogReader& reader, const std::optional<Error>& problem,
                     TraceWriter& trace, std::optional<int64_t> process);

}  // namespace lanescope::capture
