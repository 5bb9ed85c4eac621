// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace lanescope {

/// Stands for "none" where an index into a table is asked for.
inline constexpr uint32_t noIndex = 0xffffffff;

/// Which table of a `Trace` a row belongs to. `trace/kinds` describes each. The numbers stand in
/// index files.
enum class EventKind : uint8_t {
    None = 0,
    Kernel,
    Memcpy,
    Memset,
    Api,            ///< A CUDA runtime or driver call on a CPU thread.
    Sync,           ///< A wait for the GPU, as CUPTI reports it.
    Nvtx,           ///< A range or mark on a CPU thread.
    Projection,     ///< The stretch of GPU work that an NVTX range launched.
    Graph,          ///< A launch of a CUDA graph that was recorded as a whole.
    PageFault,      ///< A page of managed memory that was not where it was needed.
    CounterSample,  ///< A value of a counter, for as long as it held.
    CpuState,       ///< What a CPU thread did for a while.
};

/// Names one event of a trace: table and row in four bytes. Cheap to copy, hash and compare; means
/// nothing without its trace.
class EventRef {
  public:
    constexpr EventRef() = default;
    constexpr EventRef(EventKind kind, uint32_t row)
        : bits_((static_cast<uint32_t>(kind) << rowBits) | (row & maximumRow)) {}

    constexpr EventKind kind() const { return static_cast<EventKind>(bits_ >> rowBits); }
    constexpr uint32_t row() const { return bits_ & maximumRow; }
    constexpr bool isValid() const { return kind() != EventKind::None; }
    constexpr uint32_t bits() const { return bits_; }
    static constexpr EventRef fromBits(uint32_t bits) {
        EventRef event;
        event.bits_ = bits;
        return event;
    }
    constexpr auto operator<=>(const EventRef&) const = default;

    static constexpr int rowBits = 28;
    /// A table holds at most this many rows; the loader says so when a file has more.
    static constexpr uint32_t maximumRow = (1u << rowBits) - 1;
    /// The number of any kind is below; for arrays by kind that a damaged file must not overrun.
    static constexpr size_t kindLimit = size_t{1} << (32 - rowBits);

  private:
    uint32_t bits_ = 0;
};

}  // namespace lanescope
