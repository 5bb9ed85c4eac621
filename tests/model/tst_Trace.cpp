// SPDX-License-Identifier: Apache-2.0
#include "model/trace/gpuNames.h"
#include "model/trace/kinds/CpuState.h"
#include "model/trace/kinds/eventFacts.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

/// Paths of all tracks such as "Compute, stream 7/NVTX", in order.
QStringList trackPaths(const Trace& trace) {
    QStringList paths;
    for (const Track& track : trace.tracks) {
        QString path = QString::fromStdString(track.title);
        if (track.parent >= 0) path = paths[track.parent] + "/" + path;
        paths << path;
    }
    return paths;
}

QString valueOf(const std::vector<Property>& properties, const char* name) {
    for (const Property& property : properties)
        if (property.name == name) return QString::fromStdString(property.value);
    return {};
}

}  // namespace

class tst_Trace : public QObject {
    Q_OBJECT

  private slots:
    void eachTextIsInternedOnce() {
        StringTable strings;
        QCOMPARE(strings.intern(""), 0u);
        const StringIndex first = strings.intern("kernel");
        for (int i = 0; i < 10'000; ++i) strings.intern(std::to_string(i));
        QCOMPARE(strings.intern("kernel"), first);
        QCOMPARE(strings.at(first), std::string_view("kernel"));
        QCOMPARE(strings.at(strings.intern("9999")), std::string_view("9999"));
        QCOMPARE(strings.size(), 10'002u);
        QVERIFY(strings.at(0xffffffff).empty());
    }

    void callsAndWorkAreLinkedWithinAProcess() {
        SimulatedTrace builder;
        const uint32_t gpu = builder.addGpu();
        const uint32_t other = builder.addProcess(77, "other");
        const uint32_t threads[] = {builder.addThread(0, 1), builder.addThread(other, 2)};
        const uint32_t streams[] = {builder.addStream(0, gpu, 7), builder.addStream(other, gpu, 7)};
        // Both processes use correlation 5.
        const EventRef call = builder.addApi(threads[0], "cudaGraphLaunch", 0, 10, 5);
        const EventRef otherCall = builder.addApi(threads[1], "cudaLaunchKernel", 5, 15, 5);
        const EventRef first = builder.addKernel(streams[0], "a", 20, 30, 5);
        const EventRef otherKernel = builder.addKernel(streams[1], "b", 25, 35, 5);
        const EventRef second = builder.addKernel(streams[0], "c", 40, 50, 5);
        const EventRef copy = builder.addMemcpy(streams[0], MemcpyKind::HtoD, 4, 35, 36, 5);
        const EventRef orphan = builder.addKernel(streams[0], "d", 60, 70, 0);
        const TracePtr trace = builder.finish();
        QCOMPARE(trace->launchingCall(first), call);
        QCOMPARE(trace->launchingCall(copy), call);
        QCOMPARE(trace->launchingCall(otherKernel), otherCall);
        QVERIFY(!trace->launchingCall(orphan).isValid());
        QVERIFY(trace->launchedWork(call) == (std::vector<EventRef>{first, copy, second}));
        QVERIFY(trace->launchedWork(otherCall) == std::vector<EventRef>{otherKernel});
        QVERIFY(trace->launchedWork(first).empty());
        QVERIFY(!trace->launchingCall(EventRef(EventKind::Kernel, 1000)).isValid());
    }

    void everyDrawnEventIsLocated() {
        const TracePtr trace = simulatedTraining();
        const auto verify = [&](EventKind kind, uint32_t count) {
            for (uint32_t row = 0; row < count; ++row) {
                const EventRef event(kind, row);
                const SliceLocation at = trace->locate(event);
                QVERIFY(at.isValid());
                const Lane& lane = trace->tracks[at.track].lanes[at.lane];
                QCOMPARE(lane.event[at.slice], event);
                QCOMPARE(lane.startNs[at.slice], trace->rangeOf(event).startNs);
                const bool isWaiting = lane.category[at.slice] == SliceCategory::NcclWait;
                QCOMPARE(std::string(trace->strings.at(lane.name[at.slice])),
                         isWaiting ? "waiting for ranks" : trace->nameOf(event));
            }
        };
        verify(EventKind::Kernel, trace->kernels.size());
        verify(EventKind::Memcpy, trace->memcpys.size());
        verify(EventKind::Memset, trace->memsets.size());
        verify(EventKind::Api, trace->apiCalls.size());
        verify(EventKind::Nvtx, trace->nvtx.size());
        verify(EventKind::Projection, trace->projections.size());
        QVERIFY(!trace->locate(EventRef()).isValid());
        QVERIFY(!trace->locate(EventRef(EventKind::Kernel, trace->kernels.size())).isValid());
    }

    void tracksAreSorted() {
        const TracePtr trace = simulatedTraining();
        const QStringList expected{"GPU 0",
                                   "GPU 0/Compute, default stream 7",
                                   "GPU 0/Compute, default stream 7/NVTX",
                                   "GPU 0/Communication, stream 20",
                                   "GPU 0/Communication, stream 20/NVTX",
                                   "GPU 0/Counters",
                                   "GPU 0/Counters/NCCL bus bandwidth (computed)",
                                   "GPU 1",
                                   "GPU 1/Compute, default stream 7",
                                   "GPU 1/Compute, default stream 7/NVTX",
                                   "GPU 1/Communication, stream 20",
                                   "GPU 1/Communication, stream 20/NVTX",
                                   "GPU 1/Counters",
                                   "GPU 1/Counters/NCCL bus bandwidth (computed)",
                                   "python3",
                                   "python3/python3",
                                   "python3/python3/NVTX",
                                   "python3/python3/CUDA API",
                                   "python3/pt_autograd_0",
                                   "python3/pt_autograd_0/NVTX",
                                   "python3/pt_autograd_0/NVTX: NCCL",
                                   "python3/pt_autograd_0/CUDA API"};
        QCOMPARE(trackPaths(*trace).mid(0, expected.size()), expected);
        for (const Track& track : trace->tracks) {
            const int parentDepth = track.parent < 0 ? -1 : trace->tracks[static_cast<size_t>(track.parent)].depth;
            QCOMPARE(int{track.depth}, parentDepth + 1);
            QVERIFY(!track.lanes.empty());
        }
    }

    void busyStreamsComeFirstAndQuietOnesAreFolded() {
        SimulatedTrace builder;
        const uint32_t gpu = builder.addGpu();
        const uint32_t quiet = builder.addStream(0, gpu, 14);
        const uint32_t some = builder.addStream(0, gpu, 15);
        const uint32_t busy = builder.addStream(0, gpu, 17);
        builder.addMemcpy(quiet, MemcpyKind::HtoD, 4, 0, 1'000'000);  // long, and still only one
        for (int64_t i = 0; i < 200; ++i) builder.addKernel(busy, "gemm", 10 * i, 10 * i + 5);
        for (int64_t i = 0; i < 2; ++i) builder.addKernel(some, "relu", 10 * i, 10 * i + 5);
        const uint32_t nccl = builder.addStream(0, gpu, 18);
        builder.addKernel(nccl, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 5);
        const TracePtr trace = builder.finish();
        QCOMPARE(trackPaths(*trace).mid(0, 5),
                 QStringList({"GPU 0", "GPU 0/Compute, stream 17", "GPU 0/Compute, stream 15",
                              "GPU 0/Communication, stream 18", "GPU 0/Copies, stream 14"}));
        QVERIFY(!trace->tracks[1].isInitiallyFolded);
        QVERIFY(!trace->tracks[2].isInitiallyFolded);  // exactly a hundredth is not less
        QVERIFY(!trace->tracks[3].isInitiallyFolded);  // NCCL is never quiet
        QVERIFY(trace->tracks[4].isInitiallyFolded);
    }

    void mainThreadComesFirstUnlessIdle() {
        const auto threadsWith = [](int64_t eventsOfMain) {
            SimulatedTrace builder;
            const uint32_t process = builder.addProcess(100, "python3");
            const uint32_t some = builder.addThread(process, 101);
            const uint32_t busy = builder.addThread(process, 102);
            const uint32_t main = builder.addThread(process, 100);
            const auto add = [&](uint32_t thread, int64_t events) {
                for (int64_t at = 0; at < events; ++at) builder.addNvtx(thread, "work", 10 * at, 10 * at + 5);
            };
            add(some, 20);
            add(busy, 500);
            add(main, eventsOfMain);
            const TracePtr trace = builder.finish();
            QStringList threads;
            for (const Track& track : trace->tracks)
                if (track.kind == TrackKind::Thread) threads << QString::number(trace->threads[track.subject].tid);
            return threads;
        };
        QCOMPARE(threadsWith(10), QStringList({"100", "102", "101"}));
        QCOMPARE(threadsWith(9), QStringList({"102", "101", "100"}));
    }

    void foldedTracksAreSummed() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        const uint32_t stream = builder.defaultStream();
        const uint32_t second = builder.addStream(0, 0, 13);
        builder.addKernel(stream, "a", 100, 200);
        builder.addKernel(second, "b", 150, 250);
        builder.addKernel(stream, "c", 300, 400);
        builder.addApi(thread, "cudaMalloc", 0, 50);
        const TracePtr trace = builder.finish();
        const Lane& busy = trace->tracks[0].lanes[0];
        QCOMPARE(trace->tracks[0].kind, TrackKind::Gpu);
        QVERIFY(busy.startNs == (Column<int64_t>{100, 300}));
        QVERIFY(busy.durationNs == (Column<int64_t>{150, 100}));
        QCOMPARE(busy.busyBefore(busy.size()), int64_t{250});
        QCOMPARE(busy.category[0], SliceCategory::Busy);
        QVERIFY(!busy.event[0].isValid());
    }

    void streamsAreNamedWithTheirOwner() {
        const TracePtr trace = simulatedTraining();
        QCOMPARE(trace->tracks[0].subtitle, std::string("Simulated H200, 132 SMs"));
        Gpu amd;
        amd.vendor = gpuVendorOf("AMD Instinct MI300X");
        QCOMPARE(std::string(processorsName(amd)), std::string("CUs"));
        QCOMPARE(trace->tracks[1].subtitle, std::string("PID 4242, rank 0"));
        QCOMPARE(trace->tracks[3].subtitle, std::string("PID 4242, rank 0, NCCL"));
    }

    void categoriesFollowNames() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        const uint32_t stream = builder.defaultStream();
        const std::pair<const char*, SliceCategory> calls[] = {
            {"cudaLaunchKernel", SliceCategory::ApiLaunch},    {"cuLaunchKernelEx", SliceCategory::ApiLaunch},
            {"cudaGraphLaunch", SliceCategory::ApiLaunch},     {"cudaMemcpyAsync", SliceCategory::ApiMemory},
            {"cuMemAlloc_v2", SliceCategory::ApiMemory},       {"cudaFree", SliceCategory::ApiMemory},
            {"cudaStreamSynchronize", SliceCategory::ApiSync}, {"cudaStreamWaitEvent", SliceCategory::ApiSync},
            {"cudaGetDevice", SliceCategory::ApiOther},
        };
        int64_t timeNs = 0;
        for (const auto& call : calls) {
            builder.addApi(thread, call.first, timeNs, timeNs + 5);
            timeNs += 10;
        }
        builder.addKernel(stream, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 5);
        builder.addKernel(stream, "gemm", 10, 15);
        builder.addMemcpy(stream, MemcpyKind::PtoP, 1, 20, 25);
        builder.addMemcpy(stream, MemcpyKind::UvmHtoD, 1, 30, 35);
        builder.addMemset(stream, 1, 40, 45);
        builder.addNccl(thread, "AllReduce", 4, 0, 4);
        const TracePtr trace = builder.finish();
        for (const Track& track : trace->tracks) {
            if (track.kind == TrackKind::ThreadApi)
                for (uint32_t i = 0; i < std::size(calls); ++i) QCOMPARE(track.lanes[0].category[i], calls[i].second);
            if (track.kind == TrackKind::Stream)
                QVERIFY(
                    track.lanes[0].category ==
                    (Column<SliceCategory>{SliceCategory::NcclKernel, SliceCategory::Kernel, SliceCategory::MemcpyPtoP,
                                           SliceCategory::MemcpyHtoD, SliceCategory::Memset}));
            if (track.kind == TrackKind::ThreadNvtx) QCOMPARE(track.lanes[0].category[0], SliceCategory::NcclCall);
        }
    }

    void depthIsPerThreadAndDomain() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        builder.addNvtx(thread, "outer", 0, 100);
        builder.addNvtx(thread, "inner", 10, 50);
        builder.addNvtx(thread, "mark", 20, 20, NvtxStyle::Mark);
        builder.addNvtx(thread, "library", 30, 40, NvtxStyle::PushPop, "library");
        builder.addNvtx(thread, "next", 50, 60);
        builder.addNvtx(thread, "loose", 70, 500, NvtxStyle::StartEnd);
        const TracePtr trace = builder.finish();
        QVERIFY(trace->nvtx.depth == (Column<uint16_t>{0, 1, 2, 0, 1, 0}));
    }

    void openRangesEndWithTheirProcess() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        builder.addApi(thread, "cudaMalloc", 0, 900);
        const uint32_t other = builder.addThread(builder.addProcess(77, "other"), 78);
        builder.addApi(other, "cudaMalloc", 0, 5'000);
        builder.addOpenNvtx(thread, "open", 100);
        const TracePtr trace = builder.finish();
        QCOMPARE(trace->nvtx.endNs[0], int64_t{900});
        QCOMPARE(trace->range, (TimeRange{0, 5'000}));
    }

    void hangAtTheEndOfAProcessIsVisible() {
        SimulatedTrace builder;
        builder.addApi(builder.defaultThread(), "cudaMalloc", 0, 900);
        builder.addOpenNvtx(builder.defaultThread(), "hangs", 1'000);
        builder.processes()[0].range.endNs = 60'000;
        const TracePtr trace = builder.finish();
        QCOMPARE(trace->nvtx.endNs[0], int64_t{60'000});
        QCOMPARE(trace->nvtx.isOpen[0], uint8_t{1});
        QCOMPARE(trace->processes[0].range, (TimeRange{0, 60'000}));
        QCOMPARE(trace->range, (TimeRange{0, 60'000}));
    }

    void openRangesWithUnknownEndReachTheTraceEnd() {
        SimulatedTrace builder;
        builder.addOpenNvtx(builder.defaultThread(), "hangs", 1'000);
        const uint32_t other = builder.addThread(builder.addProcess(77, "other"), 78);
        builder.addApi(other, "cudaMalloc", 0, 5'000);
        QCOMPARE(builder.finish()->nvtx.endNs[0], int64_t{5'000});
    }

    void openRangesOfAKilledProcessLastAsLongAsTheProcess_data() {
        QTest::addColumn<bool>("isSeen");
        QTest::newRow("seen by samples") << true;
        QTest::newRow("not seen") << false;
    }
    void openRangesOfAKilledProcessLastAsLongAsTheProcess() {
        QFETCH(bool, isSeen);
        SimulatedTrace builder;
        builder.addOpenNvtx(builder.defaultThread(), "killed", 1'000);
        builder.processes()[0].endedAbnormally = true;
        if (isSeen) {
            kinds::CpuState::Row row;
            row.startNs = 500;
            row.endNs = 1'700;
            row.thread = builder.defaultThread();
            builder.add<kinds::CpuState>(row);
        }
        const uint32_t other = builder.addThread(builder.addProcess(77, "other"), 78);
        builder.addApi(other, "cudaMalloc", 0, 5'000);
        QCOMPARE(builder.finish()->nvtx.endNs[0], int64_t{isSeen ? 1'700 : 1'000});
    }

    void copyIsDescribedWithItsBandwidth() {
        SimulatedTrace builder;
        const EventRef copy = builder.addMemcpy(builder.defaultStream(), MemcpyKind::HtoD, 55'500'000, 0, 1'000'000);
        const TracePtr trace = builder.finish();
        const std::vector<Property> details = describe(*trace, copy);
        QCOMPARE(valueOf(details, "Bandwidth"), QString("55.50 GB/s"));
        QCOMPARE(valueOf(details, "From"), QString("pinned memory"));
        QCOMPARE(valueOf(details, "To"), QString("device memory"));
        QVERIFY(valueOf(details, "GPU").contains("Simulated H200"));
    }

    void missingEventHasNoDescription() {
        const TracePtr trace = simulatedTraining();
        QVERIFY(describe(*trace, EventRef()).empty());
        for (const EventKind kind : {EventKind::Kernel, EventKind::Memcpy, EventKind::Memset, EventKind::Api,
                                     EventKind::Sync, EventKind::Nvtx, EventKind::Projection}) {
            QVERIFY(describe(*trace, EventRef(kind, EventRef::maxRow)).empty());
            QVERIFY(!describe(*trace, EventRef(kind, 0)).empty());
        }
    }

    void emptyTraceHasNoTracks() {
        SimulatedTrace builder;
        const TracePtr trace = builder.finish();
        QVERIFY(trace->tracks.empty());
        QVERIFY(trace->isEmpty());
        QCOMPARE(trace->range, TimeRange{});
    }
};

LANESCOPE_TEST(tst_Trace, NoApplication)
#include "tst_Trace.moc"
