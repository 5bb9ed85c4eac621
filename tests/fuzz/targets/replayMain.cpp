// SPDX-License-Identifier: Apache-2.0
//
// Passes all files of some folders once to a target: replay TARGET FOLDER...

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/fuzz/targets/targets.h"
#include "tests/support/files.h"

int main(int count, char** arguments) {
    using namespace lanescope::fuzz;
    const auto all = targets();
    const auto found = std::ranges::find(all, std::string_view(count > 1 ? arguments[1] : ""),
                                         [](const Target& each) { return each.name; });
    require(found != all.end(), "usage: replay TARGET FOLDER...");
    for (int folder = 2; folder < count; ++folder)
        for (const auto& entry : std::filesystem::directory_iterator(arguments[folder])) {
            const std::string bytes = lanescope::contentOf(entry.path());
            found->run({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
        }
    return 0;
}
