// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/sample/ProcessCounters.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"
#include "capture/sample/SamplerThread.h"
#include "model/format/factNames.h"

namespace lanescope::capture {

/// Limits and usage of this process's control group: processor time and memory, of version 1 or 2.
/// Without a limit there is no counter for it.
class CgroupLimits {
  public:
    explicit CgroupLimits(SampleLog& log) : log_(log) {}

    bool begin();
    void sample(SampleBatch& batch, std::vector<char>& buffer);

  private:
    struct Value {
        ProcFile file;
        uint32_t counter = 0;
        std::string_view key;  ///< Key of the line with the number; empty: the first number.
        double factor = 1;     ///< From the file's unit to the counter's; 0 for "quota period".
    };
    void add(const std::string& path, std::string_view key, double factor, const char* name, const char* title,
             const char* unit, log::CounterMeaning meaning);
    std::optional<double> read(const Value& value, std::vector<char>& buffer) const;

    SampleLog& log_;
    std::vector<Value> values_;
    ProcFile period_;  ///< Version 1 only.
};

/// Sampler of /proc and the control groups, for the machine and the recorded processes. Files are
/// kept open. On a machine with many processors or processes the kernel takes ms to produce them,
/// so expensive ones are read more rarely; see `Pace`.
class HostSampler : public Sampler {
  public:
    static constexpr double shareOfCore = 0.0006;

    /// `recorder` is the process of `lanescope record`, an ancestor of the recorded processes.
    HostSampler(SampleLog& log, int64_t periodNs, pid_t recorder);

    const char* source() const override { return "host"; }
    const char* title() const override { return "/proc"; }
    bool begin() override;
    bool sample() override;
    int64_t dueNs() const override { return pace_.nextDueNs(); }
    void end() override { log_.property(facts::samplerIntervalsHost, pace_.describe()); }

  private:
    struct Core {
        uint32_t counter = 0;
        CpuShare share;
    };
    struct Traffic {
        const char* what;
        const char *names[2], *directions[2];
    };
    using PerDevice = std::map<std::string, std::pair<uint32_t, uint32_t>, std::less<>>;

    uint32_t addCounter(const char* name, std::string title, const char* unit, log::CounterMeaning meaning);
    void ask(size_t query);
    void sampleCores();
    void sampleStolen(long long ticks);
    void sampleMemory();
    void sampleDisks();
    void sampleNetwork();
    bool isDisk(std::string_view device);
    void addTraffic(PerDevice& devices, std::string_view device, const Traffic& traffic, int64_t first, int64_t second);

    SampleLog& log_;
    Pace pace_;
    ProcessCounters processes_;
    ProcFile stat_, memory_, disks_, network_;
    CgroupLimits cgroup_{log_};
    std::vector<char> buffer_;
    SampleBatch batch_;
    double nsPerTick_ = 1e7;
    std::vector<Core> cores_;  ///< The first is the whole machine.
    int64_t coresReadNs_ = 0;
    uint32_t availableMemory_ = 0, stolen_ = 0;
    std::map<std::string, bool, std::less<>> isDisk_;
    PerDevice diskCounters_, networkCounters_;
};

}  // namespace lanescope::capture
