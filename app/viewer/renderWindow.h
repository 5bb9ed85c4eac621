// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "app/viewer/ViewerOptions.h"
#include "model/format/Result.h"

namespace lanescope::viewer {

class MainWindow;

/// Opens what `options` names in `window`, waits until all of it is on the screen, and writes the
/// picture that `options.render` asks for. Runs an event loop meanwhile. Errors: no place to write,
/// which is found before anything is opened; a file that cannot be shown, a search without hit, a
/// query without answer, an index that is damaged where it was read, nothing to be seen within
/// minutes.
Result<void> renderWindow(MainWindow& window, const ViewerOptions& options);

/// What is wrong with the traces that the window shows, a sentence each, as commands print it that
/// show no health.
std::vector<std::string> warningsOf(const MainWindow& window);

}  // namespace lanescope::viewer
