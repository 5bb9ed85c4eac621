// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "capture/sample/Pace.h"
#include "capture/sample/ProcFile.h"
#include "capture/sample/ProcessCounters.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"
#include "model/format/factNames.h"

namespace lanescope::capture {

/// What the control group that we are in allows and uses: processor time and memory, of version 1
/// or
/// 2. Where there is no limit there is no counter of it.
class CgroupLimits {
  public:
    explicit CgroupLimits(SampleLog& log) : log_(log) {}

    /// Looks for the files; true if any can be read.
    bool begin();
    void sample(SampleBatch& batch, std::vector<char>& buffer);

  private:
    struct Value {
        ProcFile file;
        uint32_t counter = 0;
        std::string_view key;  ///< Of the line whose number it is; empty: the first number.
        double factor = 1;     ///< From the file's unit to ours; 0 for "quota period".
    };
    void add(const std::string& path, std::string_view key, double factor, const char* name,
             const char* title, const char* unit, log::CounterMeaning meaning);
    bool read(const Value& value, std::vector<char>& buffer, double& number) const;

    SampleLog& log_;
    std::vector<Value> values_;
    ProcFile period_;  ///< Version 1 only.
};

/// What /proc and the control groups tell of the machine and of the recorded processes. Files are
/// kept open. On a machine with many processors, or with many processes, the kernel takes
/// milliseconds to write it all down, so what is dear is read more seldom; see `Pace`.
class HostSampler : public Sampler {
  public:
    /// What all of it may take of a core.
    static constexpr double shareOfCore = 0.0006;

    /// `recorder` is the process of `lanescope record`, below which the recorded ones are.
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
    /// What two counters of a device are called.
    struct Traffic {
        const char* what;
        const char *names[2], *directions[2];
    };
    using PerDevice = std::map<std::string, std::pair<uint32_t, uint32_t>, std::less<>>;

    uint32_t addCounter(const char* name, std::string title, const char* unit,
                        log::CounterMeaning meaning);
    void ask(size_t query);
    void sampleCores();
    void sampleStolen(long long ticks);
    void sampleMemory();
    void sampleDisks();
    void sampleNetwork();
    bool isDisk(std::string_view device);
    void addTraffic(PerDevice& devices, std::string_view device, const Traffic& traffic,
                    int64_t first, int64_t second);

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
