// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lanescope {

// Names of facts in `LANESCOPE_PROPERTIES` that hold what the fact is about. The recorder joins
// them and the loader takes them apart, both here.

/// A name, and what it was joined with.
template <class Subject>
struct FactOf {
    Subject subject{};
    std::string_view name;
};

/// "gpu0.pcieWidth": a fact of the GPU of that number.
std::string gpuFactName(int64_t gpu, std::string_view name);
std::optional<FactOf<int64_t>> splitGpuFact(std::string_view text);

/// "box samplers": a fact of one of several hosts. Names hold no space, so the last one parts them.
std::string hostFactName(std::string_view host, std::string_view name);
std::optional<FactOf<std::string_view>> splitHostFact(std::string_view text);

/// "gpuMetricsLost0", "host1": one of several facts that are called alike.
std::string numberedFactName(std::string_view name, int64_t number);
std::optional<FactOf<int64_t>> splitNumberedFact(std::string_view text);

}  // namespace lanescope
