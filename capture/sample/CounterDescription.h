// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "capture/log/Records.h"

namespace lanescope::capture {

/// What a counter is and what it is about; see `LANESCOPE_COUNTERS` in FORMAT.md.
struct CounterDescription {
    std::string source;  ///< "nvml", "gpm", "host".
    std::string name;
    std::string title;
    std::string unit;
    log::CounterMeaning meaning = log::CounterMeaning::Gauge;
    int gpu = -1, link = -1, core = -1;  ///< -1: not about one.
    uint32_t processId = 0;
    std::string device, direction;
    double granularity = 0;  ///< 0: unknown.

    CounterDescription() = default;
    CounterDescription(std::string counterSource, std::string counterName, std::string counterTitle,
                       std::string counterUnit, log::CounterMeaning counterMeaning)
        : source(std::move(counterSource)),
          name(std::move(counterName)),
          title(std::move(counterTitle)),
          unit(std::move(counterUnit)),
          meaning(counterMeaning) {}
};

}  // namespace lanescope::capture
