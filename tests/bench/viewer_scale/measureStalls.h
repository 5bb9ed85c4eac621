// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QJsonObject>
#include <filesystem>

#include "model/format/Result.h"

namespace lanescope {

/// Opens the file in the viewer's window, searches, drags a selection and looks at every summary:
/// how long the event loop stood still at most, and the most CPU time it took of that, in
/// milliseconds, by name. In a process of its own it finds fonts and icons as cold as a viewer that
/// was just started.
Result<QJsonObject> measureStalls(const std::filesystem::path& path);

}  // namespace lanescope
