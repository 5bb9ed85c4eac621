// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct Memcpys : TableOf<Memcpys> {
    constexpr Memcpys()
        : TableOf(
              "CUPTI_ACTIVITY_KIND_MEMCPY",
              "a copy, or a migration of managed memory, which belongs to no context, stream or "
              "call",
              Content::Events) {}

    Integer<"start"> start{this, "when it began, ns"};
    Integer<"end"> end{this, "when it ended, ns"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"contextId"> contextId{this, "CUPTI's number of the context; 0 for a migration"};
    OptionalInteger<"greenContextId"> greenContextId{this,
                                                     "number of the green context; not filled"};
    Integer<"streamId"> streamId{this, "CUPTI's number of the stream; 0 for a migration"};
    OptionalInteger<"correlationId"> correlationId{
        this, "joins it with the API call of the same process; NULL for a migration"};
    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    Integer<"bytes"> bytes{this, "size, bytes"};
    Integer<"copyKind"> copyKind{
        this, "as ENUM_CUDA_MEMCPY_OPER; 11, 12 and 13 are migrations of managed memory"};
    OptionalInteger<"deprecatedSrcId"> deprecatedSrcId{this, "not filled"};
    OptionalInteger<"srcKind"> srcKind{this, "memory copied from, as ENUM_CUDA_MEM_KIND"};
    OptionalInteger<"dstKind"> dstKind{this, "memory copied to, as ENUM_CUDA_MEM_KIND"};
    OptionalInteger<"srcDeviceId"> srcDeviceId{
        this, "CUDA ordinal of the GPU copied from, between GPUs; NULL: the host"};
    OptionalInteger<"srcContextId"> srcContextId{this, "the context copied from, between GPUs"};
    OptionalInteger<"dstDeviceId"> dstDeviceId{
        this, "CUDA ordinal of the GPU copied to, between GPUs; NULL: the host"};
    OptionalInteger<"dstContextId"> dstContextId{this, "the context copied to, between GPUs"};
    OptionalInteger<"migrationCause"> migrationCause{
        this, "of a migration, as ENUM_CUDA_UNIF_MEM_MIGRATION"};
    OptionalInteger<"graphNodeId"> graphNodeId{
        this, "node of the CUDA graph it was launched by; NULL outside one"};
    OptionalInteger<"virtualAddress"> virtualAddress{this, "where a migration began"};
    OptionalInteger<"copyCount"> copyCount{this, "not filled"};
};
inline constexpr Memcpys memcpys;

struct Memsets : TableOf<Memsets> {
    constexpr Memsets() : TableOf("CUPTI_ACTIVITY_KIND_MEMSET", "a memset", Content::Events) {}

    Integer<"start"> start{this, "when it began, ns"};
    Integer<"end"> end{this, "when it ended, ns"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"contextId"> contextId{this, "CUPTI's number of the context"};
    OptionalInteger<"greenContextId"> greenContextId{this,
                                                     "number of the green context; not filled"};
    Integer<"streamId"> streamId{this, "CUPTI's number of the stream"};
    OptionalInteger<"correlationId"> correlationId{
        this, "joins it with the API call of the same process"};
    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    Integer<"value"> value{this, "what the memory was set to"};
    Integer<"bytes"> bytes{this, "size, bytes"};
    OptionalInteger<"graphNodeId"> graphNodeId{
        this, "node of the CUDA graph it was launched by; NULL outside one"};
    OptionalInteger<"memKind"> memKind{this, "as ENUM_CUDA_MEM_KIND"};
};
inline constexpr Memsets memsets;

}  // namespace lanescope::tables
