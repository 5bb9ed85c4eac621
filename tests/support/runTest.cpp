// SPDX-License-Identifier: Apache-2.0
#include "tests/support/runTest.h"

#include <cstdio>

namespace lanescope::test {

namespace {

std::map<std::string, RunTest>& tests() {
    static std::map<std::string, RunTest> all;
    return all;
}

}  // namespace

TestRegistration::TestRegistration(const char* file, RunTest run) {
    tests()[std::filesystem::path(file).stem().string()] = run;
}

}  // namespace lanescope::test

/// usage: test-<folder> tst_Name [arguments of Qt Test...]
int main(int argc, char** argv) {
    using lanescope::test::tests;
    const auto found = argc > 1 ? tests().find(argv[1]) : tests().end();
    if (found == tests().end()) {
        std::fprintf(stderr, "usage: %s TEST [arguments of Qt Test]; it holds:\n", argv[0]);
        for (const auto& [name, run] : tests()) std::fprintf(stderr, "    %s\n", name.c_str());
        return 2;
    }
    // Makes the text width independent of the environment.
    ::unsetenv("COLUMNS");
    argv[1] = argv[0];
    return found->second(argc - 1, argv + 1);
}
