// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/compare/StepParts.h"

namespace lanescope::compare {

/// The colour of a part wherever it is drawn, as 0xRRGGBB: on light and on dark ground.
struct PartColor {
    uint32_t light = 0, dark = 0;
};
/// What `resources/report/report.css` says, too; `tst_StepParts` holds them against each other.
PartColor colorOf(StepPart part);

}  // namespace lanescope::compare
