// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace lanescope::agent {

/// Pool of buffers for CUPTI's records. CUPTI requests them on threads that launch kernels, so warm zeroed buffers are
/// kept ready. Taking one is a scan over a few flags, without lock or system call. Never frees memory, because CUPTI
/// may still write to buffers that it has not returned. Without a free buffer or memory, the pool returns the discard
/// buffer, one per process, and its records are lost: CUPTI before 12.9 crashes without a buffer.
class BufferPool {
  public:
    static constexpr size_t bufferBytes = 4u << 20;
    static constexpr size_t maxBuffers = 64;  // at most 256 MiB of the program's memory
    static constexpr size_t warmBuffers = 4;
    static constexpr size_t discardBytes = 256u << 10;

    struct Buffer {
        uint8_t* memory;  ///< never null
        size_t bytes;
    };
    /// Returns a zeroed buffer, or the discard buffer. Any thread.
    Buffer take();
    /// Returns a buffer to the pool after `usedBytes` of it were written, and zeroes those. Writer thread only.
    void returnBuffer(uint8_t* buffer, size_t usedBytes);
    /// Returns true if the buffer came from `take` and is not the discard buffer. Any thread.
    bool owns(const uint8_t* buffer) const { return slotOf(buffer).has_value(); }
    /// Returns the buffer's number, less than `maxBuffers`, which never changes. Returns
    /// nullopt if `owns` is false. Any thread.
    std::optional<size_t> slotOf(const uint8_t* buffer) const;
    static bool isDiscard(const uint8_t* buffer);
    /// Prepares buffers until `warmBuffers` are ready. Writer thread only.
    void warm();

  private:
    enum State : uint8_t { Absent, Ready, Out, BeingMade };
    struct Slot {
        std::atomic<uint8_t> state{Absent};
        std::atomic<uint8_t*> memory{nullptr};
    };
    uint8_t* make(Slot& slot, bool touchPages);

    std::array<Slot, maxBuffers> slots_;
};

}  // namespace lanescope::agent
