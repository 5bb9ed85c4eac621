// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace lanescope::viewer {

/// Why no window can be opened here, as a sentence that says what to do instead; empty if all is
/// well or cannot be told beforehand. Qt itself would end the process with a core dump. To be asked
/// before QApplication exists; connects to the display and leaves it again.
std::string displayProblem();

}  // namespace lanescope::viewer
