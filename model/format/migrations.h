// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Memory.h"

namespace lanescope {

/// What migrations of managed memory are called wherever they are counted.
inline constexpr const char* migrationsCounted = "managed migrations";

/// Whether the copy is one, which no call asked for.
constexpr bool isMigration(MemcpyKind kind) {
    return kind == MemcpyKind::UvmHtoD || kind == MemcpyKind::UvmDtoH ||
           kind == MemcpyKind::UvmDtoD;
}

}  // namespace lanescope
