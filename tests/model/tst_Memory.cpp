// SPDX-License-Identifier: Apache-2.0
#include "model/trace/kinds/eventFacts.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

std::string valueOf(const std::vector<Property>& lines, std::string_view name) {
    for (const Property& line : lines)
        if (line.name == name) return line.value;
    return {};
}

const CounterSeries* find(const Trace& trace, std::string_view name, uint32_t process = 0) {
    for (const CounterSeries& series : trace.counters)
        if (series.name == name && series.process == process) return &series;
    return nullptr;
}

const Track* track(const Trace& trace, TrackKind kind) {
    for (const Track& each : trace.tracks)
        if (each.kind == kind) return &each;
    return nullptr;
}

}  // namespace

class tst_Memory : public QObject {
    Q_OBJECT

  private slots:
    void allocationsAreMatchedWithTheirFrees() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 1000);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x100, 4096, 100);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x200, 1024, 200);
        builder.addFree(0, 0, 0x100, 300);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x100, 512,
                              400);  // The same address again.
        const TracePtr trace = builder.finish();
        const AllocationTable& table = trace->allocations;
        QCOMPARE(table.size(), 3u);
        QCOMPARE(test::listed(table.endNs[0], table.isLive[0]), "300 | 0");
        QCOMPARE(table.endNs[1], 1000);  // Until its process ended.
        QCOMPARE(test::listed(table.isLive[1], table.isLive[2]), "1 | 1");
        const CounterSeries* use = find(*trace, "Device memory");
        QVERIFY(use);
        QCOMPARE(test::listed(use->maximum(), use->value(*use->sampleAt(50))), "5120 | 0");
        QCOMPARE(test::listed(use->value(*use->sampleAt(250)), use->value(*use->sampleAt(350))), "5120 | 1024");
        QCOMPARE(use->value(*use->sampleAt(999)), 1536.0);
    }

    void memoryMatchesPlainSum() {
        std::mt19937 random(3);
        SimulatedTrace builder;
        builder.defaultStream();
        std::map<uint64_t, int64_t> live;
        std::vector<std::pair<int64_t, int64_t>> expected;
        int64_t sum = 0, peak = 0;
        for (int64_t timeNs = 1; timeNs < 2000; ++timeNs) {
            const uint64_t address = random() % 40;
            const auto found = live.find(address);
            if (random() % 2 == 0) {
                const int64_t bytes = random() % 1000;
                builder.addAllocation(0, 0, MemoryKind::Device, address, bytes, timeNs);
                if (found != live.end()) sum -= found->second;  // Its free was lost.
                live[address] = bytes;
                sum += bytes;
            } else {
                builder.addFree(0, 0, address, timeNs);
                if (found == live.end()) continue;
                sum -= found->second;
                live.erase(found);
            }
            expected.emplace_back(timeNs, sum);
            peak = std::max(peak, sum);
        }
        const TracePtr trace = builder.finish();
        const CounterSeries* use = find(*trace, "Device memory");
        QVERIFY(use);
        for (const auto& [timeNs, bytes] : expected)
            QCOMPARE(use->value(*use->sampleAt(timeNs)), static_cast<double>(bytes));
        QCOMPARE(use->maximum(), static_cast<double>(peak));
    }

    void unmatchedAllocationsAreReported() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 1000);
        builder.addFree(0, 0, 0xdead, 10);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x100, 100, 20);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x100, 300, 30);
        const TracePtr trace = builder.finish();
        QCOMPARE(trace->allocations.size(), 2u);
        QCOMPARE(trace->allocations.endNs[0], 30);
        QCOMPARE(find(*trace, "Device memory")->maximum(), 300.0);
        QCOMPARE(trace->health.size(), size_t{2});
        QVERIFY(trace->health[0].sentence.starts_with("1 frees of memory match no allocation"));
        QVERIFY(trace->health[1].sentence.starts_with("1 allocations reuse an address"));
    }

    void kindsAndProcessesAreDistinguished() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 1000);
        const uint32_t other = builder.addProcess(4243, "python3", 1);
        builder.addKernel(builder.addStream(other, 0, 7), "gemm", 0, 1000);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x100, 100, 10);
        builder.addAllocation(other, 0, MemoryKind::Device, 0x100, 200, 20);
        builder.addAllocation(0, 0, MemoryKind::Pinned, 0x200, 300, 30);
        builder.addAllocation(0, 0, MemoryKind::Managed, 0x300, 400, 40);
        const TracePtr trace = builder.finish();
        QCOMPARE(trace->counters.size(), size_t{4});
        QCOMPARE(find(*trace, "Device memory", 0)->maximum(), 100.0);
        QCOMPARE(find(*trace, "Device memory", other)->maximum(), 200.0);
        QCOMPARE(find(*trace, "Pinned memory")->gpu, noIndex);
        QCOMPARE(find(*trace, "Managed memory")->maximum(), 400.0);
        int ofGpu = 0, ofProcess = 0;
        for (const Track& each : trace->tracks) {
            if (each.kind != TrackKind::Counter) continue;
            const Track& group = trace->tracks[static_cast<size_t>(each.parent)];
            QCOMPARE(group.kind, TrackKind::CounterGroup);
            const TrackKind parent = trace->tracks[static_cast<size_t>(group.parent)].kind;
            parent == TrackKind::Gpu ? ++ofGpu : ++ofProcess;
        }
        QCOMPARE(ofGpu, 2);
        QCOMPARE(ofProcess, 2);
    }

    void memoryIsShownWithoutOtherWork() {
        SimulatedTrace builder;
        builder.addGpu();
        builder.addAllocation(0, 0, MemoryKind::Device, 0x100, 100, 10);
        builder.addAllocation(0, 0, MemoryKind::Pinned, 0x200, 100, 20);
        const TracePtr trace = builder.finish();
        QCOMPARE(trace->tracks.size(), size_t{6});
        QCOMPARE(trace->tracks[0].kind, TrackKind::Gpu);
        QCOMPARE(trace->tracks[3].kind, TrackKind::Process);
    }

    void memorySamplesAreEvents() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 1000);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x100, 3 << 20, 100);
        builder.addFree(0, 0, 0x100, 400);
        builder.addAllocation(0, 0, MemoryKind::Pinned, 0x200, 1 << 20, 500);
        const TracePtr trace = builder.finish();
        for (uint32_t counter = 0; counter < trace->counters.size(); ++counter)
            for (uint32_t sample = 0; sample < trace->counters[counter].size(); ++sample) {
                const EventRef event = trace->sampleEvent(counter, sample);
                QCOMPARE(trace->samplePlace(event).counter, counter);
                QCOMPARE(trace->samplePlace(event).sample, sample);
                const SliceLocation at = trace->locate(event);
                QVERIFY(at.isValid());
                QCOMPARE(trace->tracks[at.track].subject, counter);
                QCOMPARE(at.slice, sample);
            }
        const EventRef full = trace->sampleEvent(0, 1);
        QCOMPARE(trace->nameOf(full), "Device memory: 3.00 MiB");
        QCOMPARE(trace->rangeOf(full), (TimeRange{100, 400}));
        const auto lines = describe(*trace, full);
        QCOMPARE(test::listed(valueOf(lines, "Device memory"), valueOf(lines, "Change")), "3.00 MiB | +3.00 MiB");
        QCOMPARE(valueOf(lines, "Held for"), "300 ns");
        const EventRef none(EventKind::CounterSample, 100);
        QVERIFY(!trace->locate(none).isValid() && trace->nameOf(none).empty());
        QVERIFY(describe(*trace, none).empty());
    }

    void graphsAreShownOnTheirStream() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        const EventRef call = builder.addApi(builder.defaultThread(), "cudaGraphLaunch", 0, 10, 5);
        builder.addNvtx(builder.defaultThread(), "step", 0, 20);
        const EventRef graph = builder.addGraph(stream, 3, 100, 900, 5);
        const TracePtr trace = builder.finish();
        QCOMPARE(test::listed(trace->nameOf(graph), trace->launchingCall(graph)), test::listed("CUDA graph 3", call));
        QCOMPARE(trace->launchedWork(call), (std::vector<EventRef>{graph}));
        const SliceLocation at = trace->locate(graph);
        QVERIFY(at.isValid());
        QCOMPARE(trace->tracks[at.track].kind, TrackKind::Stream);
        QCOMPARE(trace->tracks[at.track].lanes[at.lane].category[at.slice], SliceCategory::Graph);
        QCOMPARE(valueOf(describe(*trace, graph), "Launched by"), "cudaGraphLaunch");
        QCOMPARE(test::listed(trace->projections.startNs), "100");
    }

    void pageFaultsAreShownWhereTheyHappened() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 1000);
        const EventRef ofGpu = builder.addPageFault(0, 0, 0x7000, 12, FaultAccess::Write, 100, 300);
        const EventRef ofCpu = builder.addPageFault(0, noIndex, 0x8000, 1, FaultAccess::Unknown, 400, 400);
        const TracePtr trace = builder.finish();
        QCOMPARE(test::listed(trace->nameOf(ofGpu), trace->nameOf(ofCpu)), "GPU page fault, write | CPU page fault");
        QCOMPARE(trace->tracks[trace->locate(ofGpu).track].kind, TrackKind::GpuEvents);
        QCOMPARE(trace->tracks[trace->locate(ofCpu).track].kind, TrackKind::ProcessEvents);
        QCOMPARE(valueOf(describe(*trace, ofGpu), "GPU page faults"), "12");
        QCOMPARE(valueOf(describe(*trace, ofCpu), "Instruction"), "0x4011f6");
    }

    void unrecordedTimeIsMarked() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 100);
        builder.addWindow(0, 0, 100);
        builder.addWindow(0, 500, 600);
        builder.addGap(0, Loss::CudaActivity, 550, 560, 9);
        const uint32_t other = builder.addProcess(4243, "python3", 1);
        builder.addKernel(builder.addStream(other, 0, 7), "gemm", 700, 1000);
        builder.addWindow(other, 550, 1000);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x100, 64, 50);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x200, 64, 520);
        const TracePtr trace = builder.finish();
        QCOMPARE(trace->range, (TimeRange{0, 1000}));
        // Another process uses the GPU, too: the GPU misses only the time that neither recorded.
        const Track* gpu = track(*trace, TrackKind::Gpu);
        QCOMPARE(*gpu->unrecorded, (std::vector<TimeRange>{{100, 500}}));
        QCOMPARE(*gpu->lossy, (std::vector<TimeRange>{{550, 560}}));
        QCOMPARE(*track(*trace, TrackKind::Stream)->unrecorded, (std::vector<TimeRange>{{100, 500}, {600, 1000}}));
        const CounterSeries* use = find(*trace, "Device memory");
        QCOMPARE(use->value(*use->sampleAt(99)), 64.0);
        QVERIFY(!use->sampleAt(300));
    }

    void lossesAreShownOnlyWhereTheyHappened() {
        SimulatedTrace builder;
        builder.launch(builder.defaultThread(), builder.defaultStream(), "gemm", 0, 100, 900);
        builder.addNvtx(builder.defaultThread(), "step", 0, 1000);
        builder.addGap(0, Loss::NvtxCalls, 200, 300, 5);
        builder.addGap(0, Loss::NvtxCalls, 250, 400, 5);
        const TracePtr trace = builder.finish();
        QVERIFY(track(*trace, TrackKind::Stream)->lossy->empty());
        QCOMPARE(*track(*trace, TrackKind::ThreadNvtx)->lossy, (std::vector<TimeRange>{{200, 400}}));
        QVERIFY(track(*trace, TrackKind::ThreadApi)->lossy->empty());
        QVERIFY(track(*trace, TrackKind::ThreadNvtx)->unrecorded->empty());
    }
};

LANESCOPE_TEST(tst_Memory, NoApplication)
#include "tst_Memory.moc"
