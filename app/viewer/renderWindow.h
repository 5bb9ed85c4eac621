// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "app/viewer/ViewerOptions.h"
#include "model/format/Result.h"

namespace lanescope::viewer {

class MainWindow;

/// Opens the files of `options` in `window`, waits until everything is visible, and writes the
/// picture of `options.render`. Runs an event loop meanwhile. Errors: an unwritable path, which is
/// detected before anything is opened; a file that cannot be shown, a search without hits, a query
/// without an answer, an index that is corrupt where it was read, no content within minutes.
Result<void> renderWindow(MainWindow& window, const ViewerOptions& options);

/// Returns the problems of the traces in the window, one sentence each, as printed by commands that show no health.
std::vector<std::string> warningsOf(const MainWindow& window);

}  // namespace lanescope::viewer
