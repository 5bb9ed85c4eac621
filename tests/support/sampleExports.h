// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

namespace lanescope {

/// The exports of Nsight Systems in the folder that the environment variable LANESCOPE_TEST_DATA
/// names, sorted by name; empty where there is no such folder. They are not part of the project.
std::vector<std::filesystem::path> sampleExports();

}  // namespace lanescope
