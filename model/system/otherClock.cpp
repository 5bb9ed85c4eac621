// SPDX-License-Identifier: Apache-2.0
#include "model/system/clock.h"

namespace lanescope::system {

ClockError clockError() {
    return {};
}

}  // namespace lanescope::system
