#pragma once

#include <string_view>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Kernels (by short or full name), memcpys and memsets ("memcpy HtoD"), API calls and NVTX ranges whose
/// name contains `text` (case of ASCII letters ignored), by start. Projections are left out: they would
/// find their range twice. Names are tested once each, not once per event. Empty text finds nothing.
/// O(strings + events + hits log hits); any thread.
std::vector<EventRef> findEvents(const Trace& trace, std::string_view text);

}  // namespace lanescope
