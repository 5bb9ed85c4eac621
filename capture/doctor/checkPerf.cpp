// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "capture/doctor/diagnose.h"
#include "capture/perf/LibDw.h"
#include "capture/perf/PerfEvents.h"

namespace lanescope::capture {

Check checkPerf() {
    const auto allowed = tryPerfEvents();
    // Nothing but that option needs it.
    if (!allowed)
        return {CheckStatus::Ok,
                "perf",
                fmt::format("record --cpu-samples perf does not work here, all else does: {}",
                            allowed.error().sentence),
                {}};
    const LibDw libDw;
    return {CheckStatus::Ok,
            "perf",
            fmt::format("The kernel tells who has a core and samples native stacks (record "
                        "--cpu-samples perf){}; {}.",
                        allowed->seesKernel ? "" : ", but not of threads in the kernel",
                        libDw ? "libdw is there to follow them"
                              : fmt::format("they are followed by frame pointers only, as {}",
                                            LibDw::absence())),
            {}};
}

}  // namespace lanescope::capture
