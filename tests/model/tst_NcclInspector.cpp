// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include "model/export/traceFile.h"
#include "model/importers/TraceFormat.h"
#include "model/merge/mergeFiles.h"
#include "model/reports/reports.h"
#include "model/trace/collectives.h"
#include "tests/support/CpuTimer.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/exported.h"
#include "tests/support/inspectorLog.h"
#include "tests/support/notes.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::inspectorLog;

namespace fs = std::filesystem;

namespace {

constexpr int64_t us = 1'000;

/// Row of a rank in the summary.
size_t rowOfRank(const ReportTable& table, int64_t rank) {
    for (size_t row = 0; row < table.rows.size(); ++row)
        if (std::get<int64_t>(table.rows[row][1]) == rank) return row;
    return table.rows.size();
}

int64_t whole(const ReportTable& table, size_t row, size_t column) {
    return std::get<int64_t>(table.rows.at(row).at(column));
}

std::string_view operationAt(const Trace& trace, uint32_t row) { return trace.strings.at(trace.nccl.operation[row]); }

TimeRange callAt(const Trace& trace, uint32_t row) {
    const uint32_t nvtx = trace.nccl.nvtx[row];
    return {trace.nvtx.startNs[nvtx], trace.nvtx.endNs[nvtx]};
}

}  // namespace

class tst_NcclInspector : public QObject {
    Q_OBJECT

  private:
    fs::path file(const std::string& name, const std::string& text) {
        std::ofstream(folder_ / name.c_str(), std::ios::binary) << text;
        return folder_ / name.c_str();
    }
    TracePtr load(const std::string& text) {
        const Result<TracePtr> trace = loadTrace(file(fmt::format("node-pid{}.log", ++files_), text));
        return trace ? *trace : nullptr;
    }
    /// The trace after a round trip through a trace file.
    TracePtr kept(const Trace& trace) {
        const fs::path path = folder_ / fmt::format("kept{}.sqlite", ++files_).c_str();
        if (!writeTraceFile(trace, path)) return nullptr;
        const Result<TracePtr> read = loadTrace(path);
        return read ? *read : nullptr;
    }

    TemporaryFolder folder_;
    int files_ = 0;

  private slots:
    void verboseLinesGiveKernelTimes() {
        const Rank rank{.rank = 2, .pid = 438776, .name = "DP Group 0"};
        std::string text;
        for (int64_t number = 0; number < 3; ++number)
            text += lineOf(rank, {.number = number, .tookUs = 50, .kernelUs = dayUs + number * 1000});
        const TracePtr loaded = load(text);
        QVERIFY(loaded);
        for (const TracePtr& trace : {loaded, kept(*loaded)}) {
            QVERIFY(trace);
            QCOMPARE(trace->producer, std::string("NCCL Inspector"));
            QCOMPARE(trace->startUtcNs, (dayUs - 10) * us);
            QCOMPARE(test::listed(trace->nccl.size(), trace->processes.size()), "3 | 1");
            QCOMPARE(trace->processes[0].pid, 438776u);
            QCOMPARE(trace->processes[0].rank, std::optional<int>(2));
            QCOMPARE(trace->processes[0].worldSize, std::optional<int>(4));
            QCOMPARE(trace->facts.host, std::string("node-1"));
            for (uint32_t row = 0; row < 3; ++row) {
                const NcclFacts facts = trace->nccl.facts[row];
                QCOMPARE(operationAt(*trace, row), std::string_view("AllReduce"));
                QCOMPARE(trace->nccl.communicator[row], uint64_t{0x7f8c496ae9f661});
                QCOMPARE(trace->nccl.bytes[row], int64_t{1} << 20);
                QCOMPARE(facts.sequence, int64_t{row});
                // Exports accept NCCL calls in this form.
                QVERIFY(trace->nvtx.style[trace->nccl.nvtx[row]] == NvtxStyle::PushPop);
                QCOMPARE(test::listed(facts.rank, facts.rankCount, facts.channels), "2 | 4 | 2");
                QCOMPARE(trace->strings.at(facts.algorithm), std::string_view("RING"));
                QCOMPARE(trace->strings.at(facts.protocol), std::string_view("LL"));
                QCOMPARE(trace->strings.at(facts.communicatorName), std::string_view("DP Group 0"));
                QCOMPARE(callAt(*trace, row), (TimeRange{row * 1000 * us, (row * 1000 + 5) * us}));
                QCOMPARE(facts.operationCount, 1u);
                QCOMPARE(facts.gpu, (TimeRange{(row * 1000 + 10) * us, (row * 1000 + 60) * us}));
            }
            QVERIFY(!hasNote(*trace, HealthCode::CoarseTimes, "write times"));
        }
    }

    void plainLinesArePlacedAtTheirWriteTime() {
        const Rank rank;
        std::string text;
        // Three records written at once, out of order.
        for (const int64_t number : {7, 5, 6})
            text += line(context(rank, dayUs), collective({.number = number, .tookUs = 100}));
        text += line(context(rank, dayUs + 1000), collective({.number = 8, .tookUs = 30}));
        const TracePtr loaded = load(text);
        QVERIFY(loaded);
        QVERIFY(hasNote(*loaded, HealthCode::CoarseTimes, "The times of 4 NCCL operations are their write times"));
        for (const TracePtr& trace : {loaded, kept(*loaded)}) {
            QVERIFY(trace);
            QCOMPARE(test::listed(trace->startUtcNs, trace->nccl.size()), test::listed((dayUs - 300) * us, 4u));
            const std::array<TimeRange, 4> expected{
                {{0, 100 * us}, {100 * us, 200 * us}, {200 * us, 300 * us}, {1270 * us, 1300 * us}}};
            for (uint32_t row = 0; row < 4; ++row) {
                QCOMPARE(trace->nccl.facts[row].sequence, int64_t{5} + row);
                QCOMPARE(trace->nccl.facts[row].gpu, expected[row]);
            }
        }
    }

    void bandwidthMatchesTheLog_data() {
        const test::Rows<QString, int, qint64, qint64, double> row;
        // Values from NCCL Inspector's documentation; rows without a value there by nccl-tests' formula.
        row("AllReduce", "AllReduce", 8, qint64{17179869184}, qint64{61974}, 485.119099);
        row("ReduceScatter", "ReduceScatter", 8, qint64{2147483648}, qint64{41057}, 366.134533);
        row("of many", "ReduceScatter", 32, qint64{65536}, qint64{110}, 18.469236);
        row("of three", "AllReduce", 3, qint64{2360832}, qint64{5663}, 0.555850);
        row("Broadcast", "Broadcast", 8, qint64{1000000}, qint64{10}, 100.0);
    }
    void bandwidthMatchesTheLog() {
        const auto [operation, ranks, bytes, tookUs, busGBps] = test::row<QString, int, qint64, qint64, double>();
        const Call call{.operation = operation.toStdString(), .bytes = bytes, .tookUs = tookUs, .busGBps = busGBps};
        const TracePtr trace = load(lineOf({.ranks = ranks}, call));
        QVERIFY(trace);
        const std::optional<NcclRate> rate = ncclRate(*trace, 0);
        QVERIFY(rate);
        // Lines have six decimals.
        QVERIFY2(std::abs(rate->busGBps() - busGBps) < 1e-6, qPrintable(QString::number(rate->busGBps())));
    }

    void messagesHavePeers() {
        const Rank rank;
        std::string text;
        for (int64_t number = 0; number < 4; ++number) {
            const Call call{.operation = number % 2 == 0 ? "Send" : "Recv",
                            .number = number,
                            .bytes = 4096 * (number + 1),
                            .kernelUs = dayUs};
            text += line(context(rank, dayUs + 900), message(call, 1 + int(number)));
        }
        const TracePtr loaded = load(text);
        QVERIFY(loaded);
        // All operations of a group begin together; each keeps its own values.
        for (const TracePtr& trace : {loaded, kept(*loaded)}) {
            QVERIFY(trace);
            QCOMPARE(trace->nccl.size(), 4u);
            std::set<int32_t> peers;
            for (uint32_t row = 0; row < 4; ++row) {
                const NcclFacts facts = trace->nccl.facts[row];
                QCOMPARE(trace->nccl.bytes[row], int64_t{4096} * facts.peer);
                QCOMPARE(operationAt(*trace, row), std::string_view(facts.peer % 2 == 1 ? "Send" : "Recv"));
                QCOMPARE(test::listed(facts.operationCount, facts.sharedBy), "1 | 1");
                peers.insert(facts.peer);
            }
            QCOMPARE(peers.size(), size_t{4});
        }
    }

    void batchHeaderAppliesToItsLines() {
        const Rank first{.rank = 1, .id = "0xa"}, second{.rank = 3, .id = "0xb"};
        const std::string orphan = line(collective({.number = 99}));
        const std::string text =
            line(context(first, dayUs, "v4.3"), stats(2, 1, 0, 0)) + line(collective({.number = 0})) +
            line(collective({.number = 1})) + line(message({.operation = "Send"}, 2)) + orphan +
            line(context(second, dayUs + 5000, "v4.3"), stats(1, 0, 0, 0)) + line(collective({.number = 0}));
        const TracePtr trace = load(text);
        QVERIFY(trace);
        QCOMPARE(trace->nccl.size(), 4u);
        std::map<uint64_t, int> of;
        for (uint32_t row = 0; row < 4; ++row) {
            ++of[trace->nccl.communicator[row]];
            QCOMPARE(trace->nccl.facts[row].rank, trace->nccl.communicator[row] == 0xa ? 1 : 3);
        }
        QCOMPARE(test::listed(of[0xa], of[0xb]), "3 | 1");
        QVERIFY(hasNote(*trace, HealthCode::RowsLeftOut, "1 operations, the first on line 5,"));
        // A batch with a corrupt header is not attributed to the previous batch.
        std::string damaged = line(context(first, dayUs, "v4.3"), stats(2, 0, 0, 0)) + line(collective({.number = 0}));
        damaged += line(context(second, dayUs, "v4.3"), stats(1, 0, 0, 0)).replace(3, 1, "\"");
        damaged += line(collective({.number = 0}));
        const TracePtr rest = load(damaged);
        QVERIFY(rest);
        QCOMPARE(rest->nccl.size(), 1u);
        QVERIFY(hasNote(*rest, HealthCode::FileDamaged, "the first on line 3"));
    }

    void overwrittenRecordsAreCounted() {
        const Rank rank;
        std::string text;
        for (const int64_t lost : {512, 0, 30})
            text += line(context(rank, dayUs, "v4.1"), stats(1, 0, lost, lost / 10)) +
                    line(context(rank, dayUs, "v4.1"), collective({.number = lost}));
        const TracePtr trace = load(text);
        QVERIFY(trace);
        QCOMPARE(trace->nccl.size(), 3u);
        QVERIFY(hasNote(*trace, HealthCode::EventsDropped, "542 collectives and 54 messages"));
    }

    void jsonLayoutIsIrrelevant() {
        std::string lines, oneLine, pretty, list = "[";
        for (int64_t number = 0; number < 4; ++number) {
            const std::string each = lineOf({}, {.number = number, .kernelUs = dayUs + number * 100});
            lines += each;
            oneLine += each.substr(0, each.size() - 1);
            list += (number == 0 ? "" : ",") + each;
            for (const char c : each) {
                pretty += c;
                if (c == '{' || c == ',' || c == '[') pretty += "\n    ";
                if (c == ':') pretty += ' ';
            }
        }
        const TracePtr trace = load(lines);
        QVERIFY(trace);
        for (const std::string& text : {oneLine, pretty, list + "]\n"}) {
            const TracePtr other = load(text);
            QVERIFY(other);
            QCOMPARE(other->nccl.size(), trace->nccl.size());
            for (uint32_t row = 0; row < trace->nccl.size(); ++row)
                QCOMPARE(other->nccl.facts[row].gpu, trace->nccl.facts[row].gpu);
            QVERIFY(!hasNote(*other, HealthCode::FileDamaged, ""));
        }
    }

    void rcclExtensionsAreReadOrCounted() {
        const Rank rank;
        const std::string channel = fmt::format(
            R"({{"event_type":"KernelCh","channel_id":0,"event_trace_ts":{{"kernel_start_ts":{}}}}})", dayUs + 20);
        const std::string proxy = R"({"event_type":"ProxyOp","proxy_id":17,"events":[{"event_type":"ProxyStep"}]})";
        std::string call = collective({.operation = "All2All", .tookUs = 30});
        call.pop_back();
        call += fmt::format(R"(,"event_trace_ts":{{"coll_start_ts":{},"coll_stop_ts":{}}},)", dayUs + 1, dayUs + 6) +
                "\"events\":[" + proxy + "," + channel + "]}";
        const TracePtr trace =
            load(line(context(rank, dayUs + 900, "v4.1"), call) +
                 line(context(rank, dayUs + 900, "v4.1"), R"("coll_api":{"func":"AllReduce","start_ts":1})"));
        QVERIFY(trace);
        QCOMPARE(trace->nccl.size(), 1u);
        QCOMPARE(operationAt(*trace, 0), std::string_view("AlltoAll"));
        QCOMPARE(callAt(*trace, 0), (TimeRange{0, 5 * us}));
        QCOMPARE(trace->nccl.facts[0].gpu, (TimeRange{19 * us, 49 * us}));
        QVERIFY(hasNote(*trace, HealthCode::NotShown, "1 records of NCCL Inspector"));
    }

    void callsWithoutKernelTimesAreKept() {
        const Rank rank;
        const Call call{.timing = "collective_cpu", .kernelUs = dayUs, .channels = 0};
        const TracePtr trace = load(lineOf(rank, call));
        QVERIFY(trace);
        QCOMPARE(test::listed(trace->nccl.size(), trace->kernels.size()), "1 | 0");
        QCOMPARE(callAt(*trace, 0), (TimeRange{0, 5 * us}));
        QVERIFY(hasNote(*trace, HealthCode::CoarseTimes, "For 1 NCCL operations only the call"));
        bool isReported = false;
        for (const Property& each : trace->facts.others)
            isReported |= each.value.find("collective_cpu of 1") != std::string::npos;
        QVERIFY(isReported);
    }

    void ranksAreMergedAndTheLateOneIsFound() {
        std::vector<fs::path> files;
        for (int rank = 0; rank < 4; ++rank) {
            std::string text;
            for (int64_t number = 0; number < 8; ++number) {
                // Rank 2 arrives 300 us after the others, which wait for it.
                const int64_t lateUs = rank == 2 ? 300 : rank;
                text += lineOf({.rank = rank, .pid = 100 + rank},
                               {.number = number, .tookUs = 400 - lateUs, .kernelUs = dayUs + number * 1000 + lateUs});
            }
            files.push_back(file(fmt::format("node-1-pid{}.log", 100 + rank), text));
        }
        const fs::path merged = folder_ / "job.sqlite";
        QVERIFY(mergeFiles(files, merged));
        const TracePtr trace = test::orFail(loadTrace(merged));
        QCOMPARE(test::listed(trace->processes.size(), trace->gpus.size()), "4 | 4");
        const ReportTable late = test::orFail(makeReport(*trace, "nccl_lateness", std::nullopt));
        QCOMPARE(late.rows.size(), size_t{4});
        for (int64_t rank = 0; rank < 4; ++rank) {
            const size_t row = rowOfRank(late, rank);
            QCOMPARE(test::listed(whole(late, row, 2), whole(late, row, 3)), test::listed(100 + rank, 8));
            QCOMPARE(whole(late, row, 4), int64_t{rank == 2 ? 8 : 0});
            QCOMPARE(whole(late, row, 8), (rank == 2 ? 300 : rank) * us);
        }
        for (uint32_t row = 0; row < trace->nccl.size(); ++row) {
            const NcclFacts facts = trace->nccl.facts[row];
            QCOMPARE(facts.waitedNs, (facts.rank == 2 ? 0 : 300 - facts.rank) * us);
        }
    }

    void writeTimesMakeNoRankLate() {
        std::vector<fs::path> files;
        for (int rank = 0; rank < 2; ++rank) {
            std::string text;
            for (int64_t number = 0; number < 8; ++number)
                text += line(context({.rank = rank, .ranks = 2, .pid = 200 + rank}, dayUs + number * 1000 + rank * 300),
                             collective({.number = number}));
            files.push_back(file(fmt::format("node-1-pid{}.log", 200 + rank), text));
        }
        const fs::path merged = folder_ / "plain.sqlite";
        QVERIFY(mergeFiles(files, merged));
        const TracePtr trace = test::orFail(loadTrace(merged));
        QCOMPARE(trace->nccl.size(), 16u);
        for (uint32_t row = 0; row < 16; ++row) {
            QCOMPARE(trace->nccl.facts[row].waitedNs, int64_t{-1});
            QVERIFY(ncclRate(*trace, row));
        }
        for (const char* name : {"nccl_lateness", "nccl_lateness:collective"}) {
            const ReportTable late = test::orFail(makeReport(*trace, name, std::nullopt));
            QCOMPARE(late.rows.size(), size_t{0});
            QVERIFY(!late.notes.empty());
            QVERIFY(late.notes.front().starts_with("16 calls of collectives were skipped"));
        }
    }

    /// Logs that end two operations apart are whole, and messages are numbered by the pair.
    void fewMissingOperationsAreNoLoss() {
        const auto noted = [](int lacking, bool areMessages) {
            SimulatedTrace made;
            made.description().producer = "NCCL Inspector";
            made.processes()[0].rank = 0;
            const uint32_t other = made.addThread(made.addProcess(4243, "python3", 1), 4243);
            for (int number = 0; number < 60; ++number)
                for (const int rank : {0, 1}) {
                    if (rank == 1 && number >= 60 - lacking) continue;
                    made.addNccl(
                        rank == 0 ? made.defaultThread() : other, areMessages ? "Send" : "AllReduce", 64, number * 1000,
                        number * 1000 + 100, SimulatedTrace::someCommunicator,
                        {.sequence = number, .rank = rank, .rankCount = 2, .peer = areMessages ? 1 - rank : -1});
                }
            return hasNote(*made.finish(), HealthCode::OperationsMissing);
        };
        QVERIFY(noted(20, false) && !noted(2, false) && !noted(20, true));
    }

    void exportedProfileKeepsTheSizes() {
        const Rank rank{.rank = 0, .pid = 12, .name = "DP Group 0"};
        const TracePtr trace = load(lineOf(rank, {.number = 3, .tookUs = 50, .kernelUs = dayUs}));
        QVERIFY(trace);
        const TracePtr read = test::orFail(loadTrace(file("written.json", test::kinetoOf(*trace))));
        QCOMPARE(read->nccl.size(), 1u);
        QCOMPARE(read->nccl.bytes[0], int64_t{1} << 20);
        QCOMPARE(read->nccl.communicator[0], trace->nccl.communicator[0]);
        QCOMPARE(read->nccl.facts[0].sequence, int64_t{3});
    }

    void impossibleSizeIsExportedUnchanged() {
        const TracePtr trace =
            load(lineOf({}, {.operation = "AlltoAll", .bytes = int64_t{1} << 62, .kernelUs = dayUs}));
        QVERIFY(trace);
        QVERIFY(test::kinetoOf(*trace).find("\"In msg nelems\": 4611686018427387904,") != std::string::npos);
    }

    void corruptionCostsOnlyTheCorruptLines() {
        const Rank rank;
        std::vector<std::string> lines;
        for (int64_t number = 0; number < 6; ++number)
            lines.push_back(lineOf(rank, {.number = number, .kernelUs = dayUs + number * 1000}));
        const auto numbersIn = [](const Trace& trace) {
            std::vector<int64_t> numbers;
            for (uint32_t row = 0; row < trace.nccl.size(); ++row) numbers.push_back(trace.nccl.facts[row].sequence);
            return numbers;
        };
        const auto joined = [](const std::vector<std::string>& all) {
            std::string text;
            for (const std::string& each : all) text += each;
            return text;
        };
        // Truncates the third line at several lengths.
        for (const size_t length : {1u, 10u, 40u, 200u, 300u, 500u, 650u}) {
            std::vector<std::string> damaged = lines;
            QVERIFY(length < damaged[2].size());
            damaged[2] = damaged[2].substr(0, length) + "\n";
            const TracePtr trace = load(joined(damaged));
            QVERIFY(trace);
            QCOMPARE(numbersIn(*trace), (std::vector<int64_t>{0, 1, 3, 4, 5}));
            QVERIFY(hasNote(*trace, HealthCode::FileDamaged, "the first on line 3"));
            // Also without the line break.
            damaged[2].pop_back();
            const TracePtr close = load(joined(damaged));
            QVERIFY(close);
            QCOMPARE(numbersIn(*close), (std::vector<int64_t>{0, 1, 3, 4, 5}));
        }
        std::vector<std::string> mixed = lines;
        mixed.insert(mixed.begin() + 1, "node:1:2 NCCL INFO {started} \"now\n");
        mixed.insert(mixed.begin() + 3, "{\"level\":\"info\",\"msg\":\"step 3\"}\n");
        const TracePtr trace = load(joined(mixed));
        QVERIFY(trace);
        QCOMPARE(numbersIn(*trace), (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
        QVERIFY(hasNote(*trace, HealthCode::NotShown, "1 lines of text, the first on line 2"));
        QVERIFY(hasNote(*trace, HealthCode::NotShown, "1 JSON objects of other programs"));
        QVERIFY(!hasNote(*trace, HealthCode::FileDamaged, ""));
        const auto skipped = [&](const std::string& from, const std::string& to) {
            std::vector<std::string> odd = lines;
            odd[1].replace(odd[1].find(from), from.size(), to);
            const TracePtr loaded = load(joined(odd));
            return loaded && numbersIn(*loaded) == std::vector<int64_t>{0, 2, 3, 4, 5} &&
                   hasNote(*loaded, HealthCode::RowsLeftOut, "the first on line 2,");
        };
        QVERIFY(skipped("\"coll_exec_time_us\":50", "\"coll_exec_time_us\":-50"));
        QVERIFY(skipped("\"coll_exec_time_us\":50", "\"coll_exec_time_us\":NaN"));
        QVERIFY(skipped("\"coll_exec_time_us\":50", "\"coll_exec_time_us\":1e300"));
        QVERIFY(skipped("\"coll\":\"AllReduce\"", "\"coll\":7") && skipped("\"header\":", "\"other\":"));
    }

    void truncatedLastLineIsReported() {
        const std::string text = lineOf({}, {.number = 0}) + lineOf({}, {.number = 1});
        const TracePtr trace = load(text.substr(0, text.size() - 40));
        QVERIFY(trace);
        QCOMPARE(trace->nccl.size(), 1u);
        QVERIFY(hasNote(*trace, HealthCode::FileCut, "The file is truncated"));
        QVERIFY(!hasNote(*trace, HealthCode::FileDamaged, ""));
    }

    void compressedLogReadsTheSame() {
        std::string text;
        for (int64_t number = 0; number < 500; ++number)
            text += lineOf({}, {.number = number, .kernelUs = dayUs + number * 100});
        const fs::path path = folder_ / "node-pid100.log.gz";
        const gzFile packed = gzopen(path.c_str(), "wb");
        gzwrite(packed, text.data(), static_cast<unsigned>(text.size()));
        gzclose(packed);
        QCOMPARE(test::orFail(loadTrace(path))->nccl.size(), 500u);
        fs::resize_file(path, fs::file_size(path) / 2);
        const TracePtr half = test::orFail(loadTrace(path));
        QVERIFY(half->nccl.size() > 100 && half->nccl.size() < 400);
        QVERIFY(hasNote(*half, HealthCode::FileCut, ""));
    }

    void hostileLogsAreHarmless_data() {
        QTest::addColumn<QByteArray>("text");
        const std::string good = lineOf({}, {.number = 1});
        const auto row = [&good](const char* name, const std::string& text) {
            QTest::newRow(name) << QByteArray::fromStdString(good + text);
        };
        const auto repeated = [](const std::string& part, size_t bytes) {
            std::string text;
            while (text.size() < bytes) text += part;
            return text;
        };
        row("deep", repeated("{\"a\":", 3'000'000));
        row("deep by lines", repeated("{\"a\":\n", 3'000'000));
        row("lists by lines", repeated("{\"a\":[1,\n", 3'000'000));
        row("braces", repeated("{", 3'000'000));
        row("beginnings", repeated("{\"p2p_perf\"", 3'000'000));
        row("an endless text", "{\"header\":\"" + repeated("x\\\"", 9'000'000));
        row("an endless line", repeated("x", 9'000'000));
        row("records in a line of text", repeated("x {\"", 3'000'000));
        std::string odd = good;
        odd.replace(odd.find("\"pid\":100"), 9, "\"pid\":1e99");
        row("numbers that are none",
            odd + line(context({.rank = -5, .ranks = 0, .id = ""}, -1), collective({.number = -1})) +
                line(context({.rank = 1 << 30, .pid = -7, .id = "0xfffffffffffffffffffff"}, int64_t{1} << 62),
                     collective({.bytes = -(int64_t{1} << 62), .tookUs = int64_t{1} << 62})) +
                line(context({}, dayUs), collective({.bytes = INT64_MAX, .kernelUs = 1})));
    }
    void hostileLogsAreHarmless() {
        QFETCH(QByteArray, text);
        test::CpuTimer clock;
        const TracePtr trace = load(text.toStdString());
        QVERIFY(trace && trace->nccl.size() >= 1);
        QVERIFY2(clock.elapsed() < 60'000, qPrintable(QString::number(clock.elapsed())));
    }

    void millionCommunicatorsAreBounded() {
        std::string text;
        for (int each = 0; each < 1'000'000; ++each)
            text +=
                fmt::format(R"({{"header":{{"id":"{:x}","rank":0,"n_ranks":2}},"metadata":{{"dump_timestamp_us":{},)"
                            R"("hostname":"h","pid":1}},"coll_perf":{{"coll":"AllReduce","coll_exec_time_us":1}}}})"
                            "\n",
                            each + 1, dayUs + each);
        const TracePtr trace = load(text);
        QVERIFY(trace && trace->nccl.size() > 10'000);
        // Each takes a thread and a stream; the size of a file bounds their number.
        QVERIFY(trace->threads.size() < 500'000);
        QVERIFY(hasNote(*trace, HealthCode::RowsLeftOut, "NCCL operations"));
    }

    void hugeDurationsStayOnTheAxis() {
        // A year each, one before the other: more than 64 bits of nanoseconds.
        constexpr int64_t yearUs = int64_t{365} * 86'400 * 1'000'000;
        std::string text;
        for (int64_t number = 0; number < 500; ++number) text += lineOf({}, {.number = number, .tookUs = yearUs});
        const TracePtr trace = load(text);
        QVERIFY(trace);
        QCOMPARE(trace->nccl.size(), 500u);
        for (uint32_t row = 0; row < trace->nvtx.size(); ++row)
            QVERIFY(trace->nvtx.startNs[row] >= 0 && trace->nvtx.endNs[row] <= (dayUs + 500) * 1000);
    }
};

LANESCOPE_TEST(tst_NcclInspector, NoApplication)
#include "tst_NcclInspector.moc"
