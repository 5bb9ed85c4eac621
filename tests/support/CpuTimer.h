// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>

#include "tests/support/sanitizers.h"

namespace lanescope::test {

/// Measures the processor time of this process, which other programs on the machine do not prolong. With a sanitizer it
/// is divided by the usual factor, so that one bound serves all builds.
class CpuTimer {
  public:
    void restart() { begun_ = std::clock(); }
    /// Returns the time since the construction or the last restart, in ms.
    int64_t elapsed() const { return (std::clock() - begun_) / (CLOCKS_PER_SEC / 1000) / factor; }

  private:
    static constexpr int64_t factor = hasAddressSanitizer || hasThreadSanitizer ? 4 : 1;
    std::clock_t begun_ = std::clock();
};

}  // namespace lanescope::test
