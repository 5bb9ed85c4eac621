// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

/// Memory that the program fills when it is first read. Not every system has it, and containers may forbid it.
namespace lanescope::system {

/// Returns a descriptor that can be polled for reads of missing pages; -1 if the system has none or does not permit
/// them.
int openMissingPages();

/// Reserves memory that reads as missing pages; null on failure. A thread that reads one waits for `fillPages`.
/// Unmapped by munmap.
void* reserveMissing(int faults, size_t bytes);

/// Returns the address of the next such read; nullopt if there is none now.
std::optional<uintptr_t> nextMissingRead(int faults);

/// Fills missing pages, with zeros if `from` is null, and wakes who waits for them. Pages that exist stay as they are.
/// `to` and `bytes` are multiples of the page.
void fillPages(int faults, std::byte* to, const std::byte* from, size_t bytes);

}  // namespace lanescope::system
