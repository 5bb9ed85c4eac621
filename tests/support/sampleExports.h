// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

namespace lanescope {

/// Returns the Nsight Systems exports in the folder of the environment variable LANESCOPE_TEST_DATA, sorted by name;
/// empty if the folder does not exist. They are not part of the project.
std::vector<std::filesystem::path> sampleExports();

}  // namespace lanescope
