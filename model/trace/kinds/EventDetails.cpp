// SPDX-License-Identifier: Apache-2.0
#include "model/trace/kinds/EventDetails.h"

#include "model/trace/kinds/allKinds.h"

namespace lanescope {

std::vector<Property> describe(const Trace& trace, EventRef event) {
    kinds::Details details(trace, event);
    visitKind(trace, event, [&](auto each, uint32_t row) { each.describe(trace, row, details); });
    return details.take();
}

}  // namespace lanescope
