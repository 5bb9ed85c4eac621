// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace lanescope
