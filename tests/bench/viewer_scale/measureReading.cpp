#include "tests/bench/viewer_scale/measureReading.h"

#include <algorithm>

#include "model/format/Sqlite.h"
#include "model/index/indexPath.h"
#include "model/index/openTrace.h"
#include "tests/bench/viewer_scale/Times.h"

namespace lanescope {

namespace {

/// Looks at all cells and keeps none. The sum keeps the reading from being optimized away.
uint64_t scan(const Database& database) {
    uint64_t sum = 0;
    for (const char* sql :
         {"SELECT * FROM StringIds", "SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL",
          "SELECT * FROM CUPTI_ACTIVITY_KIND_MEMCPY", "SELECT * FROM CUPTI_ACTIVITY_KIND_MEMSET",
          "SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME",
          "SELECT * FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
          "SELECT * FROM CUDA_GPU_MEMORY_USAGE_EVENTS", "SELECT * FROM NVTX_EVENTS"}) {
        auto statement = database.prepare(sql);
        if (!statement) continue;
        const int columns = statement->columnCount();
        for (auto row = statement->step(); row && *row; row = statement->step())
            for (int column = 0; column < columns; ++column)
                sum += static_cast<uint64_t>(statement->integer(column));
    }
    return sum;
}

}  // namespace

Result<QJsonObject> measureReading(const std::filesystem::path& path) {
    const auto database = Database::openReadOnly(path);
    if (!database) return fail(database.error());
    uint64_t sum = 0;
    double scanMs = cpuMillisecondsOf([&] { sum += scan(*database); });
    scanMs = std::min(scanMs, cpuMillisecondsOf([&] { sum += scan(*database); }));
    if (const auto removed = removeIndexes(path); !removed) return fail(removed.error());
    const double before = processCpuMs();
    if (const auto index = ensureIndex(path); !index) return fail(index.error());
    return QJsonObject{
        {"scanMs", scanMs}, {"readMs", processCpuMs() - before}, {"scanSum", double(sum)}};
}

}  // namespace lanescope
