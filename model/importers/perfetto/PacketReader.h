// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/importers/events/EventDecoder.h"
#include "model/importers/events/ForeignEvents.h"
#include "model/importers/events/ForeignFile.h"
#include "model/importers/perfetto/PacketSequence.h"
#include "model/importers/perfetto/PerfettoTracks.h"
#include "model/importers/perfetto/SliceJoiner.h"
#include "model/importers/perfetto/debugArguments.h"

namespace lanescope {

/// Packets that were packed together into one, end to end as they stand in a file.
struct UnpackedPackets {
    std::string bytes;     ///< up to the damage, if there is any
    bool isWhole = false;  ///< else they are damaged, cut, or would take more than a writer packs
};

/// Unpacks what zlib packed. Takes at most 64 MiB and about a thousand times the bytes of `packed`.
/// Any thread.
UnpackedPackets unpackDeflate(std::string_view packed);

/// Unpacks what Zstandard packed; with the same bounds.
UnpackedPackets unpackZstandard(std::string_view packed);

/// Packets that are of no use here, and how many there were.
using OtherPackets = std::map<uint32_t, int64_t>;

/// Makes events of the packets of a Perfetto trace, as EventTaker makes them of JSON: who writes
/// both, as torch.profiler does, means the same by them.
class PacketReader {
  public:
    PacketReader(JsonEvents& events, LargeMemory* memory);

    /// Takes a TracePacket, whose bytes need not stay.
    void take(std::string_view packet) { take(packet, 0); }
    /// Hands over what is left and gives slices their ends.
    void finish();

    /// What the writer says beside the events, as JSON would have it.
    const TopLevelFacts& facts() const { return facts_; }
    const OtherPackets& others() const { return others_; }
    const PerfettoClocks& clocks() const { return clocks_; }
    const SliceJoiner::Unmatched& unmatched() const { return unmatched_; }
    int64_t damages() const { return damages_; }
    int64_t lostPackets() const { return lostPackets_; }

  private:
    /// The members of a TrackEvent, and what is beside them in its packet.
    struct Event {
        uint64_t type = 0;
        uint32_t track = PerfettoTracks::noTrack;
        int64_t timeNs = 0;
        std::string_view name, category, phase, id;
        int64_t durationNs = 0;
        bool isLegacy = false, isEmpty = true;
        uint64_t flow = 0;  ///< The first of `flows_`; 0 if there is none.
        double counterValue = 0;
        bool hasCounterValue = false;
    };
    using Arguments = std::vector<EventTaker::Argument>;
    using Unpacker = UnpackedPackets (*)(std::string_view packed);

    void take(std::string_view packet, int depth);
    void takePacked(std::string_view packed, Unpacker unpack, int depth);
    void takeTrackEvent(std::string_view message, PacketSequence& sequence,
                        std::optional<int64_t> timeNs);
    void takeMember(const ProtoField& field, PacketSequence& sequence, Event& event);
    void takeLegacy(std::string_view message, PacketSequence& sequence, Event& event);
    void keepTyped(Event& event);
    void keepLegacy(Event& event);
    SliceJoiner::Place keepSlice(const Event& event, std::string_view phase);
    void keepArrowEnds(const JsonSlice& slice);
    void keepCounter(uint32_t track, int64_t timeNs, double value);
    void takeRenderStage(std::string_view message, PacketSequence& sequence, int64_t timeNs);
    void takeGpuCounters(std::string_view message, int64_t timeNs);
    void takeGpuCounterNames(std::string_view interned);
    void takeCounterDescriptor(std::string_view message, uint64_t whose);
    void takeProcessTree(std::string_view message);
    void takeThread(std::string_view message, PacketSequence& sequence);
    void addNumber(std::string_view key, int64_t value);
    bool hasArgument(std::string_view key) const;
    std::optional<int64_t> numberIn(std::string_view key) const;
    void completeArguments(Event& event);
    EventTaker::Event placed(const Event& event, std::string_view phase);
    void takeFacts(const Event& event);
    uint32_t flowNumber(uint64_t flow);
    void flush();
    void flushIfFull();

    JsonEvents& events_;
    std::unique_ptr<ScannedChunk> chunk_;
    std::unique_ptr<EventTaker> taker_;
    std::unique_ptr<KeptTexts> texts_;
    Arguments arguments_;          ///< Of the event, kept to be filled again.
    std::vector<uint64_t> flows_;  ///< The same.
    std::map<uint32_t, std::pair<std::string_view, std::string_view>> places_;  ///< Of tracks.
    size_t count_ = 0;

    MixedMap<uint64_t, PacketSequence> sequences_;
    PerfettoTracks tracks_;
    PerfettoClocks clocks_;
    SliceJoiner joiner_;
    MixedMap<uint64_t, uint32_t> flowNumbers_;
    std::map<std::pair<uint64_t, uint64_t>, std::string> gpuCounterNames_;
    std::map<uint64_t, int64_t> gpusOfDescriptors_;
    TopLevelFacts facts_;
    OtherPackets others_;
    SliceJoiner::Unmatched unmatched_;
    int64_t lastNs_ = INT64_MIN;
    int64_t damages_ = 0, lostPackets_ = 0;
    uint64_t packedBytes_ = 0, unpackedBytes_ = 0;  ///< Of packets that are packed.
};

}  // namespace lanescope
