// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/reports/reports.h"

namespace lanescope {

/// Number of kernels per stream.
extern const Report toyReport;

}  // namespace lanescope
