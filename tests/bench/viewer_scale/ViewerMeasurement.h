// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QJsonObject>
#include <filesystem>

#include "model/format/Result.h"

namespace lanescope {

/// How the viewer does on one trace file: times in milliseconds, sizes in bytes, by name. Blocks,
/// for minutes where the trace is large. Needs a QApplication, and a process of its own, whose
/// memory it measures.
Result<QJsonObject> measureViewer(const std::filesystem::path& path, int rounds);

}  // namespace lanescope
