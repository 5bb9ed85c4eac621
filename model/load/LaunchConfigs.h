#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/trace/Tables.h"

namespace lanescope {

/// Keeps one `LaunchConfig` for all kernels that are launched alike.
class LaunchConfigs {
  public:
    explicit LaunchConfigs(std::vector<LaunchConfig>& configs) : configs_(configs) {}

    /// The index of `config` in the vector. O(1).
    uint32_t indexOf(const LaunchConfig& config);

  private:
    struct Hash {
        size_t operator()(const LaunchConfig& config) const;
    };

    std::vector<LaunchConfig>& configs_;
    std::unordered_map<LaunchConfig, uint32_t, Hash> indexOf_;
};

}  // namespace lanescope
