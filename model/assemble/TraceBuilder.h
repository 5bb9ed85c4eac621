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

/// Keeps one `LaunchConfig` for all kernels with equal launch parameters.
class LaunchConfigs {
  public:
    /// Returns the index of `config` in `configs`, which must be the same list in each call. O(1).
    uint32_t indexOf(const LaunchConfig& config, LaunchConfigColumn& configs);

  private:
    struct Hash {
        size_t operator()(const LaunchConfig& config) const;
    };

    std::unordered_map<LaunchConfig, uint32_t, Hash> indexOf_;
};

class TraceBuilder;

/// Counts skipped rows and values and adds notes about them.
class SkipTally {
  public:
    /// `where` is a name of the place that the user understands.
    void addRows(std::string_view where, int64_t rows);
    void addValues(std::string_view where, int64_t values);
    /// Adds the resets and wraparounds of a cumulative counter.
    void addCounter(const CounterValues& values);
    /// Adds a note for each place and for counters that went backwards.
    void note(TraceBuilder& builder) const;

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
    uint32_t eventSync = noIndex;  ///< Connects a wait with its record, if known.
    uint32_t correlation = 0;
};

/// Known facts about an NVTX range that is an NCCL call.
struct NcclRow {
    StringIndex operation = 0;  ///< "AllReduce".
    int64_t bytes = -1;         ///< -1 if unknown.
    uint64_t communicator = 0;
    NcclFacts facts = {};
};

/// The identity of a counter in a trace: its source, kind, subject and sampling method.
using CounterIdentity = std::tuple<std::string, std::string, std::string, uint32_t, uint32_t, int32_t, int32_t,
                                   std::string, CounterUnit, bool>;

/// Assembles a trace from events in any order and from descriptions of their processes, threads and GPUs. It is the
/// only way to add an event to a `Trace`, so a format reader can do no harm. An event with an invalid time, or with a
/// thread or stream that this builder did not return, is skipped and counted in the health of the trace. All functions
/// but `finish` are O(1) unless stated otherwise. One thread.
class TraceBuilder {
  public:
    /// The trace and everything derived from it are allocated in `memory`, if set.
    explicit TraceBuilder(std::shared_ptr<LargeMemory> memory = nullptr);
    TraceBuilder(TraceBuilder&&) = default;

    /// Sets the path of the trace. The title is the file name.
    void setPath(const std::filesystem::path& path);
    /// Facts that are not events.
    TraceDescription& description() { return *trace_; }
    void note(HealthNote note) { trace_->health.push_back(std::move(note)); }
    /// Adds a note about the file as a whole.
    void note(Severity severity, HealthCode code, std::string sentence, std::optional<int64_t> count = {}) {
        note({severity, code, std::move(sentence), {}, {}, count});
    }
    /// Adds a note about `count` things of the file. Adds nothing if `count` is 0.
    void noteSome(int64_t count, Severity severity, HealthCode code, std::string sentence) {
        if (count > 0) note(severity, code, std::move(sentence), count);
    }
    /// Adds the note "Not shown here: 12 {what}." Adds nothing if `count` is 0.
    void noteNotShown(int64_t count, std::string_view what);
    LargeMemory* memory() const { return trace_->memory.get(); }
    const Trace& trace() const { return *trace_; }

    /// Returns the index of a text. A text longer than `maxNameBytes` is shortened and stays
    /// distinct from others with the same beginning.
    StringIndex intern(std::string_view text);
    /// In bytes. Template names have a few thousand. Names are drawn, searched and written
    /// repeatedly, so they must not be as long as a file.
    static constexpr size_t maxNameBytes = 4096;
    std::string_view text(StringIndex index) const { return trace_->strings.at(index); }

    // Owners of events: each function finds one or adds it at first use. Each returns `noIndex`
    // when the number exceeds that of any real machine, or the share of a file of this size.

    /// Bounds the memory of named subjects by the share that a file of `fileBytes` may use. Real
    /// recorders write much more per process or counter than a name, so only crafted files reach
    /// the bound. Without it only the number is limited.
    void boundNamesBy(uint64_t fileBytes);
    /// Returns the number of further counters that the trace accepts.
    size_t remainingCounters() const;

    uint32_t gpu(int64_t id);
    /// Returns a process by its packed id (`format/GlobalId.h`).
    uint32_t process(int64_t globalPid);
    /// Returns a thread by its packed id. Also adds its process.
    uint32_t thread(int64_t globalTid);
    uint32_t stream(uint32_t process, uint32_t gpu, int64_t contextId, int64_t streamId);
    /// Adds a Python stack: its innermost frame and the stack of its callers, which was returned
    /// before or is `noIndex`. Equal stacks are not deduplicated.
    uint32_t stack(uint32_t parent, StringIndex function, StringIndex file, uint32_t line, StringIndex module = 0,
                   StringIndex operators = 0, StringIndex code = 0);
    uint32_t launchConfig(const LaunchConfig& config) { return configs_.indexOf(config, trace_->launchConfigs); }
    /// Names a process or a thread, if any event refers to it. A program without a name gets that of its main thread.
    void nameProcess(int64_t globalPid, std::string_view name);
    void nameThread(int64_t globalTid, std::string_view name);
    /// The named subjects, for further description. Valid until the next one is added.
    std::span<Gpu> gpus() { return trace_->gpus; }
    std::span<Process> processes() { return trace_->processes; }
    std::span<Stream> streams() { return trace_->streams; }

    // Each accepted event gets a row that is stable until `finish` sorts the rows. A skipped event gets an invalid one.

    /// Adds an event: `builder.add<kinds::Kernel>(times, {.stream = 5, ...})`. Omitted members keep the value for
    /// unknown.
    template <kinds::Recorded Kind>
    EventRef add(const typename Kind::Row& row);
    template <kinds::Recorded Kind>
    EventRef add(TimeRange times, typename Kind::Row row) {
        row.startNs = times.startNs;
        row.endNs = times.endNs;
        return add<Kind>(row);
    }
    void eventRecord(const EventCallRow& row);
    void eventWait(const EventCallRow& row);
    /// Records that the second of two operators (NVTX ranges) is the backward of the first.
    void backward(EventRef forward, EventRef backward);
    /// Records that an NVTX range is an NCCL call, at most once per range.
    void nccl(EventRef range, const NcclRow& row);
    /// Replaces the facts of a row of `Trace::nccl` by better ones.
    void amendNccl(uint32_t row, const NcclRow& better);
    /// Replaces the `domain` and `category` of all ranges so far, which are indexes into these
    /// lists. For a file that names domains and categories after the ranges. O(ranges).
    void nameNvtx(const std::vector<StringIndex>& domains, const std::vector<StringIndex>& categories);
    /// Adds a counter with its samples. Samples without a known value are dropped. O(samples).
    void counter(CounterSeries series, CounterSamples samples);
    /// Adds a counter whose series contains its values.
    void counter(CounterSeries series);

    /// Adds the contents of a finished trace as a part of this one: processes, GPUs, events, NCCL calls, counters and
    /// descriptions, after those of other parts. Facts of the run and health notes are left to the caller. Returns
    /// false if the whole exceeds the size of a trace. The builder is then unusable. O(n).
    bool addTrace(const Trace& part, const PartPlacement& placement);

    // Facts about the file that the trace does not contain.

    /// Sets the total number of events of a kind and the number of those without a time. Kinds
    /// without this call are counted while they are added.
    void count(std::string_view name, int64_t total, int64_t untimed);
    /// Adds to the health notes about skipped rows and values. `where` is a name of the place that
    /// the user understands.
    void skip(std::string_view where, int64_t rows) { skipped_.addRows(where, rows); }
    void ignore(std::string_view where, int64_t values) { skipped_.addValues(where, values); }

    /// Makes a trace of it (`finishTrace`), once. Afterwards only notes may be added. O(n log n).
    /// Returns false if `stop` is requested by any thread. The builder is then unusable.
    bool finish(unsigned threads = 1, const std::stop_token& stop = {});
    /// Returns the finished trace and releases it.
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
    void assignNames();
    /// Reserves memory for one more name. Returns false if none is left.
    bool reserveRoom(size_t bytes);
    void countRemainingKinds();

    std::shared_ptr<Trace> trace_;
    LaunchConfigs configs_;
    MixedMap<int64_t, uint32_t> gpus_, processes_, threads_;
    std::unordered_map<StreamKey, uint32_t, StreamHash> streams_;
    std::pair<int64_t, uint32_t> lastProcess_{0, noIndex}, lastThread_{0, noIndex};
    std::pair<StreamKey, uint32_t> lastStream_{{}, noIndex};
    MixedMap<int64_t, std::string> processNames_, threadNames_;
    std::map<CounterIdentity, uint32_t> partCounters_;  ///< Index of each counter, for `addTrace`.
    SkipTally skipped_;
    uint64_t nameRoom_;  ///< Remaining bytes for named subjects.
};

template <kinds::Recorded Kind>
EventRef TraceBuilder::add(const typename Kind::Row& row) {
    const uint32_t place = Kind::size(*trace_);
    const TimeRange times = Kind::timesOf(row);
    const bool isSound = times.startNs >= -maxTimestampNs && times.endNs <= maxTimestampNs &&
                         times.startNs <= times.endNs && place < EventRef::maxRow;
    if (!isSound || !Kind::isPlaced(*trace_, row)) {
        skip(Kind::plural, 1);
        return {};
    }
    Kind::appendShared(*trace_, times, row);
    Kind::append(*trace_, row);
    return {Kind::kind, place};
}

/// Notes events without a time, a trace without events, and processes that ended abnormally, unless
/// the recorder has noted more detail.
void noteMissingEvents(std::span<const EventCount> counts, std::span<const Process> processes,
                       std::vector<HealthNote>& health);

}  // namespace lanescope
