// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/format/Result.h"
#include "model/format/checksums.h"
#include "model/format/health.h"

namespace lanescope {

/// What is said of the file at a path beside which a journal waits to be rolled back, which who
/// only reads cannot do.
inline constexpr std::string_view hotJournalSentence =
    "A program that changed {} did not end well and left a journal beside it: put it right with "
    "\"sqlite3 FILE .tables\", which opens it once.";

/// Why numbers of a file may not be those that were recorded.
struct FileDoubt {
    Severity severity = Severity::Warning;
    HealthCode code = HealthCode::Unknown;
    std::string sentence;
};

/// What all connections that read a file together came upon. Something may have failed that says
/// nothing of the file itself, as a disk that could not be read for a moment, or memory that ran
/// out: what was read is then only a part of what is there. And pages may differ from what was
/// sealed. Any thread.
class ReadWatch {
  public:
    /// `path` is what errors call the file.
    explicit ReadWatch(std::string path) : path_(std::move(path)) {}

    /// Keeps the first.
    void noteTrouble(const Error& error);
    /// The same of a read that failed with this `errno`.
    void noteFailedRead(int number);
    std::optional<Error> trouble() const;

    /// Before anything is read.
    void setSeal(PageSeal seal);
    SealState sealState() const {
        return hasLog_ && state_ == SealState::Whole ? SealState::Changed : state_.load();
    }
    /// Takes what was read from `offset` on. `counterNow` tells the file's change counter as it is
    /// now, which is asked where a page differs: it may have been written while it was read.
    void see(std::span<const std::byte> bytes, uint64_t offset,
             const std::function<uint32_t()>& counterNow);
    /// A log beside the file holds rows, which come from there and have no checksum.
    void noteLog() { hasLog_ = true; }
    /// Why no row can be read, if SQLite ended with that code since it cannot read the log.
    std::optional<Error> unreadLog(int code) const;
    /// Pages that were read and differ from what was sealed.
    size_t differingPages() const;
    /// What is to be said of the file; nothing as long as all that was read is as it was.
    std::optional<FileDoubt> doubt() const;
    /// Those pages, by their numbers from 0, and how many have a checksum.
    std::vector<uint64_t> differing() const;
    size_t sealedPages() const { return seal_.checksums.size(); }
    uint32_t pageBytes() const { return seal_.pageBytes; }

  private:
    const std::string path_;
    PageSeal seal_;  ///< Not changed while pages are read.
    std::atomic<SealState> state_{SealState::None};
    std::atomic<bool> hasLog_{false};

    mutable std::mutex mutex_;
    std::optional<Error> trouble_;
    std::set<uint64_t> differing_;
};

/// The name of a way for SQLite to read a file that is already open, which need not have a name in
/// any folder. Reading only; no locks, no journal, and the file is taken not to change. Null if
/// SQLite does not take it. Any thread.
const char* descriptorVfs();

/// What to have SQLite open through `descriptorVfs`. SQLite duplicates the descriptor.
std::string descriptorName(int descriptor);

}  // namespace lanescope

struct sqlite3;

namespace lanescope {

class ReadWatch;

/// The name of a way for SQLite to read files as `vfs` does, null for its own way, that shows each
/// page to a `ReadWatch`. A file that says it has a log beside it, but has none, is taken not to
/// change, so that nothing is made beside it. Null if SQLite does not take it. Any thread.
const char* watchedVfs(const char* vfs);

/// Shows `watch` what a connection that was opened by `watchedVfs` reads from now on, and gives it
/// the seal of the file if it `readsSeal`. False for any other connection.
bool watchReads(sqlite3* database, std::shared_ptr<ReadWatch> watch, bool readsSeal);

/// Reads all of the file, for whoever watches it. False if it cannot be read. O(bytes).
bool readEveryPage(sqlite3* database);

}  // namespace lanescope
