// SPDX-License-Identifier: Apache-2.0
#include "model/notes/NotesFile.h"
#include "tests/fuzz/targets/Scratch.h"
#include "tests/fuzz/targets/targets.h"
#include "tests/support/files.h"

namespace lanescope::fuzz {

void readNotes(Bytes bytes) {
    const auto notes = parseNotes(textOf(bytes));
    if (!notes) return;
    // Written notes are read as the same.
    const std::string written = formatNotes(*notes);
    const auto again = parseNotes(written);
    require(again.has_value(), "Notes that were written cannot be read.");
    require(formatNotes(*again) == written, "Notes change by being written and read.");
    (void)mergeNotes(*notes, *again, *notes);
}

/// Reads notes next to a trace, each of another user. Only as root.
void notesOfAnotherUser(Bytes bytes) {
    if (!canGiveFiles()) return;
    static const Scratch scratch;
    scratch.clear();
    const auto trace = scratch.write("run.sqlite", "trace");
    const auto file = scratch.write("run.sqlite.lanescope-notes.json", textOf(bytes));
    giveFile(trace, OtherUser::Owner, 0644);
    const auto notes = [&] { return NotesFile::forTrace(trace, scratch / "user"); };
    const auto isIgnored = [&] {
        const Result<FoundNotes> found = notes().read();
        return found && found->isIgnored && found->notes.marks.empty();
    };
    for (const unsigned mode : {0600U, 0644U, 0666U}) {
        giveFile(file, OtherUser::Neighbour, mode);
        require(isIgnored(), "Notes of another user are believed.");
    }
    giveFile(file, OtherUser::Owner, 0664);
    require(isIgnored(), "Notes are believed that others can write to.");
    require(notes().store({}, {{newMark({1, 1})}, {}}).has_value(), "A mark cannot be stored.");
    require(contentOf(file) == textOf(bytes), "The notes of another user changed.");
    scratch.clear();
    scratch.write("run.sqlite", "trace");
    scratch.write("run.sqlite.lanescope-notes.json", textOf(bytes));
    giveFile(trace, OtherUser::Owner, 0644);
    giveFile(file, OtherUser::Owner, 0644);
    const Result<FoundNotes> found = notes().read();
    require(!found || !found->isIgnored, "The notes of the owner of the trace are ignored.");
}

}  // namespace lanescope::fuzz
