// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct Syncs : TableOf<Syncs> {
    constexpr Syncs()
        : TableOf("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "a wait for the GPU", Content::Events) {}

    Integer<"start"> start{this, "when it began, ns"};
    Integer<"end"> end{this, "when it ended, ns"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process; -1 if unknown"};
    Integer<"contextId"> contextId{this, "CUPTI's number of the context"};
    OptionalInteger<"greenContextId"> greenContextId{this,
                                                     "number of the green context; not filled"};
    Integer<"streamId"> streamId{this,
                                 "CUPTI's number of the stream; 4294967295: the whole context"};
    OptionalInteger<"correlationId"> correlationId{
        this, "joins it with the API call of the same process"};
    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    OptionalInteger<"deprecatedSyncType"> deprecatedSyncType{this, "not filled"};
    Integer<"syncType"> syncType{this, "as ENUM_CUPTI_SYNC_TYPE"};
    Integer<"eventId"> eventId{this, "CUPTI's number of the event waited for"};
    OptionalInteger<"eventSyncId"> eventSyncId{this, "which recording of that event"};
};
inline constexpr Syncs syncs;

struct CudaEvents : TableOf<CudaEvents> {
    constexpr CudaEvents()
        : TableOf("CUPTI_ACTIVITY_KIND_CUDA_EVENT", "an event recorded in a stream",
                  Content::Events) {}

    OptionalInteger<"timestamp"> timestamp{this,
                                           "when the GPU came to it, ns; NULL if it was not timed"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"contextId"> contextId{this, "CUPTI's number of the context"};
    OptionalInteger<"greenContextId"> greenContextId{this,
                                                     "number of the green context; not filled"};
    Integer<"streamId"> streamId{this, "CUPTI's number of the stream"};
    OptionalInteger<"correlationId"> correlationId{
        this, "joins it with the API call of the same process"};
    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    Integer<"eventId"> eventId{this, "CUPTI's number of the event"};
    OptionalInteger<"eventSyncId"> eventSyncId{this, "which recording of that event"};
};
inline constexpr CudaEvents cudaEvents;

}  // namespace lanescope::tables
