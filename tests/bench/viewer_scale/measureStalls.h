// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QJsonObject>
#include <filesystem>

#include "model/format/Result.h"

namespace lanescope {

/// Opens the file in the viewer's window, searches, drags a selection and shows every summary.
/// Returns the longest stall of the event loop, and its maximum CPU time, in milliseconds, by name.
/// In its own process, fonts and icons are as cold as in a new viewer.
Result<QJsonObject> measureStalls(const std::filesystem::path& path);

}  // namespace lanescope
