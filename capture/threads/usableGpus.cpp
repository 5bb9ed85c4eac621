// SPDX-License-Identifier: Apache-2.0
#include "capture/threads/usableGpus.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "capture/log/namesIn.h"

namespace lanescope::capture {

int usableGpus(int shown, std::optional<std::string_view> listed) {
    if (!listed) return std::max(shown, 1);
    int count = 0;
    for (std::string_view rest = *listed; !rest.empty();) {
        const size_t end = std::min(rest.find(','), rest.size());
        const std::string_view each = rest.substr(0, end);
        if (each.empty() || each.starts_with('-')) break;
        ++count;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return std::max(std::min(count, shown), 1);
}

int usableGpus() {
    int shown = 0;
    for (const std::string& name : log::namesIn("/dev")) {
        if (name.starts_with("nvidia") && name.size() > 6 &&
            name.find_first_not_of("0123456789", 6) == std::string::npos)
            ++shown;
    }
    const char* listed = std::getenv("CUDA_VISIBLE_DEVICES");
    return usableGpus(shown, listed ? std::optional<std::string_view>(listed) : std::nullopt);
}

}  // namespace lanescope::capture
