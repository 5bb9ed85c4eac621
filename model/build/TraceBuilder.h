// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "model/build/EventRows.h"
#include "model/build/LaunchConfigs.h"
#include "model/build/SkipTally.h"
#include "model/trace/Trace.h"
#include "model/trace/counterValues.h"

namespace lanescope {

/// Makes a trace: takes events one at a time, of all kinds and in any order, and what is known of
/// who made them, and finishes it. Nothing else puts an event into a `Trace`, so a reader of a
/// format is given a builder and can do no harm with it: an event whose times make no sense, or
/// whose thread or stream the builder did not give out, is left out and counted in the trace's
/// health. All calls but `finish` are O(1) unless they say otherwise; one thread.
class TraceBuilder {
  public:
    TraceBuilder();
    TraceBuilder(TraceBuilder&&) = default;

    /// Where the trace lies; its title is the name of the file.
    void setPath(const std::filesystem::path& path);
    /// What is known beside the events.
    TraceDescription& description() { return *trace_; }
    void note(HealthNote note) { trace_->health.push_back(std::move(note)); }
    /// What there is so far.
    const Trace& trace() const { return *trace_; }

    StringIndex intern(std::string_view text) { return trace_->strings.intern(text); }
    std::string_view text(StringIndex index) const { return trace_->strings.at(index); }

    // Who events are of: found, or added if it is named for the first time. Each is `noIndex` once
    // there are more than any real machine has.

    /// A GPU by the number that it is called by.
    uint32_t gpu(int64_t id);
    /// A process by its packed id (`format/GlobalId.h`).
    uint32_t process(int64_t globalPid);
    /// A thread by its packed id, and with it its process.
    uint32_t thread(int64_t globalTid);
    uint32_t stream(uint32_t process, uint32_t gpu, int64_t contextId, int64_t streamId);
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

    EventRef kernel(const KernelRow& row);
    EventRef memcpy(const MemcpyRow& row);
    EventRef memset(const MemsetRow& row);
    EventRef graph(const GraphRow& row);
    EventRef pageFault(const PageFaultRow& row);
    EventRef api(const ApiRow& row);
    EventRef sync(const SyncRow& row);
    EventRef nvtx(const NvtxRow& row);
    void memoryEvent(const MemoryEventRow& row);
    void memoryPool(const MemoryPoolRow& row);
    void eventRecord(const EventCallRow& row);
    void eventWait(const EventCallRow& row);
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

    // What the file holds and the trace does not.

    /// How many events of a kind there are, and how many of them have no time. Kinds that nobody
    /// counts are counted as they come.
    void count(std::string name, int64_t total, int64_t untimed);
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

    bool isStream(uint32_t index) const { return index < trace_->streams.size(); }
    bool isThread(uint32_t index) const { return index < trace_->threads.size(); }
    bool isProcess(uint32_t index) const { return index < trace_->processes.size(); }
    bool isGpu(uint32_t index) const { return index < trace_->gpus.size(); }
    int16_t deviceOf(uint32_t gpu) const;
    EventRef refuse(std::string_view what);
    void eventCall(const EventCallRow& row, EventCallTable& table);
    void giveNames();
    void countTheUncounted();

    std::shared_ptr<Trace> trace_;
    LaunchConfigs configs_;
    std::unordered_map<int64_t, uint32_t> gpus_, processes_, threads_;
    std::unordered_map<StreamKey, uint32_t, StreamHash> streams_;
    std::pair<int64_t, uint32_t> lastProcess_{0, noIndex}, lastThread_{0, noIndex};
    std::pair<StreamKey, uint32_t> lastStream_{{}, noIndex};
    std::unordered_map<int64_t, std::string> processNames_, threadNames_;
    SkipTally skipped_;
};

}  // namespace lanescope
