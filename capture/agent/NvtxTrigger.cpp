// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/NvtxTrigger.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "capture/agent/NvtxRegistry.h"
#include "capture/log/LogFormat.h"
#include "capture/log/clocks.h"
#include "model/format/optionValues.h"
#include "model/format/text.h"

namespace lanescope::agent {

namespace {

constexpr size_t maxOpenRanges = 1024;  // limits the cost of programs that never end their ranges
constexpr int64_t tryAgainNs = 1'000'000'000;
constexpr int minDescriptor = 100;  // programs expect to get the low numbers

/// Returns the name without its final number and the separator: "iter #12" is "iter".
std::string_view withoutNumber(std::string_view name) {
    size_t end = name.size();
    while (end > 0 && isDigit(name[end - 1])) --end;
    while (end > 0 && !isLetter(name[end - 1]) && !isDigit(name[end - 1]) &&
           static_cast<unsigned char>(name[end - 1]) < 0x80)
        --end;
    return name.substr(0, end);
}

}  // namespace

MomentNotifier::MomentNotifier(std::string pattern, log::LogFolder folder)
    : pattern_(std::move(pattern)), folder_(std::move(folder)) {}

void MomentNotifier::examine(const NvtxCall& call, uint32_t threadId, int32_t level, int64_t timeNs) noexcept {
    try {
        notifyIfChosen(call, threadId, level, timeNs);
    } catch (...) {
        // Without memory the samplers get no message.
    }
}

void MomentNotifier::notifyIfChosen(const NvtxCall& call, uint32_t threadId, int32_t level, int64_t timeNs) {
    const bool isPush = call.event == log::NvtxEvent::Push;
    const bool isPop = call.event == log::NvtxEvent::Pop;
    if (isPush || call.event == log::NvtxEvent::Start) {
        const std::string_view name = call.registered ? std::string_view(*call.registered) : call.text;
        if (!matchesPattern(name, pattern_)) return;
        const std::lock_guard lock(mutex_);
        const uint64_t key = isPush ? keyOfPush(threadId, call.domain, level) : call.rangeId;
        Range range{key, occurrences_++, std::string(name.substr(0, sizeof log::MomentMessage::name))};
        notify(timeNs, range, false);
        if (open_.size() < maxOpenRanges) open_.push_back(std::move(range));
        openCount_.store(open_.size(), std::memory_order_release);
    } else if ((isPop || call.event == log::NvtxEvent::End) && openCount_.load(std::memory_order_acquire) > 0) {
        const uint64_t key = isPop ? keyOfPush(threadId, call.domain, level) : call.rangeId;
        const std::lock_guard lock(mutex_);
        const auto ended = std::ranges::find(open_.rbegin(), open_.rend(), key, &Range::key);
        if (ended == open_.rend()) return;
        notify(timeNs, *ended, true);
        open_.erase(std::next(ended).base());
        openCount_.store(open_.size(), std::memory_order_release);
    }
}

void MomentNotifier::notify(int64_t timeNs, const Range& range, bool isEnd) {
    if (!isPipeOurs()) {
        if (timeNs < nextTryNs_) return;
        nextTryNs_ = timeNs + tryAgainNs;
        // Opened for reading too, although it is never read: writing into a pipe without readers
        // would raise SIGPIPE in the program.
        const int opened = folder_.openPipe(log::momentPipeName);
        if (opened < 0) return;
        pipe_ = ::fcntl(opened, F_DUPFD_CLOEXEC, minDescriptor);
        if (pipe_ < 0)
            pipe_ = opened;
        else
            ::close(opened);
        struct stat status {};
        if (::fstat(pipe_, &status) != 0 || !S_ISFIFO(status.st_mode)) {
            ::close(std::exchange(pipe_, -1));
            return;
        }
        deviceNumber_ = status.st_dev;
        fileNumber_ = status.st_ino;
    }
    log::MomentMessage message{};
    message.timestampNs = timeNs;
    message.processId = static_cast<uint32_t>(::getpid());
    message.occurrence = range.occurrence;
    message.isEnd = isEnd ? 1 : 0;
    message.nameBytes = static_cast<uint32_t>(range.name.size());
    std::memcpy(message.name, range.name.data(), range.name.size());
    [[maybe_unused]] const ssize_t written = ::write(pipe_, &message, sizeof message);
}

/// Returns true if the descriptor is still our pipe. A program may close unknown descriptors, and
/// another file then gets the number.
bool MomentNotifier::isPipeOurs() {
    struct stat status {};
    return pipe_ >= 0 && ::fstat(pipe_, &status) == 0 && status.st_dev == deviceNumber_ && status.st_ino == fileNumber_;
}

int64_t NvtxTrigger::timeOf(const NvtxCall& call, uint32_t threadId, int32_t level) {
    switch (call.event) {
        case log::NvtxEvent::Push:
            if (isTriggerRange(call)) return beginRange(keyOfPush(threadId, call.domain, level), threadId);
            break;
        case log::NvtxEvent::Start:
            if (isTriggerRange(call)) return beginRange(call.rangeId, threadId);
            break;
        case log::NvtxEvent::Pop: {
            const uint64_t key = keyOfPush(threadId, call.domain, level);
            if (openKey_.load(std::memory_order_acquire) == key) return endRange(key);
            break;
        }
        case log::NvtxEvent::End:
            if (call.rangeId != 0 && openKey_.load(std::memory_order_acquire) == call.rangeId)
                return endRange(call.rangeId);
            break;
        case log::NvtxEvent::Mark: break;
    }
    return log::eventTimeNs();
}

bool NvtxTrigger::isTriggerRange(const NvtxCall& call) {
    const std::string_view name = call.registered ? std::string_view(*call.registered) : call.text;
    if (options_.trigger == WindowTrigger::NvtxRange) {
        if (!matchesPattern(name, options_.rangeName)) return false;
    } else if (options_.rangeName.empty()) {
        if (!isStepName(name)) return false;
    } else if (!matchesPattern(name, options_.rangeName) && !matchesPattern(withoutNumber(name), options_.rangeName)) {
        return false;
    }
    return options_.anyDomain || isInDomain(call.domain);
}

bool NvtxTrigger::isInDomain(uint32_t domain) {
    if (domain == 0) return options_.rangeDomain.empty();
    if (domain >= isInDomain_.size()) return nvtxRegistry().domainName(domain) == options_.rangeDomain;
    uint8_t answer = isInDomain_[domain].load(std::memory_order_relaxed);
    if (answer == NotAsked) {
        answer = nvtxRegistry().domainName(domain) == options_.rangeDomain ? Yes : No;
        isInDomain_[domain].store(answer, std::memory_order_relaxed);
    }
    return answer == Yes;
}

int64_t NvtxTrigger::beginRange(uint64_t key, uint32_t threadId) {
    const uint64_t open = openKey_.load(std::memory_order_acquire);
    constexpr uint64_t pushBit = uint64_t{1} << 63;
    if (options_.trigger == WindowTrigger::NvtxRange) {
        if (open != 0) return log::eventTimeNs();  // inside the window, or outside it
        const Windows::Change change = windows_.open();
        if (change.hasChanged) openKey_.store(key, std::memory_order_release);
        return change.ns;
    }
    uint32_t owner = 0;
    if (!stepThread_.compare_exchange_strong(owner, threadId) && owner != threadId) return log::eventTimeNs();
    // A range within a step is no step. A step that was never ended ends at the start of the next step.
    if (open != 0 && (open & pushBit) != 0) return log::eventTimeNs();
    const std::lock_guard lock(mutex_);
    openKey_.store(key, std::memory_order_release);
    const int64_t place = step_++ % period_;  // restarts with `repeat`
    if (place == 0 && step_ > 1) windows_.close();
    return place == options_.steps.first ? windows_.open().ns : log::eventTimeNs();
}

int64_t NvtxTrigger::endRange(uint64_t key) {
    if (!openKey_.compare_exchange_strong(key, 0)) return log::eventTimeNs();
    if (options_.trigger == WindowTrigger::NvtxRange) return windows_.close().ns;
    const std::lock_guard lock(mutex_);
    return step_ % period_ == 0 ? windows_.close().ns : log::eventTimeNs();
}

}  // namespace lanescope::agent
