// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/format/Memory.h"
#include "model/importers/events/JsonCursor.h"
#include "model/trace/Tables.h"

namespace lanescope {

/// The texts of a piece of a file, each once, by number; 0 is the empty one. They are views of the
/// piece where nothing was escaped in them, so it must stay. One thread.
class ChunkStrings {
  public:
    ChunkStrings() : ChunkStrings(256) {}

    /// The text as it stands in the piece. O(length).
    uint32_t add(std::string_view text);
    /// What the value says.
    uint32_t add(const JsonValue& value);
    std::string_view at(uint32_t index) const { return texts_[index]; }
    /// All, by number.
    const std::vector<std::string_view>& all() const { return texts_; }
    /// A text that stays as long as this does.
    std::string_view kept(const JsonValue& value);

  private:
    explicit ChunkStrings(size_t slots) : slots_(slots) { add(std::string_view()); }
    void grow();

    std::vector<std::string_view> texts_;
    std::vector<uint64_t> hashes_;
    std::vector<uint32_t> slots_;  ///< Number of a text and 1, or 0; as many as a power of two.
    std::deque<std::string> unescaped_;
};

/// What an event of a JSON trace is, as far as it is more than a name and a time.
enum class JsonEventKind : uint8_t {
    Annotation,  ///< What the program called a stretch of its own.
    Operator,
    Python,
    RuntimeCall,
    DriverCall,
    GpuAnnotation,  ///< The annotation again, on the GPU.
    Other,          ///< Of another program; its category says more.
    Kernel,
    Memcpy,
    Memset,
    Sync,
    CudaEvent,
    Overhead,  ///< Of the profiler.
    Window,    ///< When the profiler recorded.
};

// Events as they stand in a file: times on its own clock, everything else by number in lists beside
// them. Numbers of texts are those of `ChunkStrings` in a `ScannedChunk`, and those of the trace in
// `JsonEvents`.

/// A range or mark of a thread, or a call.
struct JsonSlice {
    static constexpr int64_t mark = -1;  ///< As a duration.

    int64_t startNs = 0, durationNs = 0;
    uint32_t name = 0;
    uint32_t thread = 0;
    uint32_t category = 0;  ///< A text, of `Other`.
    uint32_t extra = 0;     ///< Of a call its correlation, of an operator its shapes as text.
};

/// One end of a range of which each end is an event, or the middle of one.
struct JsonEdge {
    int64_t timeNs = 0;
    uint32_t name = 0;
    uint32_t thread = 0;
    uint32_t category = 0;
    uint32_t id = 0;  ///< A text that joins the ends where they are on any thread.
    char phase = 0;   ///< 'B', 'E', 'b', 'e'.
};

/// One end of an arrow from an operator to the one that is its backward.
struct JsonArrowEnd {
    /// As `phase`: which end it is does not stand in the file, nor that it is one of these arrows;
    /// its number means one arrow in all of the file, and not in its process only.
    static constexpr char either = 'x';

    int64_t timeNs = 0;
    uint64_t id = 0;  ///< That joins the ends.
    uint32_t thread = 0;
    char phase = 0;  ///< 's' at the operator, 'f' at its backward.
};

/// What an operator says of the graph of gradients: numbers count up in each thread, and a backward
/// has the number of its forward.
struct JsonSequence {
    int64_t sequence = 0;
    uint32_t slice = 0;          ///< Which slice the operator is.
    uint32_t forwardThread = 0;  ///< Where its forward ran, as the file counts; 0: it is none.
};

/// Work on a GPU, or waiting for it.
struct JsonGpuWork {
    int64_t startNs = 0, durationNs = 0;
    /// Bytes; of a kernel the node of its graph; of a wait the correlation of the call that
    /// recorded what it waits for, if it is positive.
    int64_t amount = 0;
    uint32_t correlation = 0;
    uint32_t place = 0;
    uint32_t config = 0;  ///< Of a kernel; of a wait the stream that it waits for.
    JsonEventKind kind = JsonEventKind::Kernel;
    MemcpyKind copy = MemcpyKind::Unknown;
    MemoryKind source = MemoryKind::Unknown, destination = MemoryKind::Unknown;
    int16_t sourceDevice = -1, destinationDevice = -1;
    SyncType sync = SyncType::Unknown;
};

/// A stream of a GPU.
struct JsonPlace {
    int64_t device = -1, context = 0, stream = -1;
    auto operator<=>(const JsonPlace&) const = default;
};

/// What a kernel was launched with.
struct JsonLaunch {
    uint32_t name = 0;
    uint32_t registers = 0, sharedBytes = 0;
    std::array<uint32_t, 3> grid{}, block{};
    auto operator<=>(const JsonLaunch&) const = default;
};

/// A thread as the file calls it and its process: numbers or any text.
struct JsonThread {
    std::string_view process, thread;
    auto operator<=>(const JsonThread&) const = default;
};

/// A name that the file gives to a process or a thread.
struct JsonName {
    JsonThread whose;
    bool isOfThread = false;
    uint32_t name = 0;
};

/// Whose value a sample is.
struct JsonCounter {
    enum class Meaning : uint8_t { Value, Allocated, Reserved, Change };
    Meaning meaning = Meaning::Value;
    std::string_view process;
    uint32_t name = 0, part = 0;          ///< Texts; of an allocator none.
    int64_t deviceType = 0, device = -1;  ///< Of an allocator.
    auto operator<=>(const JsonCounter&) const = default;
};
struct JsonSample {
    int64_t timeNs = 0;
    double value = 0;
    uint32_t counter = 0;
};

/// What the arguments of an operator say of a collective operation.
struct JsonCollective {
    uint64_t slice = 0;  ///< Which slice the operator is.
    uint32_t operation = 0, datatype = 0, group = 0, groupName = 0, ranks = 0;  ///< Texts.
    int64_t inElements = -1, outElements = -1, groupSize = -1, sequence = -1;
    int64_t source = -1, destination = -1;
};

/// What is counted and not kept.
struct JsonTally {
    int64_t events = 0;  ///< Of any kind.
    int64_t flows = 0;   ///< Ends of arrows from calls to work, which correlations tell.
    int64_t otherFlows = 0;
    int64_t overheads = 0, overheadNs = 0;
    int64_t callStacks = 0;  ///< Operators with one.
    int64_t untimed = 0;     ///< Events whose times are no numbers.
    int64_t negative = 0;    ///< Durations below 0, which were taken as 0.
    int64_t unknown = 0;     ///< Events of a phase that this program does not know.
    int64_t fractions = 0;   ///< Times that are no whole microseconds.
    int64_t oddWork = 0;     ///< Work on a GPU that does not say on which.

    JsonTally& operator+=(const JsonTally& other);
};

/// What could not be read.
struct JsonDamage {
    int64_t places = 0, bytes = 0;
    uint64_t firstAt = 0;  ///< Bytes from the beginning of what is unpacked.
    uint64_t lastEnd = 0;
    /// Takes what begins where the last ended as a part of it.
    void add(uint64_t begin, uint64_t end);
};

/// The events of a piece of a file.
struct ScannedChunk {
    ChunkStrings strings;
    std::vector<JsonSlice> slices[static_cast<size_t>(JsonEventKind::Other) + 1];
    std::vector<JsonEdge> edges;
    std::vector<JsonGpuWork> gpuWork;
    std::vector<JsonThread> threads;
    std::vector<JsonPlace> places;
    std::vector<JsonLaunch> launches;
    std::vector<JsonName> names;
    std::vector<JsonCounter> counters;
    std::vector<JsonSample> samples;
    std::vector<JsonCollective> collectives;
    std::vector<JsonArrowEnd> arrowEnds;
    std::vector<JsonSequence> sequences;
    std::vector<std::pair<uint64_t, uint64_t>> damage;  ///< Begin and end of each, in the piece.
    JsonTally tally;
};

/// What events of that category are, whatever version of torch.profiler wrote it: "cpu_op" and
/// "Operator" are the same, upper and lower case too. `Other` for what it does not write.
JsonEventKind eventKindOf(std::string_view category);

/// Whether the name is one of an annotation; versions up to 1.9 file them among the operators.
bool isAnnotationName(std::string_view name);

/// What "Memcpy HtoD (Pageable -> Device)" copies, or "Memset (Device)" writes to.
struct CopyName {
    MemcpyKind kind = MemcpyKind::Unknown;
    MemoryKind source = MemoryKind::Unknown, destination = MemoryKind::Unknown;
};
CopyName copyNameOf(std::string_view name);

/// "Stream Wait Event", "Context Sync".
SyncType syncTypeOf(std::string_view name);

/// The number in "stream 7" or "7"; -1 if there is none.
int64_t streamNumberOf(std::string_view name);

}  // namespace lanescope
