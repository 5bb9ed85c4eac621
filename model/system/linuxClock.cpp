// SPDX-License-Identifier: Apache-2.0
#include <sys/timex.h>

#include "model/system/clock.h"

namespace lanescope::system {

ClockError clockError() {
    constexpr int64_t nsPerUs = 1000;
    timex asked{};
    const int state = ::adjtimex(&asked);
    if (state < 0 || state == TIME_ERROR || (asked.status & STA_UNSYNC) != 0) return {};
    return {int64_t{asked.esterror} * nsPerUs, int64_t{asked.maxerror} * nsPerUs};
}

}  // namespace lanescope::system
