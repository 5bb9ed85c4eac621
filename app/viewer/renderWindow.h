// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/viewer/ViewerOptions.h"
#include "model/format/Result.h"

namespace lanescope::viewer {

class MainWindow;

/// Opens what `options` names in `window`, waits until all of it is on the screen, and writes the
/// picture that `options.render` asks for. Runs an event loop meanwhile. Errors: a file that cannot
/// be shown, a search without hit, a query without answer, no place to write, nothing to be seen
/// within minutes.
Result<void> renderWindow(MainWindow& window, const ViewerOptions& options);

}  // namespace lanescope::viewer
