// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/Result.h"
#include "model/format/TimeRange.h"
#include "model/text/ReportTable.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Place in a trace with a note of a user.
struct Mark {
    std::string id;   ///< 16 hexadecimal digits; the same in every viewer.
    TimeRange range;  ///< In the time of the trace; empty for a point in time.
    /// Titles from the outermost track to the marked one; empty for all tracks.
    std::vector<std::string> track;
    std::string text;
    uint32_t color = 0;        ///< 0xRRGGBB.
    int64_t changedUtcNs = 0;  ///< Time of the last edit, since 1970.
    /// Fields of other programs as a JSON object, or empty.
    std::string unknownFields;
    bool operator==(const Mark&) const = default;
};

struct Notes {
    std::vector<Mark> marks = {};  ///< Sorted by start, then id.
    std::string unknownFields;     ///< As in `Mark`.
    bool operator==(const Notes&) const = default;
};

/// Returns a new mark with its own id, edited now.
Mark newMark(TimeRange range);
int64_t utcNow();
void sortMarks(std::vector<Mark>& marks);

/// Returns the titles from the outermost track to `track`, by which a mark finds its track again.
std::vector<std::string> trackPath(const Trace& trace, uint32_t track);

/// Returns the track with these titles, or `noIndex`. Linear in the tracks.
uint32_t trackOfPath(const Trace& trace, const std::vector<std::string>& path);

/// Returns the marks as a table: start, duration, track, text.
ReportTable marksTable(std::span<const Mark> marks);

/// Returns the marks as a Markdown table under the title of their trace. Markup in texts is escaped.
std::string marksAsMarkdown(std::span<const Mark> marks, const std::string& title);

/// Returns the track of a mark in one line: "GPU 0 / Compute, stream 7".
std::string trackText(const Mark& mark);

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
    std::string remark = {};  ///< Sentence about a problem of the file; else empty.
    bool isIgnored = false;   ///< The file next to the trace is not trusted (`isTrustedNextTo`), as the remark says.
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
