// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/assemble/TraceBuilder.h"
#include "model/format/Memory.h"
#include "model/importers/events/JsonCursor.h"
#include "model/numbers/LargeMemory.h"
#include "model/trace/Tables.h"

namespace lanescope {

/// The distinct texts of a piece of a file, by number; 0 is the empty text. Texts without escapes
/// are views into the piece, which must outlive this object. One thread.
class ChunkStrings {
  public:
    ChunkStrings() : ChunkStrings(256) {}

    /// Adds a text as it is in the piece. O(length).
    uint32_t add(std::string_view text);
    uint32_t add(const JsonValue& value);
    /// Adds a text that is not in the piece.
    uint32_t addMade(const std::string& text);
    std::string_view at(uint32_t index) const { return texts_[index]; }
    /// All texts, by number.
    const std::vector<std::string_view>& all() const { return texts_; }
    /// Returns a text that is valid for the lifetime of this object.
    std::string_view kept(const JsonValue& value);

  private:
    explicit ChunkStrings(size_t slots) : slots_(slots) { add(std::string_view()); }
    void grow();

    std::vector<std::string_view> texts_;
    std::vector<uint64_t> hashes_;
    std::vector<uint32_t> slots_;  ///< Number of a text plus 1, or 0. The size is a power of two.
    std::deque<std::string> unescaped_;
};

enum class ImportedEventKind : uint8_t {
    Annotation,  ///< A range annotated by the program.
    Operator,
    Python,
    RuntimeCall,
    DriverCall,
    GpuAnnotation,  ///< An annotation, repeated on the GPU.
    Other,          ///< From another program. Its category has details.
    Kernel,
    Memcpy,
    Memset,
    Sync,
    CudaEvent,
    Overhead,  ///< Profiler overhead.
    Window,    ///< The recording interval of the profiler.
};

// Events as in the file: times on its own clock, all else as indexes into lists. Texts are indexes
// of the `ChunkStrings` of an `ImportedChunk`. In `ImportedEvents` they are indexes of the trace.

/// A range or mark of a thread, or a call.
struct ImportedSlice {
    static constexpr int64_t mark = -1;  ///< As a duration.

    int64_t startNs = 0, durationNs = 0;
    uint32_t name = 0;
    uint32_t thread = 0;
    uint32_t category = 0;  ///< A text, for `Other`.
    uint32_t extra = 0;     ///< Correlation of a call, or shapes (a text) of an operator.
};

/// One end of a range with separate events for its ends, or an event in its middle.
struct ImportedEdge {
    int64_t timeNs = 0;
    uint32_t name = 0;
    uint32_t thread = 0;
    uint32_t category = 0;
    uint32_t id = 0;  ///< A text that connects ends on any threads.
    char phase = 0;   ///< 'B', 'E', 'b', 'e'.
};

/// One end of a flow event from an operator to its backward.
struct ImportedFlowEnd {
    /// A `phase` without a direction in the file, for flow events of unknown meaning. The id is
    /// unique in the file, not only in its process.
    static constexpr char either = 'x';

    int64_t timeNs = 0;
    uint64_t id = 0;  ///< Connects the ends.
    uint32_t thread = 0;
    char phase = 0;  ///< 's' at the operator, 'f' at its backward.
};

/// The autograd sequence number of an operator. Numbers count up per thread, and a backward has the
/// number of its forward.
struct ImportedSequence {
    int64_t sequence = 0;
    uint32_t slice = 0;          ///< Index of its slice.
    uint32_t forwardThread = 0;  ///< Of its forward, by the file's count; 0 if none.
};

/// Work on a GPU, or waiting for it.
struct ImportedGpuWork {
    int64_t startNs = 0, durationNs = 0;
    /// Bytes. For a kernel: its graph node. For a wait: the positive correlation of the call that
    /// recorded the awaited event.
    int64_t amount = 0;
    uint32_t correlation = 0;
    uint32_t place = 0;
    uint32_t config = 0;  ///< Launch of a kernel. For a wait: the awaited stream.
    ImportedEventKind kind = ImportedEventKind::Kernel;
    MemcpyKind copy = MemcpyKind::Unknown;
    MemoryKind source = MemoryKind::Unknown, destination = MemoryKind::Unknown;
    int16_t sourceDevice = -1, destinationDevice = -1;
    SyncType sync = SyncType::Unknown;
};

/// A stream of a GPU.
struct ImportedPlace {
    int64_t device = -1, context = 0, stream = -1;
    auto operator<=>(const ImportedPlace&) const = default;
};

struct ImportedLaunch {
    uint32_t name = 0;
    uint32_t registers = 0, sharedBytes = 0;
    std::array<uint32_t, 3> grid{}, block{};
    auto operator<=>(const ImportedLaunch&) const = default;
};

/// A thread and its process as named in the file: numbers or any text.
struct ImportedThread {
    std::string_view process, thread;
    auto operator<=>(const ImportedThread&) const = default;
};

struct ImportedName {
    ImportedThread owner;
    bool isOfThread = false;
    uint32_t name = 0;
};

struct ImportedCounter {
    enum class Meaning : uint8_t { Value, Allocated, Reserved, Change };
    Meaning meaning = Meaning::Value;
    std::string_view process;
    uint32_t name = 0, part = 0;          ///< Texts; 0 for an allocator.
    int64_t deviceType = 0, device = -1;  ///< For an allocator.
    auto operator<=>(const ImportedCounter&) const = default;
};
struct ImportedSample {
    int64_t timeNs = 0;
    double value = 0;
    uint32_t counter = 0;
};

/// The arguments of an operator that describe a collective operation.
struct ImportedCollective {
    uint64_t slice = 0;                                                         ///< Index of its slice.
    uint32_t operation = 0, datatype = 0, group = 0, groupName = 0, ranks = 0;  ///< Texts.
    int64_t inElements = -1, outElements = -1, groupSize = -1, sequence = -1;
    int64_t source = -1, destination = -1;
};

/// Counts of events that are not kept.
struct ImportedTally {
    int64_t events = 0;  ///< Events of any kind.
    int64_t otherFlows = 0;
    int64_t overheads = 0, overheadNs = 0;
    int64_t callStacks = 0;                                             ///< Operators with a call stack.
    int64_t untimed = 0;                                                ///< Events with an invalid time.
    int64_t negative = 0;                                               ///< Negative durations, read as 0.
    int64_t unknown = 0;                                                ///< Events of an unknown phase.
    int64_t fractions = 0;                                              ///< Times that are not whole microseconds.
    int64_t untimedKernels = 0, untimedCopies = 0, untimedMemsets = 0;  ///< GPU work without a time.

    ImportedTally& operator+=(const ImportedTally& other);
};

/// Unreadable parts of a file.
struct CorruptionTally {
    int64_t places = 0, bytes = 0;
    uint64_t firstAt = 0;  ///< Offset in the decompressed file.
    uint64_t lastEnd = 0;
    /// Adds a range of bytes. A range that begins at the end of the last one extends it.
    void add(uint64_t begin, uint64_t end);
};

/// The events of a piece of a file.
struct ImportedChunk {
    ChunkStrings strings;
    std::vector<ImportedSlice> slices[static_cast<size_t>(ImportedEventKind::Other) + 1];
    std::vector<ImportedEdge> edges;
    std::vector<ImportedGpuWork> gpuWork;
    std::vector<ImportedThread> threads;
    std::vector<ImportedPlace> places;
    std::vector<ImportedLaunch> launches;
    std::vector<ImportedName> names;
    std::vector<ImportedCounter> counters;
    std::vector<ImportedSample> samples;
    std::vector<ImportedCollective> collectives;
    std::vector<ImportedFlowEnd> flowEnds;
    std::vector<ImportedSequence> sequences;
    std::vector<ImportedGpuWork> untimedWork;
    std::vector<std::pair<uint64_t, uint64_t>> corruption;  ///< Begin and end of each, in the piece.
    ImportedTally tally;
};

/// Returns the kind of events with that category in any version of torch.profiler: "cpu_op" and "Operator" are equal,
/// as are upper and lower case. `Other` for categories that it does not write.
ImportedEventKind eventKindOf(std::string_view category);

/// Returns true for a function of an API: "cudaMalloc" of "cuda", not "custom" of "cu".
bool isFunctionOf(std::string_view api, std::string_view name);

/// Returns true for the name of an annotation. Versions up to 1.9 list annotations among the operators.
bool isAnnotationName(std::string_view name);

/// The properties in a name such as "Memcpy HtoD (Pageable -> Device)" or "Memset (Device)".
struct CopyName {
    MemcpyKind kind = MemcpyKind::Unknown;
    MemoryKind source = MemoryKind::Unknown, destination = MemoryKind::Unknown;
};
CopyName copyNameOf(std::string_view name);

/// Returns the type for "Stream Wait Event" or "Context Sync".
SyncType syncTypeOf(std::string_view name);

/// Returns the number in "stream 7" or "7", or -1.
int64_t streamNumberOf(std::string_view name);

/// Returns the index of `key` in `list`, to which it is added if it is not `known`.
template <class Key, class List>
uint32_t indexIn(std::map<Key, uint32_t>& known, List& list, const Key& key) {
    const auto [found, isNew] = known.try_emplace(key, static_cast<uint32_t>(list.size()));
    if (isNew) list.push_back(key);
    return found->second;
}

/// A list that never copies its items while it grows and frees them block by block. Allocated in
/// `memory`, if set, which must outlive it.
template <class T>
class BlockList {
  public:
    explicit BlockList(LargeMemory* memory = nullptr) : memory_(memory) {}

    size_t size() const { return size_; }
    void push_back(const T& item) {
        if (size_ % blockItems == 0) blocks_.emplace_back(memory_).reserve(blockItems);
        blocks_.back().push_back(item);
        ++size_;
    }
    const T& operator[](size_t index) const { return blocks_[index / blockItems][index % blockItems]; }
    T& operator[](size_t index) { return blocks_[index / blockItems][index % blockItems]; }
    /// Calls `visit(item)` for each item in order. Frees each block after its items were visited.
    void consume(auto visit) {
        for (; !blocks_.empty(); blocks_.pop_front())
            for (const T& item : blocks_.front()) visit(item);
        size_ = 0;
    }
    void forEach(auto visit) const {
        for (const auto& block : blocks_)
            for (const T& item : block) visit(item);
    }

  private:
    static constexpr size_t blockItems = size_t{1} << 13;

    LargeMemory* memory_;
    std::deque<LargeVector<T>> blocks_;
    size_t size_ = 0;
};

/// The events of a whole file, before the origin of its clock and the owners of its events are
/// known. Both may follow the events in the file. Texts are those of the trace.
/// - 32 bytes per range or call
/// - 48 bytes per piece of GPU work
/// - 24 bytes per flow end
/// - 16 bytes per sequence number
///
/// All are allocated in the memory of the trace.
class ImportedEvents {
  public:
    explicit ImportedEvents(TraceBuilder& builder);

    /// Adds the contents of a piece that begins at byte `offset` of the file. Pieces come in the order of the file.
    void take(const ImportedChunk& chunk, uint64_t offset);
    /// Moves the GPU work that starts at `timeNs` to `untimedWork`: the zero of a clock is no time of an event.
    void dropTime(int64_t timeNs);
    void addCorruption(uint64_t begin, uint64_t end) { corruption_.add(begin, end); }

    using Slices = BlockList<ImportedSlice>;
    Slices& slices(ImportedEventKind kind) { return slices_[static_cast<size_t>(kind)]; }
    const Slices& slices(ImportedEventKind kind) const { return slices_[static_cast<size_t>(kind)]; }

    struct Thread {
        std::string process, thread;
        auto operator<=>(const Thread&) const = default;
    };
    struct Counter {
        ImportedCounter::Meaning meaning = ImportedCounter::Meaning::Value;
        std::string process;
        StringIndex name = 0, part = 0;
        int64_t deviceType = 0, device = -1;
        auto operator<=>(const Counter&) const = default;
    };
    struct Sample {
        int64_t timeNs;
        double value;
    };

    BlockList<ImportedEdge> edges;
    BlockList<ImportedGpuWork> gpuWork;
    BlockList<ImportedGpuWork> untimedWork;  ///< GPU work whose time the profiler did not get.
    std::vector<ImportedCollective> collectives;
    BlockList<ImportedFlowEnd> flowEnds;
    BlockList<ImportedSequence> sequences;  ///< In the order of the slices.
    std::vector<Thread> threads;
    std::vector<ImportedPlace> places;
    std::vector<ImportedLaunch> launches;
    /// Names of processes and threads in the file. A process has an empty thread.
    std::map<Thread, std::string> threadNames;
    std::map<std::string, std::string> processNames;
    std::vector<Counter> counters;
    std::vector<BlockList<Sample>> samples;  ///< By counter.
    ImportedTally tally;

    const CorruptionTally& corruption() const { return corruption_; }
    /// Returns the range from the first start to the last end, on the clock of the file.
    TimeRange range() const { return range_; }
    bool isEmpty() const { return range_.startNs > range_.endNs; }
    /// Number of events beyond the maximum of a trace.
    int64_t skippedCount() const { return skippedCount_; }

  private:
    using Numbers = std::vector<uint32_t>;
    template <class Item, class Take>
    void takeEach(const std::vector<Item>& items, BlockList<Item>& into, Take take);
    void takeSlices(const ImportedChunk& chunk, const Numbers& texts, const Numbers& ofThreads,
                    const Numbers& ofPlaces);
    void takeNames(const ImportedChunk& chunk);
    void takeSamples(const ImportedChunk& chunk, const Numbers& texts);
    void findRange();
    void countUntimed(ImportedEventKind kind);
    void see(int64_t startNs, int64_t endNs);

    TraceBuilder& builder_;
    std::array<Slices, static_cast<size_t>(ImportedEventKind::Other) + 1> slices_;
    std::map<Thread, uint32_t> threadNumbers_;
    std::map<ImportedPlace, uint32_t> placeNumbers_;
    std::map<ImportedLaunch, uint32_t> launchNumbers_;
    std::map<Counter, uint32_t> counterNumbers_;
    CorruptionTally corruption_;
    TimeRange range_;
    int64_t skippedCount_ = 0;
};

}  // namespace lanescope
