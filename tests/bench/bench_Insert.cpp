// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <ctime>

#include "model/format/Inserter.h"
#include "model/format/tables/Cuda.h"
#include "model/format/tables/Schema.h"
#include "tests/support/TemporaryFolder.h"

using namespace lanescope;

/// Writes kernels like the collector, and the same rows by a hand-written statement.
class bench_Insert : public QObject {
    Q_OBJECT

  private slots:
    void descriptionCostsNoMoreThanText();

  private:
    static constexpr int64_t rowCount = 1'000'000;
    static constexpr int rounds = 3;
    static constexpr double maxTimesHandWritten = 1.05;
};

namespace {

/// CPU time of this process, which other programs affect least.
double cpuSeconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

constexpr const char* byHand =
    R"sql(INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, "end", deviceId, contextId,
    streamId, correlationId, globalPid, demangledName, shortName, mangledName, launchType,
    cacheConfig, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ,
    staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, localMemoryTotal,
    gridId, sharedMemoryExecuted, graphNodeId, sharedMemoryLimitConfig, graphId,
    clusterX, clusterY, clusterZ, clusterSchedulingPolicy,
    sharedMemoryRequestedPercentage) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,
    ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27,
    ?28, ?29, ?30, ?31, ?32, ?33))sql";

/// Columns 26 and 28, of kernels in CUDA graphs.
constexpr int graphNode = 26, graph = 28, columnCount = 33;

void writeByHand(Database& database, int64_t rowCount) {
    auto insert = database.prepare(byHand);
    QVERIFY(insert);
    for (int64_t row = 0; row < rowCount; ++row) {
        for (int column = 1; column <= columnCount; ++column)
            if (column == graphNode || column == graph)
                insert->bindNull(column);
            else
                insert->bind(column, row * column);
        QVERIFY(insert->run());
    }
}

void writeByDescription(Database& database, int64_t rowCount) {
    constexpr const auto& t = tables::kernels;
    FirstError error;
    Inserter rows(database, t, error);
    const std::optional<int64_t> nothing;
    for (int64_t row = 0; row < rowCount; ++row)
        rows.insert(t.start = row, t.end = row * 2, t.deviceId = row * 3, t.contextId = row * 4, t.streamId = row * 5,
                    t.correlationId = row * 6, t.globalPid = row * 7, t.demangledName = row * 8, t.shortName = row * 9,
                    t.mangledName = row * 10, t.launchType = row * 11, t.cacheConfig = row * 12,
                    t.registersPerThread = row * 13, t.gridX = row * 14, t.gridY = row * 15, t.gridZ = row * 16,
                    t.blockX = row * 17, t.blockY = row * 18, t.blockZ = row * 19, t.staticSharedMemory = row * 20,
                    t.dynamicSharedMemory = row * 21, t.localMemoryPerThread = row * 22, t.localMemoryTotal = row * 23,
                    t.gridId = row * 24, t.sharedMemoryExecuted = row * 25, t.graphNodeId = nothing,
                    t.sharedMemoryLimitConfig = row * 27, t.graphId = nothing, t.clusterX = row * 29,
                    t.clusterY = row * 30, t.clusterZ = row * 31, t.clusterSchedulingPolicy = row * 32,
                    t.sharedMemoryRequestedPercentage = row * 33);
    QVERIFY(!error);
}

template <class Write>
double secondsOf(const Write& write, int64_t rowCount) {
    TemporaryFolder folder;
    auto database = Database::create(folder / "trace");
    if (!database || !createTraceTables(*database) || !database->execute("BEGIN")) return 0;
    const double begun = cpuSeconds();
    write(*database, rowCount);
    if (!database->execute("COMMIT")) return 0;
    const double seconds = cpuSeconds() - begun;
    return database->rowCount(tables::kernels.tableName()) == rowCount ? seconds : 0;
}

}  // namespace

void bench_Insert::descriptionCostsNoMoreThanText() {
    double hand = 1e9, description = 1e9;
    for (int round = 0; round < rounds; ++round) {
        hand = std::min(hand, secondsOf(writeByHand, rowCount));
        description = std::min(description, secondsOf(writeByDescription, rowCount));
    }
    QVERIFY(hand > 0 && description > 0);
    qInfo("%lld kernels: by hand %.3f s, by description %.3f s, %.3f times", static_cast<long long>(rowCount), hand,
          description, description / hand);
    if (qEnvironmentVariableIntValue("LANESCOPE_BENCH_ASSERT") == 0) return;
    QVERIFY(description < maxTimesHandWritten * hand);
}

QTEST_APPLESS_MAIN(bench_Insert)
#include "bench_Insert.moc"
