// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "model/bandwidth/LinkUse.h"

namespace lanescope::views {

/// "12.3 GiB at 391 GB/s, 82 % of 478", "no copies".
QString useText(const LinkUse& use);
/// "NV18", "NVSwitch", "PIX"; "?" where the trace does not tell.
QString connectionText(const LinkUse& use);

}  // namespace lanescope::views
