#pragma once

#include <cstdint>

#include "capture/agent/clocks.h"

namespace lanescope {

/// The time of samples: CLOCK_REALTIME as it was when this process first asked, counted on from
/// there by the clock that nobody sets. So samples never go back in time, whatever is done to the
/// clock of the machine. Any thread.
inline int64_t sampleTimeNs() {
    static const int64_t offsetNs = realtimeNs() - monotonicNs();
    return monotonicNs() + offsetNs;
}

}  // namespace lanescope
