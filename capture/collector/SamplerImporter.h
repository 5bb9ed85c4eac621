// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "capture/collector/GpuInventory.h"
#include "capture/collector/ProcessContext.h"
#include "capture/log/LogReader.h"
#include "capture/log/Records.h"

namespace lanescope::capture {

/// Importer of the thread states that the recorder sampled, and of facts about processes and
/// threads that only the recorder has. One thread.
class ThreadStateImporter {
  public:
    explicit ThreadStateImporter(ProcessContext& context) : context_(context) {}

    void add(const log::WatchedProcessRecord& record);
    void add(const log::WatchedThreadRecord& record);
    void add(const log::ThreadRunRecord& record);

    /// Writes names of threads, and processes with thread states but without logs. Call at the end.
    /// `logged` are the processes that the trace has by their own logs.
    void finish(const std::set<int64_t>& logged);
    /// Returns the latest end of a sampled state, in the log's time.
    int64_t latestNs() const { return latestNs_; }
    int64_t count() const { return count_; }

  private:
    ProcessContext& context_;
    struct Watched {
        std::string program;
        uint32_t parent = 0;  ///< 0: unknown.
    };
    std::map<uint32_t, Watched> processes_;
    std::map<std::pair<uint32_t, uint32_t>, std::string> names_;
    std::set<std::pair<uint32_t, uint32_t>> seen_;  ///< Threads with written rows.
    int64_t latestNs_ = 0, count_ = 0;
};

/// Importer of the log of one sampler process into the trace. One thread.
class SamplerImporter {
  public:
    static Result<std::unique_ptr<SamplerImporter>> open(std::shared_ptr<const Folder> folder, const std::string& name,
                                                         TraceWriter& trace, const GpuInventory& gpus,
                                                         int64_t sessionStartNs, uint32_t host, int64_t& lastCounter);
    /// Returns true if the name is that of a sampler's log: "<host>.sampler.<pid>.log".
    static bool isSamplerLog(const std::string& name);

    /// Imports at most `maxBlocks` new blocks and returns their number.
    size_t poll(size_t maxBlocks);
    /// Writes the ends of known values and doubtful facts. Call once at the end. `hostName` is empty unless the trace
    /// is of several hosts; `logged` are the processes that the trace has by logs of their own, `goesOn` as in
    /// `RunInfo`.
    void finish(const std::string& hostName, const std::set<int64_t>& logged, bool goesOn);
    uint64_t bytesRead() const { return reader_.progress().bytesRead; }
    /// Returns true if the sampler reported a change of the system time.
    bool reportedClockSet() const { return reportedClockSet_; }
    int64_t threadStates() const { return threads_.count(); }
    bool isNotAllRead() const { return problem_.has_value() || reader_.isCorrupt(); }

  private:
    SamplerImporter(log::LogReader reader, TraceWriter& trace, const GpuInventory& gpus, int64_t sessionStartNs,
                    uint32_t host, int64_t& lastCounter);

    void add(const log::StringRecord& record, std::string_view text) { process_.strings.add(record.id, text); }
    void add(const log::ClockRecord& record);
    void add(const log::NoteRecord& record);
    void add(const log::DroppedRecord& record);
    void add(const log::EndRecord& record);
    void add(const log::SampledGpuRecord& record);
    void add(const log::CounterRecord& record);
    void add(const log::SamplesRecord& record, std::span<const log::SampleValue> values);
    void add(const log::GpuProcessRecord& record);
    void add(const log::SamplingMomentRecord& record);
    void add(const log::GpuMetricRecord& record);
    void add(const log::GpuMetricSamplesRecord& record, std::span<const uint64_t> words);

    struct Texts {
        std::string source, name, title, unit, device, direction;
    };
    /// A counter, and its pending value. Of equal consecutive values only the first and, except for
    /// a gauge, the last are kept.
    struct Counter {
        log::CounterRecord record;
        Texts texts;
        int64_t id = 0;  ///< In the trace.
        std::optional<log::SampleValue> first, written;
        int64_t writtenNs = 0;
        std::optional<int64_t> repeatedNs;  ///< Time of the last equal value.
        /// For all known values, kept or not.
        int64_t firstNs = 0, latestNs = 0, count = 0;

        /// Returns the average interval of the readings; nullopt after one reading.
        std::optional<int64_t> intervalNs() const {
            return count > 1 ? std::optional((latestNs - firstNs) / (count - 1)) : std::nullopt;
        }
    };

    std::optional<int64_t> gpuId(int64_t gpu) const;
    /// Returns true if a clock can show such a time. Differences and successors of such times are in range.
    static bool isTime(int64_t realtimeNs);
    void noteTime(int64_t realtimeNs);
    void take(Counter& counter, int64_t timeNs, const log::SampleValue& value);
    void insert(Counter& counter, int64_t timeNs, const log::SampleValue& value);
    void announce(const Counter& counter);
    void endCounters(const std::string& hostName);
    void noteStolen(const Counter& counter);
    void writeMetrics();
    void writeWarnings(bool goesOn);

    log::LogReader reader_;
    ProcessContext process_;
    ThreadStateImporter threads_{process_};
    const GpuInventory& gpus_;
    int64_t& lastCounter_;
    std::map<uint32_t, int64_t> gpuIds_;
    std::map<uint32_t, Counter> counters_;
    std::map<std::pair<uint32_t, uint32_t>, std::string> metrics_;
    int64_t latestNs_ = 0;  ///< Latest time in the log, in the time of its samples.
    std::map<Loss, uint64_t> dropped_;
    /// Values much older than others of their counter, or without a time.
    int64_t outOfOrder_ = 0;
    std::set<std::pair<int64_t, std::string>> notes_;  ///< Times and sentences.
    bool reportedClockSet_ = false;
    std::optional<log::EndRecord> end_;
    std::optional<Error> problem_;
};

}  // namespace lanescope::capture
