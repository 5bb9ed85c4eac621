// SPDX-License-Identifier: Apache-2.0
#include "model/format/ReadWatch.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace lanescope {

void ReadWatch::noteTrouble(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!trouble_) trouble_ = error;
}

void ReadWatch::noteFailedRead(int number) {
    noteTrouble({fmt::format("Cannot read {}: {}.", path_, std::strerror(number))});
}

std::optional<Error> ReadWatch::trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
}

std::optional<Error> ReadWatch::unreadLog(int code) const {
    // It needs a file of its own beside the log, whose absence it would tell of.
    if (!hasLog_ || ((code & 0xff) != SQLITE_CANTOPEN && code != SQLITE_READONLY_CANTINIT))
        return std::nullopt;
    const std::string log = path_ + "-wal";
    if (::access(log.c_str(), R_OK) != 0)
        return Error{fmt::format("Cannot read {}, where rows of {} lie: {}.", log, path_,
                                 std::strerror(errno))};
    return Error{
        fmt::format("Rows of {} lie in {}, and are read only where you can write beside them: "
                    "copy both into a folder that you can write to.",
                    path_, log)};
}

void ReadWatch::setSeal(PageSeal seal) {
    seal_ = std::move(seal);
    state_ = seal_.state;
}

void ReadWatch::see(std::span<const std::byte> bytes, uint64_t offset,
                    const std::function<uint32_t()>& counterNow) {
    if (seal_.checksums.empty() || bytes.size() != seal_.pageBytes || offset % seal_.pageBytes != 0)
        return;
    const uint64_t page = offset / seal_.pageBytes;
    if (seal_.isAsSealed(static_cast<size_t>(page), bytes)) return;
    if (state_ == SealState::Whole && counterNow() != seal_.changeCounter)
        state_ = SealState::Changed;
    const std::lock_guard lock(mutex_);
    differing_.insert(page);
}

size_t ReadWatch::differingPages() const {
    const std::lock_guard lock(mutex_);
    return differing_.size();
}

std::vector<uint64_t> ReadWatch::differing() const {
    const std::lock_guard lock(mutex_);
    return {differing_.begin(), differing_.end()};
}

std::optional<FileDoubt> ReadWatch::doubt() const {
    const size_t pages = differingPages();
    if (state_ == SealState::Broken)
        return FileDoubt{Severity::Warning, HealthCode::ChecksumsDamaged,
                         "The checksums of the file are damaged or were written over: nobody can "
                         "tell whether the rest is as it was recorded."};
    // Whoever records a trace seals it when nobody writes any more.
    if (hasLog_ && state_ != SealState::None)
        return FileDoubt{
            Severity::Warning, HealthCode::TraceChanged,
            "Another program writes to the trace, or left rows in a log beside it, since "
            "it was recorded; they are shown as they are now."};
    // Whatever it wrote: what was read so far does not tell what else is not as it was.
    if (state_ == SealState::Changed)
        return FileDoubt{Severity::Warning, HealthCode::TraceChanged,
                         "Another program wrote to the trace since it was recorded: events are "
                         "shown as they are now, and nothing is believed that was stored with "
                         "them."};
    if (pages == 0) return std::nullopt;
    return FileDoubt{
        Severity::Error, HealthCode::PagesDamaged,
        fmt::format("The file is damaged: {} of the pages that were read {} not what was "
                    "recorded, and numbers may be wrong. Copy it again.",
                    pages, pages == 1 ? "is" : "are")};
}

}  // namespace lanescope
