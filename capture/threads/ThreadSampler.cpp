// SPDX-License-Identifier: Apache-2.0
#include "capture/threads/ThreadSampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "capture/log/LogFolder.h"
#include "capture/log/clocks.h"
#include "capture/machine/Machine.h"
#include "capture/sample/sampleTime.h"
#include "model/format/factNames.h"
#include "model/format/text.h"

namespace lanescope::capture {

namespace {

/// Maximum length of a tick; a core adds the time of its running thread at each tick.
constexpr int64_t tickNs = 8'000'000;
/// Divisor of the passed time. A thread whose time on a core grew by less is waiting for a core.
constexpr int64_t shareOfNothing = 16;

/// First interval between two readings of the memory map; it doubles each time.
constexpr int64_t firstImagesNs = 100'000'000;
constexpr int maxDoublings = 7;

constexpr int64_t ms = 1'000'000;
/// Periods of the search for processes and threads: at first, while everything starts, and later.
constexpr int64_t beginningNs = 2'000 * ms, findAtFirstNs = 50 * ms, findNs = 1'000 * ms;
constexpr uint64_t findsAtAllThreads = 5;
constexpr uint64_t turnsOfAll = 5;
constexpr int64_t flushNs = 250 * ms;
constexpr int64_t judgeNs = 1'000 * ms;
/// Weight of the latest second in the mean cost, against all seconds before, because single seconds vary on a busy
/// machine.
constexpr double partOfLatest = 0.2;
/// Maximum share of a core per GPU, and maximum slowdown of turns to keep to it.
constexpr double shareOfGpu = 0.0045;
constexpr double maxSlowness = 10;
/// Approximate cost of a wake-up for a turn.
constexpr int64_t wakeUpNs = 15'000;

}  // namespace

WatchedThread::WatchedThread(pid_t process, pid_t thread, SampleLog& log)
    : log_(log),
      process_(process),
      thread_(thread),
      folder_(fmt::format("/proc/{}/task/{}/", process, thread)),
      times_(folder_ + "schedstat"),
      runs_(log, static_cast<uint32_t>(process), static_cast<uint32_t>(thread)) {}

bool WatchedThread::readTimes(std::vector<char>& buffer, Times& times) const {
    std::string_view text = times_.readLine(buffer);
    if (text.empty()) return false;
    times.cpuNs = numberIn(takeWord(text));
    times.delayNs = numberIn(takeWord(text));
    times.slices = numberIn(takeWord(text));
    return true;
}

SystemCall WatchedThread::readCall(std::vector<char>& buffer) {
    if (!hasCall_) {
        call_ = ProcFile(folder_ + "syscall");
        status_ = ProcFile(folder_ + "status");
        hasCall_ = true;
    }
    const SystemCall call = parseSystemCall(call_.readLine(buffer));
    hasCalls_ = call.isKnown;
    return call;
}

/// Returns the kernel's number of its waits so far; 0 if unknown.
int64_t WatchedThread::readWaits(std::vector<char>& buffer) {
    constexpr std::string_view key = "\nvoluntary_ctxt_switches:";
    std::string_view text = status_.readLine(buffer);
    const size_t at = text.find(key);
    if (at == std::string_view::npos) return 0;
    text.remove_prefix(at + key.size());
    return numberIn(takeWord(text));
}

/// Returns the letter after the name: R, S, D, ...; 0 if it cannot be read.
char WatchedThread::readState(std::vector<char>& buffer) const {
    const std::string_view text = ProcFile(folder_ + "stat").readLine(buffer);
    const size_t end = text.rfind(") ");
    return end == std::string_view::npos || end + 2 >= text.size() ? '\0' : text[end + 2];
}

bool WatchedThread::sample(int64_t nowNs, PythonProcess* python, RemoteMemory& memory, std::vector<char>& buffer) {
    Times times;
    const bool hasTimes = readTimes(buffer, times);
    if (times_.isOpen() && !hasTimes) return false;
    const bool isFirst = runs_.latestNs() == 0;
    Times since;
    if (!isFirst) since = {times.cpuNs - latest_.cpuNs, times.delayNs - latest_.delayNs, times.slices - latest_.slices};
    const bool hasSlept = hasTimes && !isFirst && since == Times{} && isWaiting(runs_.latest().state);
    latest_ = times;
    busy_ = std::clamp(busy_ + (hasSlept ? -1 : 1), 0, maxBusy);
    if (hasSlept) {
        runs_.add(nowNs, runs_.latest(), 0, 0);
        return true;
    }
    SystemCall call = readCall(buffer);
    if (!call.isKnown) {
        const char state = readState(buffer);
        if (state == '\0') return false;
        call.isRunning = state == 'R';
    }
    const int64_t waits = readWaits(buffer);
    const int64_t waitsSince = isFirst ? 0 : waits - latestWaits_;
    latestWaits_ = waits;
    if (python) {
        memory.begin(trail_);
        stack_ = python->stackOf(thread_);
        memory.endTrail();
    } else {
        stack_ = 0;
    }
    const int64_t passedNs = isFirst ? 0 : nowNs - runs_.latestNs();
    const ThreadSample seen = sampleOf(call, passedNs, since, python, buffer);
    runs_.add(nowNs, seen, since.cpuNs, since.delayNs, since.slices, waitsSince);
    return true;
}

ThreadSample WatchedThread::sampleOf(const SystemCall& call, int64_t passedNs, const Times& since,
                                     PythonProcess* python, std::vector<char>& buffer) {
    ThreadSample seen{.stack = stack_};
    if (call.isRunning) {
        // A running thread is counted at each tick; a runnable thread without counted time waits
        // for a core. The duration of that wait is counted when it has got one.
        const bool hasNothing = times_.isOpen() && passedNs >= tickNs && since.cpuNs < passedNs / shareOfNothing &&
                                !isWaiting(runs_.latest().state);
        const bool hasWaited = passedNs > 0 && since.delayNs > passedNs / 2;
        seen.state = hasNothing || hasWaited ? ThreadState::Runnable : ThreadState::Running;
        return seen;
    }
    if (!call.isKnown) {
        seen.state = readState(buffer) == 'D' ? ThreadState::Disk : ThreadState::Blocked;
        return seen;
    }
    seen.state = sleepReason(call);
    seen.call = nameOfCall(call.number);
    if (isFutex(call.number) && python && python->isGil(call.argument)) {
        seen.state = ThreadState::Gil;
        if (const pid_t holder = python->gilHolder(); holder > 0 && holder != thread_) {
            seen.holderThread = static_cast<uint32_t>(holder);
            seen.holderStack = python->stackOf(holder);
        }
    } else if (mayBeDisk(call) && readState(buffer) == 'D') {
        seen.state = ThreadState::Disk;
    }
    return seen;
}

void WatchedThread::writeName(std::vector<char>& buffer) {
    // Threads are usually named at their beginning, and rarely later.
    constexpr uint32_t firstChecks = 4, laterChecks = 16;
    const uint32_t checks = nameChecks_++;
    if (checks >= firstChecks && checks % laterChecks != 0) return;
    std::string_view text = ProcFile(folder_ + "comm").readLine(buffer);
    const std::string_view name = takeUntil(text, '\n');
    if (name.empty() || name == name_) return;
    name_ = name;
    log_.addThread(static_cast<uint32_t>(process_), static_cast<uint32_t>(thread_), name_);
}

WatchedProcess::WatchedProcess(pid_t pid, SampleLog& log, StackReading& reading)
    : log_(log), reading_(reading), pid_(pid), folder_(fmt::format("/proc/{}/", pid)), memory_(pid) {}

void WatchedProcess::find(int64_t nowNs, std::vector<char>& buffer) {
    std::error_code error;
    std::string program = std::filesystem::read_symlink(folder_ + "exe", error).string();
    if (program != program_) {
        program_ = std::move(program);
        python_.reset();
        mapReadings_ = 0;
        nextImagesNs_ = 0;
    }
    memory_.forget();
    if (nowNs >= nextImagesNs_) findImages(nowNs);
    if (!isWatched_) return;
    if (python_) python_->findThreads(nowNs);
    findThreads(buffer);
}

void WatchedProcess::findImages(int64_t nowNs) {
    nextImagesNs_ = nowNs + (firstImagesNs << std::min(mapReadings_++, maxDoublings));
    if (python_ && !python_->isEmpty()) return;
    const ImagesOfProcess found = readImages(pid_, memory_);
    unknownVersion_ = found.unknownVersion;
    const bool wasWatched = isWatched_;
    isUnreadable_ = found.isHidden;
    isWatched_ |= found.python || found.usesCuda || found.isHidden || !found.unknownVersion.empty();
    if (found.python) python_.emplace(found.python, memory_, log_, reading_);
    if (isWatched_ && (!wasWatched || found.python))
        log_.addProcess(static_cast<uint32_t>(pid_), parent(), program_,
                        found.python ? std::string_view(found.python->version) : std::string_view());
}

uint32_t WatchedProcess::parent() const {
    std::vector<char> buffer;
    // "1234 (a name) S 1200 ..."
    std::string_view text = ProcFile(folder_ + "stat").readLine(buffer);
    text.remove_prefix(std::min(text.size(), text.rfind(')') + 1));
    takeWord(text);
    return static_cast<uint32_t>(numberIn(takeWord(text)));
}

void WatchedProcess::findThreads(std::vector<char>& buffer) {
    for (const std::string& name : log::namesIn(folder_ + "task")) {
        pid_t thread = 0;
        std::from_chars(name.data(), name.data() + name.size(), thread);
        if (thread <= 0) continue;
        if (threads_.size() < maxThreads) threads_.try_emplace(thread, pid_, thread, log_);
    }
    for (auto& [number, thread] : threads_) thread.writeName(buffer);
}

void WatchedProcess::sample(bool isTurnOfAll, std::vector<char>& buffer) {
    PythonProcess* const python = python_ ? &*python_ : nullptr;
    for (auto at = threads_.begin(); at != threads_.end();) {
        auto& [number, thread] = *at;
        const bool isOften =
            number == pid_ || thread.isBusy() || (python && python->hasThread(number) && !thread.isIdle());
        if ((isOften || isTurnOfAll) && !thread.sample(sampleTimeNs(), python, memory_, buffer)) {
            thread.end();
            at = threads_.erase(at);
        } else {
            ++at;
        }
    }
}

void WatchedProcess::end() {
    for (auto& [number, thread] : threads_) thread.end();
    threads_.clear();
}

bool WatchedProcess::areCallsRefused() const {
    return !threads_.empty() && std::ranges::none_of(threads_, [](const auto& each) { return each.second.hasCalls(); });
}

int usableGpus(int shown, std::optional<std::string_view> listed) {
    if (!listed) return std::max(shown, 1);
    int count = 0;
    for (std::string_view rest = *listed; !rest.empty();) {
        if (const std::string_view each = takeUntil(rest, ','); each.empty() || each.starts_with('-')) break;
        ++count;
    }
    return std::max(std::min(count, shown), 1);
}

int usableGpus() {
    int shown = 0;
    for (const std::string& name : log::namesIn("/dev"))
        if (name.starts_with("nvidia") && isNumber(std::string_view(name).substr(6))) ++shown;
    const char* listed = std::getenv("CUDA_VISIBLE_DEVICES");
    return usableGpus(shown, listed ? std::optional<std::string_view>(listed) : std::nullopt);
}

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
    judgedCpuNs_ = log::threadCpuNs();
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
    const int64_t cpuNs = log::threadCpuNs();
    const bool isTurnOfAll = turns_++ % turnsOfAll == 0;
    for (const auto& [pid, process] : processes_)
        if (process->isWatched()) process->sample(isTurnOfAll, buffer_);
    turnsCpuNs_ += log::threadCpuNs() - cpuNs + wakeUpNs;
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
    std::erase_if(processes_, [&](const auto& each) {
        const auto& [pid, process] = each;
        // A process started by a thread other than the first is not found each time.
        std::error_code error;
        const bool isThere = std::ranges::find(found, pid) != found.end() ||
                             std::filesystem::exists(fmt::format("/proc/{}/task", pid), error);
        if (!isThere) process->end();
        return !isThere;
    });
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
                      "This system does not allow reading the memory of another process; thread states have no Python "
                      "lines. CUDA calls still have them.");
        if (process->areCallsRefused() && !std::exchange(hasReportedCalls_, true))
            log_.note(Severity::Info, HealthCode::ThreadCallsRefused,
                      "This system does not report system calls of threads; wait reasons are unknown.");
    }
    if (!unknownVersion_.empty() && !std::exchange(hasReportedUnknown_, true))
        log_.note(Severity::Info, HealthCode::PythonUnknown,
                  fmt::format("Python {} has an unknown stack layout; its thread states have no lines. Supported "
                              "versions: 3.9 to 3.14.",
                              unknownVersion_));
}

/// Slows all turns down if there are too many threads, so that the mean cost of turns fits into the rest of the share.
void ThreadSampler::keepToShare(int64_t nowNs) {
    if (nowNs - judgedNs_ < judgeNs) return;
    const int64_t cpuNs = log::threadCpuNs();
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
                       100 * static_cast<double>(log::threadCpuNs()) / 1e9 / seconds,
                       static_cast<double>(turns_) / seconds, maxThreads_,
                       maxProcesses_ == 1 ? "1 process" : fmt::format("{} processes", maxProcesses_), reading_.whole,
                       reading_.inconsistent);
}

void ThreadSampler::end() {
    for (const auto& [pid, process] : processes_) process->end();
    processes_.clear();
    log_.property(facts::threadSampler, describe());
    log_.property(facts::threadStacksRead, std::to_string(reading_.whole));
    log_.property(facts::threadStacksTorn, std::to_string(reading_.inconsistent));
}

}  // namespace lanescope::capture
