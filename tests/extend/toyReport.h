// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/reports/Report.h"

namespace lanescope {

/// Number of kernels per stream.
extern const Report toyReport;

}  // namespace lanescope
