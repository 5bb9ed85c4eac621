// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include "model/export/traceFile.h"
#include "model/importers/TraceFormat.h"
#include "model/importers/events/emitBackwards.h"
#include "model/index/openTrace.h"
#include "model/merge/mergeTraces.h"
#include "model/reports/reports.h"
#include "model/trace/kinds/eventFacts.h"
#include "tests/support/CpuTimer.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/exported.h"
#include "tests/support/openForWriting.h"
#include "tests/support/runTest.h"
#include "tests/support/torchBackward.h"
#include "tests/support/traceDump.h"

using namespace lanescope;
using namespace lanescope::torchTrace;

namespace {

using Names = std::vector<std::string>;
const Names bothPairs{"aten::mm > MmBackward0", "aten::relu > ReluBackward0"};

int64_t unknownIn(const Trace& trace) {
    int64_t count = 0;
    for (const HealthNote& note : trace.health)
        if (note.code == HealthCode::BackwardUnknown) count += note.count.value_or(0);
    return count;
}

TracePtr simulated() { return loaded(traceOf(with(forwardAndBackward(), flowsOf()))); }

std::string cellText(const Cell& cell) {
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    if (const auto* whole = std::get_if<int64_t>(&cell)) return std::to_string(*whole);
    return std::to_string(std::get<double>(cell));
}

Names rowsOf(const ReportTable& table) {
    Names rows;
    for (const auto& row : table.rows) {
        std::string text;
        for (size_t at = 1; at < row.size(); ++at) text += (at > 1 ? " " : "") + cellText(row[at]);
        rows.push_back(text);
    }
    return rows;
}

}  // namespace

class tst_Backwards : public QObject {
    Q_OBJECT

    std::filesystem::path fileOf(const Trace& trace, const char* name) {
        std::filesystem::path path = folder_ / name;
        if (!writeTraceFile(trace, path)) qFatal("not written");
        return path;
    }
    TemporaryFolder folder_;

  private slots:
    void flowEventsJoinOperators() {
        const TracePtr trace = loaded(traceOf(with(forwardAndBackward(), flowsOf())));
        QCOMPARE(test::listed(pairNames(*trace), unknownIn(*trace)), test::listed(bothPairs, 0));
        QVERIFY(!hasNote(*trace, HealthCode::NotShown));
        QVERIFY(pairNames(*loaded(traceOf(forwardAndBackward()))).empty());
    }

    void namesOfOlderVersionsAreAccepted() {
        for (const char* category : {"forward_backward", "fwd_bwd"}) {
            const Names flow{flowEnd("s", 7, "9", "9", "105.250", category),
                             flowEnd("f", 7, "9", "91", "232.250", category)};
            QCOMPARE(pairNames(*loaded(traceOf(with(forwardAndBackward(), flow)))), Names{"aten::mm > MmBackward0"});
        }
    }

    void sequenceNumbersJoinWithoutFlowEvents() {
        const TracePtr trace = loaded(traceOf(forwardAndBackward("9", true)));
        QCOMPARE(test::listed(pairNames(*trace), unknownIn(*trace)), test::listed(bothPairs, 0));
    }

    void flowEventsTakePrecedenceOverSequenceNumbers() {
        const Names flow{flowEnd("s", 7, "9", "9", "140.250"), flowEnd("f", 7, "9", "91", "232.250")};
        QCOMPARE(pairNames(*loaded(traceOf(with(forwardAndBackward("9", true), flow)))),
                 Names{"aten::relu > MmBackward0"});
        // A flow event that joins nothing adds no fact.
        const Names stray{flowEnd("s", 7, "9", "9", "140.250")};
        QCOMPARE(pairNames(*loaded(traceOf(with(forwardAndBackward("9", true), stray)))), bothPairs);
        // The process that has only flow events.
        const Names events = with(with(forwardAndBackward("9", true), flow), forwardAndBackward("8", true));
        QCOMPARE(pairNames(*loaded(traceOf(events))).size(), size_t{3});
    }

    void processesAreMatchedSeparately() {
        const Names events =
            with(with(forwardAndBackward("9"), flowsOf("9")), with(forwardAndBackward("8"), flowsOf("8")));
        const TracePtr trace = loaded(traceOf(events));
        QCOMPARE(trace->backwards.size(), 4u);
        for (uint32_t pair = 0; pair < trace->backwards.size(); ++pair)
            QCOMPARE(trace->threads[trace->nvtx.thread[trace->backwards.forward[pair]]].process,
                     trace->threads[trace->nvtx.thread[trace->backwards.backward[pair]]].process);
        const TracePtr numbered = loaded(traceOf(with(forwardAndBackward("9", true), forwardAndBackward("8", true))));
        QCOMPARE(test::listed(numbered->backwards.size(), unknownIn(*numbered)), "4 | 0");
    }

    void flowIdsMayBeReused() {
        Names events;
        for (const char* hundreds : {"1", "2", "3"}) {
            const std::string at(hundreds);
            events.push_back(slice("cpu_op", "forward" + at, "9", "9", at + "00.5", "10"));
            events.push_back(slice("cpu_op", "backward" + at, "9", "9", at + "50.5", "10"));
            events.push_back(flowEnd("f", 1, "9", "9", at + "50.5"));
            events.push_back(flowEnd("s", 1, "9", "9", at + "00.5"));
        }
        QCOMPARE(pairNames(*loaded(traceOf(events))),
                 (Names{"forward1 > backward1", "forward2 > backward2", "forward3 > backward3"}));
    }

    void flowEndsWithoutCounterpartAreCounted() {
        const Names ends{flowEnd("s", 11, "9", "9", "105.250"),    // no other end
                         flowEnd("f", 12, "9", "91", "232.250"),   // no other end
                         flowEnd("s", 13, "9", "9", "900.000"),    // in no operator
                         flowEnd("f", 13, "9", "91", "232.250"),   //
                         flowEnd("s", 14, "9", "777", "105.250"),  // a thread without events
                         flowEnd("s", 15, "9", "9", "105.250"),    // to itself
                         flowEnd("f", 15, "9", "9", "105.250"),    //
                         flowEnd("f", 16, "9", "9", "105.250"),    // back in time
                         flowEnd("s", 16, "9", "91", "232.250")};
        const TracePtr trace = loaded(traceOf(with(with(forwardAndBackward(), flowsOf()), ends)));
        QCOMPARE(test::listed(pairNames(*trace), unknownIn(*trace)), test::listed(bothPairs, 9));
        QVERIFY(sentenceOf(*trace, HealthCode::BackwardUnknown).starts_with("9 ends of flow events"));
        for (const Thread& thread : trace->threads) QVERIFY(thread.tid != 777);
        // Sequence numbers: a forward that ran before the profiler began.
        const TracePtr alone = loaded(
            traceOf({slice("cpu_op", "MulBackward0", "9", "91", "10.5", "5", sequence(3, 1)),
                     slice("cpu_op", "aten::mul", "9", "9", "20.5", "5", sequence(3))}));  // later than the backward
        QVERIFY(pairNames(*alone).empty());
        QVERIFY(sentenceOf(*alone, HealthCode::BackwardUnknown).starts_with("1 backward operators"));
        for (const char* broken :
             {R"({"ph": "s", "cat": "fwdbwd"})", R"({"ph": "f", "cat": "fwdbwd", "id": {"a": 1}, "ts": 1e30})",
              R"({"ph": "s", "cat": "fwdbwd", "id": null, "ts": 105.25})"})
            QVERIFY(pairNames(*loaded(traceOf(with(forwardAndBackward(), {broken})))).empty());
    }

    void ambiguousFlowIdsJoinNothing() {
        const Names more{flowEnd("s", 1, "9", "9", "105.250"), flowEnd("f", 1, "9", "91", "232.250")};
        const TracePtr trace = loaded(traceOf(with(with(forwardAndBackward(), flowsOf()), more)));
        QCOMPARE(pairNames(*trace), Names{"aten::mm > MmBackward0"});
        QCOMPARE(unknownIn(*trace), int64_t{4});
    }

    void duplicateFlowEventsCountOnce() {
        const TracePtr trace = loaded(traceOf(with(with(forwardAndBackward(), flowsOf()), flowsOf())));
        QCOMPARE(test::listed(pairNames(*trace), unknownIn(*trace)), test::listed(bothPairs, 0));
    }

    /// Flow events that begin in the microsecond of the operator are attached to that operator.
    void operatorsInWholeMicrosecondsAreMatched() {
        const TracePtr trace =
            loaded(traceOf({slice("cpu_op", "aten::conv2d", "9", "9", "100", "30", sequence(4)),
                            slice("cpu_op", "aten::_convolution", "9", "9", "100", "20", sequence(4)),
                            slice("cpu_op", "aten::empty", "9", "9", "100", "1"),
                            slice("cpu_op", "evaluate", "9", "91", "200", "30", sequence(4, 1)),
                            slice("cpu_op", "ConvolutionBackward0", "9", "91", "200", "20", sequence(4, 1)),
                            slice("cpu_op", "aten::zeros", "9", "91", "200", "1"), flowEnd("s", 1, "9", "9", "100"),
                            flowEnd("f", 1, "9", "91", "200")}));
        QCOMPARE(pairNames(*trace), Names{"aten::_convolution > ConvolutionBackward0"});
    }

    void repeatedBackwardHasOneForward() {
        const TracePtr trace =
            loaded(traceOf({slice("cpu_op", "aten::mul", "9", "9", "10.5", "5", sequence(3)),
                            slice("cpu_op", "first", "9", "91", "100.5", "9", sequence(3, 1)),
                            slice("cpu_op", "MulBackward0", "9", "91", "101.5", "5", sequence(3, 1)),
                            slice("cpu_op", "second", "9", "91", "200.5", "9", sequence(3, 1)),
                            slice("cpu_op", "MulBackward0", "9", "91", "201.5", "5", sequence(3, 1))}));
        QCOMPARE(pairNames(*trace), (Names{"aten::mul > MulBackward0", "aten::mul > MulBackward0"}));
        const EventRef forward(EventKind::Nvtx, rangeCalled(*trace, "aten::mul"));
        QCOMPARE(backwardOf(*trace, forward).size(), size_t{2});
        for (const EventRef each : backwardOf(*trace, forward))
            QCOMPARE(forwardOf(*trace, each), std::vector<EventRef>{forward});
    }

    /// Without gradients, every operator carries the number that the next node will have.
    void lastOperatorOfASequenceNumberIsTheForward() {
        const TracePtr trace =
            loaded(traceOf({slice("cpu_op", "aten::zero_", "9", "9", "10.5", "5", sequence(8)),
                            slice("cpu_op", "aten::addmm", "9", "9", "20.5", "5", sequence(8)),
                            slice("cpu_op", "AddmmBackward0", "9", "91", "40.5", "5", sequence(8, 1)),
                            slice("cpu_op", "aten::add_", "9", "9", "50.5", "5", sequence(8))}));
        QCOMPARE(pairNames(*trace), Names{"aten::addmm > AddmmBackward0"});
    }

    void threadsWithEqualSequenceNumbersAreNotGuessed() {
        Names events;
        const auto add = [&](const char* name, const char* thread, int us, int number, int forward) {
            events.push_back(
                slice("cpu_op", name, "9", thread, std::to_string(us) + ".5", "1", sequence(number, forward)));
        };
        for (int number = 0; number < 10; ++number) {
            add("one", "1", 10 + 2 * number, number, 0);
            // The other thread shares four of the ten numbers.
            if (number < 4) add("other", "2", 10 + 2 * number, number, 0);
            add("backward", "3", 100 + 2 * number, number, 7);
        }
        QCOMPARE(pairNames(*loaded(traceOf(events))), Names(10, "one > backward"));
        for (int number = 4; number < 8; ++number) add("other", "2", 10 + 2 * number, number, 0);
        const TracePtr unclear = loaded(traceOf(events));
        QVERIFY(pairNames(*unclear).empty());
        QCOMPARE(unknownIn(*unclear), int64_t{10});
    }

    void causalLinksFollowBackwards() {
        const TracePtr trace = loaded(traceOf(with(forwardAndBackward(), flowsOf())));
        const EventRef forward(EventKind::Nvtx, rangeCalled(*trace, "aten::mm"));
        const EventRef backward(EventKind::Nvtx, rangeCalled(*trace, "MmBackward0"));
        QCOMPARE(causedBy(*trace, forward), std::vector<EventRef>{backward});
        QCOMPARE(causesOf(*trace, backward), std::vector<EventRef>{forward});
        QVERIFY(causesOf(*trace, forward).empty() && causedBy(*trace, backward).empty());
        QVERIFY(causedBy(*trace, {EventKind::Nvtx, trace->nvtx.size() + 5}).empty());
        QVERIFY(causedBy(*trace, {EventKind::Projection, 1000}).empty());
        const auto valueOf = [&](EventRef event, std::string_view name) {
            for (const Property& line : describe(*trace, event))
                if (line.name == name) return line.value;
            return std::string();
        };
        QCOMPARE(valueOf(forward, "Backward"), std::string("MmBackward0 at 0.000132000 s on TID 91"));
        QCOMPARE(valueOf(backward, "Forward"), std::string("aten::mm at 0.000005000 s on TID 9"));
        QVERIFY(valueOf(forward, "Forward").empty() && valueOf(backward, "Backward").empty());
        // The GPU row has the same links.
        for (uint32_t row = 0; row < trace->projections.size(); ++row) {
            const EventRef shown(EventKind::Projection, row);
            if (trace->projections.nvtx[row] != forward.row()) continue;
            QCOMPARE(causedBy(*trace, shown), std::vector<EventRef>{backward});
            QCOMPARE(valueOf(shown, "Backward"), valueOf(forward, "Backward"));
        }
    }

    void operatorLookupMatchesPlainLoop() {
        std::mt19937 random(7);
        const auto upTo = [&random](int most) { return static_cast<int>(random() % unsigned(most)); };
        for (int round = 0; round < 200; ++round) {
            LargeVector<FlowOperator> operators;
            // Nested, like the operators of a thread.
            for (uint32_t thread = 0; thread < 3; ++thread) {
                std::vector<int64_t> open;
                int64_t at = 0;
                for (int each = 0; each < 12; ++each) {
                    at += upTo(4);
                    while (!open.empty() && open.back() < at) open.pop_back();
                    const int64_t most = open.empty() ? at + 20 : open.back();
                    const int64_t end = at + (most > at ? upTo(int(most - at) + 1) : 0);
                    operators.push_back(
                        {at, end, thread, uint32_t(operators.size()), static_cast<OperatorRole>(upTo(3))});
                    open.push_back(end);
                }
            }
            const auto order = [](const FlowOperator& a, const FlowOperator& b) {
                return std::tuple(a.thread, a.startNs, -a.endNs, a.row) <
                       std::tuple(b.thread, b.startNs, -b.endNs, b.row);
            };
            std::sort(operators.begin(), operators.end(), order);
            LargeVector<FlowEnd> ends;
            for (int each = 0; each < 40; ++each)
                ends.push_back({upTo(60), 0, 0, uint32_t(upTo(4)), noIndex, "sfx"[upTo(3)]});
            std::sort(ends.begin(), ends.end(), [](const FlowEnd& a, const FlowEnd& b) {
                return std::tuple(a.thread, a.timeNs, a.phase) < std::tuple(b.thread, b.timeNs, b.phase);
            });
            findOperators(ends, operators);
            for (const FlowEnd& end : ends) {
                uint32_t wanted = noIndex, starting = noIndex, around = noIndex;
                for (const FlowOperator& each : operators) {
                    if (each.thread != end.thread) continue;
                    const bool isRight = end.phase == 's'   ? each.role == OperatorRole::Forward
                                         : end.phase == 'f' ? each.role == OperatorRole::Backward
                                                            : each.role != OperatorRole::Unknown;
                    if (each.startNs == end.timeNs) starting = each.row;
                    if (each.startNs == end.timeNs && isRight) wanted = each.row;
                    if (each.startNs < end.timeNs && each.endNs > end.timeNs) around = each.row;
                }
                const uint32_t expected = wanted != noIndex ? wanted : starting != noIndex ? starting : around;
                QCOMPARE(end.row, expected);
            }
        }
    }

    void manyOperatorsAtOneTimeAreFast() {
        constexpr int count = 20'000;
        Names events;
        for (int each = 0; each < count; ++each) {
            events.push_back(slice("cpu_op", "op", "9", "9", "10", "5", sequence(1)));
            events.push_back(slice("cpu_op", "back", "9", "9", "10", "5", sequence(1, each + 1)));
            events.push_back(flowEnd("s", each, "8", "8", "10"));
            events.push_back(flowEnd("f", 1, "8", "8", "10"));
        }
        events.push_back(slice("cpu_op", "op", "8", "8", "10", "5"));
        test::CpuTimer timer;
        QVERIFY(loaded(traceOf(events))->backwards.size() <= 2u * count);
        QVERIFY2(timer.elapsed() < 20'000, qPrintable(QString::number(timer.elapsed())));
    }

    void traceFileKeepsBackwards() {
        const TracePtr trace = simulated();
        const auto read = test::orFail(loadTrace(fileOf(*trace, "kept.sqlite")));
        QCOMPARE(pairNames(*read), bothPairs);
        QVERIFY(dumpOf(*read) == dumpOf(**loadTrace(fileOf(*read, "again.sqlite"))));
    }

    void olderTraceFilesHaveNoBackwards() {
        const auto path = fileOf(*loaded(traceOf(smallRun())), "earlier.sqlite");
        {
            auto database = test::orFail(openForWriting(path));
            QVERIFY(database.execute("DROP TABLE LANESCOPE_BACKWARDS; PRAGMA user_version = 7"));
        }
        const auto read = test::orFail(loadTrace(path));
        QCOMPARE(read->backwards.size(), 0u);
        QVERIFY(!hasNote(*read, HealthCode::TableDamaged));
    }

    void hostileBackwardTableIsHarmless() {
        const auto path = fileOf(*simulated(), "hostile.sqlite");
        {
            auto database = test::orFail(openForWriting(path));
            QVERIFY(
                database.execute("INSERT INTO LANESCOPE_BACKWARDS VALUES (1, 999), (-5, 2), (1, 1), "
                                 "(9223372036854775807, -9223372036854775808), (2, 3), (2, 3), (1, 'x'), (3, 2)"));
        }
        const auto read = test::orFail(loadTrace(path));
        const BackwardTable& table = read->backwards;
        QCOMPARE(table.size(), 4u);  // The two operators and the two that name ranges.
        for (uint32_t pair = 0; pair < table.size(); ++pair) {
            QVERIFY(table.forward[pair] < read->nvtx.size() && table.backward[pair] < read->nvtx.size());
            QVERIFY(table.forward[pair] != table.backward[pair]);
            for (const EventRef end :
                 {EventRef(EventKind::Nvtx, table.forward[pair]), EventRef(EventKind::Nvtx, table.backward[pair])})
                QVERIFY(!describe(*read, end).empty());
        }
        QVERIFY(hasNote(*read, HealthCode::RowsLeftOut));
    }

    void indexKeepsBackwards() {
        const auto path = fileOf(*simulated(), "indexed.sqlite");
        OpenOptions options;
        options.minBytes = 0;
        QVERIFY(openTrace(path, options));
        const auto mapped = openTrace(path, options);
        QVERIFY(mapped && (*mapped)->backing != nullptr);
        QCOMPARE(pairNames(**mapped), bothPairs);
        const EventRef backward(EventKind::Nvtx, rangeCalled(**mapped, "MmBackward0"));
        QCOMPARE(forwardOf(**mapped, backward).size(), size_t{1});
    }

    void kinetoExportKeepsBackwards() {
        const std::string text = test::kinetoOf(*simulated());
        QCOMPARE(QByteArray::fromStdString(text).count(R"("cat": "fwdbwd")"), 4);
        QCOMPARE(pairNames(*loaded(text)), bothPairs);
    }

    void perfettoExportKeepsBackwards() {
        const TracePtr read = test::readPerfetto(test::perfettoOf(*simulated()));
        QCOMPARE(pairNames(*read), bothPairs);
        QVERIFY(!hasNote(*read, HealthCode::BackwardUnknown));
        for (uint32_t row = 0; row < read->kernels.size(); ++row)
            QVERIFY(read->launchingCall({EventKind::Kernel, row}).isValid());
    }

    void mergedTraceKeepsBackwards() {
        const std::vector<TracePtr> parts{loaded(traceOf(with(forwardAndBackward("9"), flowsOf("9"))), "rank0.json"),
                                          loaded(traceOf(with(forwardAndBackward("8"), flowsOf("8"))), "rank1.json")};
        TraceBuilder builder = test::orFail(mergeTraces(parts, {.method = ClockMethod::Start}));
        const TracePtr whole = builder.take();
        QCOMPARE(whole->backwards.size(), 4u);
        for (uint32_t pair = 0; pair < whole->backwards.size(); ++pair)
            QCOMPARE(whole->threads[whole->nvtx.thread[whole->backwards.forward[pair]]].process,
                     whole->threads[whole->nvtx.thread[whole->backwards.backward[pair]]].process);
        Names twice;
        for (const std::string& name : bothPairs) twice.insert(twice.end(), 2, name);
        QCOMPARE(pairNames(*whole), twice);
    }

    void unsortedBackwardsAreSorted() {
        SimulatedTrace sim;
        const uint32_t thread = sim.defaultThread();
        // Later rows first, so that all rows change.
        std::vector<EventRef> ranges;
        for (int each = 0; each < 6; ++each)
            ranges.push_back(sim.addNvtx(thread, std::string(1, static_cast<char>('a' + each)), 1000 - 100 * each,
                                         1050 - 100 * each));
        sim.backward(ranges[0], ranges[1]);
        sim.backward(ranges[5], ranges[0]);
        sim.backward(ranges[5], ranges[3]);
        sim.backward(ranges[4], ranges[0]);
        sim.backward(ranges[4], ranges[0]);
        sim.backward(ranges[2], ranges[2]);
        sim.backward({EventKind::Nvtx, 77}, ranges[2]);
        sim.backward({EventKind::Kernel, 0}, ranges[2]);
        const TracePtr trace = sim.finish();
        QCOMPARE(pairNames(*trace), (Names{"f > d", "f > a", "e > a", "a > b"}));
        const EventRef a(EventKind::Nvtx, rangeCalled(*trace, "a"));
        QCOMPARE(forwardOf(*trace, a).size(), size_t{2});
        QCOMPARE(pairsOf(*trace, a.row()).size(), size_t{3});
    }

    void reportSumsGpuWorkOfBackwards() {
        const Report* report = test::orFail(findReport("backward_by_operator"));
        const TracePtr trace = simulated();
        const ReportTable all = makeReport(*report, {.trace = *trace});
        QCOMPARE(rowsOf(all),
                 (Names{"10000 20000 1 1 aten::mm MmBackward0", "2000 3000 1 1 aten::relu ReluBackward0"}));
        QCOMPARE(std::get<double>(all.rows[0][0]), 100.0 * 30 / 35);
        QCOMPARE(all.searches[0], std::string("aten::mm"));
        // Half of the matmul backward: the trace begins at 100.250 us, its kernel at 240.
        const int64_t fromNs = 240'000 + 10'000 - 100'250;
        const ReportTable part = makeReport(*report, {.trace = *trace, .range = TimeRange{fromNs, fromNs + 100'000}});
        QCOMPARE(rowsOf(part), Names{"0 10000 0 1 aten::mm MmBackward0"});
        QCOMPARE(part.notes.size(), size_t{1});
        QVERIFY(makeReport(*report, {.trace = *loaded(traceOf(smallRun()))}).rows.empty());
    }

    /// torch.profiler files, which are not part of the project.
    void flowEventsAndSequenceNumbersOfRealProfilesAgree_data() {
        test::rows<int>("pairs", {{"hta-19-digit-times", 905}, {"hta-nccl-args", 543}, {"mi300-resnet", 213}});
    }
    void flowEventsAndSequenceNumbersOfRealProfilesAgree() {
        QFETCH(int, pairs);
        const QByteArray data = qgetenv("LANESCOPE_TEST_DATA");
        const QByteArray path = data + "/kineto/" + QTest::currentDataTag() + ".json.gz";
        if (data.isEmpty() || !std::filesystem::exists(path.toStdString()))
            QSKIP("LANESCOPE_TEST_DATA names no folder with this file.");
        std::string text;
        gzFile file = gzopen(path.constData(), "rb");
        char piece[1 << 16];
        for (int count = 0; (count = gzread(file, piece, sizeof piece)) > 0;)
            text.append(piece, static_cast<size_t>(count));
        gzclose(file);
        const TracePtr byArrows = loaded(text);
        QCOMPARE(int(byArrows->backwards.size()), pairs);
        QVERIFY(!hasNote(*byArrows, HealthCode::BackwardUnknown));
        const std::string_view category = R"("fwdbwd")";
        int ends = 0;
        for (size_t at = 0; (at = text.find(category, at)) != std::string::npos; ++ends)
            text.replace(at, category.size(), R"("other")");
        QCOMPARE(ends, 4 * pairs);  // Category and name of each of two ends.
        const TracePtr byNumbers = loaded(text);
        const auto areSame = [](const Column<uint32_t>& a, const Column<uint32_t>& b) {
            return std::equal(a.begin(), a.end(), b.begin(), b.end());
        };
        QVERIFY(areSame(byNumbers->backwards.forward, byArrows->backwards.forward));
        QVERIFY(areSame(byNumbers->backwards.backward, byArrows->backwards.backward));
    }
};

LANESCOPE_TEST(tst_Backwards, NoApplication)
#include "tst_Backwards.moc"
