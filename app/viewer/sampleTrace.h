// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "model/format/Result.h"

namespace lanescope::viewer {

/// The trace that comes with the viewer, as a file in `folder`, which is made if need be: written
/// once, and again if it is not what the viewer has. Errors: no place to write.
Result<QString> sampleTrace(const QString& folder);

}  // namespace lanescope::viewer
