#include "tests/app/sampleTrace.h"

#include "model/format/GlobalId.h"
#include "model/format/Schema.h"
#include "model/format/Sqlite.h"

namespace lanescope {

namespace {

constexpr int pid = 4242;
constexpr int64_t stepNs = 1'000'000;

/// Prepares fixed SQL, binds whole numbers and runs it.
bool insert(Database& database, const char* sql, std::initializer_list<int64_t> values) {
    Result<Statement> statement = database.prepare(sql);
    if (!statement) return false;
    int index = 1;
    for (const int64_t value : values) statement->bind(index++, value);
    return statement->run().has_value();
}

bool insertStep(Database& database, int step, int64_t kernelNs) {
    const int64_t start = step * stepNs;
    const auto thread = static_cast<int64_t>(globalTid(pid, pid));
    const auto process = static_cast<int64_t>(globalPid(pid));
    const int64_t correlation = 2 * step + 1;
    return insert(database,
                  "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, globalTid, domainId) "
                  "VALUES (?, ?, 59, 'step', ?, 0)",
                  {start, start + stepNs, thread}) &&
           insert(database,
                  "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, \"end\", eventClass, globalTid, "
                  "correlationId, nameId, returnValue) VALUES (?, ?, 0, ?, ?, 3, 0)",
                  {start + 1000, start + 5000, thread, correlation}) &&
           insert(database,
                  "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", deviceId, contextId, "
                  "streamId, correlationId, globalPid, demangledName, shortName, "
                  "registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, "
                  "staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, "
                  "localMemoryTotal, gridId) VALUES (?, ?, 0, 1, 7, ?, ?, 1, 2, 32, 8, 1, 1, 128, "
                  "1, 1, 0, 0, 0, 0, 1)",
                  {start + 10'000, start + 10'000 + kernelNs, correlation, process}) &&
           insert(database,
                  "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, \"end\", deviceId, contextId, "
                  "streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind) "
                  "VALUES (?, ?, 0, 1, 7, ?, ?, 1000000, 1, 1, 2)",
                  {start + 960'000, start + 980'000, correlation + 1, process});
}

}  // namespace

bool writeSampleTrace(const std::filesystem::path& path, int steps, long long kernelNs) {
    Result<Database> database = Database::create(path);
    if (!database || !createTraceTables(*database)) return false;
    const char* names =
        "INSERT INTO StringIds (id, value) VALUES (1, 'void gemm<float, 128>(float*, int)'), "
        "(2, 'gemm'), (3, 'cudaLaunchKernel_v7000');"
        "INSERT INTO TARGET_INFO_GPU (id, name, smCount) VALUES (0, 'Simulated GPU', 132);"
        "INSERT INTO LANESCOPE_HEALTH (severity, code, sentence) "
        "VALUES (1, 'simulated', 'Three buffers were dropped.');";
    if (!database->execute(names)) return false;
    if (!insert(*database, "INSERT INTO PROCESSES (globalPid, pid, name) VALUES (?, ?, 'python3')",
                {static_cast<int64_t>(globalPid(pid)), pid}))
        return false;
    const char* facts =
        "INSERT INTO LANESCOPE_PROPERTIES (name, value) VALUES ('workingDirectory', "
        "'/home/simulated');"
        "INSERT INTO LANESCOPE_PROPERTIES (name, value) VALUES ('gpu0.nvlinkCount', '18');"
        "INSERT INTO LANESCOPE_PROPERTIES SELECT globalPid, 'cuptiVersion', '130001' FROM "
        "PROCESSES;"
        "INSERT INTO LANESCOPE_PROPERTIES SELECT globalPid, 'endSignal', '15' FROM PROCESSES;";
    if (!database->execute(facts)) return false;
    for (int step = 0; step < steps; ++step)
        if (!insertStep(*database, step, kernelNs)) return false;
    return true;
}

bool writeForeignDatabase(const std::filesystem::path& path) {
    Result<Database> database = Database::create(path);
    return database && database->execute("CREATE TABLE shop (price INTEGER)").has_value();
}

}  // namespace lanescope
