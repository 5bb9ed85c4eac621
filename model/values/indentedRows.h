// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/values/ReportTable.h"

namespace lanescope {

/// A table as people read it: of `ReportStyle::Tree` without the columns that only say which row
/// lies in which, the last column set in by how deep it does; any other as it is. O(cells).
ReportTable indentedRows(ReportTable table);

}  // namespace lanescope
