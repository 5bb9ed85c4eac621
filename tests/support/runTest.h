// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tests include this alone for Qt Test, Qt Core, and the standard headers and helpers that many of them use.
#include <QtTest>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/Rows.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/has.h"
#include "tests/support/listed.h"
#include "tests/support/orFail.h"

namespace lanescope::test {

/// Runs one test like its own `main`.
using RunTest = int (*)(int argc, char** argv);

/// Registers a test with the program it is linked into, which runs it by its file name: `test-model tst_Column`. Many
/// tests share a program, because linking one for each took longer than compiling it.
struct TestRegistration {
    /// `file` is `__FILE__` of the test.
    TestRegistration(const char* file, RunTest run);
};

/// Placeholder for tests without an event loop.
struct NoApplication {
    NoApplication(int&, char**) {}
};

template <class Test, class Application>
int runTest(int argc, char** argv) {
    [[maybe_unused]] Application application(argc, argv);
    Test test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace lanescope::test

/// Replaces QTEST_MAIN. `Application` is `QApplication`, `QCoreApplication` or `NoApplication`.
#define LANESCOPE_TEST(Test, Application)                                                      \
    namespace {                                                                                \
    using lanescope::test::NoApplication;                                                      \
    const lanescope::test::TestRegistration registration(__FILE__, [](int argc, char** argv) { \
        QTest::setMainSourcePath(__FILE__);                                                    \
        return lanescope::test::runTest<Test, Application>(argc, argv);                        \
    });                                                                                        \
    }
