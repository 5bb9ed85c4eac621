// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "model/importers/events/EventDecoder.h"
#include "model/importers/events/ImportedEvents.h"
#include "model/importers/events/ImportedFile.h"
#include "model/importers/events/ProtoCursor.h"
#include "model/numbers/LargeMemory.h"
#include "model/numbers/MixedMap.h"

namespace lanescope {

/// Matches starts of slices with their ends, which are separate packets. On one track the last begun slice ends first.
/// Exception: a group of starts before as many ends in the same order, as torch.profiler writes them.
class SliceJoiner {
  public:
    struct Place {
        bool isWork = false;
        ImportedEventKind kind = ImportedEventKind::Other;
        uint32_t index = 0;
        static constexpr uint32_t nowhere = 0xffffffff;  ///< For a slice that is not kept.
    };

    explicit SliceJoiner(LargeMemory* memory) : edges_(memory) {}

    void begin(uint32_t track, int64_t timeNs, const Place& place) { edges_.push_back({timeNs, track, place, true}); }
    void end(uint32_t track, int64_t timeNs) { edges_.push_back({timeNs, track, {}, false}); }

    struct Unmatched {
        int64_t begins = 0, ends = 0;
    };
    /// Sets the duration of each slice. A slice without an end lasts until `lastNs`. O(n log n).
    Unmatched join(ImportedEvents& events, int64_t lastNs);

  private:
    struct Edge {
        int64_t timeNs;
        uint32_t track;
        Place place;
        bool isBegin;
    };
    using Edges = LargeVector<Edge>;

    static bool isNested(const Edges& edges, size_t first, size_t last);
    static bool forEachOfRuns(const Edges& edges, size_t first, size_t last, auto visit);
    static void sortByTime(Edges& edges, size_t first, size_t last);

    Edges edges_;
};

struct PerfettoTrack {
    uint64_t uuid = 0, parent = 0;
    std::string name;
    std::optional<int64_t> process;  ///< Number of the process.
    std::optional<int64_t> thread;   ///< Number of the thread, which belongs to `process`.
    std::string processName, threadName;
    bool isCounter = false, isIncremental = false;
    int64_t multiplier = 1;
    std::string unit;
    double sum = 0;  ///< For a counter that is stored as differences.
};

struct PerfettoPlace {
    std::string process, thread;  ///< Numbers as text, or any name.
    std::string processName, threadName;
};

/// The tracks of a file. Tracks without a description get a name.
class PerfettoTracks {
  public:
    /// Reads a TrackDescriptor. Missing members keep their value.
    void describe(std::string_view message);
    /// Returns the index of the track, adding it if new. Returns `noTrack` if the limit is reached.
    uint32_t numberOf(uint64_t uuid);
    /// Returns the index for a thread without a track.
    uint32_t numberOfThread(int64_t process, int64_t thread);
    void nameThread(int64_t process, int64_t thread, std::string_view name);
    PerfettoTrack& at(uint32_t number) { return tracks_[number]; }

    /// Returns the owner of the events: the nearest thread or process above the track.
    PerfettoPlace placeOf(uint32_t number) const;

    static constexpr uint32_t noTrack = 0xffffffff;

  private:
    const PerfettoTrack* above(const PerfettoTrack& track) const;

    std::vector<PerfettoTrack> tracks_;
    MixedMap<uint64_t, uint32_t> numbers_;
    MixedMap<int64_t, std::string> processNames_;  ///< By process number.
};

/// A reading of a clock. A snapshot has several of one time.
struct PerfettoClock {
    uint64_t id = 0;
    int64_t time = 0;
    int64_t unitNs = 1;
    bool isIncremental = false;
};

/// The shared state of the packets of one writer until it is reset: interned texts, defaults and own clocks.
class PacketSequence {
  public:
    enum class Texts { Categories, Names, ArgumentNames, ArgumentValues, Kernels, Stages };

    void clear();
    /// Reads an InternedData. Returns false if more texts are interned than any real file needs.
    bool takeTexts(std::string_view message);
    void takeDefaults(std::string_view message);
    /// Returns the text of that number. Empty if missing.
    std::string_view text(Texts which, uint64_t number) const;

    std::optional<uint64_t> defaultTrack, defaultClock;
    std::vector<uint64_t> extraCounters, extraRealCounters;
    std::optional<int64_t> process, thread;  ///< Default owner.
    int64_t oldTimeNs = 0;                   ///< For packets with time differences.
    MixedMap<uint64_t, PerfettoClock> clocks;
    MixedMap<uint64_t, int64_t> clockOffsets;  ///< From an own clock to the clock of the file.

  private:
    using Table = MixedMap<uint64_t, std::string>;
    bool takeText(Texts which, std::string_view message, uint32_t nameField);

    std::array<Table, 6> texts_;
    size_t textBytes_ = 0;
};

/// Converts the times of packets, which may use different clocks, to the clock of the file.
class PerfettoClocks {
  public:
    /// Reads a ClockSnapshot of that writer.
    void takeSnapshot(std::string_view message, PacketSequence& sequence);
    /// Converts a time of that clock, or of the default clock of the writer.
    int64_t timeOf(uint64_t time, std::optional<uint64_t> clock, PacketSequence& sequence) const;
    /// Returns the offset to the time of day. Returns nullopt without a snapshot of it.
    std::optional<int64_t> toTimeOfDay() const { return toTimeOfDay_; }

  private:
    MixedMap<uint64_t, int64_t> offsets_;
    std::optional<int64_t> toTimeOfDay_;
};

/// Distinct copies of texts of released packets.
class KeptTexts {
  public:
    /// Returns the text, valid for the lifetime of this object.
    std::string_view kept(std::string_view text) {
        const auto [found, isNew] = texts_.emplace(text);
        if (isNew) bytes_ += text.size();
        return *found;
    }
    size_t bytes() const { return bytes_; }

  private:
    struct Hash {
        size_t operator()(const std::string& text) const { return static_cast<size_t>(mixed(std::string_view(text))); }
    };
    std::unordered_set<std::string, Hash> texts_;
    size_t bytes_ = 0;
};

/// Reads a DebugAnnotation as an argument of an event: numbers and texts as they are, lists and
/// groups as JSON. Parts that are nested too deeply are skipped.
void takeDebugArgument(std::string_view message, const PacketSequence& sequence, KeptTexts& keeper,
                       std::vector<EventDecoder::Argument>& arguments);

/// The packets of a compressed packet, concatenated as in a file.
struct UnpackedPackets {
    std::string bytes;     ///< up to the first corrupt place
    bool isWhole = false;  ///< else corrupt, truncated, or larger than any writer's packet
};

/// Decompresses zlib data. Uses at most 64 MiB and about 1,000 times the bytes of `packed`. Any thread.
UnpackedPackets unpackDeflate(std::string_view packed);

/// Decompresses Zstandard data with the same limits.
UnpackedPackets unpackZstandard(std::string_view packed);

/// Number of packets of each unused kind.
using OtherPackets = std::map<uint32_t, int64_t>;

/// Converts packets of a Perfetto trace to events, like EventDecoder does for JSON. Programs that
/// write both, such as torch.profiler, give them the same meaning.
class PacketReader {
  public:
    PacketReader(ImportedEvents& events, LargeMemory* memory);

    /// Reads a TracePacket without keeping its bytes.
    void take(std::string_view packet) { take(packet, 0); }
    /// Adds the pending events and sets the ends of slices.
    void finish();

    /// Returns the facts of the writer in the form of JSON files.
    const TopLevelFacts& facts() const { return facts_; }
    const OtherPackets& others() const { return others_; }
    const PerfettoClocks& clocks() const { return clocks_; }
    const SliceJoiner::Unmatched& unmatched() const { return unmatched_; }
    int64_t corruptCount() const { return corruptCount_; }
    int64_t lostPackets() const { return lostPackets_; }

  private:
    /// The members of a TrackEvent and of its packet.
    struct Event {
        uint64_t type = 0;
        uint32_t track = PerfettoTracks::noTrack;
        int64_t timeNs = 0;
        std::string_view name, category, phase, id;
        int64_t durationNs = 0;
        bool isLegacy = false, isEmpty = true;
        uint64_t flow = 0;  ///< First of `flows_`; 0 if none.
        double counterValue = 0;
        bool hasCounterValue = false;
    };
    using Arguments = std::vector<EventDecoder::Argument>;
    using Unpacker = UnpackedPackets (*)(std::string_view packed);

    void take(std::string_view packet, int depth);
    void takePacked(std::string_view packed, Unpacker unpack, int depth);
    void takeTrackEvent(std::string_view message, PacketSequence& sequence, std::optional<int64_t> timeNs);
    void takeMember(const ProtoField& field, PacketSequence& sequence, Event& event);
    void takeLegacy(std::string_view message, PacketSequence& sequence, Event& event);
    void keepTyped(Event& event);
    void keepLegacy(Event& event);
    SliceJoiner::Place keepSlice(const Event& event, std::string_view phase);
    void keepFlowEnds(const ImportedSlice& slice);
    void keepCounter(uint32_t track, int64_t timeNs, double value);
    void takeRenderStage(std::string_view message, PacketSequence& sequence, int64_t timeNs);
    void takeGpuCounters(std::string_view message, int64_t timeNs);
    void takeGpuCounterNames(std::string_view interned);
    void takeCounterDescriptor(std::string_view message, uint64_t owner);
    void takeProcessTree(std::string_view message);
    void takeThread(std::string_view message, PacketSequence& sequence);
    void addNumber(std::string_view key, int64_t value);
    bool hasArgument(std::string_view key) const;
    std::optional<int64_t> numberIn(std::string_view key) const;
    void completeArguments(Event& event);
    EventDecoder::Event placed(const Event& event, std::string_view phase);
    void takeFacts(const Event& event);
    uint32_t flowNumber(uint64_t flow);
    void flush();
    void flushIfFull();

    ImportedEvents& events_;
    std::unique_ptr<ImportedChunk> chunk_;
    std::unique_ptr<EventDecoder> decoder_;
    std::unique_ptr<KeptTexts> texts_;
    Arguments arguments_;          ///< Current event. Kept to reuse its memory.
    std::vector<uint64_t> flows_;  ///< Likewise.
    std::map<uint32_t, std::pair<std::string_view, std::string_view>> places_;  ///< By track.
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
    int64_t corruptCount_ = 0, lostPackets_ = 0;
    uint64_t packedBytes_ = 0, unpackedBytes_ = 0;  ///< For compressed packets.
};

}  // namespace lanescope
