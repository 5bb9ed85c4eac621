// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <functional>

namespace lanescope::viewer {

class TracePage;

/// Asks for the part of a trace to show in full, and for a file, and writes the page of `lanescope page` off the GUI
/// thread. `report` receives the result as a sentence, unless the user cancels. `folder` is proposed.
void sharePage(TracePage& page, const QString& folder, const std::function<void(const QString&)>& report);

}  // namespace lanescope::viewer
