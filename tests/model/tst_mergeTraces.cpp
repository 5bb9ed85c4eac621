// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"
#include "model/format/GlobalId.h"
#include "model/format/factNames.h"
#include "model/importers/TraceFormat.h"
#include "model/merge/mergeFiles.h"
#include "model/merge/mergeTraces.h"
#include "model/merge/placeParts.h"
#include "model/reports/reports.h"
#include "model/trace/healthNotes.h"
#include "model/trace/processes.h"
#include "tests/support/cpuStates.h"
#include "tests/support/files.h"
#include "tests/support/inspectorLog.h"
#include "tests/support/runTest.h"
#include "tests/support/torchTrace.h"

using namespace lanescope;
using namespace lanescope::torchTrace;

namespace fs = std::filesystem;

namespace {

constexpr int64_t us = 1'000, ms = 1'000'000;
constexpr int64_t startUtcNs = int64_t{1'700'000'000} * 1'000'000'000;

/// The simulated trace of one rank, whose host clock is off by `offNs`: a collective every 20 ms, at which ranks arrive
/// at different times and which all end together, and one event of every other kind.
TracePtr rankTrace(int rank, std::string_view host, int64_t offNs, int collectives = 50) {
    SimulatedTrace sim;
    Process& process = sim.processes()[0];
    process.rank = rank;
    process.worldSize = 2;
    sim.description().facts.host = host;
    sim.description().startUtcNs = startUtcNs;
    const uint32_t thread = sim.defaultThread(), stream = sim.defaultStream();
    std::mt19937 random(42);  // the same for all ranks
    std::uniform_int_distribution<int64_t> late(0, 400 * us);
    for (int each = 0; each < collectives; ++each) {
        const int64_t atNs = each * 20 * ms + offNs + 100 * ms;
        const int64_t begins[2] = {late(random), late(random)};
        const int64_t endNs = atNs + std::max(begins[0], begins[1]) + 90 * us, beginNs = atNs + begins[rank % 2];
        NcclFacts facts{.rank = rank, .rankCount = 2};
        sim.addNccl(thread, "AllReduce", 4096, beginNs - 30 * us, beginNs - 5 * us, SimulatedTrace::someCommunicator,
                    facts);
        sim.launch(thread, stream, "ncclDevKernel_AllReduce_Sum", beginNs - 20 * us, beginNs, endNs);
    }
    const int64_t laterNs = offNs + 2'000 * ms;
    sim.addMemcpy(stream, MemcpyKind::HtoD, 64, laterNs, laterNs + 5);
    sim.addMigration(stream, MemcpyKind::UvmHtoD, 0x7000, 4096, laterNs + 10, laterNs + 20);
    sim.addMemset(stream, 32, laterNs + 30, laterNs + 40);
    sim.addGraph(stream, 3, laterNs + 50, laterNs + 60);
    sim.addAllocation(0, 0, MemoryKind::Device, 0x1000, 1 << 20, laterNs);
    sim.addFree(0, 0, 0x1000, laterNs + 70);
    sim.addPageFault(0, 0, 0x7000, 2, FaultAccess::Read, laterNs, laterNs + 3);
    sim.addPageFault(0, noIndex, 0x7100, 1, FaultAccess::Unknown, laterNs, laterNs);
    sim.addSync(stream, SyncType::Stream, laterNs, laterNs + 9);
    sim.addNvtx(thread, "epoch", laterNs, laterNs + 100);
    sim.addOpenNvtx(thread, "open", laterNs + 1);
    sim.addGap(0, Loss::NvtxCalls, laterNs, laterNs + 5, 7);
    return sim.finish("run" + std::to_string(rank) + ".sqlite");
}

std::vector<uint32_t> rowsOf(const Trace& trace) {
    return {trace.kernels.size(),    trace.memcpys.size(),      trace.migrations.size(),  trace.memsets.size(),
            trace.graphs.size(),     trace.memoryEvents.size(), trace.allocations.size(), trace.pageFaults.size(),
            trace.apiCalls.size(),   trace.syncs.size(),        trace.nvtx.size(),        trace.nccl.size(),
            trace.projections.size()};
}

TracePtr merged(const std::vector<TracePtr>& traces, const MergeOptions& options = {}) {
    TraceBuilder builder = test::orFail(mergeTraces(traces, options));
    return builder.take();
}

/// Maximum distance of the kernel ends of any collective.
int64_t maxSpreadNs(const Trace& trace) {
    std::map<uint32_t, std::vector<int64_t>> ends;  // by process
    for (uint32_t row = 0; row < trace.kernels.size(); ++row)
        ends[trace.streams[trace.kernels.stream[row]].process].push_back(trace.kernels.endNs[row]);
    int64_t greatest = 0;
    for (size_t each = 0; each < ends[0].size(); ++each)
        greatest = std::max(greatest, std::abs(ends[0][each] - ends[1][each]));
    return greatest;
}

std::string factOf(const Process& process, std::string_view name) {
    for (const Property& each : process.facts->others)
        if (each.name == name) return each.value;
    return {};
}

/// Reading of a clock at a true time.
using Clock = std::function<int64_t(int64_t)>;

Clock aheadBy(int64_t offNs) {
    return [offNs](int64_t trueNs) { return trueNs + offNs; };
}
Clock setBy(int64_t byNs, int64_t atNs, int64_t offNs) {
    return [=](int64_t trueNs) { return trueNs + offNs + (trueNs >= atNs ? byNs : 0); };
}

/// SIMULATED: one of two ranks, in times of its own clock.
struct Rank {
    Rank(int number, std::string_view host, Clock clock) : rank(number), shows(std::move(clock)) {
        sim.processes()[0].rank = number;
        sim.processes()[0].worldSize = 2;
        sim.description().facts.host = host;
        sim.description().startUtcNs = startUtcNs;
    }
    /// A call 30 us before its kernel.
    void call(std::string_view operation, TimeRange kernel, const NcclFacts& facts) {
        sim.addNccl(sim.defaultThread(), operation, 1 << 20, shows(kernel.startNs - 30 * us),
                    shows(kernel.startNs - 5 * us), SimulatedTrace::someCommunicator, facts);
        sim.launch(sim.defaultThread(), sim.defaultStream(), "ncclDevKernel", shows(kernel.startNs - 20 * us),
                   shows(kernel.startNs), shows(kernel.endNs));
    }
    TracePtr finish() { return sim.finish("rank" + std::to_string(rank) + ".sqlite"); }

    int rank;
    Clock shows;
    SimulatedTrace sim;
};

/// A collective every 20 ms, at which ranks arrive at different times.
TracePtr collectives(int rank, std::string_view host, Clock clock) {
    Rank made(rank, host, std::move(clock));
    std::mt19937 random(42);  // the same for both
    std::uniform_int_distribution<int64_t> late(0, 400 * us), delay(0, 2 * us);
    for (int each = 0; each < 80; ++each) {
        const int64_t begins[2] = {late(random), late(random)}, ends[2] = {0, delay(random)};
        const int64_t atNs = each * 20 * ms + 100 * ms;
        NcclFacts facts{.rank = rank, .rankCount = 2};
        made.call("AllReduce", {atNs + begins[rank], atNs + std::max(begins[0], begins[1]) + 90 * us + ends[rank]},
                  facts);
    }
    return made.finish();
}

/// Messages in both directions, like those of pipeline stages. With `waits`, the first side waits,
/// half a millisecond at most; otherwise a buffer stores the data until the other side arrives.
TracePtr messages(int rank, std::string_view host, Clock clock, bool waits, bool isNumbered) {
    Rank made(rank, host, std::move(clock));
    std::mt19937 random(43);  // the same for both
    std::uniform_int_distribution<int64_t> late(0, 500 * us), takes(20 * us, 22 * us);
    for (int each = 0; each < 200; ++each) {
        const int64_t atNs = each * 5 * ms, distanceNs = late(random), tookNs = takes(random);
        const bool isFirst = (each / 2 % 2 == 0) == (rank == 0);
        const int64_t beginNs = atNs + (isFirst ? 0 : distanceNs);
        NcclFacts facts;
        facts.rankCount = 2;
        if (isNumbered) facts.rank = rank;
        facts.peer = 1 - rank;
        made.call(each % 2 == rank ? "Send" : "Recv", {beginNs, waits ? atNs + distanceNs + tookNs : beginNs + tookNs},
                  facts);
    }
    return made.finish();
}

TracePtr mergedByClocks(const std::vector<TracePtr>& traces) {
    TraceBuilder builder = test::orFail(mergeTraces(traces));
    return builder.take();
}

/// Maximum distance of the kernel ends of each moment, without the `but` largest.
int64_t maxSpreadWithout(const Trace& trace, size_t but = 0) {
    std::map<uint32_t, std::vector<int64_t>> ends;  // by process
    for (uint32_t row = 0; row < trace.kernels.size(); ++row)
        ends[trace.streams[trace.kernels.stream[row]].process].push_back(trace.kernels.endNs[row]);
    std::vector<int64_t> spreads;
    for (size_t each = 0; each < ends[0].size(); ++each) spreads.push_back(std::abs(ends[0][each] - ends[1][each]));
    std::sort(spreads.begin(), spreads.end());
    return spreads[spreads.size() - 1 - but];
}

bool isReported(const Trace& trace, std::string_view begin, std::string_view word = "") {
    return std::any_of(trace.health.begin(), trace.health.end(), [&](const HealthNote& note) {
        return note.sentence.starts_with(begin) && note.sentence.find(word) != std::string::npos;
    });
}

/// A rank of host "box", and two workers that it started: only samplers recorded these, without a boot id.
TracePtr rankWithWorkers(int rank, std::string_view boot) {
    SimulatedTrace sim;
    const auto pid = static_cast<uint32_t>(100 + rank);
    const uint32_t process = sim.addProcess(pid, "python3", rank);
    sim.processes()[process].facts.edit().bootId = boot;
    sim.launch(sim.addThread(process, pid), sim.addStream(process, sim.addGpu(), 7), "gemm", 0, 10'000, 60'000);
    const uint32_t worker = sim.addProcess(pid + 50, "python3", {});
    sim.addNvtx(sim.addThread(worker, pid + 50), "load", 0, 50'000);
    // The process of simulated traces has no event here.
    sim.processes()[0].pid = pid + 100;
    sim.processes()[0].globalPid = globalPid(pid + 100);
    for (const uint32_t each : {0u, worker}) sim.processes()[each].facts.edit().parentPid = pid;
    sim.description().facts.host = "box";
    sim.description().startUtcNs = int64_t{1'700'000'000} * 1'000'000'000;
    SamplerFacts samplers;
    samplers.threads = "1 % of a core";
    sim.description().facts.samplers.push_back(samplers);
    return sim.finish("rank" + std::to_string(rank) + ".sqlite");
}

/// Names of the samplers of the merged traces; empty if the traces cannot be merged.
std::vector<std::string> samplersOf(const std::vector<TracePtr>& parts) {
    std::vector<std::string> names;
    auto builder = mergeTraces(parts, {}, {});
    if (!builder) return names;
    const TracePtr merged = builder->take();
    for (const SamplerFacts& each : merged->facts.samplers) names.push_back(each.host);
    return names;
}

}  // namespace

class tst_mergeTraces : public QObject {
    Q_OBJECT

    TemporaryFolder folder_;

  private slots:
    void mergeLosesNothingAndNamesHosts() {
        const std::vector<TracePtr> parts{rankTrace(0, "a", 0), rankTrace(1, "b", 3 * ms)};
        const TracePtr whole = merged(parts);
        std::vector<uint32_t> expected = rowsOf(*parts[0]);
        const std::vector<uint32_t> other = rowsOf(*parts[1]);
        for (size_t table = 0; table < expected.size(); ++table) expected[table] += other[table];
        QCOMPARE(test::listed(rowsOf(*whole), whole->processes.size()), test::listed(expected, 2));
        QCOMPARE(test::listed(hostOf(whole->processes[0].globalPid), hostOf(whole->processes[1].globalPid)), "0 | 1");
        QCOMPARE(whole->processes[1].pid, 4242u);
        QCOMPARE(whole->processes[1].rank, std::optional<int>(1));
        QCOMPARE(test::listed(whole->processes[1].facts->host, whole->processes[1].gaps.size()), "b | 1");
        QCOMPARE(whole->facts.hosts.size(), size_t{2});
        QCOMPARE(whole->facts.hosts[1].name, std::string("b"));
        // Both have a GPU 0, on different hosts.
        QCOMPARE(whole->gpus.size(), size_t{2});
        QVERIFY(whole->gpus[0].id != whole->gpus[1].id);
        for (uint32_t row = 0; row < whole->kernels.size(); ++row) {
            const EventRef call = whole->launchingCall(EventRef(EventKind::Kernel, row));
            QVERIFY(call.isValid());
            QCOMPARE(whole->threads[whole->apiCalls.thread[call.row()]].process,
                     whole->streams[whole->kernels.stream[row]].process);
        }
        for (uint32_t row = 0; row < whole->nccl.size(); ++row) QCOMPARE(whole->nccl.facts[row].operationCount, 1u);
    }

    void clocksOfHostsAreSynchronizedByCollectives() {
        const TracePtr whole = merged({rankTrace(0, "a", 0), rankTrace(1, "b", 7'654'321)});
        QVERIFY2(maxSpreadNs(*whole) <= 100, qPrintable(QString::number(maxSpreadNs(*whole))));
        QCOMPARE(factOf(whole->processes[1], "clock.method"), std::string("collectives"));
        const int64_t offsetNs = std::stoll(factOf(whole->processes[1], "clock.offsetNs"));
        QVERIFY(std::abs(offsetNs + 7'654'321) <= clockErrorNs(whole->processes[1]));
        QVERIFY(hasNote(*whole, HealthCode::ClocksAligned) && !hasNote(*whole, HealthCode::ClocksContradicted));
        // With time of day requested, clocks stay unchanged.
        const TracePtr asSet =
            merged({rankTrace(0, "a", 0), rankTrace(1, "b", 7'654'321)}, {.method = ClockMethod::BaseTime});
        QCOMPARE(maxSpreadNs(*asSet), int64_t{7'654'321});
        QVERIFY(hasNote(*asSet, HealthCode::ClocksNotAligned));
    }

    void equalClocksStayUnchanged() {
        const TracePtr whole = merged({rankTrace(0, "a", 0), rankTrace(1, "b", 0)});
        QCOMPARE(test::listed(maxSpreadNs(*whole), factOf(whole->processes[1], "clock.offsetNs")), "0 | 0");
        QVERIFY(sentenceOf(*whole, HealthCode::ClocksAligned).starts_with("The clock of b agrees"));
    }

    void ranksOfOneHostShareItsClock() {
        const TracePtr whole = merged({rankTrace(0, "a", 0), rankTrace(1, "a", 5 * ms)});
        // The distance is then real, and the equal PID is that of two containers.
        QCOMPARE(test::listed(maxSpreadNs(*whole), whole->processes.size()), test::listed(5 * ms, 2));
        QVERIFY(whole->facts.hosts.empty());
        QVERIFY(!hasNote(*whole, HealthCode::ClocksNotAligned));
    }

    void sharedStepsAreEnoughToMerge() {
        const auto stepping = [](int rank, const char* host, int64_t offNs) {
            SimulatedTrace sim;
            sim.processes()[0].rank = rank;
            sim.description().facts.host = host;
            sim.description().startUtcNs = startUtcNs;
            const uint32_t thread = sim.defaultThread(), stream = sim.defaultStream();
            for (int step = 0; step < 12; ++step) {
                const int64_t atNs = step * 10 * ms + offNs;
                sim.addNvtx(thread, "step " + std::to_string(step), atNs, atNs + 9 * ms);
                sim.launch(thread, stream, "gemm", atNs + us, atNs + 10 * us, atNs + 8 * ms);
            }
            return sim.finish();
        };
        const std::vector<TracePtr> traces{stepping(0, "a", 0), stepping(1, "b", 40 * ms)};
        const TracePtr whole = merged(traces);
        QCOMPARE(factOf(whole->processes[1], "clock.method"), std::string("steps"));
        QVERIFY(maxSpreadNs(*whole) <= us);
        const Result<TraceBuilder> refused = mergeTraces(traces, {.method = ClockMethod::Collectives});
        QVERIFY(!refused && refused.error().sentence.find("too few common collectives") != std::string::npos);
        const TracePtr byStart = merged(traces, {.method = ClockMethod::Start});
        QCOMPARE(maxSpreadNs(*byStart), int64_t{0});
        QVERIFY(hasNote(*byStart, HealthCode::ClocksNotAligned));
    }

    void filesOfDifferentDaysAreRefused() {
        SimulatedTrace sim;
        sim.addKernel(sim.defaultStream(), "gemm", 0, 5);
        sim.description().startUtcNs = startUtcNs + int64_t{3 * 86'400} * 1'000 * ms;
        const std::vector<TracePtr> traces{rankTrace(0, "a", 0), sim.finish("old.sqlite")};
        const Result<TraceBuilder> refused = mergeTraces(traces);
        QVERIFY(!refused && refused.error().sentence.starts_with("old.sqlite was recorded 3 days after run0"));
        QVERIFY((mergeTraces(traces, {.method = ClockMethod::Start})) && !mergeTraces({}));
    }

    void gpusAreEqualIfTheirUuidsAre() {
        const auto withGpus = [](uint32_t pid, std::vector<std::string> uuids, uint32_t used) {
            SimulatedTrace sim;
            const uint32_t process = sim.addProcess(pid, "rank");
            sim.description().facts.host = "a";
            sim.description().startUtcNs = startUtcNs;
            for (const std::string& uuid : uuids) {
                const uint32_t gpu = sim.addGpu();
                sim.gpus()[gpu].uuid = uuid;
            }
            sim.addKernel(sim.addStream(process, used, 7), "gemm", 0, 5);
            return sim.finish();
        };
        const TracePtr whole = merged({withGpus(10, {"u", "v"}, 0), withGpus(11, {"v"}, 0)});
        QCOMPARE(whole->gpus.size(), size_t{2});
        QCOMPARE(whole->gpus[whole->streams[1].gpu].uuid, std::string("v"));
        // Without UUIDs, two files that both use GPU 0 have two GPUs.
        QCOMPARE(merged({withGpus(10, {""}, 0), withGpus(11, {""}, 0)})->gpus.size(), size_t{2});
        QCOMPARE(merged({withGpus(10, {"", ""}, 0), withGpus(11, {"", ""}, 1)})->gpus.size(), size_t{2});
    }

    void mergedFileIsANormalTrace() {
        const std::vector<fs::path> files{folder_ / "rank0.sqlite", folder_ / "rank1.sqlite"};
        QVERIFY(writeTraceFile(*rankTrace(0, "a", 0), files[0]));
        QVERIFY(writeTraceFile(*rankTrace(1, "b", 9 * ms), files[1]));
        const fs::path output = folder_ / "whole.sqlite";
        const auto notes = test::orFail(mergeFiles(files, output));
        const TracePtr direct = merged({rankTrace(0, "a", 0), rankTrace(1, "b", 9 * ms)});
        const TracePtr opened = test::orFail(loadTrace(output));
        QCOMPARE(rowsOf(*opened), rowsOf(*direct));
        QVERIFY(maxSpreadNs(*opened) <= 100);
        QCOMPARE(opened->facts.hosts.size(), size_t{2});
        QCOMPARE(test::listed(hostOf(opened->processes[1].globalPid), opened->gpus.size()), "1 | 2");
        QCOMPARE(test::orFail(makeReport(*opened, "nccl_lateness")).rows.size(), size_t{2});
        // Never over another file, and never from a single one.
        QVERIFY(!mergeFiles(files, output) && !mergeFiles(std::vector{files[0]}, folder_ / "one.sqlite"));
        QVERIFY(!fs::exists(folder_ / "one.sqlite"));
        const auto cancelled =
            mergeFiles(files, folder_ / "never.sqlite", {}, [](double, std::string_view) { return false; });
        QVERIFY(!cancelled);
        QVERIFY(!fs::exists(folder_ / "never.sqlite"));
    }

    void filesOfSeveralToolsAreMerged() {
        const fs::path torch = folder_ / "tools" / "rank_1.json", native = folder_ / "tools" / "r.sqlite";
        fs::create_directories(torch.parent_path());
        put(torch, traceOf(smallRun(), "", ",\n \"baseTimeNanoseconds\": 1700000000000000000"));
        QVERIFY(writeTraceFile(*rankTrace(0, "a", 0), native));
        const fs::path output = folder_ / "tools.sqlite";
        QVERIFY(mergeFiles(std::vector{torch, native}, output));
        const TracePtr whole = test::orFail(loadTrace(output));
        QCOMPARE(whole->processes.size(), size_t{2});
        // The lower rank comes first.
        QCOMPARE(whole->processes[0].rank, std::optional<int>(0));
        QCOMPARE(whole->processes[1].rank, std::optional<int>(1));
        QVERIFY(whole->producer.find("torch.profiler") != std::string::npos);
        QVERIFY(rangeCalled(*whole, "aten::mm") != noIndex);
    }

    void equalLossesOfSeveralFilesAreAllReported() {
        std::vector<fs::path> files;
        for (const char* folder : {"x", "y"}) {
            const int rank = *folder == 'x' ? 0 : 1;
            const inspectorLog::Rank of{.rank = rank, .ranks = 2, .pid = 300 + rank};
            const fs::path file = folder_ / "lost" / folder / "node-1.log";
            fs::create_directories(file.parent_path());
            put(file, inspectorLog::lineOf(of, {.kernelUs = inspectorLog::dayUs}) +
                          inspectorLog::line(inspectorLog::context(of, inspectorLog::dayUs + 900),
                                             inspectorLog::stats(1, 0, 7, 0)));
            files.push_back(file);
        }
        const fs::path output = folder_ / "lost.sqlite";
        QVERIFY(mergeFiles(files, output));
        const TracePtr whole = test::orFail(loadTrace(output));
        int64_t lost = 0;
        std::set<std::string> names;
        for (const HealthNote& note : whole->health) {
            if (note.code != HealthCode::EventsDropped) continue;
            lost += note.count.value_or(0);
            names.insert(note.sentence.substr(0, note.sentence.find(": ")));
        }
        QCOMPARE(lost, int64_t{14});
        // Files of one name also show their folder.
        QVERIFY(names == (std::set<std::string>{"x/node-1.log", "y/node-1.log"}));
        // A fact of every such file is reported once.
        QCOMPARE(std::ranges::count(whole->health, std::string(ncclKernelsOnlySentence), &HealthNote::sentence),
                 std::ptrdiff_t{1});
    }

    void corruptProfilesEachReportTheirRows() {
        std::vector<fs::path> files;
        for (const char* name : {"rank0.json", "rank1.json"}) {
            std::vector<std::string> events = smallRun();
            for (int each = 0; each < 3; ++each) events.push_back(R"({"ph": "E", "pid": 9, "tid": 9, "ts": 5})");
            files.push_back(folder_ / "bad" / name);
            fs::create_directories(files.back().parent_path());
            put(files.back(), traceOf(events, "", ",\n \"baseTimeNanoseconds\": 1700000000000000000"));
        }
        const fs::path output = folder_ / "bad.sqlite";
        QVERIFY(mergeFiles(files, output));
        const TracePtr whole = test::orFail(loadTrace(output));
        int64_t rows = 0;
        size_t named = 0;
        for (const HealthNote& note : whole->health) {
            if (note.code != HealthCode::RowsLeftOut) continue;
            rows += note.count.value_or(0);
            named += note.sentence.starts_with("rank0.json: ") ? 1 : 0;
            named += note.sentence.starts_with("rank1.json: ") ? 1 : 0;
        }
        QCOMPARE(test::listed(rows, named), "6 | 2");
    }

    void folderAndPatternSelectTheirTraces() {
        const fs::path folder = folder_ / "many";
        fs::create_directories(folder);
        for (const char* name :
             {"rank10.json", "rank9.json", "rank9.json.lanescope-index", "x.txt", ".hidden.json", "b.sqlite.gz"})
            put(folder / name, "x");
        const auto names = [](const Result<std::vector<fs::path>>& files) {
            QStringList list;
            if (files)
                for (const fs::path& file : *files) list << QString::fromStdString(file.filename());
            return list;
        };
        const auto meant = [&](std::vector<std::string> words) { return filesMeantBy(words); };
        QCOMPARE(names(meant({folder.string()})), (QStringList{"b.sqlite.gz", "rank9.json", "rank10.json"}));
        QCOMPARE(names(meant({(folder / "rank*.json").string()})), (QStringList{"rank9.json", "rank10.json"}));
        QCOMPARE(names(meant({(folder / "b.sqlite.gz").string(), folder.string()})).size(), 3);
        QVERIFY(!meant({(folder / "nothing*").string()}));
        fs::create_directories(folder / "empty");
        QVERIFY(!meant({(folder / "empty").string()}));
        // The reader reports a missing file.
        QCOMPARE(names(meant({"missing.json"})), QStringList{"missing.json"});
    }

    void compressedDuplicatesAreSkipped() {
        const fs::path folder = folder_ / "twins";
        fs::create_directories(folder);
        for (const char* name : {"a.json", "a.json.gz", "b-pid1.log.gz", "node-1-pid7.log", "node-1-pid7.log.gz"})
            put(folder / name, "x");
        const auto names = [](const std::vector<fs::path>& files) {
            QStringList list;
            for (const fs::path& file : files) list << QString::fromStdString(file.filename());
            return list;
        };
        std::vector<fs::path> twins;
        const auto all = test::orFail(filesMeantBy(std::vector{folder.string()}, &twins));
        QCOMPARE(names(all), (QStringList{"a.json", "b-pid1.log.gz", "node-1-pid7.log"}));
        QCOMPARE(names(twins), (QStringList{"a.json.gz", "node-1-pid7.log.gz"}));
        QCOMPARE(names(test::orFail(filesMeantBy(std::vector{(folder / "a*").string()}))), QStringList{"a.json"});
        // A file named explicitly is included, and once.
        twins.clear();
        const auto named = test::orFail(filesMeantBy(
            std::vector{(folder / "a.json").string(), (folder / "a.json.gz").string(), (folder / "a.json").string()},
            &twins));
        QCOMPARE(names(named), (QStringList{"a.json", "a.json.gz"}));
        QVERIFY(twins.empty());
        QVERIFY(filesMeantBy(std::vector{folder.string(), (folder / "a.json.gz").string()}, &twins));
        QCOMPARE(names(twins), QStringList{"node-1-pid7.log.gz"});
    }

    void ranksOfOneJobAreRecognized() {
        const std::vector<TracePtr> job{rankTrace(0, "a", 0, 1), rankTrace(1, "b", 0, 1)};
        QVERIFY(seemRanksOfOneJob(job) && !seemRanksOfOneJob(std::vector{job[0]}));
        QVERIFY(!seemRanksOfOneJob(std::vector{job[0], rankTrace(0, "b", 0, 1)}));
        SimulatedTrace single;
        single.addKernel(single.defaultStream(), "gemm", 0, 5);
        QVERIFY(!seemRanksOfOneJob(std::vector{job[0], single.finish()}));
    }

    void mergedCacheIsKept() {
        qputenv("XDG_CACHE_HOME", (folder_ / "cache").c_str());
        const std::vector<fs::path> files{folder_ / "k0.sqlite", folder_ / "k1.sqlite"};
        QVERIFY(writeTraceFile(*rankTrace(0, "a", 0, 2), files[0]));
        QVERIFY(writeTraceFile(*rankTrace(1, "a", 0, 2), files[1]));
        const auto first = test::orFail(openableMerge(files));
        QVERIFY(first.filename().string().ends_with(", 2 traces.sqlite"));
        const auto writtenAt = fs::last_write_time(first);
        const auto second = test::orFail(openableMerge(files));
        QCOMPARE(second, first);
        QCOMPARE(fs::last_write_time(second), writtenAt);
        // A changed file is merged again, and of many the newest stay.
        const fs::path kept = first.parent_path().parent_path();
        for (int age = 0; age < 12; ++age) fs::create_directories(kept / std::to_string(age));
        fs::remove(files[1]);
        QVERIFY(writeTraceFile(*rankTrace(1, "a", 0, 3), files[1]));
        QVERIFY(test::orFail(openableMerge(files)) != first);
        QCOMPARE(std::distance(fs::directory_iterator(kept), fs::directory_iterator()), ptrdiff_t{8});
        fs::remove(files[1]);
        QVERIFY(!openableMerge(files));
    }

    /// Sampled thread states are in the written file and in its source trace.
    void threadStatesAreKept() {
        SimulatedTrace sim;
        const uint32_t line = sim.frame("load", "data.py", 88);
        sim.addApi(sim.defaultThread(), "cudaMalloc", 0, ms);
        test::addState(sim, sim.defaultThread(), ThreadState::Poll, {2 * ms, 60 * ms}, ms, 0, line);
        const fs::path file = folder_ / "states.sqlite";
        QVERIFY(writeTraceFile(*sim.finish(), file));
        const TracePtr kept = test::orFail(loadTrace(file));
        const CpuStateTable& states = kept->cpuStates;
        QCOMPARE(states.size(), 1U);
        QCOMPARE(test::listed(states.startNs[0], states.endNs[0]), test::listed(2 * ms, 60 * ms));
        QCOMPARE(test::listed(states.state[0], states.cpuNs[0]), test::listed(ThreadState::Poll, ms));
        QCOMPARE(kept->stacks.line[states.stack[0]], 88U);
    }

    /// torch.profiler files that are not part of the project.
    void realRanksAreMerged() {
        const fs::path data = qgetenv("LANESCOPE_TEST_DATA").toStdString();
        const std::vector<fs::path> files{data / "kineto" / "hta-rank0.json.gz", data / "kineto" / "hta-rank1.json.gz"};
        if (data.empty() || !fs::exists(files[0]))
            QSKIP("LANESCOPE_TEST_DATA names no folder with kineto/hta-rank0.json.gz.");
        const fs::path output = folder_ / "real.sqlite";
        const auto notes = test::orFail(mergeFiles(files, output));
        const TracePtr whole = test::orFail(loadTrace(output));
        size_t events = 0;
        for (const fs::path& file : files) events += eventsIn(**loadTrace(file));
        QCOMPARE(test::listed(eventsIn(*whole), whole->processes.size()), test::listed(events, 2));
    }

    void clocksAreSynchronizedByMessages() {
        for (const bool isNumbered : {true, false}) {
            const TracePtr whole = mergedByClocks({messages(0, "a", aheadBy(0), true, isNumbered),
                                                   messages(1, "b", aheadBy(-6'543'210), true, isNumbered)});
            QCOMPARE(factOf(whole->processes[1], "clock.method"), std::string("collectives"));
            const int64_t offsetNs = std::stoll(factOf(whole->processes[1], "clock.offsetNs"));
            const int64_t errorNs = clockErrorNs(whole->processes[1]);
            QVERIFY(std::abs(offsetNs - 6'543'210) <= errorNs && errorNs < 5 * us);
            QVERIFY(maxSpreadWithout(*whole) <= 2 * us);
            QVERIFY(isReported(*whole, "The clock of b was synchronized with that of a by ", " messages: "));
        }
    }

    void bufferedMessagesDoNotSynchronize() {
        const TracePtr whole =
            mergedByClocks({messages(0, "a", aheadBy(0), false, true), messages(1, "b", aheadBy(6 * ms), false, true)});
        QCOMPARE(factOf(whole->processes[1], "clock.method"), std::string("base-time"));
        QVERIFY(hasNote(*whole, HealthCode::ClocksNotAligned));
    }

    void changedClockIsRepairedAndReported_data() {
        const test::Rows<int, qint64> row;
        row("forward", 1, qint64{5 * ms});
        row("back", 1, qint64{-3 * ms});
    }
    void changedClockIsRepairedAndReported() {
        const auto [who, byNs] = test::row<int, qint64>();
        constexpr int64_t atNs = 811 * ms;
        const TracePtr whole =
            mergedByClocks({collectives(0, "a", aheadBy(0)), collectives(1, "b", setBy(byNs, atNs, 2 * ms))});
        const Process& process = whole->processes[static_cast<size_t>(who)];
        std::istringstream set(factOf(process, "clock.set"));
        int64_t foundNs = 0, afterNs = 0, beforeNs = 0, offsetNs = 0;
        QVERIFY(set >> foundNs >> afterNs >> beforeNs >> offsetNs);
        QVERIFY(std::abs(foundNs - byNs) < 20 * us);
        QVERIFY(afterNs < beforeNs && beforeNs - afterNs <= 25 * ms);
        // No event runs during the change.
        QVERIFY(maxSpreadWithout(*whole) <= 10 * us);
        QVERIFY(isReported(*whole, "The clock of b was set by " + std::string(byNs > 0 ? "+" : "-")));
        QVERIFY(!hasNote(*whole, HealthCode::ClocksContradicted));
        for (uint32_t row = 0; row < whole->kernels.size(); ++row)
            QVERIFY(whole->kernels.startNs[row] <= whole->kernels.endNs[row]);
    }

    void sampledProcessIsMatchedToItsHost() {
        const std::vector<TracePtr> ranks{rankWithWorkers(0, "a"), rankWithWorkers(1, "a")};
        const auto placed = test::orFail(placeParts(ranks));
        QCOMPARE(placed.clocks.size(), size_t(1));
        QVERIFY(placed.hosts.empty());
        for (const auto& part : placed.parts)
            for (const int64_t id : part.globalPids) QCOMPARE(hostOf(id), 0u);
    }

    void twoBootsAreTwoMachines() {
        const std::vector<TracePtr> ranks{rankWithWorkers(0, "a"), rankWithWorkers(1, "b")};
        const auto placed = test::orFail(placeParts(ranks));
        QCOMPARE(placed.clocks.size(), size_t(2));
        for (const auto& part : placed.parts)
            for (const int64_t id : part.globalPids) QCOMPARE(hostOf(id), hostOf(part.globalPids.front()));
        QVERIFY(hostOf(placed.parts[0].globalPids[0]) != hostOf(placed.parts[1].globalPids[0]));
    }

    void workerServesTheRankThatStartedIt() {
        const std::vector<TracePtr> ranks{rankWithWorkers(0, "a"), rankWithWorkers(1, "a")};
        auto builder = test::orFail(mergeTraces(ranks, {}, {}));
        const TracePtr merged = builder.take();
        const auto served = ranksServed(*merged);
        for (uint32_t process = 0; process < merged->processes.size(); ++process) {
            QVERIFY(served[process].has_value());
            QCOMPARE(static_cast<uint32_t>(*served[process]), merged->processes[process].pid % 50);
        }
    }

    void rankInTwoFilesIsRefused() {
        const auto recorded = [](int rank, int64_t utcNs) {
            SimulatedTrace sim;
            sim.processes()[0].rank = rank;
            sim.description().startUtcNs = utcNs;
            sim.launch(sim.defaultThread(), sim.defaultStream(), "gemm", 10 * ms, 11 * ms, (12 + rank) * ms);
            return sim.finish("run" + std::to_string(rank) + ".sqlite");
        };
        const std::vector<TracePtr> later{recorded(0, startUtcNs), recorded(1, startUtcNs),
                                          recorded(0, startUtcNs + 13'000 * ms)};
        const auto refused = mergeTraces(later);
        QVERIFY(!refused);
        QVERIFY2(refused.error().sentence.find("both contain rank 0, 1") != std::string::npos &&
                     refused.error().sentence.find("lanescope compare") != std::string::npos,
                 refused.error().sentence.c_str());
        QVERIFY(mergeTraces(std::vector<TracePtr>{later[0], later[1]}).has_value());
    }

    void twoRunsOfOneProgramAreRefused() {
        const auto recorded = [](const char* command, int64_t utcNs, const char* host = "node0") {
            SimulatedTrace sim;
            sim.description().startUtcNs = utcNs;
            sim.description().facts.commandLine = command;
            sim.description().facts.host = host;
            sim.launch(sim.defaultThread(), sim.defaultStream(), "gemm", 10 * ms, 11 * ms, 12 * ms);
            return sim.finish("run.sqlite");
        };
        const TracePtr first = recorded("python train.py", startUtcNs);
        const auto refused = mergeTraces(std::vector{first, recorded("python train.py", startUtcNs + 5'000 * ms)});
        QVERIFY(!refused && refused.error().sentence.find("two runs of one program, ") != std::string::npos);
        QVERIFY(!mergeTraces(std::vector{first, recorded("python3 ./train.py --seed 2", startUtcNs + 5'000 * ms)}));
        QVERIFY(mergeTraces(std::vector{first, recorded("python serve.py", startUtcNs + 5'000 * ms)}).has_value());
        QVERIFY(mergeTraces(std::vector{first, recorded("python train.py", startUtcNs + 1)}).has_value());
        // The clocks of two hosts may differ.
        const TracePtr elsewhere = recorded("python train.py", startUtcNs + 5'000 * ms, "node1");
        QVERIFY(mergeTraces(std::vector{first, elsewhere}).has_value());
    }

    void differentProgramsAreReported() {
        const auto recorded = [](const char* command, const char* file) {
            SimulatedTrace sim;
            sim.description().startUtcNs = startUtcNs;
            sim.description().facts.host = "box";
            sim.description().facts.commandLine = command;
            sim.note({Severity::Info, HealthCode::Windows, std::string("Only in ") + file});
            sim.note({Severity::Info, HealthCode::NvmlAbsent, "Of both."});
            const int64_t endNs = file[0] == 'a' ? 12 * ms : 13 * ms;
            sim.launch(sim.defaultThread(), sim.defaultStream(), "gemm", 10 * ms, 11 * ms, endNs);
            return sim.finish(file);
        };
        const TracePtr first = recorded("python train.py --seed 1", "a.sqlite");
        const auto sentences = [&](const char* command) {
            std::vector<std::string> said;
            const TracePtr whole = merged({first, recorded(command, "b.sqlite")});
            for (const HealthNote& note : whole->health) said.push_back(note.sentence);
            return said;
        };
        const auto has = [](const std::vector<std::string>& said, const char* sentence) {
            return std::ranges::count(said, std::string(sentence));
        };
        constexpr const char* other =
            "a.sqlite and b.sqlite are of different programs (\"python train.py\" and \"python serve.py\"): check that "
            "they belong together.";
        const std::vector<std::string> said = sentences("python serve.py");
        QCOMPARE(has(said, other), 1);
        QVERIFY(hasNote(*merged({first, recorded("python serve.py", "b.sqlite")}), HealthCode::ProgramsDiffer));
        QCOMPARE(has(sentences("python3 train.py --seed 2"), other), 0);
        // A fact of one file has its name, that of all files is reported once.
        QCOMPARE(has(said, "a.sqlite: Only in a.sqlite"), 1);
        QCOMPARE(test::listed(has(said, "b.sqlite: Only in b.sqlite"), has(said, "Of both.")), "1 | 1");
        QCOMPARE(has(said, "All files were recorded on box, so their times are of one clock."), 1);
    }

    /// None is dropped, whatever the file names.
    void samplersOfOneNameAreNumbered() {
        const std::vector<TracePtr> same{rankWithWorkers(0, "a"), rankWithWorkers(0, "b"), rankWithWorkers(0, "c")};
        QCOMPARE(samplersOf(same), (std::vector<std::string>{"", "box, rank 0", "box, rank 0 (2)"}));
    }

    void samplersOfOneHostAreDistinguishedByRank() {
        const std::vector<TracePtr> ranks{rankWithWorkers(0, "a"), rankWithWorkers(1, "a"), rankWithWorkers(2, "a")};
        QCOMPARE(samplersOf(ranks), (std::vector<std::string>{"", "box, rank 1", "box, rank 2"}));
    }
};

LANESCOPE_TEST(tst_mergeTraces, NoApplication)
#include "tst_mergeTraces.moc"
