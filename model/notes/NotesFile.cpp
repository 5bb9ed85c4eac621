// SPDX-License-Identifier: Apache-2.0
#include "model/notes/NotesFile.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <thread>

#include "model/format/AtomicFile.h"
#include "model/format/Fnv1a.h"
#include "model/format/checkFile.h"
#include "model/notes/mergeNotes.h"
#include "model/notes/notesJson.h"

namespace lanescope {

namespace {

namespace fs = std::filesystem;

constexpr uintmax_t largestFile = uintmax_t{64} << 20;
constexpr const char* suffix = ".lanescope-notes.json";
/// A store takes some milliseconds.
constexpr std::chrono::seconds lockPatience{10};
constexpr std::chrono::milliseconds lockInterval{5};

/// Keeps other viewers from storing in the same folder until it goes away. Where folders cannot be
/// locked, nobody waits; nor for ever where somebody never lets go of one.
class FolderLock {
  public:
    explicit FolderLock(const fs::path& folder)
        : folder_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        const auto deadline = std::chrono::steady_clock::now() + lockPatience;
        while (folder_ >= 0 && ::flock(folder_, LOCK_EX | LOCK_NB) != 0 &&
               (errno == EWOULDBLOCK || errno == EINTR) &&
               std::chrono::steady_clock::now() < deadline)
            std::this_thread::sleep_for(lockInterval);
    }
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;
    ~FolderLock() {
        if (folder_ >= 0) ::close(folder_);
    }

  private:
    int folder_;
};

/// Whoever may read or write the trace may do so with its notes.
Result<void> replaceFile(const fs::path& path, std::string_view text, const fs::path& trace) {
    Result<AtomicFile> file = AtomicFile::create(path);
    if (!file) return fail(file.error());
    file->shareLike(trace);
    file->write(text);
    return file->commit();
}

/// Another name for a damaged file; empty if it cannot be renamed.
fs::path keepAside(const fs::path& path) {
    for (int number = 1; number < 1000; ++number) {
        fs::path aside = path;
        aside += fmt::format(".damaged-{}", number);
        if (isThere(aside)) continue;
        return std::rename(path.c_str(), aside.c_str()) == 0 ? aside : fs::path();
    }
    return {};
}

struct Content {
    Notes notes;
    bool isDamaged = false;
};

/// All of a file. Streams of the standard library throw where a disk cannot be read.
Result<std::string> textOf(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    std::string text;
    std::array<char, 65536> part;
    ssize_t got = file < 0 ? -1 : 1;
    while (got > 0 && text.size() <= largestFile) {
        got = ::read(file, part.data(), part.size());
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            text.append(part.data(), static_cast<size_t>(got));
    }
    const int problem = errno;
    if (file >= 0) ::close(file);
    if (got < 0)
        return fail("The notes {} cannot be read: {}.", path.string(), std::strerror(problem));
    return text;
}

Result<Content> contentOf(const fs::path& path) {
    if (!isThere(path)) return Content{};
    std::error_code error;
    if (!fs::is_regular_file(path, error))
        return fail("The notes {} are no file that can be read.", path.string());
    if (fs::file_size(path, error) > largestFile) return Content{{}, true};
    const Result<std::string> text = textOf(path);
    if (!text) return fail(text.error());
    auto notes = parseNotes(*text);
    if (notes) return Content{std::move(*notes), false};
    if (notes.error() == NotesFault::Newer)
        return fail("The notes {} were written by a newer Lanescope: use that to change them.",
                    path.string());
    return Content{{}, true};
}

}  // namespace

NotesFile NotesFile::forTrace(const fs::path& trace, const fs::path& userFolder) {
    std::error_code ignored;
    fs::path whole = fs::absolute(trace, ignored);
    if (whole.extension() == ".partial") whole.replace_extension();
    NotesFile file;
    file.trace_ = whole;
    file.path_ = whole;
    file.path_ += suffix;
    file.isBesideTrace_ = ::access(whole.parent_path().c_str(), W_OK) == 0;
    if (!file.isBesideTrace_) {
        file.trace_.clear();
        // Traces of one name lie in different folders.
        Fnv1a folder;
        folder.add(whole.string());
        const std::string name = whole.filename().string();
        file.path_ = userFolder / fmt::format("{}-{:016x}{}", name, folder.value(), suffix);
    }
    return file;
}

Result<FoundNotes> NotesFile::read() const {
    const Result<Content> content = contentOf(path_);
    if (!content) return fail(content.error());
    FoundNotes found{content->notes, {}};
    if (content->isDamaged)
        found.remark = fmt::format(
            "The notes {} are damaged and not shown; they will be kept under another name when a "
            "mark is set.",
            path_.string());
    return found;
}

Result<FoundNotes> NotesFile::store(const Notes& base, const Notes& mine) const {
    if (!isBesideTrace_) {
        std::error_code error;
        fs::create_directories(path_.parent_path(), error);
        if (error)
            return fail("The folder {} for notes cannot be made: {}.", path_.parent_path().string(),
                        error.message());
    }
    const FolderLock lock(path_.parent_path());
    const Result<Content> content = contentOf(path_);
    if (!content) return fail(content.error());
    FoundNotes stored;
    if (content->isDamaged) {
        const fs::path aside = keepAside(path_);
        if (aside.empty())
            return fail("The notes {} are damaged and cannot be renamed; nothing was written.",
                        path_.string());
        stored.remark = fmt::format("The notes {} were damaged; they are kept as {}.",
                                    path_.string(), aside.filename().string());
    }
    stored.notes = content->isDamaged ? mine : mergeNotes(base, mine, content->notes);
    if (content->isDamaged) sortMarks(stored.notes.marks);
    if (!content->isDamaged && stored.notes == content->notes) return stored;
    const auto done = replaceFile(path_, formatNotes(stored.notes), trace_);
    if (!done) return fail(done.error());
    return stored;
}

}  // namespace lanescope
