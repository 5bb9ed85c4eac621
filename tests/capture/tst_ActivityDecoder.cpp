#include <QTemporaryDir>
#include <QtTest>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

#include "capture/cupti/ActivityDecoder.h"
#include "capture/cupti/recordLayouts.h"
#include "capture/log/LogFile.h"
#include "capture/log/LogReader.h"
#include "capture/log/RecordWriter.h"
#include "tests/capture/AgentRun.h"
#include "tests/support/runTest.h"

#include <cupti_activity_deprecated.h>

using namespace lanescope;
using namespace lanescope::agent;
using lanescope::test::ProcessLog;

namespace {

constexpr uint32_t newest = CuptiLibrary::version13_4;
constexpr size_t headerBytes = sizeof(log::RecordHeader);

/// Values of which no two are alike: their bytes count on from field to field, never 0 and below
/// 128.
class Values {
  public:
    template <class Value>
    void fill(Value& value) {
        unsigned char bytes[sizeof(Value)];
        for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(at_++ % 127 + 1);
        std::memcpy(&value, bytes, sizeof value);
    }
    /// A field of CUPTI's record and the one of the log in which it must be found.
    template <class From, class To>
    void pair(From& from, To& to) {
        fill(from);
        to = static_cast<To>(from);
    }

  private:
    unsigned at_ = 0;
};

/// CUPTI's record with rubbish wherever nobody should look.
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

/// What the log of a process holds after one record of CUPTI was decoded, of a CUPTI of `version`.
/// The record lies alone in memory, as long as it is in that version.
template <class Activity>
std::unique_ptr<ProcessLog> decoded(const Activity& activity, uint32_t version = newest) {
    CuptiLibrary cupti;
    cupti.version = version;
    cupti.getNextRecord = nextRecord;
    cupti.getCallbackName = callName;
    const QTemporaryDir folder;
    const std::string path = folder.filePath("box.-.1").toStdString();
    {
        log::LogFile file(path);
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
    auto reader = log::LogReader::open(path + ".log");
    if (!reader || !reader->poll(*log)) qFatal("the log cannot be read");
    return log;
}

/// Compares all of a record but its header. `zeros` of its bytes, those of no use and the upper
/// ones of yes and no, are 0; every other must have been asked for by the test.
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
    values.pair(from.start, to.startNs);
    values.pair(from.end, to.endNs);
    values.pair(from.graphNodeId, to.graphNodeId);
    values.pair(from.deviceId, to.deviceId);
    values.pair(from.contextId, to.contextId);
    values.pair(from.streamId, to.streamId);
    values.pair(from.correlationId, to.correlationId);
    values.pair(from.graphId, to.graphId);
}

template <class Activity>
log::MemcpyRecord memcpyPair(Values& values, Activity& from) {
    log::MemcpyRecord to{};
    placeOfGpuWork(values, from, to);
    values.pair(from.bytes, to.bytes);
    values.pair(from.copyKind, to.copyKind);
    values.pair(from.srcKind, to.sourceKind);
    values.pair(from.dstKind, to.destinationKind);
    from.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
    to.isAsync = 1;
    return to;
}

}  // namespace

/// Every field of every kind of record arrives in the log where it belongs: each has a value that
/// no other has, and what CUPTI's record holds besides is rubbish.
class tst_ActivityDecoder : public QObject {
    Q_OBJECT

  private slots:
    void kernel_data() {
        QTest::addColumn<int>("kind");
        QTest::newRow("concurrent") << int(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
        QTest::newRow("serial") << int(CUPTI_ACTIVITY_KIND_KERNEL);
    }
    void kernel() {
        QFETCH(int, kind);
        Values values;
        auto from = rubbish<CUpti_ActivityKernel9>(static_cast<CUpti_ActivityKind>(kind));
        log::KernelRecord to{};
        placeOfGpuWork(values, from, to);
        values.pair(from.gridId, to.gridId);
        values.pair(from.gridX, to.grid[0]);
        values.pair(from.gridY, to.grid[1]);
        values.pair(from.gridZ, to.grid[2]);
        values.pair(from.blockX, to.block[0]);
        values.pair(from.blockY, to.block[1]);
        values.pair(from.blockZ, to.block[2]);
        values.pair(from.clusterX, to.cluster[0]);
        values.pair(from.clusterY, to.cluster[1]);
        values.pair(from.clusterZ, to.cluster[2]);
        values.pair(from.registersPerThread, to.registersPerThread);
        values.pair(from.staticSharedMemory, to.staticSharedBytes);
        values.pair(from.dynamicSharedMemory, to.dynamicSharedBytes);
        values.pair(from.localMemoryPerThread, to.localBytesPerThread);
        values.pair(from.sharedMemoryExecuted, to.sharedBytesExecuted);
        values.pair(from.localMemoryTotal_v2, to.localBytesTotal);
        from.cacheConfig.config.requested = 2;
        from.cacheConfig.config.executed = 3;
        to.cacheConfig = 3;
        values.pair(from.launchType, to.launchType);
        values.pair(from.shmemLimitConfig, to.sharedMemoryLimitConfig);
        values.pair(from.clusterSchedulingPolicy, to.clusterSchedulingPolicy);
        values.pair(from.sharedMemoryCarveoutRequested, to.sharedMemoryCarveoutPercent);
        from.name = "_Z6kernelPf";
        const auto log = decoded(from);
        QCOMPARE(log->kernels.size(), size_t{1});
        QCOMPARE(log->text(log->kernels[0].name), std::string(from.name));
        to.name = log->kernels[0].name;
        // Two bytes of the registers and three of the carveout, which CUPTI has shorter; of the
        // name's number, which is 1, three.
        verifySame(log->kernels, to, 2 + 3 + 3);
    }

    void memcpyOnADevice() {
        Values values;
        auto from = rubbish<CUpti_ActivityMemcpy5>(CUPTI_ACTIVITY_KIND_MEMCPY);
        log::MemcpyRecord to = memcpyPair(values, from);
        // Who the peer is and that there is one, and what fills the record up.
        verifySame(decoded(from)->memcpys, to, 4 * 4 + 1 + 3 + 4);
        from.flags = 0;
        to.isAsync = 0;
        verifySame(decoded(from)->memcpys, to, 4 * 4 + 1 + 3 + 4 + 1);
    }

    void memcpyBetweenDevices() {
        Values values;
        auto from = rubbish<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2);
        log::MemcpyRecord to = memcpyPair(values, from);
        values.pair(from.srcDeviceId, to.sourceDeviceId);
        values.pair(from.srcContextId, to.sourceContextId);
        values.pair(from.dstDeviceId, to.destinationDeviceId);
        values.pair(from.dstContextId, to.destinationContextId);
        to.isPeer = 1;
        verifySame(decoded(from)->memcpys, to, 3 + 4);
    }

    void memset() {
        Values values;
        auto from = rubbish<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET);
        log::MemsetRecord to{};
        placeOfGpuWork(values, from, to);
        values.pair(from.bytes, to.bytes);
        values.pair(from.value, to.value);
        from.memoryKind = 3;
        to.memoryKind = 3;
        from.flags = CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC;
        to.isAsync = 1;
        verifySame(decoded(from)->memsets, to, 6);
        from.flags = 0;
        to.isAsync = 0;
        verifySame(decoded(from)->memsets, to, 7);
    }

    void graph() {
        Values values;
        auto from = rubbish<CUpti_ActivityGraphTrace>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
        log::GraphRecord to{};
        values.pair(from.start, to.startNs);
        values.pair(from.end, to.endNs);
        values.pair(from.graphId, to.graphId);
        values.pair(from.deviceId, to.deviceId);
        values.pair(from.contextId, to.contextId);
        values.pair(from.streamId, to.streamId);
        values.pair(from.correlationId, to.correlationId);
        verifySame(decoded(from)->graphs, to, 4);
    }

    void call_data() {
        QTest::addColumn<bool>("isDriver");
        QTest::addColumn<uint>("id");
        QTest::addColumn<QString>("name");
        QTest::newRow("runtime") << false << 7u << "cudaCall";
        QTest::newRow("driver") << true << 7u << "cuCall";
        QTest::newRow("unknown") << true << 8u << "driver call 8";
    }
    void call() {
        QFETCH(bool, isDriver);
        QFETCH(uint, id);
        QFETCH(QString, name);
        Values values;
        auto from = rubbish<CUpti_ActivityAPI>(isDriver ? CUPTI_ACTIVITY_KIND_DRIVER
                                                        : CUPTI_ACTIVITY_KIND_RUNTIME);
        log::ApiRecord to{};
        from.cbid = id;
        values.pair(from.start, to.startNs);
        values.pair(from.end, to.endNs);
        values.pair(from.threadId, to.threadId);
        values.pair(from.correlationId, to.correlationId);
        values.pair(from.returnValue, to.returnValue);
        to.isDriver = isDriver;
        const auto log = decoded(from);
        QCOMPARE(log->calls.size(), size_t{1});
        QCOMPARE(QString::fromStdString(log->text(log->calls[0].name)), name);
        to.name = log->calls[0].name;
        verifySame(log->calls, to, 3 + (isDriver ? 3 : 4) + 4);
    }

    void synchronization() {
        Values values;
        auto from = rubbish<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
        log::SyncRecord to{};
        values.pair(from.start, to.startNs);
        values.pair(from.end, to.endNs);
        values.pair(from.type, to.type);
        values.pair(from.contextId, to.contextId);
        values.pair(from.streamId, to.streamId);
        values.pair(from.correlationId, to.correlationId);
        values.pair(from.cudaEventId, to.eventId);
        values.pair(from.cudaEventSyncId, to.eventSyncId);
        verifySame(decoded(from)->syncs, to, 0);
        to.eventSyncId = 0xffffffff;
        verifySame(decoded(from, CuptiLibrary::version12_6)->syncs, to, 0);
    }

    void cudaEvent() {
        Values values;
        auto from = rubbish<CUpti_ActivityCudaEvent2>(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
        log::CudaEventRecord to{};
        values.pair(from.deviceTimestamp, to.timestampNs);
        values.pair(from.deviceId, to.deviceId);
        values.pair(from.contextId, to.contextId);
        values.pair(from.streamId, to.streamId);
        values.pair(from.correlationId, to.correlationId);
        values.pair(from.eventId, to.eventId);
        values.pair(from.cudaEventSyncId, to.eventSyncId);
        verifySame(decoded(from)->cudaEvents, to, 0);
        to.timestampNs = 0;
        to.deviceId = to.eventSyncId = 0xffffffff;
        verifySame(decoded(from, CuptiLibrary::version12_6)->cudaEvents, to, 8);
    }

    void overhead() {
        Values values;
        auto from = rubbish<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD);
        log::OverheadRecord to{};
        values.pair(from.start, to.startNs);
        values.pair(from.end, to.endNs);
        values.pair(from.overheadKind, to.overheadKind);
        values.pair(from.correlationId, to.correlationId);
        from.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
        values.pair(from.objectId.pt.threadId, to.threadId);
        from.overheadData = std::malloc(12);  // it is the reader's
        verifySame(decoded(from)->overheads, to, 4);
        from.objectKind = CUPTI_ACTIVITY_OBJECT_DEVICE;
        from.overheadData = nullptr;
        to.threadId = 0;
        verifySame(decoded(from)->overheads, to, 4 + 4);
        // Before 12.2 a record says less, and before 12.6 there is nothing to free.
        to.correlationId = 0;
        from.overheadData = &values;
        verifySame(decoded(from, CuptiLibrary::version11_8)->overheads, to, 4 + 4 + 4);
    }

    void deviceMemory_data() {
        QTest::addColumn<int>("pool");
        QTest::newRow("of this process") << int(CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL);
        QTest::newRow("imported") << int(CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED);
        QTest::newRow("none") << int(CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID);
    }
    void deviceMemory() {
        QFETCH(int, pool);
        Values values;
        auto from = rubbish<CUpti_ActivityMemory3>(CUPTI_ACTIVITY_KIND_MEMORY2);
        log::DeviceMemoryRecord to{};
        values.pair(from.timestamp, to.timestampNs);
        values.pair(from.address, to.address);
        values.pair(from.bytes, to.bytes);
        values.pair(from.PC, to.programCounter);
        values.pair(from.deviceId, to.deviceId);
        values.pair(from.contextId, to.contextId);
        values.pair(from.streamId, to.streamId);
        values.pair(from.correlationId, to.correlationId);
        values.pair(from.memoryOperationType, to.operation);
        values.pair(from.memoryKind, to.memoryKind);
        from.isAsync = 1;
        to.isAsync = 1;
        auto& config = from.memoryPoolConfig;
        config.memoryPoolType = static_cast<CUpti_ActivityMemoryPoolType>(pool);
        to.poolType = static_cast<uint8_t>(pool);
        size_t zeros = 3 + 4;  // of the name's number, and those of no use
        if (pool == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID) {
            zeros += 4 * 8 + 4 + 1;
        } else {
            values.pair(config.address, to.poolAddress);
            values.pair(config.releaseThreshold, to.poolReleaseThreshold);
            values.pair(config.utilizedSize, to.poolUsedBytes);
            const bool isOurs = pool == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
            if (isOurs)
                values.pair(config.pool.size, to.poolBytes);
            else
                values.pair(config.pool.processId, to.poolProcessId);
            zeros += isOurs ? sizeof to.poolProcessId : sizeof to.poolBytes;
        }
        from.name = "variable";
        const auto log = decoded(from);
        QCOMPARE(log->memory.size(), size_t{1});
        QCOMPARE(log->text(log->memory[0].name), std::string(from.name));
        to.name = log->memory[0].name;
        verifySame(log->memory, to, zeros);
    }

    void memoryPool() {
        Values values;
        auto from = rubbish<CUpti_ActivityMemoryPool2>(CUPTI_ACTIVITY_KIND_MEMORY_POOL);
        log::MemoryPoolRecord to{};
        values.pair(from.timestamp, to.timestampNs);
        values.pair(from.address, to.address);
        values.pair(from.size, to.bytes);
        values.pair(from.releaseThreshold, to.releaseThreshold);
        values.pair(from.utilizedSize, to.usedBytes);
        values.pair(from.minBytesToKeep, to.minimumBytesToKeep);
        values.pair(from.deviceId, to.deviceId);
        values.pair(from.correlationId, to.correlationId);
        values.pair(from.processId, to.processId);
        values.pair(from.memoryPoolOperationType, to.operation);
        values.pair(from.memoryPoolType, to.poolType);
        verifySame(decoded(from)->pools, to, 2);
    }

    void unifiedMemory() {
        Values values;
        auto from = rubbish<CUpti_ActivityUnifiedMemoryCounter2>(
            CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
        log::UnifiedMemoryRecord to{};
        values.pair(from.start, to.startNs);
        values.pair(from.end, to.endNs);
        values.pair(from.value, to.value);
        values.pair(from.address, to.address);
        values.pair(from.counterKind, to.counterKind);
        values.pair(from.srcId, to.sourceId);
        values.pair(from.dstId, to.destinationId);
        values.pair(from.flags, to.flags);
        values.pair(from.streamId, to.streamId);
        values.pair(from.processId, to.processId);
        verifySame(decoded(from)->unifiedMemory, to, 0);
    }

    void device_data() {
        QTest::addColumn<bool>("isSlice");
        QTest::newRow("whole") << false;
        QTest::newRow("slice") << true;
    }
    void device() {
        QFETCH(bool, isSlice);
        Values values;
        auto from = rubbish<CUpti_ActivityDevice4>(CUPTI_ACTIVITY_KIND_DEVICE);
        log::DeviceRecord to{};
        values.fill(from.uuid);
        values.fill(from.migUuid);
        from.isMigEnabled = isSlice;
        std::memcpy(to.uuid, isSlice ? &from.migUuid : &from.uuid, sizeof to.uuid);
        values.pair(from.globalMemorySize, to.memoryBytes);
        values.pair(from.globalMemoryBandwidth, to.memoryBandwidthKBps);
        values.pair(from.id, to.deviceId);
        values.pair(from.computeCapabilityMajor, to.computeMajor);
        values.pair(from.computeCapabilityMinor, to.computeMinor);
        values.pair(from.numMultiprocessors, to.smCount);
        values.pair(from.coreClockRate, to.coreClockKHz);
        values.pair(from.l2CacheSize, to.l2Bytes);
        values.pair(from.constantMemorySize, to.constantBytes);
        values.pair(from.maxThreadsPerBlock, to.maxThreadsPerBlock);
        values.pair(from.maxRegistersPerBlock, to.maxRegistersPerBlock);
        values.pair(from.maxSharedMemoryPerBlock, to.maxSharedBytesPerBlock);
        values.pair(from.maxWarpsPerMultiprocessor, to.maxWarpsPerSm);
        values.pair(from.maxBlocksPerMultiprocessor, to.maxBlocksPerSm);
        values.pair(from.numThreadsPerWarp, to.threadsPerWarp);
        values.pair(from.numMemcpyEngines, to.copyEngines);
        values.pair(from.maxRegistersPerMultiprocessor, to.maxRegistersPerSm);
        values.pair(from.maxSharedMemoryPerMultiprocessor, to.maxSharedBytesPerSm);
        values.pair(from.maxBlockDimX, to.maxBlockDim[0]);
        values.pair(from.maxBlockDimY, to.maxBlockDim[1]);
        values.pair(from.maxBlockDimZ, to.maxBlockDim[2]);
        values.pair(from.maxGridDimX, to.maxGridDim[0]);
        values.pair(from.maxGridDimY, to.maxGridDim[1]);
        values.pair(from.maxGridDimZ, to.maxGridDim[2]);
        from.name = "A GPU";
        const auto log = decoded(from);
        QCOMPARE(log->devices.size(), size_t{1});
        QCOMPARE(log->text(log->devices[0].name), std::string(from.name));
        to.name = log->devices[0].name;
        verifySame(log->devices, to, 3 + 4);
    }

    void contextAndStream() {
        Values values;
        auto context = rubbish<CUpti_ActivityContext>(CUPTI_ACTIVITY_KIND_CONTEXT);
        log::ContextRecord toContext{};
        values.pair(context.contextId, toContext.contextId);
        values.pair(context.deviceId, toContext.deviceId);
        values.pair(context.nullStreamId, toContext.nullStreamId);
        verifySame(decoded(context)->contexts, toContext, 2 + 4);
        auto stream = rubbish<CUpti_ActivityStream>(CUPTI_ACTIVITY_KIND_STREAM);
        log::StreamRecord toStream{};
        values.pair(stream.contextId, toStream.contextId);
        values.pair(stream.streamId, toStream.streamId);
        values.pair(stream.priority, toStream.priority);
        values.pair(stream.flag, toStream.flag);
        verifySame(decoded(stream)->streams, toStream, 0);
    }

    void namesMayBeMissing() {
        auto kernel = rubbish<CUpti_ActivityKernel9>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
        kernel.name = nullptr;
        const auto log = decoded(kernel);
        QCOMPARE(log->kernels.size(), size_t{1});
        QCOMPARE(log->kernels[0].name, 0u);
    }
};

LANESCOPE_TEST(tst_ActivityDecoder, QCoreApplication)
#include "tst_ActivityDecoder.moc"
