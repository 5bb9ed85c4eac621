// SPDX-License-Identifier: Apache-2.0
// What libFuzzer calls, for the target that the build names.

#include <algorithm>

#include "tests/fuzz/targets/sqliteMemory.h"
#include "tests/fuzz/targets/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace lanescope::fuzz;
    static const Target* const target = [] {
        const auto all = targets();
        const auto found = std::ranges::find(all, std::string_view(LANESCOPE_FUZZ_TARGET),
                                             [](const Target& each) { return each.name; });
        require(found != all.end(), "There is no target " LANESCOPE_FUZZ_TARGET ".");
        // How much a query takes is part of what that target asks.
        if (std::string_view(found->name) != "sql") keepSqliteFromSanitizer();
        return &*found;
    }();
    target->run({data, size});
    return 0;
}
