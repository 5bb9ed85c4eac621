// SPDX-License-Identifier: Apache-2.0
#include "tests/app/sampleTrace.h"

#include "model/format/GlobalId.h"
#include "model/format/Inserter.h"
#include "model/format/Memory.h"
#include "model/format/tables/Cuda.h"
#include "model/format/tables/Hardware.h"
#include "model/format/tables/Ranges.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/Session.h"

namespace lanescope {

namespace {

constexpr int pid = 4242;
constexpr int64_t stepNs = 1'000'000;

constexpr auto thread = static_cast<int64_t>(globalTid(pid, pid));
constexpr auto process = static_cast<int64_t>(globalPid(pid));

void writeNames(const Database& database, FirstError& error) {
    constexpr const auto& string = tables::strings;
    Inserter strings(database, string, error);
    strings.insert(string.id = 1, string.value = "void gemm<float, 128>(float*, int)");
    strings.insert(string.id = 2, string.value = "gemm");
    strings.insert(string.id = 3, string.value = "cudaLaunchKernel_v7000");
    constexpr const auto& gpu = tables::gpus;
    Inserter(database, gpu, error).insert(gpu.id = 0, gpu.name = "Simulated GPU", gpu.smCount = 132);
    constexpr const auto& program = tables::processes;
    Inserter(database, program, error).insert(program.globalPid = process, program.pid = pid, program.name = "python3");
    constexpr const auto& note = tables::health;
    Inserter(database, note, error)
        .insert(note.severity = 1, note.code = "simulated", note.sentence = "Three buffers were dropped.");
}

void writeFacts(const Database& database, FirstError& error) {
    constexpr const auto& t = tables::properties;
    Inserter rows(database, t, error);
    rows.insert(t.name = "workingDirectory", t.value = "/home/simulated");
    rows.insert(t.name = "gpu0.nvlinkCount", t.value = "18");
    rows.insert(t.globalPid = process, t.name = "cuptiVersion", t.value = "130001");
    rows.insert(t.globalPid = process, t.name = "endSignal", t.value = "15");
}

void writeStep(const Database& database, FirstError& error, int step, int64_t kernelNs) {
    const int64_t start = step * stepNs, correlation = 2 * step + 1;
    constexpr const auto& range = tables::nvtxEvents;
    Inserter(database, range, error)
        .insert(range.start = start, range.end = start + stepNs, range.eventType = 59, range.text = "step",
                range.globalTid = thread, range.domainId = 0);
    constexpr const auto& call = tables::apiCalls;
    Inserter(database, call, error)
        .insert(call.start = start + 1000, call.end = start + 5000, call.eventClass = 0, call.globalTid = thread,
                call.correlationId = correlation, call.nameId = 3, call.returnValue = 0);
    constexpr const auto& k = tables::kernels;
    Inserter(database, k, error)
        .insert(k.start = start + 10'000, k.end = start + 10'000 + kernelNs, k.deviceId = 0, k.contextId = 1,
                k.streamId = 7, k.correlationId = correlation, k.globalPid = process, k.demangledName = 1,
                k.shortName = 2, k.registersPerThread = 32, k.gridX = 8, k.gridY = 1, k.gridZ = 1, k.blockX = 128,
                k.blockY = 1, k.blockZ = 1, k.staticSharedMemory = 0, k.dynamicSharedMemory = 0,
                k.localMemoryPerThread = 0, k.localMemoryTotal = 0, k.gridId = 1);
    constexpr const auto& copy = tables::memcpys;
    Inserter(database, copy, error)
        .insert(copy.start = start + 960'000, copy.end = start + 980'000, copy.deviceId = 0, copy.contextId = 1,
                copy.streamId = 7, copy.correlationId = correlation + 1, copy.globalPid = process,
                copy.bytes = 1'000'000, copy.copyKind = MemcpyKind::HtoD, copy.srcKind = MemoryKind::Pinned,
                copy.dstKind = MemoryKind::Device);
}

}  // namespace

bool writeSampleTrace(const std::filesystem::path& path, int steps, long long kernelNs) {
    Result<Database> database = Database::create(path);
    if (!database || !createTraceTables(*database)) return false;
    FirstError error;
    writeNames(*database, error);
    writeFacts(*database, error);
    for (int step = 0; step < steps; ++step) writeStep(*database, error, step, kernelNs);
    return !error;
}

bool writeThirdPartyDatabase(const std::filesystem::path& path) {
    Result<Database> database = Database::create(path);
    return database && database->execute("CREATE TABLE shop (price INTEGER)").has_value();
}

}  // namespace lanescope
