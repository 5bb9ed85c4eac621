// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "model/analysis/NvlinkVerdict.h"
#include "model/export/traceFile.h"
#include "model/format/GlobalId.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Schema.h"
#include "model/importers/TraceFormat.h"
#include "model/text/formatTable.h"
#include "model/trace/counterReadings.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/processes.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/notes.h"
#include "tests/support/reportCells.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::test;

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

constexpr int64_t second = 1'000'000'000;

CounterSeries counter(std::string_view key, CounterUnit unit, uint32_t gpu, int32_t link, std::vector<double> values) {
    CounterSeries series;
    series.key = key;
    series.name = key;
    series.source = "nvml";
    series.unit = unit;
    series.gpu = gpu;
    series.link = link;
    LargeVector<int64_t> timesNs;
    for (size_t index = 0; index < values.size(); ++index) timesNs.push_back(static_cast<int64_t>(index) * second);
    const auto endNs = static_cast<int64_t>(values.size()) * second;
    series.set(timesNs, {values.begin(), values.end()}, endNs);
    return series;
}

CounterSeries sentOver(uint32_t gpu, int32_t link, std::vector<double> values) {
    return counter(nvlinkSentKey, CounterUnit::BytesPerSecond, gpu, link, std::move(values));
}

/// Two ranks with three steps of two seconds each. Each rank runs kernels on its own GPU and a few
/// on the other's; counters as passed.
TracePtr twoRanks(std::vector<CounterSeries> counters) {
    SimulatedTrace builder;
    const uint32_t gpus[] = {builder.addGpu(), builder.addGpu()};
    for (uint32_t rank = 0; rank < 2; ++rank) {
        const uint32_t process = builder.addProcess(100 + rank, "python3", int(rank));
        const uint32_t thread = builder.addThread(process, 100 + rank);
        const uint32_t stream = builder.addStream(process, gpus[rank], 7);
        const uint32_t other = builder.addStream(process, gpus[1 - rank], 7);
        builder.addMemset(other, 64, 0, 1000);
        for (int64_t step = 0; step < 3; ++step) {
            const int64_t startNs = 2 * step * second;
            builder.addNvtx(thread, "step " + std::to_string(step), startNs, startNs + 2 * second);
            builder.addKernel(stream, "gemm", startNs + 10, startNs + second);
        }
    }
    for (CounterSeries& counter : counters) builder.counter(std::move(counter));
    return builder.finish();
}

CounterSeries sampledBy(std::string_view source, CounterSeries series) {
    series.source = source;
    return series;
}

const std::vector<double> hundreds = {100, 100, 200, 200, 300, 300};

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
        QCOMPARE(test::listed(trace->allocations.endNs[0], find(*trace, "Device memory")->maximum()), "30 | 300");
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
        QCOMPARE(test::listed(trace->counters.size(), find(*trace, "Device memory", 0)->maximum()), "4 | 100");
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
        QCOMPARE(test::listed(ofGpu, ofProcess), "2 | 2");
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
                QCOMPARE(test::listed(trace->tracks[at.track].subject, at.slice), test::listed(counter, sample));
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

    void allocationsAreSummed() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 1000);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x1, 100, 10);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x2, 300, 20);
        builder.addFree(0, 0, 0x1, 30);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x1, 50, 30);
        builder.addAllocation(0, 0, MemoryKind::Pinned, 0x3, 7, 40);
        const TracePtr trace = builder.finish();
        const auto rows = report(*trace, "cuda_memory_sum").rows;
        QCOMPARE(rows.size(), size_t{2});
        QCOMPARE(cells(rows[0], {0, 1}), "'Simulated H200 (0)' 'Device'");
        // Allocations, frees, in all, the largest, the peak (frees precede allocations of the same time), never freed.
        QCOMPARE(cells(rows[0], {3, 4, 5, 6, 7, 8, 9}), "3 1 450 300 400 350 20.0");
        QCOMPARE(cells(rows[1], {0, 9}), "'Host' -");
    }

    void onlyTheRangeIsSummed() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 1000);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x1, 100, 10);
        builder.addFree(0, 0, 0x1, 30);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x2, 300, 100);
        builder.addFree(0, 0, 0x2, 900);
        const TracePtr trace = builder.finish();
        // Alive when the range ended.
        QCOMPARE(cells(report(*trace, "cuda_memory_sum", TimeRange{50, 500}), {3, 7, 8}), "1 300 300");
    }

    void migrationsAndFaultsAreCounted() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        // Unsorted by time, so that sorting moves rows.
        builder.addMigration(stream, MemcpyKind::UvmDtoH, 0x3000, 1024, 10, 20);
        builder.addMigration(stream, MemcpyKind::UvmHtoD, 0x1000, 4096, 0, 10);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 77, 20, 30);
        builder.addPageFault(0, 0, 0x1000, 12, FaultAccess::Read, 5, 9);
        builder.addPageFault(0, noIndex, 0x1000, 1, FaultAccess::Unknown, 6, 6);
        builder.addPageFault(0, noIndex, 0x2000, 1, FaultAccess::Unknown, 7, 7);
        const TracePtr trace = builder.finish();
        QCOMPARE(cells(report(*trace, "um_total_sum"), {0, 1, 2, 3, 4, 5}), "4096 1024 2 12 '0x1000' '0x3000'");
        const auto addresses = report(*trace, "um_sum").rows;
        QCOMPARE(addresses.size(), size_t{3});
        QCOMPARE(cells(addresses[0], {0, 1, 3, 4, 5}), "'0x1000' 4096 1 12 409.6");
        QCOMPARE(cells(addresses[1], {0}), "'0x3000'");
        QVERIFY(isEmpty(addresses[2][5]));
        QCOMPARE(cells(report(*trace, "um_cpu_page_faults_sum"), {0, 1}), "2 '0x4011f6'");
        QVERIFY(report(*trace, "um_total_sum", TimeRange{500, 600}).rows.empty());
    }

    void migrationsWithoutBytesHaveNoSize() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addMigration(stream, MemcpyKind::UvmHtoD, 0x1000, 4096, 0, 10);
        builder.addMigration(stream, MemcpyKind::UvmHtoD, 0x1000, 0, 10, 40);
        builder.addMigration(stream, MemcpyKind::UvmDtoH, 0x3000, 0, 50, 60);
        const TracePtr trace = builder.finish();
        QCOMPARE(cells(report(*trace, "um_total_sum").rows[0], {0, 1}), "4096 -");
        const auto addresses = report(*trace, "um_sum").rows;
        QCOMPARE(test::listed(cells(addresses[0], {1, 2, 5}), cells(addresses[1], {2, 5})), "4096 0 409.6 | - -");
    }

    /// Every source gives the same number, for read and for generated traces.
    void countsMatchTheReports() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addMigration(stream, MemcpyKind::UvmDtoH, 0x3000, 1024, 10, 20);
        builder.addMigration(stream, MemcpyKind::UvmHtoD, 0x1000, 4096, 0, 10);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 77, 20, 30);
        builder.addPageFault(0, 0, 0x1000, 12, FaultAccess::Read, 5, 9);
        builder.addPageFault(0, 0, 0x2000, 30, FaultAccess::Write, 6, 9);
        builder.addPageFault(0, noIndex, 0x1000, 1, FaultAccess::Unknown, 6, 6);
        const TracePtr made = builder.finish();
        const TemporaryFolder folder;
        QVERIFY(writeTraceFile(*made, folder / "trace"));
        const auto read = loadTrace(folder / "trace");
        QVERIFY(read);
        for (const TracePtr& trace : {made, *read}) {
            std::map<std::string, int64_t> counts;
            for (const EventCount& count : trace->counts) counts[count.name] += count.total;
            QCOMPARE(listed(counts["memcpys"], counts["managed migrations"]), "1 | 2");
            QVERIFY(!counts.contains("page faults"));
            const auto totals = report(*trace, "um_total_sum").rows;
            QCOMPARE(counts["CPU page faults"], whole(totals[0][2]));
            QCOMPARE(counts["GPU page faults"], whole(totals[0][3]));
            QCOMPARE(counts["GPU page faults"], 42);
        }
    }

    void untimedMigrationsAreNotCopies() {
        const TemporaryFolder folder;
        {
            auto database = Database::create(folder / "trace");
            QVERIFY(database && createTraceTables(*database));
            const std::string sql = fmt::format(
                "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, \"end\", deviceId, contextId,"
                " streamId, globalPid, bytes, copyKind, srcKind, dstKind) VALUES"
                " (10, 20, 0, 1, 7, {0}, 4, 1, 1, 2), (30, 40, 0, 0, 0, {0}, 4, 12, 4, 4);"
                "INSERT INTO LANESCOPE_UNTIMED (tableName, globalPid, copyKind) VALUES"
                " ('CUPTI_ACTIVITY_KIND_MEMCPY', {0}, 11)",
                globalPid(4242));
            QVERIFY(database->execute(sql.c_str()));
        }
        const auto trace = loadTrace(folder / "trace");
        QVERIFY(trace);
        for (const EventCount& count : (*trace)->counts) {
            if (count.name == "memcpys") QCOMPARE(count.untimed, 0);
            if (count.name == "managed migrations") QCOMPARE(count.untimed, 1);
        }
        QVERIFY(hasNote(**trace, "1 of 2 managed migrations have no start and end"));
    }

    void processUsesTheGpusWithMostOfItsWork() {
        const TracePtr trace = twoRanks({});
        const GpusOfProcesses gpus(*trace);
        for (uint32_t process = 0; process < trace->processes.size(); ++process) {
            const auto& rank = trace->processes[process].rank;
            if (!rank) continue;
            QCOMPARE(gpus.of(process), std::vector<uint32_t>{uint32_t(*rank)});
        }
        QVERIFY(gpus.of(99).empty());
    }

    void nvlinkOfAStepSumsTheLinksOfTheProcessGpu() {
        std::vector<CounterSeries> counters;
        for (uint32_t gpu = 0; gpu < 2; ++gpu) {
            counters.push_back(sentOver(gpu, -1, hundreds));
            for (int32_t link = 0; link < 18; ++link) counters.push_back(sentOver(gpu, link, hundreds));
        }
        const TracePtr trace = twoRanks(std::move(counters));
        const ReportTable table = report(*trace, "nvlink_by_range");
        QCOMPARE(table.rows.size(), size_t{6});
        for (size_t row = 0; row < table.rows.size(); ++row) {
            QCOMPARE(whole(table, row, "GPU"), whole(table, row, "PID") - 100);
            QCOMPARE(whole(table, row, "Sent"), 200 * (whole(table, row, "Instance") + 1));
        }
        QVERIFY(hasNote(table, "\"step #\" of PID 101 on GPU 1, 3 instances: sent median 400 B, sum 1.17 KiB."));
        const ReportTable links = report(*trace, "nvlink_by_range:link");
        QCOMPARE(links.rows.size(), size_t{6 * 19});
        QCOMPARE(std::get<std::string>(links.rows[0][columnOf(links, "Link")]), "all");
        QVERIFY(hasNote(links, "sum 1.17 KiB."));
    }

    void processWithoutGpuWorkReportsAllGpus() {
        SimulatedTrace builder;
        builder.addGpu();
        builder.addGpu();
        builder.addNvtx(builder.defaultThread(), "epoch", 0, second);
        builder.counter(sentOver(0, -1, {5, 5}));
        builder.counter(sentOver(1, -1, {6, 6}));
        const ReportTable table = report(*builder.finish(), "nvlink_by_range", "epoch");
        QCOMPARE(table.rows.size(), size_t{2});
        QCOMPARE(whole(table, 1, "Sent"), int64_t{6});
    }

    void energyFooterHasMedianAndSum() {
        const TracePtr trace = twoRanks({counter("energy", CounterUnit::Watts, 0, -1, {10, 10, 20, 20, 60, 60})});
        const ReportTable table = report(*trace, "energy_by_range");
        QCOMPARE(table.rows.size(), size_t{3});
        QVERIFY(hasNote(table, "\"step #\" of PID 100 on GPU 0, 3 instances: median 40.0 J, sum 180.0 J."));
    }

    void unknownRangesAreCountedInTheFooter() {
        const double unknown = std::numeric_limits<double>::quiet_NaN();
        const TracePtr trace =
            twoRanks({counter("energy", CounterUnit::Watts, 0, -1, {10, 10, unknown, unknown, 60, 60})});
        QVERIFY(hasNote(report(*trace, "energy_by_range"), "3 instances (1 unknown): median 70.0 J, sum 140.0 J."));
        const TracePtr none = twoRanks({counter("energy", CounterUnit::Watts, 0, -1, {unknown, unknown})});
        for (const std::string& note : report(*none, "energy_by_range").notes) HAS_NO(note, "median");
    }

    void rangesWithReadingsAreFoundByTheirPattern() {
        SimulatedTrace builder;
        builder.addGpu();
        builder.defaultThread();
        builder.counter(sentOver(0, -1, {5, 5, 5}));
        const int64_t process = builder.processes().front().globalPid;
        builder.description().interconnect.sampledRanges = {
            {"step 0", 0, process, {0, second}, {0, 10}, {second, second + 10}},
            {"step 1", 1, process, {second, 2 * second}, {}, {}}};
        const TracePtr trace = builder.finish();
        QCOMPARE(report(*trace, "nvlink_by_range", "step #").rows.size(), size_t{2});
        QCOMPARE(report(*trace, "nvlink_by_range", "step 1").rows.size(), size_t{1});
        QVERIFY(report(*trace, "nvlink_by_range", "step").rows.empty());
    }

    void hardwareCountersTakePrecedenceOverNvmlUnlessLost() {
        constexpr double million = 1e6;
        const double unknown = std::numeric_limits<double>::quiet_NaN();
        const std::vector<double> counted(6, 2 * million);
        std::vector<double> sampled(6, 3 * million);
        const auto verdictOf = [&] {
            return judgeNvlink(
                *twoRanks({sampledBy("nvml", sentOver(0, -1, counted)), sampledBy("pm", sentOver(0, -1, sampled)),
                           sampledBy("gpm", sentOver(0, -1, hundreds))}));
        };
        QCOMPARE(verdictOf().bytes, int64_t{18'000'000});
        sampled[2] = unknown;
        QCOMPARE(verdictOf().bytes, int64_t{12'000'000});
    }

    void nvmlTakesPrecedenceForRangesReadAtBothEnds() {
        SimulatedTrace builder;
        builder.addGpu();
        builder.defaultThread();
        builder.counter(sampledBy("nvml", sentOver(0, -1, {5, 5, 5, 5})));
        CounterSeries hardware = sampledBy("pm", sentOver(0, -1, {6}));
        // Often, but never exactly at the start or end of a range.
        LargeVector<int64_t> timesNs;
        for (int64_t timeNs = -second / 7; timeNs < 3 * second; timeNs += second / 7) timesNs.push_back(timeNs);
        LargeVector<double> values(timesNs.size(), 6);
        hardware.set(timesNs, values, 3 * second);
        builder.counter(std::move(hardware));
        const int64_t process = builder.processes().front().globalPid;
        builder.description().interconnect.sampledRanges = {
            {"read", 0, process, {0, second}, {0, 10}, {second, second + 10}},
            {"between", 0, process, {second / 2, 5 * second / 2}, {}, {}}};
        const ReportTable table = report(*builder.finish(), "nvlink_by_range");
        QCOMPARE(listed(whole(table, 0, "Sent"), whole(table, 1, "Sent")), "5 | 12");
    }

    void hardwareNvlinkLeadsAndNvmlIsFoldedBelow() {
        std::vector<CounterSeries> counters;
        for (const char* source : {"nvml", "pm"})
            for (const std::string_view key : {nvlinkSentKey, nvlinkReceivedKey})
                counters.push_back(sampledBy(source, counter(key, CounterUnit::BytesPerSecond, 0, -1, hundreds)));
        for (int32_t link = 1; link >= 0; --link) counters.push_back(sentOver(0, link, hundreds));
        const TracePtr trace = twoRanks(std::move(counters));
        QStringList titles;
        for (const Track& track : trace->tracks) {
            if (track.kind != TrackKind::Counter) continue;
            titles << QString::fromStdString(track.title);
            QCOMPARE(track.isInitiallyFolded, titles.size() == 1);
            QCOMPARE(trace->counters[track.subject].source == "pm", titles.size() == 1);
        }
        QCOMPARE(titles, (QStringList{"NVLink", "NVLink by NVML", "Link 0", "Link 1"}));
    }

    void unknownCountersHaveNoPeak() {
        const double unknown = std::numeric_limits<double>::quiet_NaN();
        const TracePtr trace = twoRanks({counter("sm.activity", CounterUnit::Percent, 0, -1, {unknown, unknown}),
                                         counter("gpu.utilization", CounterUnit::Percent, 0, -1, {0, 0})});
        QStringList subtitles;
        for (const Track& track : trace->tracks)
            if (track.kind == TrackKind::Counter) subtitles << QString::fromStdString(track.subtitle);
        QCOMPARE(subtitles, (QStringList{"unknown", "peak 0.0 %"}));
    }

    void activityHasPlainNumbersWithUnit() {
        const TracePtr trace = twoRanks({counter("power", CounterUnit::Watts, 0, -1, {100, 300}),
                                         counter("memory.used", CounterUnit::Bytes, 0, -1, {3 << 20, 3 << 20}),
                                         counter("clock.sm", CounterUnit::Hertz, 1, -1, {1'980e6, 1'980e6}),
                                         counter("pcie.tx", CounterUnit::BytesPerSecond, 1, -1, {5e6, 15e6}),
                                         counter("energy", CounterUnit::Watts, 1, -1, {100, 300})});
        const std::string json = formatTable(report(*trace, "gpu_activity"), TableFormat::Json);
        const QJsonArray rows = QJsonDocument::fromJson(QByteArray::fromStdString(json)).array();
        QStringList texts;
        for (const QJsonValue& value : rows) {
            const QJsonObject row = value.toObject();
            QVERIFY(row["Mean"].isDouble() && (row["Max"].isDouble() || row["Counter"] == "energy"));
            texts << QString("%1 %2 %3 %4")
                         .arg(row["Counter"].toString())
                         .arg(row["Mean"].toDouble())
                         .arg(row["Max"].toDouble())
                         .arg(row["Unit"].toString());
        }
        QCOMPARE(texts, (QStringList{"power 200 300 W", "memory.used 3 3 MiB", "clock.sm 1980 1980 MHz",
                                     "pcie.tx 10 15 MB/s", "energy 200 0 W"}));
    }
};

LANESCOPE_TEST(tst_Memory, NoApplication)
#include "tst_Memory.moc"
