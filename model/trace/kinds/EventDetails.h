// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// What there is to say about one event, in the order to show it: names, times, where, sizes,
/// bandwidth, payload. Values carry their units. Empty for an invalid reference.
std::vector<Property> describe(const Trace& trace, EventRef event);

}  // namespace lanescope
