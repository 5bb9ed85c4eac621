// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/MomentTeller.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "capture/agent/NvtxCall.h"
#include "capture/agent/rangeKey.h"
#include "capture/log/MomentMessage.h"
#include "model/format/matchesPattern.h"

namespace lanescope::agent {

namespace {

constexpr size_t mostOpen = 1024;  // a program that never ends its ranges must not cost
constexpr int64_t tryAgainNs = 1'000'000'000;
constexpr int lowestDescriptor = 100;  // programs expect to get the low numbers

}  // namespace

MomentTeller::MomentTeller(std::string pattern, const std::string& runFolder)
    : pattern_(std::move(pattern)), pipePath_(runFolder + "/" + log::momentPipeName) {}

void MomentTeller::look(const NvtxCall& call, uint32_t threadId, int32_t level,
                        int64_t timeNs) noexcept {
    try {
        lookAndTell(call, threadId, level, timeNs);
    } catch (...) {
        // Without memory the samplers are not told.
    }
}

void MomentTeller::lookAndTell(const NvtxCall& call, uint32_t threadId, int32_t level,
                               int64_t timeNs) {
    const bool isPush = call.event == log::NvtxEvent::Push;
    const bool isPop = call.event == log::NvtxEvent::Pop;
    if (isPush || call.event == log::NvtxEvent::Start) {
        const std::string_view name =
            call.registered ? std::string_view(*call.registered) : call.text;
        if (!matchesPattern(name, pattern_)) return;
        const std::lock_guard lock(mutex_);
        const uint64_t key = isPush ? keyOfPush(threadId, call.domain, level) : call.rangeId;
        Range range{key, occurrences_++,
                    std::string(name.substr(0, sizeof log::MomentMessage::name))};
        tell(timeNs, range, false);
        if (open_.size() < mostOpen) open_.push_back(std::move(range));
        openCount_.store(open_.size(), std::memory_order_release);
    } else if ((isPop || call.event == log::NvtxEvent::End) &&
               openCount_.load(std::memory_order_acquire) > 0) {
        const uint64_t key = isPop ? keyOfPush(threadId, call.domain, level) : call.rangeId;
        const std::lock_guard lock(mutex_);
        const auto ended = std::find_if(open_.rbegin(), open_.rend(),
                                        [key](const Range& range) { return range.key == key; });
        if (ended == open_.rend()) return;
        tell(timeNs, *ended, true);
        open_.erase(std::next(ended).base());
        openCount_.store(open_.size(), std::memory_order_release);
    }
}

void MomentTeller::tell(int64_t timeNs, const Range& range, bool isEnd) {
    if (!isPipeOurs()) {
        if (timeNs < nextTryNs_) return;
        nextTryNs_ = timeNs + tryAgainNs;
        // Also for reading, though we never do: writing into a pipe that nobody can read any more
        // would bring the program a SIGPIPE.
        const int opened = ::open(pipePath_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
        if (opened < 0) return;
        pipe_ = ::fcntl(opened, F_DUPFD_CLOEXEC, lowestDescriptor);
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
    [[maybe_unused]] const ssize_t told = ::write(pipe_, &message, sizeof message);
}

/// A program may close descriptors that it does not know, and another file then gets the number.
bool MomentTeller::isPipeOurs() {
    struct stat status {};
    return pipe_ >= 0 && ::fstat(pipe_, &status) == 0 && status.st_dev == deviceNumber_ &&
           status.st_ino == fileNumber_;
}

}  // namespace lanescope::agent
