// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "views/tables/Panel.h"

namespace lanescope::viewer {

class TracePage;

/// Returns the panels under the timeline of a page, in order of their tabs. `page` outlives them.
std::vector<views::PanelKind> tracePanels(TracePage& page);

/// Returns the name of the panel in front until the steps are known. A trace of NVTX ranges only
/// must not begin with an empty table of kernels.
QString firstPanel(const Trace& trace);

}  // namespace lanescope::viewer
