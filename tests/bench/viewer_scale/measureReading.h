// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QJsonObject>
#include <filesystem>

#include "model/format/Result.h"

namespace lanescope {

/// Measures the first opening of a trace: reading it and making its index, compared with reading
/// every cell of its event tables by SQL, on one thread. Both interleaved, `rounds` times; wall and
/// CPU time in milliseconds, by name. Leaves the index.
Result<QJsonObject> measureReading(const std::filesystem::path& path, int rounds);

}  // namespace lanescope
