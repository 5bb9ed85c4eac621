#pragma once

#include <QString>
#include <vector>

#include "model/summary/Bandwidth.h"
#include "model/summary/ReportTable.h"

namespace lanescope {

/// Bandwidth rows as a table for `ReportView`: kind, memory kinds, count, bytes, time and rates.
ReportTable bandwidthTable(const std::vector<BandwidthRow>& rows);

/// "pinned → device", the memory kinds of a row.
QString memoryKinds(const BandwidthRow& row);

}  // namespace lanescope
