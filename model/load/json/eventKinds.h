// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "model/load/json/ScannedChunk.h"

namespace lanescope {

/// What events of that category are, whatever version of torch.profiler wrote it: "cpu_op" and
/// "Operator" are the same, upper and lower case too. `Other` for what it does not write.
JsonEventKind eventKindOf(std::string_view category);

/// Whether the name is one of an annotation; versions up to 1.9 file them among the operators.
bool isAnnotationName(std::string_view name);

/// What "Memcpy HtoD (Pageable -> Device)" copies, or "Memset (Device)" writes to.
struct CopyName {
    MemcpyKind kind = MemcpyKind::Unknown;
    MemoryKind source = MemoryKind::Unknown, destination = MemoryKind::Unknown;
};
CopyName copyNameOf(std::string_view name);

/// "Stream Wait Event", "Context Sync".
SyncType syncTypeOf(std::string_view name);

/// The number in "stream 7" or "7"; -1 if there is none.
int64_t streamNumberOf(std::string_view name);

}  // namespace lanescope
