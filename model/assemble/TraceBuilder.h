// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/assemble/PartPlacement.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/CounterSeries.h"
#include "model/trace/Facts.h"
#include "model/trace/Tables.h"
#include "model/trace/Trace.h"
#include "model/trace/counterReadings.h"
#include "model/trace/kinds/OfTable.h"

namespace lanescope {

/// Keeps one `LaunchConfig` for all kernels that are launched alike.
class LaunchConfigs {
  public:
    /// The index of `config` in `configs`, which must be the same each time. O(1).
    uint32_t indexOf(const LaunchConfig& config, std::vector<LaunchConfig>& configs);

  private:
    struct Hash {
        size_t operator()(const LaunchConfig& config) const;
    };

    std::unordered_map<LaunchConfig, uint32_t, Hash> indexOf_;
};

/// Counts what a builder leaves out, and says so.
class SkipTally {
  public:
    /// `where` is what the user knows the place by.
    void addRows(std::string_view where, int64_t rows);
    void addValues(std::string_view where, int64_t values);
    /// What became of a cumulative counter.
    void addCounter(const CounterValues& values);
    /// Adds a note for each place and for counters that went backwards.
    void note(std::vector<HealthNote>& health) const;

  private:
    struct Tally {
        int64_t rows = 0;
        int64_t values = 0;
    };
    std::map<std::string, Tally, std::less<>> byPlace_;
    int64_t resets_ = 0, wraps_ = 0;
};

/// A call that records a CUDA event in a stream, or makes a stream wait for one.
struct EventCallRow {
    uint32_t stream = noIndex;
    uint32_t event = noIndex;      ///< Number of the event in its context or process.
    uint32_t eventSync = noIndex;  ///< Joins a wait with its record, where that is known.
    uint32_t correlation = 0;
};

/// What is known of an NVTX range that is a call of NCCL.
struct NcclRow {
    StringIndex operation = 0;  ///< "AllReduce".
    int64_t bytes = -1;         ///< -1 if unknown.
    uint64_t communicator = 0;
    NcclFacts facts = {};
};

/// What tells a counter of a trace from others: who sampled it, what it is, of what and how.
using CounterIdentity = std::tuple<std::string, std::string, std::string, uint32_t, uint32_t,
                                   int32_t, int32_t, std::string, CounterUnit, bool>;

/// Makes a trace: takes events one at a time, of all kinds and in any order, and what is known of
/// who made them, and finishes it. Nothing else puts an event into a `Trace`, so a reader of a
/// format is given a builder and can do no harm with it: an event whose times make no sense, or
/// whose thread or stream the builder did not give out, is left out and counted in the trace's
/// health. All calls but `finish` are O(1) unless they say otherwise; one thread.
class TraceBuilder {
  public:
    /// The trace and all that is made of it lie in `memory`, if there is one.
    explicit TraceBuilder(std::shared_ptr<LargeMemory> memory = nullptr);
    TraceBuilder(TraceBuilder&&) = default;

    /// Where the trace lies; its title is the name of the file.
    void setPath(const std::filesystem::path& path);
    /// What is known beside the events.
    TraceDescription& description() { return *trace_; }
    void note(HealthNote note) { trace_->health.push_back(std::move(note)); }
    LargeMemory* memory() const { return trace_->memory.get(); }
    /// What there is so far.
    const Trace& trace() const { return *trace_; }

    /// Of a text longer than `longestName` its beginning, told apart from others that begin alike.
    StringIndex intern(std::string_view text);
    /// In bytes. Names of templates are a few thousand long; what is drawn, searched and written
    /// again and again must not be as long as a file.
    static constexpr size_t longestName = 4096;
    std::string_view text(StringIndex index) const { return trace_->strings.at(index); }

    // Who events are of: found, or added if it is named for the first time. Each is `noIndex` once
    // there are more than any real machine has, or more than a file of its size tells of.

    /// Lets what a file of so many bytes names take no more memory than its share of what opening
    /// it may take. Whoever records a process or a counter says more of it than its name, so only
    /// files that are made to name as many as they can come to that. Without it there is no bound
    /// but the number.
    void boundNamesBy(uint64_t fileBytes);
    /// How many counters the trace still takes.
    size_t mostCounters() const;

    /// A GPU by the number that it is called by.
    uint32_t gpu(int64_t id);
    /// A process by its packed id (`format/GlobalId.h`).
    uint32_t process(int64_t globalPid);
    /// A thread by its packed id, and with it its process.
    uint32_t thread(int64_t globalTid);
    uint32_t stream(uint32_t process, uint32_t gpu, int64_t contextId, int64_t streamId);
    /// A Python stack: its innermost frame, and the stack that is left without that, given out
    /// before, or `noIndex`. Equal ones are not found but added again.
    uint32_t stack(uint32_t parent, StringIndex function, StringIndex file, uint32_t line);
    /// What kernels were launched with.
    uint32_t launchConfig(const LaunchConfig& config) {
        return configs_.indexOf(config, trace_->launchConfigs);
    }
    /// What a process or a thread is called, if an event of it comes or came. A program without a
    /// name is called as its main thread is.
    void nameProcess(int64_t globalPid, std::string_view name);
    void nameThread(int64_t globalTid, std::string_view name);
    /// Those that were named, to describe them further. Valid until the next is added.
    std::span<Gpu> gpus() { return trace_->gpus; }
    std::span<Process> processes() { return trace_->processes; }
    std::span<Stream> streams() { return trace_->streams; }

    // Each event that is taken gets a row, which is its own until `finish` sorts them; one that is
    // left out gets an invalid one.

    /// Takes what `Kind` calls a row: `builder.add<kinds::Kernel>({.startNs = 5, .endNs = 7,
    /// ...})`. A member that is left out says what a file does that does not tell it.
    template <kinds::Recorded Kind>
    EventRef add(const typename Kind::Row& row);
    void eventRecord(const EventCallRow& row);
    void eventWait(const EventCallRow& row);
    /// Says that of two operators, which are NVTX ranges, the second is the backward of the first.
    void backward(EventRef forward, EventRef backward);
    /// Says that an NVTX range is a call of NCCL; at most once of each.
    void nccl(EventRef range, const NcclRow& row);
    /// The same, better known, of a row of `Trace::nccl`.
    void amendNccl(uint32_t row, const NcclRow& better);
    /// For a file that names domains and categories behind the ranges that use them: takes the
    /// `domain` and `category` of all ranges so far as numbers into these lists. O(ranges).
    void nameNvtx(const std::vector<StringIndex>& domains,
                  const std::vector<StringIndex>& categories);
    /// A counter as it was sampled; nothing of one without a known value is kept. O(samples).
    void counter(CounterSeries series, CounterSamples samples);
    /// A counter whose series has its values.
    void counter(CounterSeries series);

    /// Takes what a finished trace holds, which becomes a part of this one: its processes and GPUs,
    /// events, NCCL calls, counters and what was read beside them, behind that of other parts. What
    /// is said of the run and what its health says it leaves to the caller. False if the whole
    /// became larger than a trace can be; then it is good for nothing. O(n).
    bool addTrace(const Trace& part, const PartPlacement& placement);

    // What the file holds and the trace does not.

    /// How many events of a kind there are, and how many of them have no time. Kinds that nobody
    /// counts are counted as they come.
    void count(std::string_view name, int64_t total, int64_t untimed);
    /// Adds to what the health says about rows and values that were left out; `where` is what the
    /// user knows the place by.
    void skip(std::string_view where, int64_t rows) { skipped_.addRows(where, rows); }
    void ignore(std::string_view where, int64_t values) { skipped_.addValues(where, values); }

    /// Makes a trace of it (`finishTrace`), once; then only notes may be added. O(n log n). False
    /// once `stop` is requested, by any thread: the builder is then good for nothing.
    bool finish(unsigned threads = 1, const std::stop_token& stop = {});
    /// The finished trace, which is the builder's no more.
    TracePtr take() { return std::move(trace_); }

  private:
    struct StreamKey {
        uint32_t process, gpu;
        int64_t context, stream;
        bool operator==(const StreamKey&) const = default;
    };
    struct StreamHash {
        size_t operator()(const StreamKey& key) const;
    };

    bool isProcess(uint32_t index) const { return index < trace_->processes.size(); }
    bool isGpu(uint32_t index) const { return index < trace_->gpus.size(); }
    void eventCall(const EventCallRow& row, EventCallTable& table);
    void giveNames();
    /// Whether there is memory for one more; then it is taken.
    bool hasRoomFor(size_t bytes);
    void countTheUncounted();

    std::shared_ptr<Trace> trace_;
    LaunchConfigs configs_;
    MixedMap<int64_t, uint32_t> gpus_, processes_, threads_;
    std::unordered_map<StreamKey, uint32_t, StreamHash> streams_;
    std::pair<int64_t, uint32_t> lastProcess_{0, noIndex}, lastThread_{0, noIndex};
    std::pair<StreamKey, uint32_t> lastStream_{{}, noIndex};
    MixedMap<int64_t, std::string> processNames_, threadNames_;
    std::map<CounterIdentity, uint32_t> partCounters_;  ///< Of `addTrace`, where each is.
    SkipTally skipped_;
    uint64_t nameRoom_;  ///< Bytes that is left for what is named.
};

template <kinds::Recorded Kind>
EventRef TraceBuilder::add(const typename Kind::Row& row) {
    const uint32_t place = Kind::size(*trace_);
    const TimeRange times = Kind::timesOf(row);
    const bool isSound = times.startNs >= -greatestTimeNs && times.endNs <= greatestTimeNs &&
                         times.startNs <= times.endNs && place < EventRef::maximumRow;
    if (!isSound || !Kind::isPlaced(*trace_, row)) {
        skip(Kind::plural, 1);
        return {};
    }
    Kind::appendShared(*trace_, times, row);
    Kind::append(*trace_, row);
    return {Kind::kind, place};
}

/// Notes what cannot be shown, unless the recorder has noted it with more detail: events without a
/// time, a trace without events, processes that ended abnormally.
void noteWhatIsMissing(std::span<const EventCount> counts, std::span<const Process> processes,
                       std::vector<HealthNote>& health);

}  // namespace lanescope
