// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "capture/python/FrameLayout.h"
#include "capture/python/OwnMemory.h"

namespace lanescope::agent::python {

/// The line of the instruction `byteIndex` bytes behind the first one of a code object that begins
/// in line `firstLine`, by its line table of `bytes` bytes at `address`. 0 if it belongs to none,
/// or if the table cannot be read. O(bytes), of which half a MiB are read at most.
int32_t lineOf(const Memory& memory, LineTableKind kind, uint64_t address, uint64_t bytes,
               int32_t firstLine, int64_t byteIndex);

}  // namespace lanescope::agent::python
