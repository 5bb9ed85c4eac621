// SPDX-License-Identifier: Apache-2.0
#include "tests/support/sampleExports.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace lanescope {

std::vector<std::filesystem::path> sampleExports() {
    std::vector<std::filesystem::path> files;
    const char* folder = std::getenv("LANESCOPE_TEST_DATA");
    if (folder == nullptr || *folder == '\0') return files;
    std::error_code error;
    for (auto entry = std::filesystem::recursive_directory_iterator(folder, error);
         !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error))
        if (entry->path().extension() == ".sqlite") files.push_back(entry->path());
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace lanescope
