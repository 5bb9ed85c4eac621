#pragma once

#include <optional>
#include <string>

namespace lanescope::capture {

/// How much of the last second or so a GPU was busy, in percent, by NVML; nothing where NVML does
/// not tell. By UUID, "GPU-...". Takes some 10 ms.
std::optional<unsigned> gpuUtilization(const std::string& uuid);

}  // namespace lanescope::capture
