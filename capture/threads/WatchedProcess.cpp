// SPDX-License-Identifier: Apache-2.0
#include "capture/threads/WatchedProcess.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "capture/log/namesIn.h"
#include "capture/sample/sampleTime.h"

namespace lanescope::capture {

namespace {

/// Maximum length of a tick; a core adds the time of its running thread at each tick.
constexpr int64_t tickNs = 8'000'000;
/// Divisor of the passed time: with less time on a core, nothing was counted, so the thread waits for a core.
constexpr int64_t shareOfNothing = 16;

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
    const Times since{times.cpuNs - latest_.cpuNs, times.delayNs - latest_.delayNs, times.slices - latest_.slices};
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
    runs_.add(nowNs, seen, isFirst ? 0 : since.cpuNs, isFirst ? 0 : since.delayNs, isFirst ? 0 : since.slices,
              waitsSince);
    return true;
}

ThreadSample WatchedThread::sampleOf(const SystemCall& call, int64_t passedNs, const Times& since,
                                     PythonProcess* python, std::vector<char>& buffer) {
    ThreadSample seen;
    seen.stack = stack_;
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
        const pid_t holder = python->gilHolder();
        if (holder > 0 && holder != thread_) {
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

namespace {

/// First interval between two readings of the memory map; it doubles each time.
constexpr int64_t firstImagesNs = 100'000'000;
constexpr int maxDoublings = 7;

}  // namespace

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
    for (auto at = threads_.begin(); at != threads_.end();) {
        auto& [number, thread] = *at;
        const bool isOften =
            number == pid_ || thread.isBusy() || (python_ && python_->hasThread(number) && !thread.isIdle());
        PythonProcess* const python = python_ ? &*python_ : nullptr;
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

}  // namespace lanescope::capture
