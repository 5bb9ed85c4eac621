// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "capture/collector/GpuInventory.h"
#include "capture/collector/ProcessContext.h"
#include "capture/log/LogReader.h"
#include "capture/log/Records.h"

namespace lanescope::capture {

/// Writes what the recorder saw threads do, and what only it knows of processes and threads. One
/// thread.
class ThreadStateImporter {
  public:
    explicit ThreadStateImporter(ProcessContext& context) : context_(context) {}

    void add(const log::WatchedProcessRecord& record);
    void add(const log::WatchedThreadRecord& record);
    void add(const log::ThreadRunRecord& record);

    /// At the end: processes that did something here and have no log, and names of threads.
    /// `logged` are the processes that the trace has by their own logs.
    void finish(const std::set<int64_t>& logged);
    /// When the latest thing ended that was seen, in the log's time.
    int64_t latestNs() const { return latestNs_; }
    /// How many states were written.
    int64_t count() const { return count_; }

  private:
    ProcessContext& context_;
    struct Watched {
        std::string program;
        uint32_t parent = 0;  ///< 0: not known.
    };
    std::map<uint32_t, Watched> processes_;                       ///< By process id.
    std::map<std::pair<uint32_t, uint32_t>, std::string> names_;  ///< By process and thread.
    std::set<std::pair<uint32_t, uint32_t>> seen_;  ///< Threads that something was written of.
    int64_t latestNs_ = 0, count_ = 0;
};

/// Brings the log of one sampler process into the trace, as far as it goes. One thread.
class SamplerImporter : private log::RecordVisitor {
  public:
    static Result<std::unique_ptr<SamplerImporter>> open(const std::filesystem::path& path,
                                                         TraceWriter& trace,
                                                         const GpuInventory& gpus,
                                                         int64_t sessionStartNs, uint32_t host,
                                                         int64_t& lastCounter);
    /// Whether a log of that name is a sampler's: "<host>.sampler.<pid>.log".
    static bool isSamplerLog(const std::filesystem::path& path);

    /// Takes at most `maximumBlocks` new blocks. Returns how many were taken.
    size_t poll(size_t maximumBlocks);
    /// Call once at the end: says from when on nothing is known, and what is doubtful. `hostName`
    /// is empty unless the trace is of several hosts; `logged` are the processes that the trace has
    /// by logs of their own.
    void finish(const std::string& hostName, const std::set<int64_t>& logged);
    uint64_t bytesRead() const { return reader_.progress().bytesRead; }
    /// Whether the sampler has told that the clock of its machine was set.
    bool saidClockSet() const { return saidClockSet_; }
    int64_t threadStates() const { return threads_.count(); }
    bool isNotAllRead() const { return problem_.has_value() || reader_.isDamaged(); }

  private:
    SamplerImporter(log::LogReader reader, TraceWriter& trace, const GpuInventory& gpus,
                    int64_t sessionStartNs, uint32_t host, int64_t& lastCounter);

    void visit(const log::StringRecord& record, std::string_view text) override;
    void visit(const log::PropertyRecord& record) override;
    void visit(const log::ClockRecord& record) override;
    void visit(const log::NoteRecord& record) override;
    void visit(const log::DroppedRecord& record) override;
    void visit(const log::EndRecord& record) override;
    void visit(const log::SampledGpuRecord& record) override;
    void visit(const log::CounterRecord& record) override;
    void visit(const log::SamplesRecord& record, std::span<const log::SampleValue> values) override;
    void visit(const log::GpuProcessRecord& record) override;
    void visit(const log::SamplingMomentRecord& record) override;
    void visit(const log::GpuMetricRecord& record) override;
    void visit(const log::StackRecord& record) override { process_.add(record); }
    void visit(const log::WatchedProcessRecord& record) override { threads_.add(record); }
    void visit(const log::WatchedThreadRecord& record) override { threads_.add(record); }
    void visit(const log::ThreadRunRecord& record) override { threads_.add(record); }
    void visit(const log::GpuMetricSamplesRecord& record, std::span<const uint64_t> words) override;

    struct Texts {
        std::string source, name, title, unit, device, direction;
    };
    /// A counter, and what waits to be written of it: of equal values in a row only the first and,
    /// but for a gauge, the last are kept.
    struct Counter {
        log::CounterRecord record;
        Texts texts;
        int64_t id = 0;  ///< In the trace.
        std::optional<log::SampleValue> first, written;
        int64_t writtenNs = 0;
        std::optional<int64_t> repeatedNs;  ///< It had the same value again.
        /// All that were known, whether they were kept or not.
        int64_t firstNs = 0, latestNs = 0, count = 0;

        /// How often it was read so far; nothing of one reading.
        std::optional<int64_t> intervalNs() const {
            return count > 1 ? std::optional((latestNs - firstNs) / (count - 1)) : std::nullopt;
        }
    };

    std::optional<int64_t> gpuId(int64_t gpu) const;
    /// Whether any clock shows such a time; of those that do, differences and the next are in
    /// range.
    static bool isTime(int64_t realtimeNs);
    void noteTime(int64_t realtimeNs);
    void take(Counter& counter, int64_t timeNs, const log::SampleValue& value);
    void insert(Counter& counter, int64_t timeNs, const log::SampleValue& value);
    void announce(const Counter& counter);
    void endCounters(const std::string& hostName);
    void noteStolen(const Counter& counter);
    void writeMetrics();
    void writeHealth();

    log::LogReader reader_;
    ProcessContext process_;
    ThreadStateImporter threads_{process_};
    const GpuInventory& gpus_;
    int64_t& lastCounter_;
    std::map<uint32_t, int64_t> gpuIds_;
    std::map<uint32_t, Counter> counters_;
    std::map<std::pair<uint32_t, uint32_t>, std::string> metrics_;
    std::map<std::string, std::string, std::less<>> properties_;
    int64_t latestNs_ = 0;  ///< The latest that the log tells of, in the time of its samples.
    std::map<Loss, uint64_t> dropped_;
    /// Values from long before others of their counter, or of no time.
    int64_t outOfOrder_ = 0;
    size_t notes_ = 0;
    bool saidClockSet_ = false;
    std::optional<log::EndRecord> end_;
    std::optional<Error> problem_;
};

}  // namespace lanescope::capture
