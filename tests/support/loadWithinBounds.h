// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <malloc.h>

#include <QtTest>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "model/format/Subprocess.h"
#include "model/importers/TraceFormat.h"
#include "model/index/openTrace.h"
#include "tests/support/sanitizers.h"

namespace lanescope::test {

/// Maximum memory to open a file, as promised in the manual: a base for any small file, and a multiple of its bytes.
inline constexpr int64_t baseMemoryBytes = int64_t{32} << 20, memoryPerByte = 16;

/// Returns a KiB value of /proc/self/status in bytes.
inline int64_t statusBytes(const std::string& name) {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(name + ":")) return std::stoll(line.substr(name.size() + 1)) << 10;
    return -1;
}

/// Returns true if the running test passes in a process of its own with one heap, as the command line has it: in this
/// one, earlier tests have left the heaps of the threads in pieces.
inline bool passesInFreshProcess() {
    constexpr const char* variable = "LANESCOPE_TEST_IN_FRESH_PROCESS";
    if (qEnvironmentVariableIsSet(variable)) return false;
    std::ifstream file("/proc/self/cmdline");
    std::string program, testClass;
    std::getline(file, program, '\0');
    std::getline(file, testClass, '\0');
    const std::string test = std::string(QTest::currentTestFunction()) + ":" + QTest::currentDataTag();
    qputenv(variable, "1");
    qputenv("MALLOC_ARENA_MAX", "1");
    const int status = Subprocess::spawn(program, {program, testClass, test}, {}).wait();
    qunsetenv(variable);
    qunsetenv("MALLOC_ARENA_MAX");
    return status == 0;
}

/// Fails the test if `work` on the file takes more memory than its size allows.
template <class Work>
auto withinBounds(const char* what, const std::filesystem::path& path, const Work& work) {
    ::malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak
    const int64_t before = statusBytes("VmRSS");
    auto result = work();
    const int64_t took = statusBytes("VmHWM") - before;
    const auto bytes = static_cast<int64_t>(std::filesystem::file_size(path));
    const int64_t most = baseMemoryBytes + memoryPerByte * bytes;
    qInfo("%s: %lld of %lld KiB for a file of %lld KiB", what, static_cast<long long>(took >> 10),
          static_cast<long long>(most >> 10), static_cast<long long>(bytes >> 10));
    if (before > 0 && !hasAddressSanitizer && !hasThreadSanitizer && took > most && !passesInFreshProcess())
        QTest::qFail("It takes more memory than its size allows.", __FILE__, __LINE__);
    return result;
}

/// Opens the file directly, then like the programs, which index it and read the index.
inline Result<TracePtr> loadWithinBounds(const std::filesystem::path& path) {
    OpenOptions options;
    options.minBytes = 0;
    (void)withinBounds("index made", path, [&] { return openTrace(path, options); });
    (void)withinBounds("index read", path, [&] { return openTrace(path, options); });
    return withinBounds("read", path, [&] { return loadTrace(path); });
}

}  // namespace lanescope::test
