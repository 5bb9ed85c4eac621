// SPDX-License-Identifier: Apache-2.0
//
// Entry point for libFuzzer. The program name is "fuzz-NAME" for each target; all are links to one
// file.

#include <algorithm>

#include "tests/fuzz/targets/sqliteMemory.h"
#include "tests/fuzz/targets/targets.h"

namespace {

lanescope::fuzz::Target target{};

}  // namespace

extern "C" int LLVMFuzzerInitialize(const int*, char*** arguments) {
    using namespace lanescope::fuzz;
    const std::string_view program = (*arguments)[0], name = program.substr(program.rfind('-') + 1);
    const auto all = targets();
    const auto found = std::ranges::find(all, name, [](const Target& each) { return each.name; });
    require(found != all.end(), "The program is called fuzz- and the name of a target.");
    target = *found;
    // That target also tests the memory of a query.
    if (name != "sql") keepSqliteFromSanitizer();
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    target.run({data, size});
    return 0;
}
