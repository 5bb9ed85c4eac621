#include "capture/collector/TraceWriter.h"

#include "capture/collector/liveJournal.h"
#include "model/format/Schema.h"

namespace lanescope {

Result<std::unique_ptr<TraceWriter>> TraceWriter::create(const std::filesystem::path& path) {
    auto database = Database::create(path);
    if (!database) return fail(database.error());
    beginLiveJournal(*database);
    if (auto made = createTraceTables(*database); !made) return fail(made.error());
    std::unique_ptr<TraceWriter> writer(new TraceWriter(std::move(*database)));
    if (writer->error_) return fail(*writer->error_);
    if (auto begun = writer->database_.execute("BEGIN"); !begun) return fail(begun.error());
    return writer;
}

Result<void> TraceWriter::commit() {
    if (auto done = endTransaction(); !done) return done;
    return database_.execute("BEGIN");
}

Result<void> TraceWriter::finish() {
    if (auto done = endTransaction(); !done) return done;
    return endLiveJournal(database_);
}

Result<void> TraceWriter::endTransaction() {
    if (error_) return fail(*error_);
    auto done = database_.execute("COMMIT");
    if (!done) error_ = done.error();
    return done;
}

void TraceWriter::healthOfLog(Severity severity, std::string_view code, std::string_view sentence,
                              std::optional<int64_t> globalPid, std::optional<int64_t> timeNs,
                              std::optional<int64_t> count) {
    health_.insert(severity, code, globalPid, timeNs, count, sentence);
    if (severity == Severity::Error) errors_.emplace_back(sentence);
    if (severity == Severity::Warning) warnings_.emplace_back(sentence);
}

std::vector<std::string> TraceWriter::healthSentences() const {
    std::vector<std::string> all = errors_;
    all.insert(all.end(), warnings_.begin(), warnings_.end());
    return all;
}

void TraceWriter::property(std::string_view name, std::string_view value,
                           std::optional<int64_t> globalPid) {
    properties_.insert(globalPid, name, value);
}

TraceWriter::TraceWriter(Database database)
    : database_(std::move(database)),
      strings(database_, error_),
      kernels(database_,
              R"sql(INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, "end", deviceId, contextId,
              streamId, correlationId, globalPid, demangledName, shortName, mangledName, launchType,
              cacheConfig, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ,
              staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, localMemoryTotal,
              gridId, sharedMemoryExecuted, graphNodeId, sharedMemoryLimitConfig, graphId,
              clusterX, clusterY, clusterZ, clusterSchedulingPolicy,
              sharedMemoryRequestedPercentage) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,
              ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27,
              ?28, ?29, ?30, ?31, ?32, ?33))sql",
              error_),
      memcpys(database_,
              R"sql(INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, "end", deviceId, contextId,
              streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind, srcDeviceId,
              srcContextId, dstDeviceId, dstContextId, graphNodeId) VALUES (?1, ?2, ?3, ?4, ?5, ?6,
              ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16))sql",
              error_),
      migrations(database_,
                 R"sql(INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, "end", deviceId, contextId,
                 streamId, globalPid, bytes, copyKind, srcKind, dstKind, srcDeviceId, dstDeviceId,
                 migrationCause, virtualAddress) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,
                 ?11, ?12, ?13, ?14))sql",
                 error_),
      memsets(database_,
              R"sql(INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, "end", deviceId, contextId,
              streamId, correlationId, globalPid, value, bytes, graphNodeId, memKind)
              VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11))sql",
              error_),
      graphs(database_,
             R"sql(INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, "end", deviceId, contextId,
             streamId, correlationId, globalPid, graphId, graphExecId)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9))sql",
             error_),
      apiCalls(database_,
               R"sql(INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, "end", eventClass, globalTid,
               correlationId, nameId, returnValue) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7))sql",
               error_),
      syncs(database_,
            R"sql(INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, "end", deviceId,
            contextId, streamId, correlationId, globalPid, syncType, eventId, eventSyncId)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10))sql",
            error_),
      cudaEvents(database_,
                 R"sql(INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp, deviceId, contextId,
                 streamId, correlationId, globalPid, eventId, eventSyncId)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8))sql",
                 error_),
      overheads(database_,
                R"sql(INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD (start, "end", eventClass,
                globalTid, correlationId, nameId, overheadType)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7))sql",
                error_),
      memoryEvents(database_,
                   R"sql(INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS (start, globalPid, deviceId,
                   contextId, address, pc, bytes, memKind, memoryOperationType, name,
                   correlationId, streamId, localMemoryPoolAddress,
                   localMemoryPoolReleaseThreshold, localMemoryPoolSize,
                   localMemoryPoolUtilizedSize, importedMemoryPoolAddress,
                   importedMemoryPoolProcessId) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,
                   ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18))sql",
                   error_),
      poolEvents(database_,
                 R"sql(INSERT INTO CUDA_GPU_MEMORY_POOL_EVENTS (start, globalPid, deviceId,
                 address, operationType, poolType, correlationId, minBytesToKeep,
                 localMemoryPoolReleaseThreshold, localMemoryPoolSize,
                 localMemoryPoolUtilizedSize)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11))sql",
                 error_),
      cpuPageFaults(database_,
                    R"sql(INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS (start, globalPid, address,
                    originalFaultPc, CpuInstruction, unresolvedFaultPc)
                    VALUES (?1, ?2, ?3, ?4, ?5, 1))sql",
                    error_),
      gpuPageFaults(database_,
                    R"sql(INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS (start, "end", globalPid,
                    deviceId, address, numberOfPageFaults, faultAccessType)
                    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7))sql",
                    error_),
      nvtxRanges(database_,
                 R"sql(INSERT INTO NVTX_EVENTS (start, "end", eventType, rangeId, category, color,
                 globalTid, endGlobalTid, textId, domainId, uint64Value, int64Value, doubleValue,
                 uint32Value, int32Value, floatValue, jsonText) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,
                 ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17))sql",
                 error_),
      nvtxNames(database_,
                R"sql(INSERT INTO NVTX_EVENTS (start, eventType, category, text, globalTid,
                domainId) VALUES (?1, ?2, ?3, ?4, ?5, ?6))sql",
                error_),
      payloadSchemas(database_,
                     R"sql(INSERT INTO NVTX_PAYLOAD_SCHEMAS (domainId, schemaId, name, type, flags,
                     numEntries, payloadSize, alignTo)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8))sql",
                     error_),
      payloadEntries(database_,
                     R"sql(INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId, schemaId, idx, flags,
                     type, name, description, arrayOrUnionDetail, offset)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9))sql",
                     error_),
      threadNames(database_,
                  "INSERT INTO ThreadNames (nameId, priority, globalTid) VALUES (?1, ?2, ?3)",
                  error_),
      processes(database_, "INSERT INTO PROCESSES (globalPid, pid, name) VALUES (?1, ?2, ?3)",
                error_),
      gpus(database_,
           R"sql(INSERT INTO TARGET_INFO_GPU (vmId, id, name, busLocation, isDiscrete, l2CacheSize,
           totalMemory, memoryBandwidth, clockRate, smCount, uuid, cuDevice, constantMemory,
           maxRegistersPerBlock, maxShmemPerBlock, maxShmemPerSm, maxRegistersPerSm,
           threadsPerWarp, asyncEngines, maxWarpsPerSm, maxBlocksPerSm, maxThreadsPerBlock,
           maxBlockDimX, maxBlockDimY, maxBlockDimZ, maxGridDimX, maxGridDimY, maxGridDimZ,
           computeMajor, computeMinor, smMajor, smMinor) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,
           ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26,
           ?27, ?28, ?29, ?30, ?31, ?32))sql",
           error_),
      cudaDevices(database_,
                  "INSERT INTO TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid) VALUES (?1, ?2, ?3)",
                  error_),
      contexts(database_,
               R"sql(INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO (nullStreamId, hwId, vmId,
               processId, deviceId, contextId) VALUES (?1, ?2, ?3, ?4, ?5, ?6))sql",
               error_),
      streams(database_,
              R"sql(INSERT INTO TARGET_INFO_CUDA_STREAM (streamId, hwId, vmId, processId,
              contextId, priority, flag) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7))sql",
              error_),
      nullStreams(database_,
                  R"sql(INSERT INTO TARGET_INFO_CUDA_NULL_STREAM (streamId, hwId, vmId, processId,
                  deviceId, contextId) VALUES (?1, ?2, ?3, ?4, ?5, ?6))sql",
                  error_),
      sessionStart(database_,
                   R"sql(INSERT INTO TARGET_INFO_SESSION_START_TIME (utcEpochNs, utcTime,
                   localTime, systemClockNs) VALUES (?1, ?2, ?3, ?4))sql",
                   error_),
      analysisDetails(database_,
                      R"sql(INSERT INTO ANALYSIS_DETAILS (globalVid, duration, startTime, stopTime)
                      VALUES (?1, ?2, ?3, ?4))sql",
                      error_),
      captureMetaData(database_, "INSERT INTO META_DATA_CAPTURE (name, value) VALUES (?1, ?2)",
                      error_),
      exportMetaData(database_, "INSERT INTO META_DATA_EXPORT (name, value) VALUES (?1, ?2)",
                     error_),
      ncclOperations(database_,
                     R"sql(INSERT INTO LANESCOPE_NCCL_OPERATIONS (nvtxRow, operation, bytes,
                     communicator, reduction, root, peer, globalTid)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8))sql",
                     error_),
      ncclCommunicators(database_,
                        R"sql(INSERT INTO LANESCOPE_NCCL_COMMUNICATORS (globalPid, communicator,
                        rank, rankCount, cudaDevice, nodeCount, name)
                        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7))sql",
                        error_),
      ncclPluginOperations(database_,
                           R"sql(INSERT INTO LANESCOPE_NCCL_PLUGIN_OPERATIONS (globalTid, start,
                           "end", operation, datatype, count, bytes, communicator, rank, root,
                           peer, sequence, algorithm, protocol, channels, warps, isCaptured,
                           enqueueGlobalTid, enqueueStart, enqueueEnd, launchGlobalTid,
                           launchStart, launchEnd) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
                           ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
                           ?23))sql",
                           error_),
      processFates(database_,
                   R"sql(INSERT INTO LANESCOPE_PROCESSES (globalPid, rank, startNs, endNs,
                   endedNormally, exitStatus, logFile, localRank, worldSize)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9))sql",
                   error_),
      windows(database_,
              R"sql(INSERT INTO LANESCOPE_WINDOWS (globalPid, "index", startNs, endNs)
              VALUES (?1, ?2, ?3, ?4))sql",
              error_),
      gaps(database_,
           R"sql(INSERT INTO LANESCOPE_GAPS (globalPid, what, startNs, endNs, count)
           VALUES (?1, ?2, ?3, ?4, ?5))sql",
           error_),
      clocks(database_,
             R"sql(INSERT INTO LANESCOPE_CLOCKS (globalPid, realtimeNs, monotonicNs, cuptiNs)
             VALUES (?1, ?2, ?3, ?4))sql",
             error_),
      topology(database_,
               R"sql(INSERT INTO LANESCOPE_TOPOLOGY (gpuId, peerGpuId, nvlinkCount, connection,
               abbreviation) VALUES (?1, ?2, ?3, ?4, ?5))sql",
               error_),
      affinities(database_,
                 "INSERT INTO LANESCOPE_GPU_AFFINITY (gpuId, cpus, numaNode) VALUES (?1, ?2, ?3)",
                 error_),
      linkPeaks(database_,
                R"sql(INSERT INTO LANESCOPE_LINK_PEAKS (kind, gpuId, peerGpuId, direction,
                bytesPerSecond, links, generation, width, origin)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9))sql",
                error_),
      measuredPeaks(database_,
                    R"sql(INSERT INTO LANESCOPE_LINK_PEAKS (kind, gpuId, peerGpuId, direction,
                    memory, bytesPerSecond, origin)
                    VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'measured'))sql",
                    error_),
      counters(database_,
               R"sql(INSERT INTO LANESCOPE_COUNTERS (counterId, source, name, title, unit, meaning,
               gpuId, globalPid, link, core, device, direction, granularity, wrapBits, hostName,
               intervalNs)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
               ?16))sql",
               error_),
      counterSamples(database_,
                     R"sql(INSERT INTO LANESCOPE_COUNTER_SAMPLES (counterId, timestamp, value)
                     VALUES (?1, ?2, ?3))sql",
                     error_),
      gpuProcesses(database_,
                   R"sql(INSERT INTO LANESCOPE_GPU_PROCESSES (timestamp, gpuId, pid, name, bytes)
                   VALUES (?1, ?2, ?3, ?4, ?5))sql",
                   error_),
      samplingMoments(database_,
                      R"sql(INSERT INTO LANESCOPE_SAMPLING_MOMENTS (timestamp, range, occurrence,
                      isEnd, globalPid, readStart, readEnd)
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7))sql",
                      error_),
      gpuMetrics(database_,
                 R"sql(INSERT INTO GPU_METRICS (timestamp, typeId, metricId, value)
                 VALUES (?1, ?2, ?3, ?4))sql",
                 error_),
      gpuMetricNames(database_,
                     R"sql(INSERT INTO TARGET_INFO_GPU_METRICS (typeId, sourceId, typeName,
                     metricId, metricName) VALUES (?1, ?2, ?3, ?4, ?5))sql",
                     error_),
      health_(database_,
              R"sql(INSERT INTO LANESCOPE_HEALTH (severity, code, globalPid, timestamp, count,
              sentence) VALUES (?1, ?2, ?3, ?4, ?5, ?6))sql",
              error_),
      properties_(database_,
                  "INSERT INTO LANESCOPE_PROPERTIES (globalPid, name, value) VALUES (?1, ?2, ?3)",
                  error_) {}

}  // namespace lanescope
