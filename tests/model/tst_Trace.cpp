// SPDX-License-Identifier: Apache-2.0
#include <latch>

#include "model/assemble/finishTrace.h"
#include "model/export/traceFile.h"
#include "model/format/GlobalId.h"
#include "model/importers/TraceFormat.h"
#include "model/numbers/LargeMemory.h"
#include "model/trace/gpuNames.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/CpuState.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/MemoryEvent.h"
#include "model/trace/kinds/Nvtx.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/kinds/eventFacts.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace std::chrono_literals;

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

constexpr int64_t ms = 1'000'000;

// A reader has only a builder: it can neither create nor change a trace.
static_assert(!std::is_default_constructible_v<Trace>);
static_assert(!std::is_copy_constructible_v<Trace>);
static_assert(std::is_same_v<decltype(std::declval<TraceBuilder&>().trace()), const Trace&>);

/// The same run for any order of events: subjects first, because rows name them.
struct Run {
    TraceBuilder builder;
    uint32_t thread = builder.thread(globalTid(4242, 4242)), gpu = builder.gpu(3);
    uint32_t stream = builder.stream(0, gpu, 1, 7);
    StringIndex step = builder.intern("step"), launch = builder.intern("cudaLaunchKernel");
    StringIndex gemm = builder.intern("gemm");
    uint32_t config = builder.launchConfig({.demangledName = gemm, .shortName = gemm});
    std::vector<std::function<void()>> tellings;

    Run() {
        for (int64_t i = 0; i < 700; ++i) tell(i);
    }

    void tell(int64_t i) {
        const int64_t atNs = i * ms;
        const auto correlation = static_cast<uint32_t>(i + 1);
        tellings.emplace_back([=, this] {
            builder.add<kinds::Nvtx>({.startNs = atNs, .endNs = atNs + ms, .text = step, .thread = thread});
        });
        tellings.emplace_back([=, this] {
            builder.add<kinds::Api>({.startNs = atNs + 10,
                                     .endNs = atNs + 20,
                                     .name = launch,
                                     .thread = thread,
                                     .correlation = correlation});
        });
        tellings.emplace_back([=, this] {
            builder.add<kinds::Kernel>({.startNs = atNs + 50,
                                        .endNs = atNs + ms / 2,
                                        .stream = stream,
                                        .correlation = correlation,
                                        .config = config});
        });
        tellings.emplace_back([=, this] {
            builder.add<kinds::Memcpy>({.startNs = atNs + ms / 2,
                                        .endNs = atNs + ms,
                                        .bytes = i,
                                        .kind = i % 3 == 0 ? MemcpyKind::UvmHtoD : MemcpyKind::HtoD,
                                        .stream = stream,
                                        .address = static_cast<uint64_t>(i)});
        });
    }

    TracePtr finish() {
        for (const auto& telling : tellings) telling();
        builder.nameProcess(globalPid(4242), "python3");
        builder.nameThread(globalTid(4242, 4242), "main");
        builder.nameThread(globalTid(1, 1), "without process");
        builder.finish();
        return builder.take();
    }
};

bool hasNote(const Trace& trace, std::string_view sentence) {
    return std::any_of(trace.health.begin(), trace.health.end(),
                       [&](const HealthNote& note) { return note.sentence == sentence; });
}

/// Calls, their kernels and ranges around them, out of order.
TraceBuilder unfinishedTrace(uint32_t rows) {
    std::mt19937 random(rows);
    TraceBuilder builder;
    const uint32_t thread = builder.thread(globalTid(4242, 4242));
    std::array<uint32_t, 3> streams{};
    for (uint32_t id = 0; id < 3; ++id) streams[id] = builder.stream(0, builder.gpu(0), 1, id);
    const StringIndex name = builder.intern("simulated");
    const uint32_t config = builder.launchConfig({.demangledName = name});
    for (uint32_t row = 0; row < rows; ++row) {
        const int64_t startNs = int64_t{row} * 100 + static_cast<int64_t>(random() % 10'000);
        builder.add<kinds::Api>(
            {.startNs = startNs, .endNs = startNs + 20, .name = name, .thread = thread, .correlation = row + 1});
        builder.add<kinds::Kernel>({.startNs = startNs + 50,
                                    .endNs = startNs + 90,
                                    .stream = streams[row % 3],
                                    .correlation = row + 1,
                                    .config = config});
        builder.add<kinds::Nvtx>({.startNs = startNs - 10, .endNs = startNs + 30, .text = name, .thread = thread});
    }
    return builder;
}

/// Returns true if two finished traces are equal in everything that finishing creates.
bool areAlike(const Trace& a, const Trace& b) {
    const auto isLane = [](const Lane& one, const Lane& other) {
        return one.startNs == other.startNs && one.durationNs == other.durationNs && one.busyNs == other.busyNs &&
               one.tiles->levels.size() == other.tiles->levels.size();
    };
    const auto isTrack = [&](const Track& one, const Track& other) {
        return one.kind == other.kind && one.parent == other.parent &&
               std::ranges::equal(one.lanes, other.lanes, isLane);
    };
    const auto isSum = [](const TrackSums& one, const TrackSums& other) {
        return one.lanes.size() == other.lanes.size() && one.busy->timeNs == other.busy->timeNs &&
               one.busy->busyNs == other.busy->busyNs;
    };
    return a.range == b.range && a.kernels.startNs == b.kernels.startNs && a.apiCalls.startNs == b.apiCalls.startNs &&
           a.nvtx.startNs == b.nvtx.startNs && a.nvtx.depth == b.nvtx.depth && a.links.calls == b.links.calls &&
           a.links.kernels == b.links.kernels && std::ranges::equal(a.tracks, b.tracks, isTrack) &&
           std::ranges::equal(a.sums.tracks, b.sums.tracks, isSum);
}

std::vector<uint32_t> rowNumbers(size_t count) {
    std::vector<uint32_t> rows(count);
    std::iota(rows.begin(), rows.end(), 0u);
    return rows;
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
        QCOMPARE(test::listed(strings.at(first), strings.at(strings.intern("9999"))), "kernel | 9999");
        QCOMPARE(strings.size(), 10'002u);
        QVERIFY(strings.at(0xffffffff).empty());
    }

    void callsAndWorkAreLinkedWithinAProcess() {
        SimulatedTrace builder;
        const uint32_t gpu = builder.addGpu(), other = builder.addProcess(77, "other");
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
        QCOMPARE(test::listed(trace->launchingCall(first), trace->launchingCall(copy)), test::listed(call, call));
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
        const uint32_t gpu = builder.addGpu(), quiet = builder.addStream(0, gpu, 14);
        const uint32_t some = builder.addStream(0, gpu, 15), busy = builder.addStream(0, gpu, 17);
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
            const uint32_t some = builder.addThread(process, 101), busy = builder.addThread(process, 102);
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
        const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
        const uint32_t second = builder.addStream(0, 0, 13);
        builder.addKernel(stream, "a", 100, 200);
        builder.addKernel(second, "b", 150, 250);
        builder.addKernel(stream, "c", 300, 400);
        builder.addApi(thread, "cudaMalloc", 0, 50);
        const TracePtr trace = builder.finish();
        const Lane& busy = trace->tracks[0].lanes[0];
        QCOMPARE(trace->tracks[0].kind, TrackKind::Gpu);
        QVERIFY(busy.startNs == (Column<int64_t>{100, 300}) && busy.durationNs == (Column<int64_t>{150, 100}));
        QCOMPARE(busy.busyBefore(busy.size()), int64_t{250});
        QCOMPARE(busy.category[0], SliceCategory::Busy);
        QVERIFY(!busy.event[0].isValid());
    }

    void streamsAreNamedWithTheirOwner() {
        const TracePtr trace = simulatedTraining();
        QCOMPARE(trace->tracks[0].subtitle, std::string("Simulated H200, 132 SMs"));
        Gpu amd;
        amd.vendor = gpuVendorOf("AMD Instinct MI300X");
        QCOMPARE(test::listed(std::string(processorsName(amd)), trace->tracks[1].subtitle), "CUs | PID 4242, rank 0");
        QCOMPARE(trace->tracks[3].subtitle, std::string("PID 4242, rank 0, NCCL"));
    }

    void categoriesFollowNames() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
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
        QVERIFY(builder.finish()->nvtx.depth == (Column<uint16_t>{0, 1, 2, 0, 1, 0}));
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
        QCOMPARE(test::listed(trace->nvtx.endNs[0], trace->nvtx.isOpen[0]), "60000 | 1");
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
        test::rows<bool>("isSeen", {{"seen by samples", true}, {"not seen", false}});
    }
    void openRangesOfAKilledProcessLastAsLongAsTheProcess() {
        QFETCH(bool, isSeen);
        SimulatedTrace builder;
        builder.addOpenNvtx(builder.defaultThread(), "killed", 1'000);
        builder.processes()[0].endedAbnormally = true;
        if (isSeen) {
            kinds::CpuState::Row row{.startNs = 500, .endNs = 1'700, .thread = builder.defaultThread()};
            builder.add<kinds::CpuState>(row);
        }
        const uint32_t other = builder.addThread(builder.addProcess(77, "other"), 78);
        builder.addApi(other, "cudaMalloc", 0, 5'000);
        QCOMPARE(builder.finish()->nvtx.endNs[0], int64_t{isSeen ? 1'700 : 1'000});
    }

    void copyIsDescribedWithItsBandwidth() {
        SimulatedTrace builder;
        const EventRef copy = builder.addMemcpy(builder.defaultStream(), MemcpyKind::HtoD, 55'500'000, 0, 1'000'000);
        const std::vector<Property> details = describe(*builder.finish(), copy);
        QCOMPARE(test::listed(valueOf(details, "Bandwidth"), valueOf(details, "From")), "55.50 GB/s | pinned memory");
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
        QVERIFY(trace->tracks.empty() && trace->isEmpty());
        QCOMPARE(trace->range, TimeRange{});
    }

    void eventsMayComeInAnyOrder() {
        const TracePtr sorted = Run().finish();
        QCOMPARE(test::listed(sorted->kernels.size(), sorted->migrations.size()), "700 | 234");
        QVERIFY(std::is_sorted(sorted->nvtx.startNs.begin(), sorted->nvtx.startNs.end()));
        for (uint32_t seed = 1; seed < 4; ++seed) {
            Run run;
            std::shuffle(run.tellings.begin(), run.tellings.end(), std::mt19937(seed));
            const TracePtr shuffled = run.finish();
            QVERIFY(shuffled->kernels.startNs == sorted->kernels.startNs);
            QVERIFY(shuffled->kernels.correlation == sorted->kernels.correlation);
            QVERIFY(shuffled->memcpys.bytes == sorted->memcpys.bytes);
            QVERIFY(shuffled->memcpys.kind == sorted->memcpys.kind);
            QVERIFY(shuffled->migrations.memcpy == sorted->migrations.memcpy);
            QVERIFY(shuffled->migrations.address == sorted->migrations.address);
            QVERIFY(shuffled->apiCalls.startNs == sorted->apiCalls.startNs);
            QVERIFY(shuffled->nvtx.depth == sorted->nvtx.depth);
            QVERIFY(shuffled->projections.startNs == sorted->projections.startNs);
            QCOMPARE(shuffled->range, sorted->range);
            QCOMPARE(shuffled->tracks.size(), sorted->tracks.size());
            for (size_t track = 0; track < sorted->tracks.size(); ++track)
                QCOMPARE(shuffled->tracks[track].title, sorted->tracks[track].title);
        }
    }

    void lateNamesCreateNoSubject() {
        const TracePtr trace = Run().finish();
        QCOMPARE(trace->processes.size(), size_t{1});
        QCOMPARE(test::listed(trace->processes[0].name, trace->threads.size()), "python3 | 1");
        QCOMPARE(test::listed(trace->threads[0].name, trace->gpus[0].id), "main | 3");
    }

    void subjectsAreReused() {
        TraceBuilder builder;
        const uint32_t process = builder.process(globalPid(7));
        QCOMPARE(builder.process(globalTid(7, 9)), process);
        QCOMPARE(builder.trace().threads[builder.thread(globalTid(7, 9))].process, process);
        QCOMPARE(builder.thread(globalTid(7, 9)), builder.thread(globalTid(7, 9)));
        const uint32_t stream = builder.stream(process, builder.gpu(0), 1, 7);
        QVERIFY(builder.stream(process, builder.gpu(0), 2, 7) != stream);
        QCOMPARE(builder.stream(process, builder.gpu(0), 1, 7), stream);
        QCOMPARE(builder.stream(process, 99, 1, 7), noIndex);
        QCOMPARE(builder.stream(99, builder.gpu(0), 1, 7), noIndex);
        for (int64_t id = 0; id < 5'000; ++id) builder.gpu(id);
        QCOMPARE(test::listed(builder.gpu(5'000), builder.gpu(1)), test::listed(noIndex, 1u));
    }

    void inconsistentEventsAreSkippedAndCounted() {
        Run run;
        TraceBuilder& builder = run.builder;
        constexpr int64_t far = int64_t{1} << 62;
        QVERIFY(!builder.add<kinds::Kernel>({.startNs = 1, .endNs = 2, .stream = 99, .config = 0}).isValid());
        QVERIFY(!builder.add<kinds::Kernel>({.startNs = 1, .endNs = 2, .stream = run.stream}).isValid());
        QVERIFY(!builder.add<kinds::Kernel>({.startNs = 2, .endNs = 1, .stream = run.stream, .config = 0}).isValid());
        QVERIFY(
            !builder.add<kinds::Kernel>({.startNs = -far, .endNs = 1, .stream = run.stream, .config = 0}).isValid());
        QVERIFY(!builder.add<kinds::Memset>({.startNs = 1, .endNs = far, .stream = run.stream}).isValid());
        QVERIFY(!builder.add<kinds::Graph>({.startNs = 1, .endNs = 2}).isValid());
        QVERIFY(!builder.add<kinds::Memcpy>({.startNs = 1, .endNs = 2}).isValid());
        QVERIFY(!builder.add<kinds::Api>({.startNs = 1, .endNs = 2}).isValid());
        QVERIFY(!builder.add<kinds::Nvtx>({.startNs = 1, .endNs = 2, .thread = 5}).isValid());
        QVERIFY(!builder.add<kinds::Sync>({.startNs = 1, .endNs = 2}).isValid());
        QVERIFY(!builder.add<kinds::PageFault>({.startNs = 1, .endNs = 2}).isValid());
        QVERIFY(!builder.add<kinds::PageFault>({.startNs = 1, .endNs = 2, .process = 0, .gpu = 9}).isValid());
        builder.add<kinds::MemoryEvent>({.timeNs = 1, .process = 0, .gpu = 9});
        builder.eventWait({.stream = 12, .event = 1, .correlation = 4});
        builder.nccl({EventKind::Nvtx, 12'345}, {.bytes = 1});
        builder.nccl({EventKind::Kernel, 0}, {.bytes = 1});
        CounterSeries lost;
        lost.gpu = 77;
        lost.set({1, 2}, {1, 2}, 3);
        builder.counter(std::move(lost));
        // Odd but meaningful events are kept.
        const EventRef copy = builder.add<kinds::Memcpy>(
            {.startNs = 1, .endNs = 2, .sourceGpu = 99, .destinationGpu = 0, .stream = run.stream});
        QVERIFY(copy.isValid());
        QVERIFY(builder.add<kinds::Nvtx>({.startNs = 5, .thread = run.thread, .isOpen = true}).isValid());
        const TracePtr trace = run.finish();
        QCOMPARE(trace->kernels.size(), 700u);
        QVERIFY(trace->memoryEvents.size() == 0 && trace->syncs.size() == 0);
        QVERIFY(trace->nccl.size() == 0 && trace->counters.empty());
        QVERIFY(hasNote(*trace, "4 rows of kernels were skipped: invalid content."));
        QVERIFY(hasNote(*trace, "2 rows of page faults were skipped: invalid content."));
        QVERIFY(hasNote(*trace, "2 rows of counter samples were skipped: invalid content."));
    }

    void everyKindFillsEveryColumn() {
        Run run;
        forEachKind([&run](auto each) {
            using Kind = decltype(each);
            if constexpr (each.origin == kinds::Origin::Recorded) {
                typename Kind::Row row;
                QVERIFY(!run.builder.add<Kind>(row).isValid());  // it has no owner
                if constexpr (requires { row.thread; }) row.thread = run.thread;
                if constexpr (requires { row.process; }) row.process = 0;
                if constexpr (requires { row.stream; }) row.stream = run.stream;
                if constexpr (requires { row.config; }) row.config = run.config;
                const EventRef event = run.builder.add<Kind>(row);
                QCOMPARE(event.kind(), each.kind);
                QCOMPARE(each.size(run.builder.trace()), event.row() + 1);
            }
        });
        run.builder.add<kinds::MemoryEvent>({.process = 0, .gpu = run.gpu});
        run.builder.add<kinds::MemoryPool>({.process = 0, .gpu = run.gpu});
        forEachTable(run.builder.trace(), [](const auto& table) {
            forEachField(table, [&table](const auto& column) {
                if constexpr (requires { column.size(); }) QCOMPARE(column.size(), size_t{table.size()});
            });
        });
    }

    void kindsAreCountedOnce() {
        Run run;
        run.builder.count("kernels", 1'000, 300);
        const TracePtr trace = run.finish();
        const auto countOf = [&](std::string_view name) {
            return std::count_if(trace->counts.begin(), trace->counts.end(),
                                 [&](const EventCount& count) { return count.name == name; });
        };
        QCOMPARE(test::listed(countOf("kernels"), countOf("memcpys"), countOf("memsets")), "1 | 1 | 0");
        QVERIFY(hasNote(*trace, "300 of 1,000 kernels have no start and end in the file. All numbers omit them."));
        TraceBuilder empty;
        QVERIFY(empty.finish());
        QVERIFY(hasNote(empty.trace(), "This trace has no events: no CUDA work, API call or NVTX range was recorded."));
    }

    void stoppedFinishDoesNothingMore() {
        std::stop_source stop;
        stop.request_stop();
        for (const unsigned threads : {1u, 2u, 3u}) {
            TraceBuilder builder = unfinishedTrace(1000);
            QVERIFY(!builder.finish(threads, stop.get_token()) && builder.trace().tracks.empty());
        }
    }

    void finishCanBeStoppedAtAnyTime() {
        constexpr uint32_t rows = 60'000;
        constexpr int delays = 36;
        TraceBuilder whole = unfinishedTrace(rows);
        QVERIFY(whole.finish());
        const TracePtr expected = whole.take();
        QCOMPARE(expected->links.kernels.size(), size_t{rows});
        QCOMPARE(expected->nvtx.depth.size(), size_t{rows});
        QCOMPARE(expected->sums.tracks.size(), expected->tracks.size());
        // From immediately to some tens of milliseconds, in which it may or may not have ended.
        std::chrono::nanoseconds after{0};
        for (int delay = 0; delay < delays; ++delay, after += after / 4 + 10us) {
            const unsigned threads = 1 + static_cast<unsigned>(delay) % 3;
            std::optional<TraceBuilder> builder = unfinishedTrace(rows);
            std::stop_source stop;
            std::latch begun{1};
            std::jthread stopper([&stop, &begun, after] {
                begun.wait();
                std::this_thread::sleep_for(after);
                stop.request_stop();
            });
            begun.count_down();
            const bool isFinished = builder->finish(threads, stop.get_token());
            // It ends early only on request; otherwise nothing is missing.
            QVERIFY(isFinished ? areAlike(builder->trace(), *expected) : stop.stop_requested());
            stopper.join();
            // The stopped trace is freed; another, unstopped one is complete.
            builder.reset();
            if (isFinished || delay % 6 != 0) continue;
            TraceBuilder rebuilt = unfinishedTrace(rows);
            QVERIFY(rebuilt.finish(threads));
            QVERIFY(areAlike(rebuilt.trace(), *expected));
        }
    }

    void loadIsCancelledBeforeTheTraceIsFinished() {
        const TemporaryFolder folder;
        const std::filesystem::path path = folder / "small.sqlite";
        QVERIFY(writeTraceFile(unfinishedTrace(100).trace(), path));
        int asked = 0;
        const Result<TracePtr> trace = loadTrace(path, [&](double, std::string_view what) {
            asked += what == "tracks" ? 1 : 0;
            // So slow that the load reports at every opportunity.
            std::this_thread::sleep_for(60ms);
            return asked == 0;
        });
        QCOMPARE(asked, 1);
        QVERIFY(!trace && trace.error().sentence.find("cancelled") != std::string::npos);
    }

    void loadIsCancelledWhileTheTraceIsFinished() {
        // Unsorted rows take longer to finish than the time between two reports.
        constexpr uint32_t rows = 300'000;
        const TemporaryFolder folder;
        const std::filesystem::path path = folder / "large.sqlite";
        QVERIFY(writeTraceFile(unfinishedTrace(rows).trace(), path));
        int asked = 0;
        const Result<TracePtr> cancelled = loadTrace(path, [&](double, std::string_view what) {
            asked += what == "tracks" ? 1 : 0;
            return asked == 0;
        });
        QCOMPARE(asked, 1);
        QVERIFY(!cancelled && cancelled.error().sentence.find("cancelled") != std::string::npos);
        const Result<TracePtr> whole = loadTrace(path);
        QVERIFY(whole.has_value());
        QCOMPARE(test::listed((*whole)->kernels.size(), (*whole)->nvtx.size()), test::listed(rows, rows));
    }

    void sortsRowsLikeAStableSort_data() {
        const test::Rows<uint32_t, uint32_t, uint32_t> row;
        const uint32_t atOnce = 1u << 16;
        for (const uint32_t count : {0u, 1u, 2u, atOnce, atOnce + 1, 3 * atOnce, 3 * atOnce + 17})
            for (const uint32_t distinct : {3u, 1'000'000u})
                for (const uint32_t disorder : {0u, 100u, 1'000'000u})
                    row(QString::asprintf("%u of %u, %u", count, distinct, disorder), count, distinct, disorder);
    }
    void sortsRowsLikeAStableSort() {
        const auto [count, distinct, disorder] = test::row<uint32_t, uint32_t, uint32_t>();
        std::mt19937 random(count + distinct + disorder);
        std::vector<uint32_t> values(count);
        for (uint32_t row = 0; row < count; ++row)
            values[row] = (row + (disorder > 0 ? static_cast<uint32_t>(random() % disorder) : 0)) % distinct;
        const auto isLess = [&values](uint32_t a, uint32_t b) { return values[a] < values[b]; };
        std::vector<uint32_t> expected = rowNumbers(count);
        LargeVector<uint32_t> rows(expected.begin(), expected.end());
        sortLarge(rows, isLess);
        std::stable_sort(expected.begin(), expected.end(), isLess);
        QVERIFY(std::ranges::equal(rows, expected));
    }
};

LANESCOPE_TEST(tst_Trace, NoApplication)
#include "tst_Trace.moc"
