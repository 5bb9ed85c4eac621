// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QJsonObject>
#include <filesystem>

#include "model/format/Result.h"

namespace lanescope {

/// What the first opening of a trace costs: reading it and making its index, compared with looking
/// at every cell of its tables of events by SQL, on one thread. Both by turns, `rounds` times;
/// times on the wall and CPU time in milliseconds, by name. Leaves the index.
Result<QJsonObject> measureReading(const std::filesystem::path& path, int rounds);

}  // namespace lanescope
