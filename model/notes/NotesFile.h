// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "model/format/Result.h"
#include "model/notes/Mark.h"

namespace lanescope {

/// Why a text is not taken for notes.
enum class NotesFault {
    Damaged,  ///< No JSON, or not of this shape.
    Newer,    ///< Of a version that this program does not know.
};

/// Longest text of a mark and most marks that are taken, against files that fill the memory.
inline constexpr size_t longestMarkText = 20'000;
inline constexpr size_t mostMarks = 100'000;

/// Reads what `formatNotes` wrote. Marks without a place or an id of their own are damage.
Result<Notes, NotesFault> parseNotes(std::string_view json);

/// As JSON for a file, with what other programs put there.
std::string formatNotes(const Notes& notes);

/// Brings together what two viewers made of the same notes. `base` is what this one last read or
/// wrote, `mine` what it has now, `theirs` what the file holds now. Marks are matched by id: what
/// only one changed is taken from there, what both changed from whoever did so last, and a mark
/// that one removed stays if the other changed it. Fields of other programs are `theirs`.
Notes mergeNotes(const Notes& base, const Notes& mine, const Notes& theirs);

/// Notes as they were found, and what there is to say about them.
struct FoundNotes {
    Notes notes;
    std::string remark;  ///< One sentence if something was wrong with the file; else empty.
};

/// The file beside a trace that holds what people noted about it:
/// `<trace>.lanescope-notes.json`, for those who may read or write the trace. Where the folder
/// cannot be written the notes go to a folder of the user, for him only. Any thread; several
/// viewers may use one file at the same time.
class NotesFile {
  public:
    /// `trace` may still be being recorded, as `<trace>.partial`. `userFolder` is made when it is
    /// needed.
    static NotesFile forTrace(const std::filesystem::path& trace,
                              const std::filesystem::path& userFolder);

    const std::filesystem::path& path() const { return path_; }
    bool isBesideTrace() const { return isBesideTrace_; }

    /// What the file holds; nothing if there is none. Fails for a file that this program must leave
    /// alone: one of a newer version, or one that cannot be read at all. A damaged one counts as
    /// empty, with a remark.
    Result<FoundNotes> read() const;

    /// Brings `mine` together with what others have written since `base` (see `mergeNotes`), writes
    /// that beside the file and then gives it the file's name, so that the file is whole at every
    /// moment. A damaged file is kept under another name first, which the remark tells. Returns
    /// what was written.
    Result<FoundNotes> store(const Notes& base, const Notes& mine) const;

  private:
    std::filesystem::path path_;
    std::filesystem::path trace_;  ///< Whose notes they are; empty if they do not lie beside it.
    bool isBesideTrace_ = true;
};

}  // namespace lanescope
