// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/notes/Mark.h"

namespace lanescope {

/// Brings together what two viewers made of the same notes. `base` is what this one last read or
/// wrote, `mine` what it has now, `theirs` what the file holds now. Marks are matched by id: what
/// only one changed is taken from there, what both changed from whoever did so last, and a mark
/// that one removed stays if the other changed it. Fields of other programs are `theirs`.
Notes mergeNotes(const Notes& base, const Notes& mine, const Notes& theirs);

}  // namespace lanescope
