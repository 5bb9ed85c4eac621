// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <cstddef>
#include <mutex>
#include <type_traits>

#include "capture/cupti/ActivityDecoder.h"
#include "capture/cupti/CuptiSource.h"
#include "capture/cupti/PmClock.h"
#include "capture/cupti/activityRecords.h"
#include "tests/capture/AgentRun.h"
#include "tests/capture/byPath.h"
#include "tests/support/runTest.h"

#include <cupti_activity_deprecated.h>

using namespace lanescope;
using namespace lanescope::agent;
using namespace lanescope::capture;

using lanescope::test::ProcessLog;

namespace {

constexpr uint32_t newest = CuptiLibrary::version13_4;
constexpr size_t headerBytes = sizeof(log::RecordHeader);

/// Distinct values: their bytes count on from field to field, never 0 and below 128.
class Values {
  public:
    template <class Value>
    void fill(Value& value) {
        unsigned char bytes[sizeof(Value)];
        for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(at_++ % 127 + 1);
        std::memcpy(&value, bytes, sizeof value);
    }
    template <class Value>
    Value next() {
        Value value;
        fill(value);
        return value;
    }

  private:
    unsigned at_ = 0;
};

/// Sets a field of CUPTI's record and the expected field of the log. A macro, because references to
/// fields of a packed record are invalid.
#define PAIR(values, from, to)                                                   \
    do {                                                                         \
        const auto value = (values).next<std::remove_cvref_t<decltype(from)>>(); \
        from = value;                                                            \
        to = static_cast<std::remove_cvref_t<decltype(to)>>(value);              \
    } while (false)

/// The same for each pair of a field of `from` and one of `to`, with `values`. At most sixteen pairs.
#define PAIRS(...) EVERY_PAIR(EVERY_PAIR(EVERY_PAIR(NEXT_PAIR(__VA_ARGS__))))
#define EVERY_PAIR(...) FOUR_PAIRS(FOUR_PAIRS(__VA_ARGS__))
#define FOUR_PAIRS(...) TWO_PAIRS(TWO_PAIRS(__VA_ARGS__))
#define TWO_PAIRS(...) __VA_ARGS__
#define NEXT_PAIR(pair, ...) FIELD_PAIR pair __VA_OPT__(NEXT_PAIR_AGAIN NO_ARGUMENTS(__VA_ARGS__))
#define NEXT_PAIR_AGAIN() NEXT_PAIR
#define NO_ARGUMENTS ()
#define FIELD_PAIR(ofFrom, ofTo) PAIR(values, from.ofFrom, to.ofTo);

/// CUPTI's record with garbage in all unused places.
template <class Activity>
Activity rubbish(CUpti_ActivityKind kind) {
    Activity activity;
    std::memset(static_cast<void*>(&activity), 0xa5, sizeof activity);
    activity.kind = kind;
    return activity;
}

CUptiResult CUPTIAPI nextRecord(uint8_t* buffer, size_t, CUpti_Activity** record) {
    if (*record) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(buffer);
    return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI callName(CUpti_CallbackDomain domain, uint32_t id, const char** name) {
    static const std::string driver = "cuCall", runtime = "cudaCall_v3020";
    if (id != 7) return CUPTI_ERROR_INVALID_PARAMETER;
    *name = (domain == CUPTI_CB_DOMAIN_DRIVER_API ? driver : runtime).c_str();
    return CUPTI_SUCCESS;
}

/// The log of a process after one record of CUPTI `version` was decoded. The record lies alone in
/// memory, with its length in that version.
template <class Activity>
std::unique_ptr<ProcessLog> decoded(const Activity& activity, uint32_t version = newest) {
    CuptiLibrary cupti;
    cupti.version = version;
    cupti.getNextRecord = nextRecord;
    cupti.getCallbackName = callName;
    const QTemporaryDir folder;
    const std::string path = folder.filePath("box.-.1").toStdString();
    {
        log::LogFile file = test::logFileAt(path);
        log::RecordWriter writer(file);
        Windows windows({}, 0);
        LaunchWindows launches(windows, true);
        ActivityDecoder decoder(cupti, windows, launches, writer);
        const size_t bytes = std::min(sizeof activity, knownRecordBytes(activity.kind, version));
        const std::unique_ptr<uint8_t[]> buffer(new uint8_t[bytes]);
        std::memcpy(buffer.get(), &activity, bytes);
        decoder.beginRound();
        decoder.decode(buffer.get(), bytes);
        decoder.endRound(true);
        file.flush();
    }
    auto log = std::make_unique<ProcessLog>();
    auto reader = test::openLog(path + ".log");
    if (!reader || !reader->poll(*log)) qFatal("the log cannot be read");
    return log;
}

/// Compares all of a record except its header. `zeros` of its bytes (unused ones and the upper ones
/// of booleans) are 0; the test must have set every other.
template <class Record>
void verifySame(const std::vector<Record>& records, Record expected, size_t zeros) {
    QCOMPARE(records.size(), size_t{1});
    const auto bytesOf = [](const Record& record) {
        const auto* begin = reinterpret_cast<const char*>(&record);
        return QByteArray(begin + headerBytes, int(sizeof(Record) - headerBytes)).toHex(' ');
    };
    QCOMPARE(bytesOf(records.front()), bytesOf(expected));
    QCOMPARE(size_t(bytesOf(expected).split(' ').count("00")), zeros);
}

template <class Activity, class Record>
void placeOfGpuWork(Values& values, Activity& from, Record& to) {
    PAIRS((start, startNs), (end, endNs), (graphNodeId, graphNodeId), (deviceId, deviceId), (contextId, contextId),
          (streamId, streamId), (correlationId, correlationId), (graphId, graphId));
}

template <class Activity>
log::MemcpyRecord memcpyPair(Values& values, Activity& from) {
    log::MemcpyRecord to{};
    placeOfGpuWork(values, from, to);
    PAIRS((bytes, bytes), (copyKind, copyKind), (srcKind, sourceKind), (dstKind, destinationKind));
    from.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
    to.isAsync = 1;
    return to;
}

constexpr int64_t msNs = 1'000'000;

/// Decodes four times per second for `seconds`, each time `latenessNs` after the last sample ended.
/// `gpuAheadNs` is the lead of the GPU clock.
int64_t decode(PmClock& clock, int64_t nowNs, int seconds, int64_t latenessNs, int64_t gpuAheadNs = 0) {
    for (int i = 0; i < 4 * seconds; ++i) {
        nowNs += 250 * msNs;
        clock.observe(nowNs, nowNs - latenessNs + gpuAheadNs);
    }
    return nowNs;
}

}  // namespace

/// Tests that every field of every record reaches its place in the log: each has a unique value,
/// and the rest of CUPTI's record is garbage.
class tst_ActivityDecoder : public QObject {
    Q_OBJECT

    static void verifyIsDiscard(BufferPool& pool, const BufferPool::Buffer& buffer) {
        QVERIFY(buffer.memory && BufferPool::isDiscard(buffer.memory));
        QVERIFY(!pool.owns(buffer.memory));
        QCOMPARE(buffer.bytes, BufferPool::discardBytes);
        QCOMPARE(reinterpret_cast<uintptr_t>(buffer.memory) % 8, uintptr_t{0});
        std::memset(buffer.memory, 1, buffer.bytes);  // CUPTI writes to it as to any other
        pool.returnBuffer(buffer.memory, buffer.bytes);
    }

  private slots:
    void kernelRecordIsDecoded_data() {
        test::rows<int>("kind", {{"concurrent", int(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)},
                                 {"serial", int(CUPTI_ACTIVITY_KIND_KERNEL)}});
    }
    void kernelRecordIsDecoded() {
        QFETCH(int, kind);
        Values values;
        auto from = rubbish<CUpti_ActivityKernel9>(static_cast<CUpti_ActivityKind>(kind));
        log::KernelRecord to{};
        placeOfGpuWork(values, from, to);
        PAIRS((gridId, gridId), (gridX, grid[0]), (gridY, grid[1]), (gridZ, grid[2]), (blockX, block[0]),
              (blockY, block[1]), (blockZ, block[2]), (clusterX, cluster[0]), (clusterY, cluster[1]),
              (clusterZ, cluster[2]), (registersPerThread, registersPerThread), (staticSharedMemory, staticSharedBytes),
              (dynamicSharedMemory, dynamicSharedBytes), (localMemoryPerThread, localBytesPerThread),
              (sharedMemoryExecuted, sharedBytesExecuted), (localMemoryTotal_v2, localBytesTotal));
        from.cacheConfig.config.requested = 2;
        from.cacheConfig.config.executed = 3;
        to.cacheConfig = 3;
        PAIRS((launchType, launchType), (shmemLimitConfig, sharedMemoryLimitConfig),
              (clusterSchedulingPolicy, clusterSchedulingPolicy),
              (sharedMemoryCarveoutRequested, sharedMemoryCarveoutPercent));
        from.name = "_Z6kernelPf";
        const auto log = decoded(from);
        QCOMPARE(log->kernels.size(), size_t{1});
        QCOMPARE(log->text(log->kernels[0].name), std::string(from.name));
        to.name = log->kernels[0].name;
        // Two bytes of the registers and three of the carveout, which are shorter in CUPTI; three
        // of the name's number, which is 1.
        verifySame(log->kernels, to, 2 + 3 + 3);
    }

    void copyOnADeviceIsDecoded() {
        Values values;
        auto from = rubbish<CUpti_ActivityMemcpy5>(CUPTI_ACTIVITY_KIND_MEMCPY);
        log::MemcpyRecord to = memcpyPair(values, from);
        // The peer and its presence flag, and the padding of the record.
        verifySame(decoded(from)->memcpys, to, 4 * 4 + 1 + 3 + 4);
        from.flags = 0;
        to.isAsync = 0;
        verifySame(decoded(from)->memcpys, to, 4 * 4 + 1 + 3 + 4 + 1);
    }

    void copyBetweenDevicesIsDecoded() {
        Values values;
        auto from = rubbish<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2);
        log::MemcpyRecord to = memcpyPair(values, from);
        PAIRS((srcDeviceId, sourceDeviceId), (srcContextId, sourceContextId), (dstDeviceId, destinationDeviceId),
              (dstContextId, destinationContextId));
        to.isPeer = 1;
        verifySame(decoded(from)->memcpys, to, 3 + 4);
    }

    void memsetRecordIsDecoded() {
        Values values;
        auto from = rubbish<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET);
        log::MemsetRecord to{};
        placeOfGpuWork(values, from, to);
        PAIRS((bytes, bytes), (value, value));
        from.memoryKind = 3;
        to.memoryKind = 3;
        from.flags = CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC;
        to.isAsync = 1;
        verifySame(decoded(from)->memsets, to, 6);
        from.flags = 0;
        to.isAsync = 0;
        verifySame(decoded(from)->memsets, to, 7);
    }

    void graphRecordIsDecoded() {
        Values values;
        auto from = rubbish<CUpti_ActivityGraphTrace>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
        log::GraphRecord to{};
        PAIRS((start, startNs), (end, endNs), (graphId, graphId), (deviceId, deviceId), (contextId, contextId),
              (streamId, streamId), (correlationId, correlationId));
        verifySame(decoded(from)->graphs, to, 4);
    }

    void callRecordIsDecoded_data() {
        const test::Rows<bool, uint, QString> row;
        row("runtime", false, 7u, "cudaCall");
        row("driver", true, 7u, "cuCall");
        row("unknown", true, 8u, "driver call 8");
    }
    void callRecordIsDecoded() {
        const auto [isDriver, id, name] = test::row<bool, uint, QString>();
        Values values;
        auto from = rubbish<CUpti_ActivityAPI>(isDriver ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME);
        log::ApiRecord to{};
        from.cbid = id;
        PAIRS((start, startNs), (end, endNs), (threadId, threadId), (correlationId, correlationId),
              (returnValue, returnValue));
        to.isDriver = isDriver;
        const auto log = decoded(from);
        QCOMPARE(log->calls.size(), size_t{1});
        QCOMPARE(QString::fromStdString(log->text(log->calls[0].name)), name);
        to.name = log->calls[0].name;
        verifySame(log->calls, to, 3 + (isDriver ? 3 : 4) + 4);
    }

    void synchronizationRecordIsDecoded() {
        Values values;
        auto from = rubbish<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
        log::SyncRecord to{};
        PAIRS((start, startNs), (end, endNs), (type, type), (contextId, contextId), (streamId, streamId),
              (correlationId, correlationId), (cudaEventId, eventId), (cudaEventSyncId, eventSyncId));
        verifySame(decoded(from)->syncs, to, 0);
        to.eventSyncId = 0xffffffff;
        verifySame(decoded(from, CuptiLibrary::version12_6)->syncs, to, 0);
    }

    void cudaEventRecordIsDecoded() {
        Values values;
        auto from = rubbish<CUpti_ActivityCudaEvent2>(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
        log::CudaEventRecord to{};
        PAIRS((deviceTimestamp, timestampNs), (deviceId, deviceId), (contextId, contextId), (streamId, streamId),
              (correlationId, correlationId), (eventId, eventId), (cudaEventSyncId, eventSyncId));
        verifySame(decoded(from)->cudaEvents, to, 0);
        to.timestampNs = 0;
        to.deviceId = to.eventSyncId = 0xffffffff;
        verifySame(decoded(from, CuptiLibrary::version12_6)->cudaEvents, to, 8);
    }

    void overheadRecordIsDecoded() {
        Values values;
        auto from = rubbish<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD);
        log::OverheadRecord to{};
        PAIRS((start, startNs), (end, endNs), (overheadKind, overheadKind), (correlationId, correlationId));
        from.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
        PAIR(values, from.objectId.pt.threadId, to.threadId);
        from.overheadData = std::malloc(12);  // the reader must free it
        verifySame(decoded(from)->overheads, to, 4);
        from.objectKind = CUPTI_ACTIVITY_OBJECT_DEVICE;
        from.overheadData = nullptr;
        to.threadId = 0;
        verifySame(decoded(from)->overheads, to, 4 + 4);
        // Before 12.2 a record has fewer fields, and before 12.6 nothing must be freed.
        to.correlationId = 0;
        from.overheadData = &values;
        verifySame(decoded(from, CuptiLibrary::version11_8)->overheads, to, 4 + 4 + 4);
    }

    void deviceMemoryRecordIsDecoded_data() {
        test::rows<int>("pool", {{"of this process", int(CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL)},
                                 {"imported", int(CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED)},
                                 {"none", int(CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID)}});
    }
    void deviceMemoryRecordIsDecoded() {
        QFETCH(int, pool);
        Values values;
        auto from = rubbish<CUpti_ActivityMemory3>(CUPTI_ACTIVITY_KIND_MEMORY2);
        log::DeviceMemoryRecord to{};
        PAIRS((timestamp, timestampNs), (address, address), (bytes, bytes), (PC, programCounter), (deviceId, deviceId),
              (contextId, contextId), (streamId, streamId), (correlationId, correlationId),
              (memoryOperationType, operation), (memoryKind, memoryKind));
        from.isAsync = 1;
        to.isAsync = 1;
        auto& config = from.memoryPoolConfig;
        config.memoryPoolType = static_cast<CUpti_ActivityMemoryPoolType>(pool);
        to.poolType = static_cast<uint8_t>(pool);
        size_t zeros = 3 + 4;  // bytes of the name's number, and unused ones
        if (pool == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID) {
            zeros += 4 * 8 + 4 + 1;
        } else {
            PAIR(values, config.address, to.poolAddress);
            PAIR(values, config.releaseThreshold, to.poolReleaseThreshold);
            PAIR(values, config.utilizedSize, to.poolUsedBytes);
            const bool isLocalPool = pool == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
            if (isLocalPool)
                PAIR(values, config.pool.size, to.poolBytes);
            else
                PAIR(values, config.pool.processId, to.poolProcessId);
            zeros += isLocalPool ? sizeof to.poolProcessId : sizeof to.poolBytes;
        }
        from.name = "variable";
        const auto log = decoded(from);
        QCOMPARE(log->memory.size(), size_t{1});
        QCOMPARE(log->text(log->memory[0].name), std::string(from.name));
        to.name = log->memory[0].name;
        verifySame(log->memory, to, zeros);
    }

    void memoryPoolRecordIsDecoded() {
        Values values;
        auto from = rubbish<CUpti_ActivityMemoryPool2>(CUPTI_ACTIVITY_KIND_MEMORY_POOL);
        log::MemoryPoolRecord to{};
        PAIRS((timestamp, timestampNs), (address, address), (size, bytes), (releaseThreshold, releaseThreshold),
              (utilizedSize, usedBytes), (minBytesToKeep, minimumBytesToKeep), (deviceId, deviceId),
              (correlationId, correlationId), (processId, processId), (memoryPoolOperationType, operation),
              (memoryPoolType, poolType));
        verifySame(decoded(from)->pools, to, 2);
    }

    void unifiedMemoryRecordIsDecoded() {
        Values values;
        auto from = rubbish<CUpti_ActivityUnifiedMemoryCounter2>(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
        log::UnifiedMemoryRecord to{};
        PAIRS((start, startNs), (end, endNs), (value, value), (address, address), (counterKind, counterKind),
              (srcId, sourceId), (dstId, destinationId), (flags, flags), (streamId, streamId), (processId, processId));
        verifySame(decoded(from)->unifiedMemory, to, 0);
    }

    void deviceRecordIsDecoded_data() { test::rows<bool>("isSlice", {{"whole", false}, {"slice", true}}); }
    void deviceRecordIsDecoded() {
        QFETCH(bool, isSlice);
        Values values;
        auto from = rubbish<CUpti_ActivityDevice4>(CUPTI_ACTIVITY_KIND_DEVICE);
        log::DeviceRecord to{};
        values.fill(from.uuid);
        values.fill(from.migUuid);
        from.isMigEnabled = isSlice;
        std::memcpy(to.uuid, isSlice ? &from.migUuid : &from.uuid, sizeof to.uuid);
        PAIRS((globalMemorySize, memoryBytes), (globalMemoryBandwidth, memoryBandwidthKBps), (id, deviceId),
              (computeCapabilityMajor, computeMajor), (computeCapabilityMinor, computeMinor),
              (numMultiprocessors, smCount), (coreClockRate, coreClockKHz), (l2CacheSize, l2Bytes),
              (constantMemorySize, constantBytes), (maxThreadsPerBlock, maxThreadsPerBlock),
              (maxRegistersPerBlock, maxRegistersPerBlock), (maxSharedMemoryPerBlock, maxSharedBytesPerBlock),
              (maxWarpsPerMultiprocessor, maxWarpsPerSm), (maxBlocksPerMultiprocessor, maxBlocksPerSm),
              (numThreadsPerWarp, threadsPerWarp), (numMemcpyEngines, copyEngines));
        PAIRS((maxRegistersPerMultiprocessor, maxRegistersPerSm),
              (maxSharedMemoryPerMultiprocessor, maxSharedBytesPerSm), (maxBlockDimX, maxBlockDim[0]),
              (maxBlockDimY, maxBlockDim[1]), (maxBlockDimZ, maxBlockDim[2]), (maxGridDimX, maxGridDim[0]),
              (maxGridDimY, maxGridDim[1]), (maxGridDimZ, maxGridDim[2]));
        from.name = "A GPU";
        const auto log = decoded(from);
        QCOMPARE(log->devices.size(), size_t{1});
        QCOMPARE(log->text(log->devices[0].name), std::string(from.name));
        to.name = log->devices[0].name;
        verifySame(log->devices, to, 3 + 4);
    }

    void contextAndStreamRecordsAreDecoded() {
        Values values;
        auto context = rubbish<CUpti_ActivityContext>(CUPTI_ACTIVITY_KIND_CONTEXT);
        log::ContextRecord toContext{};
        PAIR(values, context.contextId, toContext.contextId);
        PAIR(values, context.deviceId, toContext.deviceId);
        PAIR(values, context.nullStreamId, toContext.nullStreamId);
        verifySame(decoded(context)->contexts, toContext, 2 + 4);
        auto stream = rubbish<CUpti_ActivityStream>(CUPTI_ACTIVITY_KIND_STREAM);
        log::StreamRecord toStream{};
        PAIR(values, stream.contextId, toStream.contextId);
        PAIR(values, stream.streamId, toStream.streamId);
        PAIR(values, stream.priority, toStream.priority);
        PAIR(values, stream.flag, toStream.flag);
        verifySame(decoded(stream)->streams, toStream, 0);
    }

    void namesMayBeMissing() {
        auto kernel = rubbish<CUpti_ActivityKernel9>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
        kernel.name = nullptr;
        const auto log = decoded(kernel);
        QCOMPARE(log->kernels.size(), size_t{1});
        QCOMPARE(log->kernels[0].name, 0u);
    }

    void returnsZeroedBuffersOnce() {
        auto pool = std::make_unique<BufferPool>();
        pool->warm();
        std::set<uint8_t*> out;
        for (int round = 0; round < 20; ++round) {
            uint8_t* buffer = pool->take().memory;
            QVERIFY(buffer && out.insert(buffer).second);
            QCOMPARE(reinterpret_cast<uintptr_t>(buffer) % 8, uintptr_t{0});
            QVERIFY(std::all_of(buffer, buffer + 4096, [](uint8_t byte) { return byte == 0; }));
            std::memset(buffer, 0xff, 4096);
        }
        for (uint8_t* buffer : out) pool->returnBuffer(buffer, 4096);
        for (int round = 0; round < 20; ++round) {
            uint8_t* buffer = pool->take().memory;
            QVERIFY(out.count(buffer));
            QVERIFY(std::all_of(buffer, buffer + 8192, [](uint8_t byte) { return byte == 0; }));
        }
    }

    void discardsWhenAllAreInUse() {
        auto pool = std::make_unique<BufferPool>();
        std::vector<uint8_t*> out;
        for (size_t i = 0; i < BufferPool::maxBuffers; ++i) {
            const BufferPool::Buffer buffer = pool->take();
            QCOMPARE(buffer.bytes, BufferPool::bufferBytes);
            out.push_back(buffer.memory);
            QVERIFY(out.back() && !BufferPool::isDiscard(out.back()));
        }
        const BufferPool::Buffer discard = pool->take();
        verifyIsDiscard(*pool, discard);
        QCOMPARE(pool->take().memory, discard.memory);
        pool->returnBuffer(out.back(), 0);
        QCOMPARE(pool->take().memory, out.back());
    }

    void discardsWithoutMemory() {
        auto pool = std::make_unique<BufferPool>();
        rlimit before{};
        QCOMPARE(::getrlimit(RLIMIT_AS, &before), 0);
        const rlimit nothingMore{0, before.rlim_max};
        QCOMPARE(::setrlimit(RLIMIT_AS, &nothingMore), 0);
        pool->warm();
        const BufferPool::Buffer first = pool->take(), second = pool->take();
        ::setrlimit(RLIMIT_AS, &before);
        verifyIsDiscard(*pool, first);
        QCOMPARE(second.memory, first.memory);
        // Once memory is available again, nothing more is lost.
        const BufferPool::Buffer later = pool->take();
        QVERIFY(later.memory && !BufferPool::isDiscard(later.memory));
        QVERIFY(pool->owns(later.memory));
    }

    void ignoresUnknownBuffers() {
        auto pool = std::make_unique<BufferPool>();
        std::vector<uint8_t> unknown(64, 7);
        pool->returnBuffer(unknown.data(), unknown.size());
        QCOMPARE(unknown[0], uint8_t{7});
    }

    void neverReturnsOneBufferTwice() {
        auto pool = std::make_unique<BufferPool>();
        std::mutex mutex;  // the queue to the returning thread
        std::vector<uint8_t*> completed;
        std::atomic<bool> done{false};
        std::atomic<int> stolen{0}, taken{0};
        std::vector<std::thread> takers;
        const QDeadlineTimer end{60'000};
        for (int t = 1; t <= 4; ++t) {
            takers.emplace_back([&, t] {
                for (int own = 0; own < 2000 && !end.hasExpired();) {
                    uint8_t* buffer = pool->take().memory;
                    if (BufferPool::isDiscard(buffer)) {
                        std::this_thread::yield();  // until the writer has a core
                        continue;
                    }
                    ++own;
                    if (*buffer != 0) ++stolen;
                    *buffer = static_cast<uint8_t>(t);
                    if (*buffer != t) ++stolen;
                    ++taken;
                    const std::lock_guard lock(mutex);
                    completed.push_back(buffer);
                }
            });
        }
        std::thread writer([&] {
            std::vector<uint8_t*> batch;
            while (!done.load() || !batch.empty()) {
                for (uint8_t* buffer : batch) pool->returnBuffer(buffer, 64);
                pool->warm();
                const std::lock_guard lock(mutex);
                batch = std::exchange(completed, {});
            }
        });
        for (std::thread& taker : takers) taker.join();
        done.store(true);
        writer.join();
        QCOMPARE(stolen.load(), 0);
        QCOMPARE(taken.load(), 8000);
    }

    void equalClockStaysUnchanged() {
        PmClock clock;
        clock.observe(1'000 * msNs, 998 * msNs);
        clock.begin(10 * msNs, 11 * msNs);
        QCOMPARE(clock.realtimeNs(500 * msNs), 500 * msNs);
    }

    void deviatingClockIsSteeredToTheMachineClock() {
        PmClock clock;
        const int64_t aheadNs = 3'600'000 * msNs;
        clock.observe(1'000 * msNs, 998 * msNs + aheadNs);
        clock.begin(10 * msNs, 11 * msNs + aheadNs);
        const int64_t offNs = clock.realtimeNs(500 * msNs + aheadNs) - 500 * msNs;
        QVERIFY(offNs >= -2 * msNs && offNs <= 2 * msNs);
    }

    void busyMachineIsNoDrift() {
        PmClock clock;
        int64_t nowNs = decode(clock, 0, 12, 1 * msNs);
        clock.begin(10 * msNs, 11 * msNs);
        nowNs = decode(clock, nowNs, 30, 8 * msNs);
        nowNs = decode(clock, nowNs, 30, 20 * msNs);
        decode(clock, nowNs, 30, 1 * msNs);
        QCOMPARE(clock.realtimeNs(nowNs), nowNs);
    }

    void clockAheadIsHeldBack() {
        PmClock clock;
        int64_t nowNs = decode(clock, 0, 12, 1 * msNs);
        clock.begin(10 * msNs, 11 * msNs);
        nowNs = decode(clock, nowNs, 12, 1 * msNs, 100 * msNs);
        // A current sample must not lie in the future.
        QVERIFY(clock.realtimeNs(nowNs + 100 * msNs) <= nowNs + 5 * msNs);
    }

    void laggingClockIsFollowed() {
        PmClock clock;
        int64_t nowNs = decode(clock, 0, 12, 1 * msNs);
        clock.begin(10 * msNs, 11 * msNs);
        nowNs = decode(clock, nowNs, 30, 1 * msNs, -200 * msNs);
        const int64_t offNs = clock.realtimeNs(nowNs - 200 * msNs) - nowNs;
        QVERIFY(offNs >= -5 * msNs && offNs <= 5 * msNs);
    }
};

LANESCOPE_TEST(tst_ActivityDecoder, QCoreApplication)
#include "tst_ActivityDecoder.moc"
