// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "model/format/Result.h"
#include "model/notes/Mark.h"

namespace lanescope {

enum class NotesFault {
    Damaged,  ///< Invalid JSON or structure.
    Newer,    ///< Unknown newer version.
};

/// Limits of the text of a mark in bytes and of the number of marks, against files that exhaust memory.
inline constexpr size_t maxMarkBytes = 20'000;
inline constexpr size_t maxMarks = 100'000;

/// Parses the output of `formatNotes`. A mark without a place or an id makes the file corrupt.
Result<Notes, NotesFault> parseNotes(std::string_view json);

/// Returns the notes as JSON for a file, with the fields of other programs.
std::string formatNotes(const Notes& notes);

/// Merges the edits of two viewers. `base` is the last state that this viewer read or wrote, `mine`
/// its current state, `theirs` the current file. Marks are matched by id. A mark edited in one
/// place is taken from there, a mark edited in both from the later edit. A mark that one deleted
/// stays if the other edited it. Fields of other programs are taken from `theirs`.
Notes mergeNotes(const Notes& base, const Notes& mine, const Notes& theirs);

struct FoundNotes {
    Notes notes;
    std::string remark;      ///< Sentence about a problem of the file; else empty.
    bool isIgnored = false;  ///< The file next to the trace is not trusted (`isTrustedNextTo`), as the remark says.
};

/// File with the notes about a trace, `<trace>.lanescope-notes.json` next to it, with the
/// permissions of the trace. If another user owns the trace, the folder is not writable or the name is taken by a file
/// that is not trusted, the notes are stored in a folder of the user, for the user only. They begin with the notes next
/// to the trace then. Any thread; several viewers can use one file at the same time.
class NotesFile {
  public:
    /// `trace` may still be recording, as `<trace>.partial`. `userFolder` is created on demand; without it, notes can
    /// only be read.
    static NotesFile forTrace(const std::filesystem::path& trace, const std::filesystem::path& userFolder);

    const std::filesystem::path& path() const { return path_; }
    bool isNextToTrace() const { return isNextToTrace_; }

    /// Returns the notes of the file; empty if there is none. Fails for files that must not be
    /// touched: of a newer version, or unreadable. A corrupt file counts as empty, with a remark.
    Result<FoundNotes> read() const;

    /// Merges `mine` with the edits of other viewers since `base` (see `mergeNotes`), and replaces the file atomically.
    /// A corrupt file is renamed first; the remark names it. Returns the stored notes.
    Result<FoundNotes> store(const Notes& base, const Notes& mine) const;

  private:
    struct Content;
    static Result<Content> contentOf(const std::filesystem::path& path, const std::filesystem::path& trace);
    Result<Content> content() const;

    std::filesystem::path path_;
    std::filesystem::path nextToTrace_;  ///< Equals `path_` if that is next to the trace.
    std::filesystem::path trace_;        ///< The trace; its permissions and owner count.
    bool isNextToTrace_ = true;
};

}  // namespace lanescope
