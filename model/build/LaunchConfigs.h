// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/trace/Tables.h"

namespace lanescope {

/// Keeps one `LaunchConfig` for all kernels that are launched alike.
class LaunchConfigs {
  public:
    /// The index of `config` in `configs`, which must be the same each time. O(1).
    uint32_t indexOf(const LaunchConfig& config, std::vector<LaunchConfig>& configs);

  private:
    struct Hash {
        size_t operator()(const LaunchConfig& config) const;
    };

    std::unordered_map<LaunchConfig, uint32_t, Hash> indexOf_;
};

}  // namespace lanescope
