// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lanescope::capture {

/// Folders in which Python's packages keep a CUPTI, those of the Python that `program` is or is run
/// by first: beside an interpreter that is named, that its first line names ("#!"), of the virtual
/// or Conda environment in force, and of the first python3 in PATH. Only folders that are there.
/// Nothing is run; reads some folders. Any thread that may call getenv.
std::vector<std::filesystem::path> pythonCuptiFolders(const std::string& program);

}  // namespace lanescope::capture
