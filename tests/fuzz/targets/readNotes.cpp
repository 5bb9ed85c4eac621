// SPDX-License-Identifier: Apache-2.0
#include "model/notes/NotesFile.h"
#include "tests/fuzz/targets/targets.h"

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

}  // namespace lanescope::fuzz
