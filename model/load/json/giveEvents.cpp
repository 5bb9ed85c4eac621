// SPDX-License-Identifier: Apache-2.0
#include "model/load/json/giveEvents.h"

namespace lanescope {

void giveEvents(JsonGiving& giving, JsonFindings& findings,
                const std::function<bool(double)>& isWanted) {
    lookAtWork(giving, findings);
    giveGpuWork(giving);
    giveCalls(giving);
    if (!isWanted(0.3)) return;
    giveRanges(giving, findings);
    if (!isWanted(0.9)) return;
    giveEdges(giving, findings);
    giveCounters(giving);
}

}  // namespace lanescope
