// SPDX-License-Identifier: Apache-2.0
#include "capture/record/RunSamplers.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "capture/log/MomentMessage.h"
#include "capture/log/clocks.h"
#include "capture/log/launcherRank.h"
#include "capture/record/OutputName.h"
#include "capture/record/Recorder.h"
#include "capture/record/livingDescendants.h"
#include "model/format/factNames.h"

namespace lanescope::capture {

namespace {

constexpr std::chrono::seconds patience{2};

}  // namespace

void RunSamplers::prepare(const RecordOptions& options, const std::filesystem::path& runFolder) {
    // Where a file system has no pipes the counters are read at their own pace only.
    if (!options.agentOptions.sampleAt.empty())
        static_cast<void>(::mkfifo((runFolder / log::momentPipeName).c_str(), 0600));
}

RunSamplers::RunSamplers(const RecordOptions& options, const std::filesystem::path& runFolder) {
    if (options.counterHz <= 0 && options.metricsHz <= 0) return;
    const log::LauncherRank place = log::launcherRank();
    if (!place.localRank.empty() && place.localRank != "0")
        otherRank_ = place.localRank;
    else
        start(runFolder, options);
}

void RunSamplers::start(const std::filesystem::path& runFolder, const RecordOptions& options) {
    SamplerOptions common;
    common.runFolder = runFolder;
    common.host = hostName();
    common.recorder = ::getpid();
    common.eventOffsetNs = log::eventOffsetNs();
    if (options.counterHz > 0) {
        SamplerOptions counters = common;
        counters.counterHz = options.counterHz;
        // The same hardware counters, so one of them only.
        counters.usesGpm = options.metricsHz <= 0;
        startOne(counters);
    }
    if (options.metricsHz > 0) {
        SamplerOptions metrics = common;
        metrics.metricsHz = options.metricsHz;
        if (!options.commandLine.empty()) metrics.program = options.commandLine.front();
        startOne(metrics);
    }
}

void RunSamplers::startOne(const SamplerOptions& options) {
    auto process = SamplerProcess::start(options);
    if (process)
        processes_.push_back(std::move(*process));
    else
        problem_ = process.error().sentence;
}

std::vector<pid_t> RunSamplers::others() const {
    std::vector<pid_t> pids = livingDescendants();
    std::erase_if(pids, [this](pid_t pid) {
        return std::any_of(processes_.begin(), processes_.end(),
                           [pid](const SamplerProcess& process) { return process.pid() == pid; });
    });
    return pids;
}

bool RunSamplers::areNotAlone() const {
    if (processes_.empty()) return true;
    // A process whose parent ends while the list is made may hang in the air there: a daemon just
    // begun. In the list after that it is ours.
    return !others().empty() || !others().empty();
}

void RunSamplers::end(Collector& collector) {
    for (SamplerProcess& process : processes_) process.requestEnd();
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (SamplerProcess& process : processes_) process.waitUntil(deadline);
    processes_.clear();
    if (!problem_.empty())
        collector.note(HealthCode::SamplerAbsent,
                       problem_ + " There are no counters in the trace.");
    if (!otherRank_.empty())
        collector.property(facts::samplers,
                           "none here: local rank 0 samples this host, and this is " + otherRank_);
}

}  // namespace lanescope::capture
