// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/format/Memory.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/Column.h"
#include "model/trace/EventRef.h"
#include "model/trace/StringTable.h"

namespace lanescope {

/// Key by which slices are summed: their kind and name; for copies source and destination, for memsets the memory.
class SumKey {
  public:
    constexpr SumKey() = default;
    constexpr SumKey(EventKind kind, uint32_t name)
        : bits_(static_cast<uint32_t>(kind) << nameBits | (name & maxName)) {}
    static constexpr SumKey ofMemcpy(MemcpyKind kind, MemoryKind source, MemoryKind destination) {
        return {EventKind::Memcpy, static_cast<uint32_t>(kind) << 8 | static_cast<uint32_t>(source) << 4 |
                                       static_cast<uint32_t>(destination)};
    }
    static constexpr SumKey ofMemset(MemoryKind memory) { return {EventKind::Memset, static_cast<uint32_t>(memory)}; }
    static constexpr SumKey fromBits(uint32_t bits) {
        SumKey key;
        key.bits_ = bits;
        return key;
    }

    constexpr uint32_t bits() const { return bits_; }
    constexpr EventKind kind() const { return static_cast<EventKind>(bits_ >> nameBits); }
    /// Name of anything but copies and memsets.
    constexpr StringIndex name() const { return bits_ & maxName; }
    MemcpyKind memcpyKind() const { return memcpyKindFrom(name() >> 8); }
    MemoryKind source() const { return memoryKindFrom(name() >> 4 & 0xf); }
    /// Destination of a copy, or memory of a memset.
    MemoryKind destination() const { return memoryKindFrom(name() & 0xf); }
    constexpr auto operator<=>(const SumKey&) const = default;

  private:
    static constexpr int nameBits = 28;
    static constexpr uint32_t maxName = (1u << nameBits) - 1;
    uint32_t bits_ = 0;
};

struct Sums {
    int64_t count = 0;
    int64_t totalNs = 0;
    int64_t minimumNs = 0, maximumNs = 0;
    int64_t bytes = 0;
    int64_t untimedBytes = 0;  ///< Part of `bytes`, moved by events of zero duration.

    void add(const Sums& other);
    bool operator==(const Sums&) const = default;
};

/// Sums of a lane by key, for blocks of its slices, blocks of those blocks and so on, so that any range needs few
/// lists. Blocks with nearly as many names as slices have no list; reading their slices is faster.
struct LaneSums {
    LaneSums() = default;
    explicit LaneSums(LargeMemory* memory)
        : listEnd(memory),
          key(memory),
          count(memory),
          totalNs(memory),
          minimumNs(memory),
          maximumNs(memory),
          bytes(memory),
          untimedBytes(memory) {}

    static constexpr uint32_t leafSize = 4096;  ///< Slices per block on the lowest level.
    static constexpr uint32_t fanOut = 16;      ///< Blocks per block of the next level.
    /// Minimum ratio of slices to list entries for a list to be kept.
    static constexpr uint32_t minGain = 8;
    static constexpr size_t maxListLength = size_t{1} << 14;

    /// End of the list of each block, level by level from the lowest, in order of time.
    Column<uint32_t> listEnd;
    // Concatenated lists, each sorted by key.
    Column<uint32_t> key;  ///< `SumKey::bits`.
    Column<int64_t> count, totalNs, minimumNs, maximumNs, bytes, untimedBytes;
};

/// Time during which at least one of several lanes was busy, at certain times, so that any range
/// needs few slices. A single lane has `Lane::busyBefore` instead.
struct UnionSums {
    UnionSums() = default;
    explicit UnionSums(LargeMemory* memory) : timeNs(memory), busyNs(memory) {}

    /// Slices of all lanes together between two of these times.
    static constexpr uint32_t slicesPerTime = 1024;

    Column<int64_t> timeNs;  ///< Ascending.
    Column<int64_t> busyNs;  ///< Busy time before that time.
};

/// Sums of a track for `selectionStatistics`.
struct TrackSums {
    /// One per lane; empty if the events do not count, or if every lane is short enough to read its slices.
    std::vector<LaneSums> lanes;
    Rare<UnionSums> busy;  ///< For a stream of several lanes.
};

/// Sums of all tracks of a trace, in their order.
struct TraceSums {
    std::vector<TrackSums> tracks;
};

}  // namespace lanescope
