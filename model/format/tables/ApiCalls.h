// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct ApiCalls : TableOf<ApiCalls> {
    constexpr ApiCalls()
        : TableOf("CUPTI_ACTIVITY_KIND_RUNTIME", "a CUDA API call", Content::Events) {}

    Integer<"start"> start{this, "when it began, ns"};
    Integer<"end"> end{this, "when it returned, ns"};
    Integer<"eventClass"> eventClass{this, "0 runtime, 1 driver; as ENUM_NSYS_EVENT_CLASS"};
    OptionalInteger<"globalTid"> globalTid{this, "the calling thread"};
    OptionalInteger<"correlationId"> correlationId{this, "joins it with its work on the GPU"};
    Integer<"nameId"> nameId{
        this,
        "the function, in StringIds; may carry a version (cudaMemcpy_v3020), readers strip it"};
    Integer<"returnValue"> returnValue{this, "cudaError_t or CUresult; 0 is success"};
    OptionalInteger<"callchainId"> callchainId{
        this, "the Python stack of the call, in LANESCOPE_STACKS; NULL if it has none"};
};
inline constexpr ApiCalls apiCalls;

struct Overheads : TableOf<Overheads> {
    constexpr Overheads()
        : TableOf("CUPTI_ACTIVITY_KIND_OVERHEAD", "time the profiler itself cost",
                  Content::Events) {}

    Integer<"start"> start{this, "when it began, ns"};
    Integer<"end"> end{this, "when it ended, ns"};
    Integer<"eventClass"> eventClass{this, "103; as ENUM_NSYS_EVENT_CLASS"};
    OptionalInteger<"globalTid"> globalTid{
        this, "the thread; its thread id is 0 for none of the program's"};
    OptionalInteger<"correlationId"> correlationId{this, "joins it with an API call"};
    OptionalInteger<"nameId"> nameId{this, "what it was, in StringIds"};
    Integer<"overheadType"> overheadType{this, "as ENUM_CUPTI_OVERHEAD_TYPE"};
};
inline constexpr Overheads overheads;

}  // namespace lanescope::tables
