// SPDX-License-Identifier: Apache-2.0
#include "model/build/LaunchConfigs.h"

#include "model/values/MixedMap.h"

namespace lanescope {

size_t LaunchConfigs::Hash::operator()(const LaunchConfig& config) const {
    uint64_t hash = mixed(0);
    const auto mix = [&hash](uint64_t part) {
        hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    };
    mix(uint64_t{config.demangledName} << 32 | config.shortName);
    mix(uint64_t{config.grid[0]} << 32 | config.grid[1]);
    mix(uint64_t{config.grid[2]} << 32 | config.block[0]);
    mix(uint64_t{config.block[1]} << 32 | config.block[2]);
    mix(uint64_t{config.registersPerThread} << 32 | config.mangledName);
    mix(uint64_t{config.staticSharedBytes} << 32 | config.dynamicSharedBytes);
    return static_cast<size_t>(hash);
}

uint32_t LaunchConfigs::indexOf(const LaunchConfig& config, std::vector<LaunchConfig>& configs) {
    const auto [found, isNew] = indexOf_.try_emplace(config, static_cast<uint32_t>(configs.size()));
    if (isNew) configs.push_back(config);
    return found->second;
}

}  // namespace lanescope
