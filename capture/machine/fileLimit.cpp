// SPDX-License-Identifier: Apache-2.0
#include "capture/machine/fileLimit.h"

#include <sys/resource.h>

namespace lanescope::capture {

void raiseFileLimit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

}  // namespace lanescope::capture
