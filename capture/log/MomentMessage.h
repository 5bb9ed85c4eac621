// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanescope::log {

/// What the agent puts into the pipe of a run when a chosen range begins or ends. Short enough to
/// be written whole or not at all.
struct MomentMessage {
    int64_t timestampNs;  ///< Of the time of events.
    uint32_t processId;
    uint32_t occurrence;  ///< How many matching ranges the process had begun before.
    uint32_t isEnd;
    uint32_t nameBytes;
    char name[104];  ///< Longer names are cut.
};
static_assert(sizeof(MomentMessage) == 128);

/// The pipe's name in the run folder.
inline constexpr const char* momentPipeName = "moments";

}  // namespace lanescope::log
