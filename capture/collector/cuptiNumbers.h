// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/format/Memory.h"

namespace lanescope::capture {

/// CUPTI counts from 1 what the file counts from 0.
inline MemoryKind memoryKindOfCupti(uint8_t cuptiKind) {
    return cuptiKind >= 1 && cuptiKind <= 7 ? memoryKindFrom(cuptiKind - 1) : MemoryKind::Unknown;
}

}  // namespace lanescope::capture
