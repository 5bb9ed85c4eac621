// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace lanescope {

/// Index that means "none".
inline constexpr uint32_t noIndex = 0xffffffff;

/// Table of a `Trace` that an event belongs to. `trace/kinds` describes each. Index files store the numbers.
enum class EventKind : uint8_t {
    None = 0,
    Kernel,
    Memcpy,
    Memset,
    Api,            ///< CUDA runtime or driver call on a CPU thread.
    Sync,           ///< Wait for the GPU as reported by CUPTI.
    Nvtx,           ///< Range or mark on a CPU thread.
    Projection,     ///< Interval of the GPU work that an NVTX range launched.
    Graph,          ///< Launch of a CUDA graph that was recorded as a whole.
    PageFault,      ///< Page of managed memory that was accessed in the wrong place.
    CounterSample,  ///< Value of a counter while in effect.
    CpuState,       ///< State of a CPU thread over an interval.
};

/// Reference to an event of a trace: table and row in four bytes. Cheap to copy, hash and compare;
/// valid with its trace only.
class EventRef {
  public:
    constexpr EventRef() = default;
    constexpr EventRef(EventKind kind, uint32_t row)
        : bits_((static_cast<uint32_t>(kind) << rowBits) | (row & maxRow)) {}

    constexpr EventKind kind() const { return static_cast<EventKind>(bits_ >> rowBits); }
    constexpr uint32_t row() const { return bits_ & maxRow; }
    constexpr bool isValid() const { return kind() != EventKind::None; }
    constexpr uint32_t bits() const { return bits_; }
    static constexpr EventRef fromBits(uint32_t bits) {
        EventRef event;
        event.bits_ = bits;
        return event;
    }
    constexpr auto operator<=>(const EventRef&) const = default;

    static constexpr int rowBits = 28;
    /// Limit of rows in a table; the loader reports a file with more.
    static constexpr uint32_t maxRow = (1u << rowBits) - 1;
    /// Upper bound of kind numbers, for arrays that a corrupt file must not overrun.
    static constexpr size_t kindLimit = size_t{1} << (32 - rowBits);

  private:
    uint32_t bits_ = 0;
};

}  // namespace lanescope
