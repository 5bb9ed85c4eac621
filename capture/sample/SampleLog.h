// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "capture/log/LogFile.h"
#include "capture/log/Records.h"

namespace lanescope::capture {

/// Identity and subject of a counter; see `LANESCOPE_COUNTERS` in FORMAT.md.
struct CounterDescription {
    std::string source;  ///< "nvml", "gpm", "host".
    std::string name;
    std::string title;
    std::string unit;
    log::CounterMeaning meaning = log::CounterMeaning::Gauge;
    int gpu = -1, link = -1, core = -1;  ///< -1: does not apply.
    uint32_t processId = 0;
    std::string device{}, direction{};
    double granularity = 0;  ///< 0: unknown.
};

/// Values of several counters at one time, collected before they are written.
class SampleBatch {
  public:
    void add(uint32_t counter, int64_t value) {
        values_.push_back({counter, log::SampleType::Integer, static_cast<uint64_t>(value)});
    }
    void add(uint32_t counter, double value);
    /// Adds a value that is unknown if it is nullopt.
    void add(uint32_t counter, std::optional<double> value) {
        return value ? add(counter, *value) : addUnknown(counter);
    }
    void addUnknown(uint32_t counter) { values_.push_back({counter, log::SampleType::Unknown, 0}); }
    void clear() { values_.clear(); }
    std::span<const log::SampleValue> values() const { return values_; }

  private:
    std::vector<log::SampleValue> values_;
};

/// Log of a sampler process, in the format of the agent's logs. Any thread; calls wait only for the disk.
class SampleLog {
  public:
    /// As `log::LogFile`. At `maxBytes` the log ends with a note.
    SampleLog(log::LogFolder folder, std::string nameWithoutSuffix, uint64_t maxBytes);

    /// Makes the log a ring, as `log::LogFile::keepRing`. Before the first record.
    void keepRing(int64_t ns, uint64_t bytes) { file_.keepRing(ns, bytes); }

    void addGpu(uint32_t gpu, std::string_view uuid, std::string_view name);
    uint32_t addCounter(CounterDescription description);
    /// Writes the counters' values at `timeNs`, as `sampleTimeNs`.
    void write(int64_t timeNs, const SampleBatch& batch);
    /// Marks the counters of `source`, of one GPU or of all (-1), as unknown from now on.
    void writeUnknown(int64_t timeNs, std::string_view source, int gpu = -1);

    void write(log::GpuProcessRecord process, std::string_view name);
    void write(log::SamplingMomentRecord moment, std::string_view range);

    void addMetric(uint32_t gpu, uint32_t metric, std::string_view name);
    /// `words` as in `LogReader`: `1 + metricCount` per sample.
    void writeMetrics(uint32_t gpu, uint32_t metricCount, std::span<const uint64_t> words);

    /// Returns the number of a Python function in this log; equal for equal functions.
    uint32_t code(std::string_view function, std::string_view file);
    /// Returns the number of a Python stack and writes the stack if it is new. A stack is its innermost frame and the
    /// number of the stack without that frame, 0 for none. Returns 0 once there are too many. `line` 0: unknown.
    uint32_t stack(uint32_t parent, uint32_t code, int32_t line);
    void addProcess(uint32_t process, uint32_t parent, std::string_view program, std::string_view python);
    void addThread(uint32_t process, uint32_t thread, std::string_view name);
    void write(log::ThreadRunRecord run, std::string_view call);

    void note(Severity severity, HealthCode code, std::string_view sentence, uint64_t count = 0);
    /// Writes a fact; it replaces an earlier one of that name.
    void property(std::string_view name, std::string_view value);

    /// Writes the data to the system, so that it survives the end of this process. Also a sign of life.
    void flush();
    void end();

  private:
    struct Gpu {
        uint32_t gpu;
        std::string uuid, name;
    };
    struct Metric {
        uint32_t gpu, metric;
        std::string name;
    };
    struct Watched {
        uint32_t parent = 0;
        std::string name, python;
        uint32_t writtenIn = 0;
    };
    /// A stack without its parents; a function is a number in `codes_`.
    using Stack = std::tuple<uint32_t, uint32_t, int32_t>;  // parent, code, line
    static constexpr size_t maxStacks = 1u << 20, maxCodes = 1u << 16, maxWatched = 1u << 16;

    void addWatched(uint32_t process, uint32_t thread, Watched watched);
    // With `mutex_` locked:
    /// Returns true, once, if this part of the log lacks the definition that was written in part `writtenIn`.
    bool isMissing(uint32_t& writtenIn) const;
    void repeatDefinitions();
    void writeWatched(uint32_t process, uint32_t thread);
    void writeStack(uint32_t number);
    void writeGpu(const Gpu& gpu);
    void writeCounter(uint32_t number);
    void writeMetric(const Metric& metric);
    void noticeClock();
    void flushNow();
    void endNow(log::EndReason reason);

    const uint64_t maxBytes_;
    std::mutex mutex_;
    log::LogFile file_;
    log::RecordWriter writer_;
    std::vector<Gpu> gpus_;
    std::vector<CounterDescription> counters_;
    std::vector<Metric> metrics_;
    std::vector<std::pair<std::string, std::string>> properties_;
    std::map<std::pair<std::string, std::string>, uint32_t> codeNumbers_;
    std::map<Stack, uint32_t> stackNumbers_;
    std::vector<const std::pair<std::string, std::string>*> codes_;  ///< By number, from 1.
    std::vector<Stack> stacks_;
    // Written again in each part that refers to them. `writtenIn` is the writer's generation plus one, 0 for none.
    std::vector<uint32_t> stackWrittenIn_;
    std::map<std::pair<uint32_t, uint32_t>, Watched> watched_;  ///< By process and thread; thread 0 is the process.
    int64_t clockAheadNs_ = 0;  ///< CLOCK_REALTIME minus the time of samples at the last check.
    int settings_ = 0;
    bool hasEnded_ = false;
};

}  // namespace lanescope::capture
