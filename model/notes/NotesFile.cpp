// SPDX-License-Identifier: Apache-2.0
#include "model/notes/NotesFile.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
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

Result<Content> contentOf(const fs::path& path) {
    if (!isThere(path)) return Content{};
    std::error_code error;
    if (!fs::is_regular_file(path, error))
        return fail("The notes {} are no file that can be read.", path.string());
    if (fs::file_size(path, error) > largestFile) return Content{{}, true};
    std::ifstream stream(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(stream)), {});
    if (!stream.is_open() || stream.bad())
        return fail("The notes {} cannot be read: {}.", path.string(), std::strerror(errno));
    auto notes = parseNotes(text);
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
