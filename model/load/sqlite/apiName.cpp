// SPDX-License-Identifier: Apache-2.0
#include "model/load/sqlite/apiName.h"

#include <algorithm>

namespace lanescope {

std::string_view plainApiName(std::string_view entryPoint) {
    const size_t version = entryPoint.rfind("_v");
    if (version == std::string_view::npos) return entryPoint;
    const std::string_view digits = entryPoint.substr(version + 2);
    // Versions of CUDA have four digits or five ("_v3020", "_v12000").
    const bool isVersion =
        digits.size() >= 4 && digits.size() <= 5 &&
        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!isVersion) return entryPoint;
    std::string_view name = entryPoint.substr(0, version);
    // How the default stream is meant; the same call to whoever reads the timeline.
    for (const std::string_view suffix : {"_ptsz", "_ptds"})
        if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
    return name;
}

}  // namespace lanescope
