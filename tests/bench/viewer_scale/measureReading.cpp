// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/viewer_scale/measureReading.h"

#include <algorithm>

#include "model/format/Sqlite.h"
#include "model/index/openTrace.h"
#include "tests/bench/viewer_scale/Times.h"

namespace lanescope {

namespace {

/// Scan time of the largest traces above which one round must be enough.
constexpr double longMs = 10'000;

/// Reads all cells and stores none. The sum keeps the reading from being optimized away.
uint64_t scan(const Database& database) {
    uint64_t sum = 0;
    for (const char* sql :
         {"SELECT * FROM StringIds", "SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL",
          "SELECT * FROM CUPTI_ACTIVITY_KIND_MEMCPY", "SELECT * FROM CUPTI_ACTIVITY_KIND_MEMSET",
          "SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME", "SELECT * FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
          "SELECT * FROM CUDA_GPU_MEMORY_USAGE_EVENTS", "SELECT * FROM NVTX_EVENTS"}) {
        auto statement = database.prepare(sql);
        if (!statement) continue;
        const int columns = statement->columnCount();
        for (auto row = statement->step(); row && *row; row = statement->step())
            for (int column = 0; column < columns; ++column) sum += static_cast<uint64_t>(statement->integer(column));
    }
    return sum;
}

}  // namespace

Result<QJsonObject> measureReading(const std::filesystem::path& path, int rounds) {
    const auto database = Database::openReadOnly(path);
    if (!database) return fail(database.error());
    uint64_t sum = 0;
    sum += scan(*database);  // loads the file into memory
    Times scans, reads, cpu, ratios;
    // Interleaved, so that other load affects both alike.
    for (int round = 0; round == 0 || (round < rounds && scans.longest() < longMs); ++round) {
        const double scanMs = millisecondsOf([&] { sum += scan(*database); });
        if (const auto removed = removeIndexes(path); !removed) return fail(removed.error());
        const double before = processCpuMs();
        Result<std::filesystem::path> index = std::filesystem::path();
        const double readMs = millisecondsOf([&] { index = ensureIndex(path); });
        if (!index) return fail(index.error());
        scans.add(scanMs);
        reads.add(readMs);
        cpu.add(processCpuMs() - before);
        ratios.add(readMs / scanMs);
    }
    return QJsonObject{{"scanMs", scans.median()},           {"readMs", reads.median()},
                       {"readCpuMs", cpu.median()},          {"readRatio", ratios.median()},
                       {"readBestRatio", ratios.shortest()}, {"scanSum", double(sum)}};
}

}  // namespace lanescope
