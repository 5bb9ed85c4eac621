// SPDX-License-Identifier: Apache-2.0
#include "capture/threads/StateRuns.h"

#include <algorithm>
#include <limits>

namespace lanescope::capture {

namespace {

/// How many of the latest looks tell how much a thread waits for the GIL, and from which share on
/// that counts.
constexpr double gilLooks = 16, leastGilShare = 0.05, mostGilShare = 0.9;

/// Whether it runs Python's code, or would if it had the GIL.
bool isActive(ThreadState state) {
    return !isWaiting(state) || state == ThreadState::Gil;
}

/// Whether a thread that had or wanted a core for `ranNs` of `passedNs` did that and wait.
bool didBoth(int64_t ranNs, int64_t passedNs) {
    return ranNs > passedNs / 10 && ranNs < passedNs - passedNs / 10;
}

}  // namespace

void StateRuns::see(int64_t nowNs, const SeenState& seen, int64_t cpuNs, int64_t delayNs,
                    int64_t slices, int64_t waits) {
    if (isActive(seen.state))
        gilShare_ += ((seen.state == ThreadState::Gil ? 1.0 : 0.0) - gilShare_) / gilLooks;
    const bool isContended = gilShare_ > leastGilShare;
    // One edge takes one turn on a core, and one more where others want it, too.
    constexpr int64_t fewestOfSeveralEdges = 3;
    if (latestNs_ != 0) keepWait(seen, nowNs - latestNs_);
    if (latestNs_ == 0) {
        begin(nowNs, seen);
    } else if (const auto wait = isUnseenBetween(seen, nowNs - latestNs_ - cpuNs - delayNs, waits)
                                     ? lackingWait()
                                     : std::nullopt) {
        waitBetween(nowNs, seen, cpuNs, delayNs, *wait);
    } else if (seen == seen_) {
        cpuNs_ += cpuNs;
        delayNs_ += delayNs;
        if (nowNs - startNs_ >= longestNs) {
            close(nowNs);
            begin(nowNs, seen);
        }
    } else if (isContended && isActive(seen_.state) != isActive(seen.state)) {
        leaveOrEnterContended(nowNs, seen, cpuNs, delayNs);
    } else if (slices >= fewestOfSeveralEdges &&
               (isWaiting(seen_.state) || isWaiting(seen.state)) &&
               didBoth(cpuNs + delayNs, nowNs - latestNs_)) {
        goToAndFro(nowNs, seen, cpuNs, delayNs);
    } else {
        change(nowNs, seen, cpuNs, delayNs, waits);
    }
    ++looks_;
    latestNs_ = nowNs;
}

bool StateRuns::isUnseenBetween(const SeenState& seen, int64_t waitedNs, int64_t waits) const {
    return seen_.state == ThreadState::Running && seen.state == ThreadState::Running && waits > 0 &&
           waitedNs >= shortestUnseenNs && gilShare_ <= leastGilShare;
}

/// Between a look at which it was active and one at which it waited for something else than the
/// GIL. How long it had a core is counted; for how long it waited for the GIL beside that, its
/// looks tell in the mean.
void StateRuns::leaveOrEnterContended(int64_t nowNs, const SeenState& seen, int64_t cpuNs,
                                      int64_t delayNs) {
    const int64_t passedNs = nowNs - latestNs_;
    const int64_t ranNs = std::clamp<int64_t>(cpuNs + delayNs, 0, passedNs);
    const double freeShare = 1 - std::min(gilShare_, mostGilShare);
    const auto activeNs =
        std::min(passedNs, static_cast<int64_t>(static_cast<double>(ranNs) / freeShare));
    const bool wasActive = isActive(seen_.state);
    SeenState active = wasActive ? seen_ : seen;
    active.state = ThreadState::Gil;
    if (wasActive) close(latestNs_);
    const int64_t edgeNs = wasActive ? latestNs_ + activeNs : nowNs - activeNs;
    if (!wasActive) close(edgeNs);
    begin(wasActive ? latestNs_ : edgeNs, active);
    cpuNs_ = cpuNs;
    delayNs_ = delayNs;
    close(wasActive ? edgeNs : nowNs);
    begin(wasActive ? edgeNs : nowNs, seen);
}

void StateRuns::keepWait(const SeenState& seen, int64_t passedNs) {
    // What the thread does changes slowly, and so does how far apart looks are.
    constexpr double keptOfBefore = 0.999, partOfLatest = 0.02;
    const auto passed = static_cast<double>(passedNs);
    apartNs_ = apartNs_ == 0 ? passed : apartNs_ + partOfLatest * (passed - apartNs_);
    if (isActive(seen.state)) return;
    for (Wait& each : waits_) {
        each.seenNs *= keptOfBefore;
        each.givenNs *= keptOfBefore;
    }
    Wait& wait = waits_[static_cast<size_t>(seen.state)];
    wait.seenNs += apartNs_;
    wait.call = seen.call;
}

std::optional<SeenState> StateRuns::lackingWait() const {
    double seenNs = 0, givenNs = 0;
    for (const Wait& each : waits_) {
        seenNs += each.seenNs;
        givenNs += each.givenNs;
    }
    if (seenNs == 0) return std::nullopt;
    const auto lackOf = [&](const Wait& each) {
        return each.seenNs > 0 ? each.seenNs / seenNs * givenNs - each.givenNs
                               : std::numeric_limits<double>::lowest();
    };
    const auto most = std::ranges::max_element(waits_, {}, lackOf);
    return SeenState{.state = static_cast<ThreadState>(most - waits_.begin()), .call = most->call};
}

SeenState StateRuns::waitBeside(const SeenState& wait) const {
    // Who waits for the GIL by turns has it by turns; looks tell that in the mean.
    if (isActive(wait.state)) return wait;
    const std::optional<SeenState> lacking = lackingWait();
    return lacking && lacking->state != wait.state ? *lacking : wait;
}

/// Between two looks at which it ran, whichever way it came from one to the other.
void StateRuns::waitBetween(int64_t nowNs, const SeenState& seen, int64_t cpuNs, int64_t delayNs,
                            const SeenState& wait) {
    const int64_t ranNs = cpuNs + delayNs;
    cpuNs_ += cpuNs / 2;
    delayNs_ += delayNs / 2;
    close(latestNs_ + ranNs / 2);
    begin(latestNs_ + ranNs / 2, wait);
    const int64_t endNs = nowNs - (ranNs - ranNs / 2);
    close(endNs);
    begin(endNs, seen);
    cpuNs_ = cpuNs - cpuNs / 2;
    delayNs_ = delayNs - delayNs / 2;
}

void StateRuns::goToAndFro(int64_t nowNs, const SeenState& seen, int64_t cpuNs, int64_t delayNs) {
    const bool didWait = isWaiting(seen_.state);
    // Of two waits each has as much of the time as the other: whichever it was, looks fall into
    // both alike.
    const SeenState first = didWait ? seen_ : waitBeside(seen);
    const SeenState second = isWaiting(seen.state) ? seen : waitBeside(first);
    close(latestNs_);
    begin(latestNs_, first);
    if (first == second) {
        cpuNs_ = cpuNs;
        delayNs_ = delayNs;
    } else {
        cpuNs_ = cpuNs / 2;
        delayNs_ = delayNs / 2;
        const int64_t middleNs = latestNs_ + (nowNs - latestNs_) / 2;
        const int64_t restNs = cpuNs - cpuNs_, restDelayNs = delayNs - delayNs_;
        close(middleNs);
        begin(middleNs, second);
        cpuNs_ = restNs;
        delayNs_ = restDelayNs;
    }
    close(nowNs);
    begin(nowNs, seen);
}

void StateRuns::change(int64_t nowNs, const SeenState& seen, int64_t cpuNs, int64_t delayNs,
                       int64_t waitsBegun) {
    const int64_t passedNs = nowNs - latestNs_;
    const int64_t ranNs = std::clamp<int64_t>(cpuNs + delayNs, 0, passedNs);
    const int64_t waitedNs = passedNs - ranNs;
    const bool didWait = isWaiting(seen_.state), waits = isWaiting(seen.state);
    // One that runs begins the wait that it is seen in next, and no other; one that is seen in a
    // wait has begun it before.
    const bool isUnseen =
        didWait != waits && waitsBegun > (didWait ? 0 : 1) && waitedNs >= shortestUnseenNs;
    if (didWait && waits && ranNs >= shortestRunNs) {
        // It did something between, at a line that nobody saw.
        const int64_t runBeginNs = latestNs_ + (passedNs - ranNs) / 2;
        close(runBeginNs);
        begin(runBeginNs, {.state = ThreadState::Running});
        cpuNs_ = cpuNs;
        delayNs_ = delayNs;
        close(runBeginNs + ranNs);
        begin(runBeginNs + ranNs, seen);
        return;
    }
    int64_t boundaryNs = latestNs_ + passedNs / 2;
    bool isNew = false;  // what runs is what was seen now
    if (waits && !didWait) {
        boundaryNs = latestNs_ + ranNs;
        const SeenState unseen = isUnseen ? waitBeside(seen) : seen;
        if (unseen != seen) {
            cpuNs_ += cpuNs;
            delayNs_ += delayNs;
            close(boundaryNs);
            begin(boundaryNs, unseen);
            cpuNs = delayNs = 0;
            boundaryNs += waitedNs / 2;
        }
    }
    if (didWait && !waits) {
        const SeenState unseen = isUnseen ? waitBeside(seen_) : seen_;
        if (unseen != seen_) {
            close(latestNs_ + waitedNs / 2);
            begin(latestNs_ + waitedNs / 2, unseen);
        }
        boundaryNs = nowNs - ranNs;
        isNew = true;
        if (const int64_t delayedNs = std::min(delayNs, ranNs); delayedNs >= shortestRunNs) {
            // Woken, and still where it waited until it got a core.
            const uint32_t stack = seen_.stack;
            close(boundaryNs);
            begin(boundaryNs, {.state = ThreadState::Runnable, .stack = stack});
            boundaryNs += delayedNs;
            delayNs_ = delayedNs;
            delayNs -= delayedNs;
        }
    }
    if (!isNew) {
        cpuNs_ += cpuNs;
        delayNs_ += delayNs;
    }
    close(boundaryNs);
    begin(boundaryNs, seen);
    if (isNew) {
        cpuNs_ = cpuNs;
        delayNs_ = delayNs;
    }
}

void StateRuns::begin(int64_t startNs, const SeenState& seen) {
    seen_ = seen;
    startNs_ = startNs;
    cpuNs_ = delayNs_ = 0;
    looks_ = 0;
}

void StateRuns::close(int64_t endNs) {
    // One that is empty may still have had a core, which the kernel told late.
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
    record.looks = looks_;
    log_.write(record, seen_.call);
}

void StateRuns::end() {
    if (latestNs_ != 0) close(latestNs_);
    latestNs_ = 0;
}

}  // namespace lanescope::capture
