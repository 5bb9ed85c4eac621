// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanescope {

/// Packed process and thread ids of the trace file: 8 bits of hardware id (host), 8 bits of virtual
/// machine (1), 24 bits of process id, 24 bits of thread id (0 for a process).
constexpr int64_t globalPid(uint32_t processId, uint32_t host = 0) {
    return (int64_t{host & 0x7f} << 56) | (int64_t{1} << 48) | (int64_t{processId & 0xffffff} << 24);
}
constexpr int64_t globalTid(uint32_t processId, uint32_t threadId, uint32_t host = 0) {
    return globalPid(processId, host) | (threadId & 0xffffff);
}
constexpr uint32_t processIdOf(int64_t globalId) { return static_cast<uint32_t>((globalId >> 24) & 0xffffff); }
constexpr uint32_t threadIdOf(int64_t globalId) { return static_cast<uint32_t>(globalId & 0xffffff); }
constexpr uint32_t hostOf(int64_t globalId) { return static_cast<uint32_t>((globalId >> 56) & 0xff); }
/// Returns the process part of a packed thread id.
constexpr int64_t processOf(int64_t globalTid) { return globalTid & ~int64_t{0xffffff}; }

}  // namespace lanescope
