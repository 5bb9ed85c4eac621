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

/// What slices are summed up by: their kind and name; copies by what they copy from and to, memsets
/// by the memory that they set.
class SumKey {
  public:
    constexpr SumKey() = default;
    constexpr SumKey(EventKind kind, uint32_t name)
        : bits_(static_cast<uint32_t>(kind) << nameBits | (name & maximumName)) {}
    static constexpr SumKey ofMemcpy(MemcpyKind kind, MemoryKind source, MemoryKind destination) {
        return {EventKind::Memcpy, static_cast<uint32_t>(kind) << 8 |
                                       static_cast<uint32_t>(source) << 4 |
                                       static_cast<uint32_t>(destination)};
    }
    static constexpr SumKey ofMemset(MemoryKind memory) {
        return {EventKind::Memset, static_cast<uint32_t>(memory)};
    }
    static constexpr SumKey fromBits(uint32_t bits) {
        SumKey key;
        key.bits_ = bits;
        return key;
    }

    constexpr uint32_t bits() const { return bits_; }
    constexpr EventKind kind() const { return static_cast<EventKind>(bits_ >> nameBits); }
    /// Of anything but copies and memsets.
    constexpr StringIndex name() const { return bits_ & maximumName; }
    MemcpyKind memcpyKind() const { return memcpyKindFrom(name() >> 8); }
    MemoryKind source() const { return memoryKindFrom(name() >> 4 & 0xf); }
    /// Of a copy the destination, of a memset the memory.
    MemoryKind destination() const { return memoryKindFrom(name() & 0xf); }
    constexpr auto operator<=>(const SumKey&) const = default;

  private:
    static constexpr int nameBits = 28;
    static constexpr uint32_t maximumName = (1u << nameBits) - 1;
    uint32_t bits_ = 0;
};

/// What slices of one key come to.
struct Sums {
    int64_t count = 0;
    int64_t totalNs = 0;
    int64_t minimumNs = 0, maximumNs = 0;
    int64_t bytes = 0;
    int64_t untimedBytes = 0;  ///< Part of `bytes`: of what took no time at all.

    void add(const Sums& other);
    bool operator==(const Sums&) const = default;
};

/// The sums of a lane by key, for blocks of its slices, blocks of those blocks and so on, so that
/// the sums of any run of slices come from few lists. Blocks in which nearly every slice has a name
/// of its own have no list: their slices are quicker looked at one by one.
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

    static constexpr uint32_t leafSize = 4096;  ///< Slices of a block on the lowest level.
    static constexpr uint32_t fanOut = 16;      ///< Blocks of a block on the next level.
    /// A list is kept if it is this many times shorter than the slices that it sums up.
    static constexpr uint32_t leastGain = 8;
    static constexpr size_t longestList = size_t{1} << 14;

    /// Where the list of each block ends, level by level from the lowest, in order of time.
    Column<uint32_t> listEnd;
    // The lists, one behind the other; each sorted by key.
    Column<uint32_t> key;  ///< `SumKey::bits`.
    Column<int64_t> count, totalNs, minimumNs, maximumNs, bytes, untimedBytes;
};

/// How long at least one of several lanes was busy, noted at some moments, so that the time between
/// any two comes from few slices. A single lane needs none: `Lane::busyBefore` says it.
struct UnionSums {
    UnionSums() = default;
    explicit UnionSums(LargeMemory* memory) : timeNs(memory), busyNs(memory) {}

    /// Slices, of all lanes together, from one moment to the next.
    static constexpr uint32_t slicesPerMoment = 1024;

    Column<int64_t> timeNs;  ///< Ascending.
    Column<int64_t> busyNs;  ///< Busy time before that moment.
};

/// What `selectionStatistics` needs besides the slices of a track.
struct TrackSums {
    /// As many as the track has; none where events do not count, or where no lane has so many
    /// slices that sums spare looking at them.
    std::vector<LaneSums> lanes;
    Rare<UnionSums> busy;  ///< Of a stream of several lanes.
};

/// The same for all tracks of a trace, in their order.
struct TraceSums {
    std::vector<TrackSums> tracks;
};

}  // namespace lanescope
