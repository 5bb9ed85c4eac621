// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace lanescope::agent {

/// Buffers for CUPTI to put records into. CUPTI asks for one on the thread that launches a kernel,
/// so warm zeroed ones lie ready: taking one is a scan over a few flags, without lock or system
/// call. Never frees memory, because CUPTI may still write to what it has not given back.
/// When all are out, or no memory is left, it gives out the discard buffer, one for the process,
/// whose records are lost: no buffer at all would crash CUPTI before 12.9.
class BufferPool {
  public:
    static constexpr size_t bufferBytes = 4u << 20;
    static constexpr size_t maximumBuffers =
        64;  // 256 MiB of the program's memory at the very most
    static constexpr size_t warmBuffers = 4;
    static constexpr size_t discardBytes = 256u << 10;

    struct Buffer {
        uint8_t* memory;  ///< never null
        size_t bytes;
    };
    /// A zeroed buffer, or the discard buffer; any thread.
    Buffer take();
    /// Gives a buffer back after `usedBytes` of it were written; zeroes those. Writer thread only.
    void giveBack(uint8_t* buffer, size_t usedBytes);
    /// Whether `take` gave the buffer out, the discard buffer apart. Any thread.
    bool owns(const uint8_t* buffer) const { return slotOf(buffer).has_value(); }
    /// Its number, less than `maximumBuffers`, the same as long as it exists; nothing for a buffer
    /// that `owns` does not know. Any thread.
    std::optional<size_t> slotOf(const uint8_t* buffer) const;
    static bool isDiscard(const uint8_t* buffer);
    /// Makes ready buffers until `warmBuffers` lie ready. Writer thread only.
    void warm();

  private:
    enum State : uint8_t { Absent, Ready, Out, BeingMade };
    struct Slot {
        std::atomic<uint8_t> state{Absent};
        std::atomic<uint8_t*> memory{nullptr};
    };
    uint8_t* make(Slot& slot, bool touchPages);

    std::array<Slot, maximumBuffers> slots_;
};

}  // namespace lanescope::agent
