// SPDX-License-Identifier: Apache-2.0
#include "capture/threads/ThreadSampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "capture/log/clocks.h"
#include "capture/log/namesIn.h"
#include "capture/machine/Machine.h"
#include "capture/sample/sampleTime.h"
#include "model/format/factNames.h"

namespace lanescope::capture {

int usableGpus(int shown, std::optional<std::string_view> listed) {
    if (!listed) return std::max(shown, 1);
    int count = 0;
    for (std::string_view rest = *listed; !rest.empty();) {
        const size_t end = std::min(rest.find(','), rest.size());
        const std::string_view each = rest.substr(0, end);
        if (each.empty() || each.starts_with('-')) break;
        ++count;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return std::max(std::min(count, shown), 1);
}

int usableGpus() {
    int shown = 0;
    for (const std::string& name : log::namesIn("/dev")) {
        if (name.starts_with("nvidia") && name.size() > 6 &&
            name.find_first_not_of("0123456789", 6) == std::string::npos)
            ++shown;
    }
    const char* listed = std::getenv("CUDA_VISIBLE_DEVICES");
    return usableGpus(shown, listed ? std::optional<std::string_view>(listed) : std::nullopt);
}

namespace {

constexpr int64_t ms = 1'000'000;
/// Periods of the search for processes and threads: at first, while everything starts, and later.
constexpr int64_t beginningNs = 2'000 * ms, findAtFirstNs = 50 * ms, findNs = 1'000 * ms;
constexpr uint64_t findsAtAllThreads = 5;
constexpr uint64_t turnsOfAll = 5;
constexpr int64_t flushNs = 250 * ms;
constexpr int64_t judgeNs = 1'000 * ms;
/// Weight of the latest second against all before: a busy machine makes it uneven.
constexpr double partOfLatest = 0.2;
/// Maximum share of a core per GPU, and maximum slowdown of turns to keep to it.
constexpr double shareOfGpu = 0.0045;
constexpr double maxSlowness = 10;
/// Approximate cost of a wake-up for a turn.
constexpr int64_t wakeUpNs = 15'000;

}  // namespace

ThreadSampler::ThreadSampler(SampleLog& log, double hz, pid_t recorder, bool readsStacks)
    : log_(log),
      periodNs_(static_cast<int64_t>(1e9 / std::clamp(hz, 0.1, maxHz))),
      tree_(recorder),
      reading_{.isWanted = readsStacks} {}

bool ThreadSampler::begin() {
    raiseFileLimit();
    shareOfCore_ =
        shareOfGpu * usableGpus() * std::max(1.0, static_cast<double>(10 * ms) / static_cast<double>(periodNs_));
    begunNs_ = judgedNs_ = log::monotonicNs();
    judgedCpuNs_ = threadCpuNs();
    random_ ^= static_cast<uint64_t>(begunNs_);
    return true;
}

int64_t ThreadSampler::untilNextNs() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    const double part = 0.5 + static_cast<double>(random_ >> 11) * 0x1p-53;
    return static_cast<int64_t>(part * slowness_ * static_cast<double>(periodNs_));
}

bool ThreadSampler::sample() {
    const int64_t nowNs = log::monotonicNs();
    if (nowNs >= nextFindNs_) {
        findProcesses(nowNs);
        nextFindNs_ = nowNs + (nowNs - begunNs_ < beginningNs ? findAtFirstNs : findNs);
    }
    const int64_t cpuNs = threadCpuNs();
    const bool isTurnOfAll = turns_++ % turnsOfAll == 0;
    for (const auto& [pid, process] : processes_)
        if (process->isWatched()) process->sample(isTurnOfAll, buffer_);
    turnsCpuNs_ += threadCpuNs() - cpuNs + wakeUpNs;
    if (nowNs >= nextFlushNs_) {
        log_.flush();
        nextFlushNs_ = nowNs + flushNs;
    }
    keepToShare(nowNs);
    nextNs_ = nowNs + untilNextNs();
    return true;
}

void ThreadSampler::findProcesses(int64_t nowNs) {
    const std::vector<pid_t> found = tree_.find(processSearches_++ % findsAtAllThreads == 0);
    size_t threads = 0, watched = 0;
    for (auto at = processes_.begin(); at != processes_.end();) {
        // A process started by a thread other than the first is not found each time.
        std::error_code error;
        const bool isThere = std::ranges::find(found, at->first) != found.end() ||
                             std::filesystem::exists(fmt::format("/proc/{}/task", at->first), error);
        if (isThere) {
            ++at;
            continue;
        }
        at->second->end();
        at = processes_.erase(at);
    }
    for (const pid_t pid : found) {
        auto& process = processes_[pid];
        if (!process) process = std::make_unique<WatchedProcess>(pid, log_, reading_);
    }
    for (const auto& [pid, process] : processes_) {
        process->find(nowNs, buffer_);
        if (!process->isWatched()) continue;
        ++watched;
        threads += process->threadCount();
        if (!process->unknownVersion().empty()) unknownVersion_ = process->unknownVersion();
    }
    maxThreads_ = std::max(maxThreads_, threads);
    maxProcesses_ = std::max(maxProcesses_, watched);
    noteRefusals();
}

void ThreadSampler::noteRefusals() {
    for (const auto& [pid, process] : processes_) {
        if (!process->isWatched() || process->threadCount() == 0) continue;
        if (process->runsPython() && process->isMemoryRefused() && !std::exchange(hasReportedMemory_, true))
            log_.note(Severity::Info, HealthCode::ThreadStacksRefused,
                      "This system does not allow reading the memory of another process; thread "
                      "states have no Python lines. CUDA calls still have them.");
        if (process->areCallsRefused() && !std::exchange(hasReportedCalls_, true))
            log_.note(Severity::Info, HealthCode::ThreadCallsRefused,
                      "This system does not report system calls of threads; wait reasons are unknown.");
    }
    if (!unknownVersion_.empty() && !std::exchange(hasReportedUnknown_, true))
        log_.note(Severity::Info, HealthCode::PythonUnknown,
                  fmt::format("Python {} has an unknown stack layout; its thread states have no "
                              "lines. Supported versions: 3.9 to 3.14.",
                              unknownVersion_));
}

/// Slows all turns down if there are too many threads, so that the mean cost of turns fits into the rest of the share.
void ThreadSampler::keepToShare(int64_t nowNs) {
    if (nowNs - judgedNs_ < judgeNs) return;
    const int64_t cpuNs = threadCpuNs();
    const auto passed = static_cast<double>(nowNs - judgedNs_);
    const auto turns = static_cast<double>(turns_ - judgedTurns_);
    const auto turnsCost = static_cast<double>(turnsCpuNs_);
    const double other = static_cast<double>(cpuNs - judgedCpuNs_) - turnsCost;
    // The beginning, with its searches, does not count.
    if (nowNs - begunNs_ > beginningNs && turns > 0) {
        const double part = costOfTurn_ == 0 ? 1 : partOfLatest;
        costOfTurn_ += part * (turnsCost / turns - costOfTurn_);
        shareOfOther_ += part * (other / passed - shareOfOther_);
        const double left = std::max(shareOfCore_ - shareOfOther_, shareOfCore_ / maxSlowness);
        slowness_ = std::clamp(costOfTurn_ / (left * static_cast<double>(periodNs_)), 1.0, maxSlowness);
    }
    judgedNs_ = nowNs;
    judgedCpuNs_ = cpuNs;
    judgedTurns_ = turns_;
    turnsCpuNs_ = 0;
}

/// Returns a summary such as "0.31 % of a core at 97 Hz: up to 41 threads of 5 processes; 28412 stacks read".
std::string ThreadSampler::describe() const {
    const double seconds = std::max(static_cast<double>(log::monotonicNs() - begunNs_) / 1e9, 1e-3);
    return fmt::format("{:.2f} % of a core at {:.0f} Hz: up to {} threads of {}; {} stacks read, {} inconsistent",
                       100 * static_cast<double>(threadCpuNs()) / 1e9 / seconds, static_cast<double>(turns_) / seconds,
                       maxThreads_, maxProcesses_ == 1 ? "1 process" : fmt::format("{} processes", maxProcesses_),
                       reading_.whole, reading_.inconsistent);
}

void ThreadSampler::end() {
    for (const auto& [pid, process] : processes_) process->end();
    processes_.clear();
    log_.property(facts::threadSampler, describe());
    log_.property(facts::threadStacksRead, std::to_string(reading_.whole));
    log_.property(facts::threadStacksTorn, std::to_string(reading_.inconsistent));
}

}  // namespace lanescope::capture
