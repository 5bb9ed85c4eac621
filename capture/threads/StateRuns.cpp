// SPDX-License-Identifier: Apache-2.0
#include "capture/threads/StateRuns.h"

#include <sys/syscall.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

#include "capture/sample/ProcessCounters.h"

namespace lanescope::capture {

namespace {

struct Call {
    int64_t number;
    std::string_view name;
    ThreadState reason;
};

/// Calls in which threads commonly wait. A sleep in any other call is `Blocked`.
constexpr Call calls[] = {
    {SYS_futex, "futex", ThreadState::Lock},
    {SYS_ppoll, "ppoll", ThreadState::Poll},
    {SYS_pselect6, "pselect6", ThreadState::Poll},
    {SYS_epoll_pwait, "epoll_pwait", ThreadState::Poll},
#ifdef SYS_poll  // and the others of x86
    {SYS_poll, "poll", ThreadState::Poll},
    {SYS_select, "select", ThreadState::Poll},
    {SYS_epoll_wait, "epoll_wait", ThreadState::Poll},
#endif
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, "epoll_pwait2", ThreadState::Poll},
#endif
    {SYS_read, "read", ThreadState::Poll},
    {SYS_readv, "readv", ThreadState::Poll},
    {SYS_pread64, "pread64", ThreadState::Poll},
    {SYS_preadv, "preadv", ThreadState::Poll},
    {SYS_write, "write", ThreadState::Poll},
    {SYS_writev, "writev", ThreadState::Poll},
    {SYS_pwrite64, "pwrite64", ThreadState::Poll},
    {SYS_recvfrom, "recvfrom", ThreadState::Poll},
    {SYS_recvmsg, "recvmsg", ThreadState::Poll},
    {SYS_sendto, "sendto", ThreadState::Poll},
    {SYS_sendmsg, "sendmsg", ThreadState::Poll},
    {SYS_accept, "accept", ThreadState::Poll},
    {SYS_accept4, "accept4", ThreadState::Poll},
    {SYS_connect, "connect", ThreadState::Poll},
    {SYS_io_getevents, "io_getevents", ThreadState::Disk},
    {SYS_fsync, "fsync", ThreadState::Disk},
    {SYS_fdatasync, "fdatasync", ThreadState::Disk},
    {SYS_sync_file_range, "sync_file_range", ThreadState::Disk},
    {SYS_msync, "msync", ThreadState::Disk},
    {SYS_openat, "openat", ThreadState::Disk},
    {SYS_nanosleep, "nanosleep", ThreadState::Sleep},
    {SYS_clock_nanosleep, "clock_nanosleep", ThreadState::Sleep},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait", ThreadState::Blocked},
    {SYS_ioctl, "ioctl", ThreadState::Device},
    {SYS_wait4, "wait4", ThreadState::Child},
    {SYS_waitid, "waitid", ThreadState::Child},
};

const Call* find(int64_t number) {
    const auto* const found = std::ranges::find(calls, number, &Call::number);
    return found == std::end(calls) ? nullptr : found;
}

uint64_t hexIn(std::string_view word) {
    uint64_t number = 0;
    if (word.starts_with("0x")) word.remove_prefix(2);
    std::from_chars(word.data(), word.data() + word.size(), number, 16);
    return number;
}

/// Number of latest samples that determine how much a thread waits for the GIL, and minimum share that counts.
constexpr double gilSamples = 16, minGilShare = 0.05, maxGilShare = 0.9;

/// Returns true if the thread runs Python code, or would with the GIL.
bool isActive(ThreadState state) { return !isWaiting(state) || state == ThreadState::Gil; }

/// Returns true if a thread that had or wanted a core for `ranNs` of `passedNs` both ran and waited.
bool didBoth(int64_t ranNs, int64_t passedNs) { return ranNs > passedNs / 10 && ranNs < passedNs - passedNs / 10; }

}  // namespace

SystemCall parseSystemCall(std::string_view text) {
    SystemCall call;
    const std::string_view first = takeWord(text);
    if (first.empty()) return call;
    call.isKnown = true;
    call.isRunning = first == "running";
    call.number = numberIn(first, -1);
    if (call.number >= 0) call.argument = hexIn(takeWord(text));
    return call;
}

ThreadState sleepReason(const SystemCall& call) {
    // Outside of a call, a thread sleeps for a page that is read for it.
    if (call.number < 0) return ThreadState::Disk;
    const Call* const known = find(call.number);
    return known ? known->reason : ThreadState::Blocked;
}

std::string_view nameOfCall(int64_t number) {
    const Call* const known = find(number);
    return known ? known->name : std::string_view{};
}

bool isFutex(int64_t number) { return number == SYS_futex; }

bool mayBeDisk(const SystemCall& call) {
    constexpr int64_t ofFiles[] = {SYS_read, SYS_readv, SYS_pread64, SYS_preadv, SYS_write, SYS_writev, SYS_pwrite64};
    return std::ranges::find(ofFiles, call.number) != std::end(ofFiles) || !find(call.number);
}

void StateRuns::add(int64_t nowNs, const ThreadSample& seen, int64_t cpuNs, int64_t delayNs, int64_t slices,
                    int64_t waits) {
    if (isActive(seen.state)) gilShare_ += ((seen.state == ThreadState::Gil ? 1.0 : 0.0) - gilShare_) / gilSamples;
    const bool isContended = gilShare_ > minGilShare;
    // One edge takes one turn on a core, and one more if other threads want it too.
    constexpr int64_t minSlicesOfSeveralEdges = 3;
    if (latestNs_ != 0) keepWait(seen, nowNs - latestNs_);
    if (latestNs_ == 0) {
        begin(nowNs, seen);
    } else if (const auto wait =
                   isUnseenBetween(seen, nowNs - latestNs_ - cpuNs - delayNs, waits) ? lackingWait() : std::nullopt) {
        waitBetween(nowNs, seen, cpuNs, delayNs, *wait);
    } else if (seen == seen_) {
        cpuNs_ += cpuNs;
        delayNs_ += delayNs;
        if (nowNs - startNs_ >= maxRunNs) turn(nowNs, seen);
    } else if (isContended && isActive(seen_.state) != isActive(seen.state)) {
        leaveOrEnterContended(nowNs, seen, cpuNs, delayNs);
    } else if (slices >= minSlicesOfSeveralEdges && (isWaiting(seen_.state) || isWaiting(seen.state)) &&
               didBoth(cpuNs + delayNs, nowNs - latestNs_)) {
        goToAndFro(nowNs, seen, cpuNs, delayNs);
    } else {
        change(nowNs, seen, cpuNs, delayNs, waits);
    }
    ++samples_;
    latestNs_ = nowNs;
}

bool StateRuns::isUnseenBetween(const ThreadSample& seen, int64_t waitedNs, int64_t waits) const {
    return seen_.state == ThreadState::Running && seen.state == ThreadState::Running && waits > 0 &&
           waitedNs >= minUnseenNs && gilShare_ <= minGilShare;
}

/// Handles the time between a sample in which the thread was active and one in which it waited for something other than
/// the GIL. Its time on a core is counted; its wait for the GIL in addition is estimated from its samples.
void StateRuns::leaveOrEnterContended(int64_t nowNs, const ThreadSample& seen, int64_t cpuNs, int64_t delayNs) {
    const int64_t passedNs = nowNs - latestNs_;
    const int64_t ranNs = std::clamp<int64_t>(cpuNs + delayNs, 0, passedNs);
    const double freeShare = 1 - std::min(gilShare_, maxGilShare);
    const auto activeNs = std::min(passedNs, static_cast<int64_t>(static_cast<double>(ranNs) / freeShare));
    const bool wasActive = isActive(seen_.state);
    ThreadSample active = wasActive ? seen_ : seen;
    active.state = ThreadState::Gil;
    const int64_t edgeNs = wasActive ? latestNs_ + activeNs : nowNs - activeNs;
    turn(wasActive ? latestNs_ : edgeNs, active, cpuNs, delayNs);
    turn(wasActive ? edgeNs : nowNs, seen);
}

void StateRuns::keepWait(const ThreadSample& seen, int64_t passedNs) {
    // The thread's behavior changes slowly, and so does the distance of samples.
    constexpr double keptOfBefore = 0.999, partOfLatest = 0.02;
    const auto passed = static_cast<double>(passedNs);
    distanceNs_ = distanceNs_ == 0 ? passed : distanceNs_ + partOfLatest * (passed - distanceNs_);
    if (isActive(seen.state)) return;
    for (Wait& each : waits_) {
        each.seenNs *= keptOfBefore;
        each.givenNs *= keptOfBefore;
    }
    Wait& wait = waits_[static_cast<size_t>(seen.state)];
    wait.seenNs += distanceNs_;
    wait.call = seen.call;
}

std::optional<ThreadSample> StateRuns::lackingWait() const {
    double seenNs = 0, givenNs = 0;
    for (const Wait& each : waits_) {
        seenNs += each.seenNs;
        givenNs += each.givenNs;
    }
    if (seenNs == 0) return std::nullopt;
    const auto lackOf = [&](const Wait& each) {
        return each.seenNs > 0 ? each.seenNs / seenNs * givenNs - each.givenNs : std::numeric_limits<double>::lowest();
    };
    const auto largest = std::ranges::max_element(waits_, {}, lackOf);
    return ThreadSample{.state = static_cast<ThreadState>(largest - waits_.begin()), .call = largest->call};
}

ThreadSample StateRuns::unsampledWait(const ThreadSample& wait) const {
    // A thread that alternately waits for the GIL also alternately has it; samples show that on average.
    if (isActive(wait.state)) return wait;
    const std::optional<ThreadSample> lacking = lackingWait();
    return lacking && lacking->state != wait.state ? *lacking : wait;
}

/// Handles the wait between two samples in which it ran, whatever happened in between.
void StateRuns::waitBetween(int64_t nowNs, const ThreadSample& seen, int64_t cpuNs, int64_t delayNs,
                            const ThreadSample& wait) {
    const int64_t ranNs = cpuNs + delayNs;
    cpuNs_ += cpuNs / 2;
    delayNs_ += delayNs / 2;
    turn(latestNs_ + ranNs / 2, wait);
    turn(nowNs - (ranNs - ranNs / 2), seen, cpuNs - cpuNs / 2, delayNs - delayNs / 2);
}

void StateRuns::goToAndFro(int64_t nowNs, const ThreadSample& seen, int64_t cpuNs, int64_t delayNs) {
    const bool didWait = isWaiting(seen_.state);
    // Two waits get equal shares of the time: samples fall into both alike, whichever it was.
    const ThreadSample first = didWait ? seen_ : unsampledWait(seen);
    const ThreadSample second = isWaiting(seen.state) ? seen : unsampledWait(first);
    const int64_t parts = first == second ? 1 : 2;
    turn(latestNs_, first, cpuNs / parts, delayNs / parts);
    if (parts > 1) turn(latestNs_ + (nowNs - latestNs_) / 2, second, cpuNs - cpuNs / parts, delayNs - delayNs / parts);
    turn(nowNs, seen);
}

void StateRuns::change(int64_t nowNs, const ThreadSample& seen, int64_t cpuNs, int64_t delayNs, int64_t waitsBegun) {
    const int64_t passedNs = nowNs - latestNs_;
    const int64_t ranNs = std::clamp<int64_t>(cpuNs + delayNs, 0, passedNs);
    const int64_t waitedNs = passedNs - ranNs;
    const bool didWait = isWaiting(seen_.state), waits = isWaiting(seen.state);
    // A running thread begins only the wait in which it is sampled next. A thread sampled in a wait
    // has begun it before.
    const bool isUnseen = didWait != waits && waitsBegun > (didWait ? 0 : 1) && waitedNs >= minUnseenNs;
    if (didWait && waits && ranNs >= minRunNs) {
        // It ran in between, at an unsampled line.
        const int64_t runBeginNs = latestNs_ + (passedNs - ranNs) / 2;
        turn(runBeginNs, {.state = ThreadState::Running}, cpuNs, delayNs);
        turn(runBeginNs + ranNs, seen);
        return;
    }
    int64_t boundaryNs = latestNs_ + passedNs / 2;
    bool isNew = false;  // true if the running part belongs to the present sample
    if (waits && !didWait) {
        boundaryNs = latestNs_ + ranNs;
        const ThreadSample unseen = isUnseen ? unsampledWait(seen) : seen;
        if (unseen != seen) {
            cpuNs_ += cpuNs;
            delayNs_ += delayNs;
            turn(boundaryNs, unseen);
            cpuNs = delayNs = 0;
            boundaryNs += waitedNs / 2;
        }
    }
    if (didWait && !waits) {
        const ThreadSample unseen = isUnseen ? unsampledWait(seen_) : seen_;
        if (unseen != seen_) turn(latestNs_ + waitedNs / 2, unseen);
        boundaryNs = nowNs - ranNs;
        isNew = true;
        if (const int64_t delayedNs = std::min(delayNs, ranNs); delayedNs >= minRunNs) {
            // Woken, and at the place of its wait until it got a core.
            turn(boundaryNs, {.state = ThreadState::Runnable, .stack = seen_.stack}, 0, delayedNs);
            boundaryNs += delayedNs;
            delayNs -= delayedNs;
        }
    }
    if (!isNew) {
        cpuNs_ += cpuNs;
        delayNs_ += delayNs;
    }
    turn(boundaryNs, seen, isNew ? cpuNs : 0, isNew ? delayNs : 0);
}

void StateRuns::turn(int64_t timeNs, const ThreadSample& seen, int64_t cpuNs, int64_t delayNs) {
    close(timeNs);
    begin(timeNs, seen);
    cpuNs_ = cpuNs;
    delayNs_ = delayNs;
}

void StateRuns::begin(int64_t startNs, const ThreadSample& seen) {
    seen_ = seen;
    startNs_ = startNs;
    cpuNs_ = delayNs_ = 0;
    samples_ = 0;
}

void StateRuns::close(int64_t endNs) {
    // An empty run may still have time on a core that the kernel reported late.
    if (endNs <= startNs_ && cpuNs_ + delayNs_ == 0) return;
    if (!isActive(seen_.state))
        waits_[static_cast<size_t>(seen_.state)].givenNs +=
            static_cast<double>(std::max<int64_t>(endNs - startNs_ - cpuNs_ - delayNs_, 0));
    log::ThreadRunRecord record{};
    record.startNs = startNs_;
    record.endNs = std::max(endNs, startNs_);
    record.cpuNs = cpuNs_;
    record.delayNs = delayNs_;
    record.processId = process_;
    record.threadId = thread_;
    record.stack = seen_.stack;
    record.holderThread = seen_.holderThread;
    record.holderStack = seen_.holderStack;
    record.state = static_cast<uint32_t>(seen_.state);
    record.samples = samples_;
    log_.write(record, seen_.call);
}

void StateRuns::end() {
    if (latestNs_ != 0) close(latestNs_);
    latestNs_ = 0;
}

}  // namespace lanescope::capture
