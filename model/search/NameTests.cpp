// SPDX-License-Identifier: Apache-2.0
#include "model/search/NameTests.h"

#include <string>

namespace lanescope {

NameTests::NameTests(const Trace& trace, const NamePattern& pattern)
    : trace_(trace),
      pattern_(pattern),
      names_(trace.strings.size(), unknown),
      configs_(trace.launchConfigs.size(), unknown) {
    for (int number = 0; number < memcpyKindCount; ++number) {
        const auto kind = static_cast<MemcpyKind>(number);
        memcpys_[number] = pattern.matches(name(kind)) || pattern.matches(searchName(kind));
    }
    isMemsetHit_ = pattern.matches("memset");
}

bool NameTests::isConfigHit(uint32_t config) {
    if (config >= configs_.size()) return false;
    uint8_t& state = configs_[config];
    if (state == unknown) {
        const LaunchConfig& names = trace_.launchConfigs[config];
        state = isHit(names.shortName) || isHit(names.demangledName) ? hit : miss;
    }
    return state == hit;
}

}  // namespace lanescope
