// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QJsonObject>
#include <filesystem>

#include "model/format/Result.h"

namespace lanescope {

/// Measures the viewer on one trace file: times in milliseconds, sizes in bytes, by name. Blocks, for minutes if the
/// trace is large. Needs a QApplication, and its own process, whose memory it measures.
Result<QJsonObject> measureViewer(const std::filesystem::path& path, int rounds);

}  // namespace lanescope
