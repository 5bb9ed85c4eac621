// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <algorithm>
#include <fstream>
#include <map>

#include "model/export/traceFile.h"
#include "model/importers/loadTrace.h"
#include "model/merge/joinInspector.h"
#include "model/merge/mergeFiles.h"
#include "model/trace/collectives.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/inspectorLog.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::inspectorLog;
namespace fs = std::filesystem;

namespace {

constexpr int64_t us = 1'000;
constexpr int operations = 6;
constexpr uint64_t communicator = 0x7f8c496ae9f661;

/// What the trace has of NCCL in the process that the log is of, too.
enum class Has { Nothing, Kernels, Calls, NumberedCalls };

}  // namespace

/// Logs of NCCL Inspector beside traces of the same processes.
class tst_joinInspector : public QObject {
    Q_OBJECT

  private:
    /// A simulated trace that began a second before the log's first operation, with a kernel that
    /// is not NCCL's between two of NCCL's.
    fs::path trace(Has has, uint32_t& pid) {
        SimulatedTrace sim;
        pid = sim.processes()[0].pid;
        sim.description().facts.host = "node-1";
        sim.description().startUtcNs = (dayUs - 1'000'000) * us;
        const uint32_t thread = sim.defaultThread(), stream = sim.defaultStream();
        for (int each = 0; each < operations; ++each) {
            // The clocks differ by 20 us.
            const int64_t atNs = (1'000'020 + each * 1000) * us;
            sim.launch(thread, stream, "gemm", atNs - 100 * us, atNs - 90 * us, atNs - 10 * us);
            NcclFacts facts;
            if (has == Has::NumberedCalls) facts.sequence = each;
            // Of another communicator, as PyTorch's profiler has its own.
            if (has == Has::Calls) facts.count = 1 << 18;
            if (has == Has::Calls || has == Has::NumberedCalls)
                sim.addNccl(thread, "AllReduce", 1 << 20, atNs - 9 * us, atNs - 4 * us,
                            has == Has::NumberedCalls ? communicator : 0xabc, facts);
            if (has != Has::Nothing)
                sim.launch(thread, stream, "ncclDevKernel_AllReduce_Sum", atNs - 8 * us, atNs,
                           atNs + 48 * us);
        }
        const fs::path path = folder_ / fmt::format("run{}.sqlite", ++files_).c_str();
        return writeTraceFile(*sim.finish("run.sqlite"), path) ? path : fs::path();
    }

    fs::path log(uint32_t pid, bool isVerbose) {
        std::string text;
        for (int64_t each = 0; each < operations; ++each)
            text += lineOf({.rank = 1, .pid = int(pid)},
                           {.number = each, .kernelUs = isVerbose ? dayUs + each * 1000 : -1});
        const fs::path path = folder_ / fmt::format("node-1-pid{}.{}.log", pid, ++files_).c_str();
        std::ofstream(path) << text;
        return path;
    }

    TracePtr merged(Has has, bool isVerbose) {
        uint32_t pid = 0;
        const std::vector<fs::path> files{trace(has, pid), log(pid, isVerbose)};
        const fs::path path = folder_ / fmt::format("merged{}.sqlite", ++files_).c_str();
        if (!mergeFiles(files, path)) return nullptr;
        const Result<TracePtr> read = loadTrace(path);
        return read ? *read : nullptr;
    }

    static bool hasNote(const Trace& trace, std::string_view part) {
        for (const HealthNote& note : trace.health)
            if (note.sentence.find(part) != std::string::npos) return true;
        return false;
    }

    TemporaryFolder folder_;
    int files_ = 0;

  private slots:
    void operationsSayWhatCallsLack_data();
    void operationsSayWhatCallsLack();
    void kernelsGetTheirCalls();
    void whatTheTraceLacksIsFilledIn();
    void ofAnotherProcessNothingIsJoined();
    void threadsAndStreamsOfTheTraceAreNotTaken();
    void aBeginningBeyondAllTimesIsNone();
    void whatALogSaysOfItselfIsSaidOnce();
    void timesAreSpokenOfWhereTheyAreTaken();
    void aLogOfTwoTracesIsSpokenOfOnce();
};

void tst_joinInspector::operationsSayWhatCallsLack_data() {
    QTest::addColumn<bool>("isNumbered");
    QTest::addColumn<bool>("isVerbose");
    QTest::addColumn<int>("found");
    QTest::newRow("by number") << true << true << operations;
    QTest::newRow("by number, plain") << true << false << operations;
    QTest::newRow("by time") << false << true << operations;
    QTest::newRow("by nothing") << false << false << 0;
}

void tst_joinInspector::operationsSayWhatCallsLack() {
    QFETCH(bool, isNumbered);
    QFETCH(bool, isVerbose);
    QFETCH(int, found);
    const TracePtr trace = merged(isNumbered ? Has::NumberedCalls : Has::Calls, isVerbose);
    QVERIFY(trace);
    QCOMPARE(trace->processes.size(), size_t{1});
    QCOMPARE(trace->gpus.size(), size_t{1});
    QCOMPARE(trace->kernels.size(), uint32_t{2 * operations});
    QCOMPARE(trace->nccl.size(), uint32_t{operations});
    for (uint32_t row = 0; row < trace->nccl.size(); ++row) {
        const NcclFacts facts = trace->nccl.facts[row];
        QCOMPARE(facts.operationCount, 1u);
        QCOMPARE(facts.gpu.durationNs(), 48 * us);
        QCOMPARE(trace->strings.at(facts.algorithm), std::string_view(found > 0 ? "RING" : ""));
        if (!isNumbered) continue;
        QCOMPARE(facts.rank, 1);
        QCOMPARE(facts.rankCount, 4);
    }
    QVERIFY(
        hasNote(*trace, fmt::format("Of 6 operations in the log of NCCL Inspector {} were found "
                                    "among the calls",
                                    found)));
    QCOMPARE(trace->processes[0].rank, std::optional<int>(1));
}

void tst_joinInspector::kernelsGetTheirCalls() {
    const TracePtr trace = merged(Has::Kernels, true);
    QVERIFY(trace);
    QCOMPARE(trace->processes.size(), size_t{1});
    QCOMPARE(trace->kernels.size(), uint32_t{2 * operations});
    QCOMPARE(trace->nccl.size(), uint32_t{operations});
    for (uint32_t row = 0; row < trace->nccl.size(); ++row) {
        const NcclFacts facts = trace->nccl.facts[row];
        QCOMPARE(facts.sequence, int64_t{row});
        QCOMPARE(facts.operationCount, 1u);
        // The trace's own kernel, not what the log says of it.
        QCOMPARE(facts.gpu.durationNs(), 48 * us);
        QVERIFY(ncclRate(*trace, row));
    }
    QVERIFY(hasNote(*trace, "the kernels of 6 were found"));
}

void tst_joinInspector::whatTheTraceLacksIsFilledIn() {
    for (const bool isVerbose : {true, false}) {
        const TracePtr trace = merged(Has::Nothing, isVerbose);
        QVERIFY(trace);
        QCOMPARE(trace->processes.size(), size_t{1});
        QCOMPARE(trace->gpus.size(), size_t{1});
        QCOMPARE(trace->kernels.size(), uint32_t{2 * operations});
        QCOMPARE(trace->nccl.size(), uint32_t{operations});
        for (uint32_t row = 0; row < trace->nccl.size(); ++row) {
            const NcclFacts facts = trace->nccl.facts[row];
            QCOMPARE(facts.gpu.durationNs(), 50 * us);
            if (isVerbose) QCOMPARE(facts.gpu.startNs, (1'000'000 + row * 1000) * us);
        }
        QVERIFY(hasNote(*trace, "6 operations of NCCL are from the log"));
        QCOMPARE(hasNote(*trace, "are those of the writing"), !isVerbose);
    }
}

void tst_joinInspector::ofAnotherProcessNothingIsJoined() {
    uint32_t pid = 0;
    const fs::path run = trace(Has::NumberedCalls, pid);
    const std::vector<fs::path> files{run, log(pid + 1, true)};
    const fs::path path = folder_ / "apart.sqlite";
    QVERIFY(mergeFiles(files, path));
    const Result<TracePtr> read = loadTrace(path);
    QVERIFY(read);
    QCOMPARE((*read)->processes.size(), size_t{2});
    QCOMPARE((*read)->gpus.size(), size_t{2});
    QCOMPARE((*read)->nccl.size(), uint32_t{2 * operations});
}

void tst_joinInspector::threadsAndStreamsOfTheTraceAreNotTaken() {
    SimulatedTrace sim;
    const uint32_t pid = sim.processes()[0].pid;
    sim.description().facts.host = "node-1";
    sim.description().startUtcNs = (dayUs - 1'000'000) * us;
    // As readers make them up for what has none, and as some number theirs.
    const uint32_t thread = sim.addThread(0, 0xffffff, "made up");
    sim.defaultStream();
    const uint32_t stream = sim.stream(0, 0, 0, 1);
    sim.launch(thread, stream, "gemm", 1000 * us, 1'000'000 * us, 1'006'000 * us);
    const fs::path run = folder_ / "crowded.sqlite", path = folder_ / "crowded-whole.sqlite";
    QVERIFY(writeTraceFile(*sim.finish("crowded.sqlite"), run));
    QVERIFY(mergeFiles(std::vector<fs::path>{run, log(pid, true)}, path));
    const Result<TracePtr> read = loadTrace(path);
    QVERIFY(read);
    const Trace& whole = **read;
    QCOMPARE(whole.nccl.size(), uint32_t{operations});
    QCOMPARE(whole.kernels.size(), uint32_t{operations + 1});
    for (uint32_t row = 0; row < whole.nccl.size(); ++row)
        QVERIFY(whole.threads[whole.nvtx.thread[whole.nccl.nvtx[row]]].tid != 0xffffff);
    std::map<uint32_t, int> kernels;
    for (uint32_t row = 0; row < whole.kernels.size(); ++row) ++kernels[whole.kernels.stream[row]];
    QCOMPARE(kernels.size(), size_t{2});
}

void tst_joinInspector::aBeginningBeyondAllTimesIsNone() {
    SimulatedTrace sim;
    const uint32_t pid = sim.processes()[0].pid;
    sim.description().facts.host = "node-1";
    sim.description().startUtcNs = INT64_MAX;
    sim.launch(sim.defaultThread(), sim.defaultStream(), "gemm", 0, 100 * us, 200 * us);
    const fs::path run = folder_ / "beyond.sqlite", path = folder_ / "beyond-whole.sqlite";
    QVERIFY(writeTraceFile(*sim.finish("beyond.sqlite"), run));
    QVERIFY(mergeFiles(std::vector<fs::path>{run, log(pid, true)}, path));
    const Result<TracePtr> read = loadTrace(path);
    QVERIFY(read);
    QCOMPARE((*read)->kernels.size(), 1u);
    QVERIFY(hasNote(**read, "is left out: beyond.sqlite does not say when it began"));
}

void tst_joinInspector::whatALogSaysOfItselfIsSaidOnce() {
    SimulatedTrace sim;
    const uint32_t pid = sim.processes()[0].pid;
    sim.addProcess(pid + 1, "python3");
    sim.description().facts.host = "node-1";
    sim.description().startUtcNs = (dayUs - 1'000'000) * us;
    sim.launch(sim.defaultThread(), sim.defaultStream(), "gemm", 0, 100 * us, 200 * us);
    const fs::path path = folder_ / "node-1.log";
    std::ofstream(path) << lineOf({.rank = 0, .pid = int(pid)}, {})
                        << lineOf({.rank = 1, .pid = int(pid) + 1}, {});
    const Result<TracePtr> log = loadTrace(path);
    QVERIFY(log);
    const std::vector<TracePtr> traces{sim.finish("run.sqlite"), *log};
    const std::vector<TracePtr> joined = joinInspector(traces, 1, {});
    QCOMPARE(joined.size(), size_t{1});
    const Trace& whole = *joined.front();
    QCOMPARE(whole.nccl.size(), 2u);
    QCOMPARE(std::ranges::count(whole.facts.others, "Format of NCCL Inspector", &Property::name),
             std::ptrdiff_t{1});
    QCOMPARE(std::ranges::count_if(
                 whole.health,
                 [](const HealthNote& note) { return note.code == HealthCode::CoarseTimes; }),
             std::ptrdiff_t{1});
}

void tst_joinInspector::timesAreSpokenOfWhereTheyAreTaken() {
    // The trace has its own times of the calls, whether they were found or not.
    for (const Has has : {Has::Calls, Has::NumberedCalls}) {
        const TracePtr trace = merged(has, false);
        QVERIFY(trace);
        QVERIFY(!hasNote(*trace, "are those of the writing"));
        for (const HealthNote& note : trace->health) QVERIFY(note.code != HealthCode::CoarseTimes);
    }
    const TracePtr kernels = merged(Has::Kernels, false);
    QVERIFY(kernels);
    QVERIFY(hasNote(*kernels, "The times of 6 NCCL operations are those of the writing"));
    const TracePtr both = merged(Has::Nothing, false);
    QVERIFY(both);
    QVERIFY(hasNote(*both, ".log: The times of 6 NCCL operations are those of the writing"));
}

/// A log of two processes, of which one trace has the calls of the one, and another nothing of the
/// other.
void tst_joinInspector::aLogOfTwoTracesIsSpokenOfOnce() {
    uint32_t pid = 0;
    const Result<TracePtr> calls = loadTrace(trace(Has::NumberedCalls, pid));
    QVERIFY(calls);
    SimulatedTrace sim;
    sim.processes()[0].pid = 1;
    const uint32_t other = sim.addProcess(pid + 1, "python3");
    sim.description().facts.host = "node-1";
    sim.description().startUtcNs = (dayUs - 1'000'000) * us;
    sim.launch(sim.addThread(other, 7, "main"), sim.addStream(other, sim.addGpu(), 7), "gemm", 0,
               100 * us, 200 * us);
    const Rank first{.rank = 0, .pid = int(pid)}, second{.rank = 1, .pid = int(pid) + 1};
    const fs::path path = folder_ / "two.log";
    std::ofstream(path) << lineOf(first, {.number = 0}) << lineOf(first, {.number = 1})
                        << lineOf(second, {.number = 0})
                        << line(context(second, dayUs + 900), stats(3, 0, 7, 0));
    const Result<TracePtr> log = loadTrace(path);
    QVERIFY(log);
    const std::vector<TracePtr> traces{*calls, sim.finish("other.sqlite"), *log};
    const std::vector<TracePtr> joined = joinInspector(traces, 1, {});
    QCOMPARE(joined.size(), size_t{2});
    int64_t lost = 0, atWriting = 0;
    for (const TracePtr& each : joined)
        for (const HealthNote& note : each->health) {
            if (note.code == HealthCode::EventsDropped) lost += note.count.value_or(0);
            if (note.code == HealthCode::CoarseTimes) atWriting += note.count.value_or(0);
        }
    QCOMPARE(lost, int64_t{7});
    QCOMPARE(atWriting, int64_t{1});
}

LANESCOPE_TEST(tst_joinInspector, NoApplication)
#include "tst_joinInspector.moc"
