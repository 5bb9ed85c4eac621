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

/// Between two looks at the memory map, which grow twice as far apart each time.
constexpr int64_t firstImagesNs = 100'000'000;
constexpr int mostDoublings = 7;

}  // namespace

WatchedProcess::WatchedProcess(pid_t pid, SampleLog& log, StackReading& reading)
    : log_(log),
      reading_(reading),
      pid_(pid),
      folder_(fmt::format("/proc/{}/", pid)),
      memory_(pid) {}

void WatchedProcess::find(int64_t nowNs, std::vector<char>& buffer) {
    std::error_code error;
    std::string program = std::filesystem::read_symlink(folder_ + "exe", error).string();
    if (program != program_) {
        // It became another program.
        program_ = std::move(program);
        python_.reset();
        looks_ = 0;
        nextImagesNs_ = 0;
    }
    memory_.forget();
    if (nowNs >= nextImagesNs_) findImages(nowNs);
    if (!isWatched_) return;
    if (python_) python_->findThreads(nowNs);
    findThreads(buffer);
}

void WatchedProcess::findImages(int64_t nowNs) {
    nextImagesNs_ = nowNs + (firstImagesNs << std::min(looks_++, mostDoublings));
    if (python_ && !python_->isEmpty()) return;
    const ImagesOfProcess found = lookForImages(pid_, memory_);
    unknownVersion_ = found.unknownVersion;
    const bool wasWatched = isWatched_;
    isHidden_ = found.isHidden;
    isWatched_ |= found.python || found.usesCuda || found.isHidden || !found.unknownVersion.empty();
    if (found.python) python_.emplace(found.python, memory_, log_, reading_);
    if (isWatched_ && (!wasWatched || found.python))
        log_.addProcess(
            static_cast<uint32_t>(pid_), parent(), program_,
            found.python ? std::string_view(found.python->version) : std::string_view());
}

/// Who started it, or took it over; 0 if that cannot be read.
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
        if (threads_.size() < mostThreads) threads_.try_emplace(thread, pid_, thread, log_);
    }
    for (auto& [number, thread] : threads_) thread.tellName(buffer);
}

void WatchedProcess::look(bool isTurnOfAll, std::vector<char>& buffer) {
    for (auto at = threads_.begin(); at != threads_.end();) {
        auto& [number, thread] = *at;
        const bool isOften = number == pid_ || thread.isBusy() ||
                             (python_ && python_->hasThread(number) && !thread.isIdle());
        PythonProcess* const python = python_ ? &*python_ : nullptr;
        if ((isOften || isTurnOfAll) && !thread.look(sampleTimeNs(), python, memory_, buffer)) {
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
    return !threads_.empty() && std::ranges::none_of(threads_, [](const auto& each) {
        return each.second.tellsCalls();
    });
}

}  // namespace lanescope::capture
