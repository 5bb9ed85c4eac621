// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include "model/export/kinetoTrace.h"
#include "model/export/perfettoTrace.h"
#include "model/export/traceFile.h"
#include "model/importers/loadTrace.h"
#include "model/importers/perfetto/readPerfettoTrace.h"
#include "model/index/openTrace.h"
#include "model/merge/mergeTraces.h"
#include "model/reports/reports.h"
#include "model/trace/kinds/eventFacts.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/openForWriting.h"
#include "tests/support/protoTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/torchBackward.h"
#include "tests/support/traceDump.h"

using namespace lanescope;
using namespace lanescope::torchTrace;

namespace {

using Names = std::vector<std::string>;
const Names bothPairs{"aten::mm > MmBackward0", "aten::relu > ReluBackward0"};

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

class tst_BackwardFiles : public QObject {
    Q_OBJECT

  private slots:
    void traceFileKeepsBackwards() {
        const TracePtr trace = simulated();
        const auto read = loadTrace(fileOf(*trace, "kept.sqlite"));
        QVERIFY(read);
        QCOMPARE(pairNames(**read), bothPairs);
        QVERIFY(dumpOf(**read) == dumpOf(**loadTrace(fileOf(**read, "again.sqlite"))));
    }

    void olderTraceFilesHaveNoBackwards() {
        const auto path = fileOf(*loaded(traceOf(smallRun())), "earlier.sqlite");
        {
            auto database = openForWriting(path);
            QVERIFY(database);
            QVERIFY(database->execute("DROP TABLE LANESCOPE_BACKWARDS; PRAGMA user_version = 7"));
        }
        const auto read = loadTrace(path);
        QVERIFY(read);
        QCOMPARE((*read)->backwards.size(), 0u);
        QVERIFY(!hasNote(**read, HealthCode::TableDamaged));
    }

    void hostileBackwardTableIsHarmless() {
        const auto path = fileOf(*simulated(), "hostile.sqlite");
        {
            auto database = openForWriting(path);
            QVERIFY(database);
            QVERIFY(
                database->execute("INSERT INTO LANESCOPE_BACKWARDS VALUES (1, 999), (-5, 2), (1, 1), "
                                  "(9223372036854775807, -9223372036854775808), (2, 3), (2, 3), (1, 'x'), (3, 2)"));
        }
        const auto read = loadTrace(path);
        QVERIFY(read);
        const BackwardTable& table = (*read)->backwards;
        QCOMPARE(table.size(), 4u);  // The two operators and the two that name ranges.
        for (uint32_t pair = 0; pair < table.size(); ++pair) {
            QVERIFY(table.forward[pair] < (*read)->nvtx.size());
            QVERIFY(table.backward[pair] < (*read)->nvtx.size());
            QVERIFY(table.forward[pair] != table.backward[pair]);
            for (const EventRef end :
                 {EventRef(EventKind::Nvtx, table.forward[pair]), EventRef(EventKind::Nvtx, table.backward[pair])})
                QVERIFY(!describe(**read, end).empty());
        }
        QVERIFY(hasNote(**read, HealthCode::RowsLeftOut));
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
        std::string text;
        writeKinetoTrace(*simulated(), 0, [&text](std::string_view piece) {
            text += piece;
            return true;
        });
        QCOMPARE(QByteArray::fromStdString(text).count(R"("cat": "fwdbwd")"), 4);
        QCOMPARE(pairNames(*loaded(text)), bothPairs);
    }

    void perfettoExportKeepsBackwards() {
        std::string bytes;
        writePerfettoTrace(*simulated(), [&bytes](std::string_view piece) {
            bytes += piece;
            return true;
        });
        TraceBuilder builder;
        builder.setPath("run.pftrace");
        QVERIFY(readPerfettoTrace(protoTrace::sourceOf(bytes), builder, [] { return 0.0; }, {}));
        QVERIFY(builder.finish());
        const TracePtr read = builder.take();
        QCOMPARE(pairNames(*read), bothPairs);
        QVERIFY(!hasNote(*read, HealthCode::BackwardUnknown));
        for (uint32_t row = 0; row < read->kernels.size(); ++row)
            QVERIFY(read->launchingCall({EventKind::Kernel, row}).isValid());
    }

    void mergedTraceKeepsBackwards() {
        const std::vector<TracePtr> parts{loaded(traceOf(with(forwardAndBackward("9"), flowsOf("9"))), "rank0.json"),
                                          loaded(traceOf(with(forwardAndBackward("8"), flowsOf("8"))), "rank1.json")};
        Result<TraceBuilder> builder = mergeTraces(parts, {.method = ClockMethod::Start});
        QVERIFY(builder);
        const TracePtr whole = builder->take();
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
        const Result<const Report*> report = findReport("backward_by_operator");
        QVERIFY(report);
        const TracePtr trace = simulated();
        const ReportTable all = makeReport(**report, {.trace = *trace});
        QCOMPARE(rowsOf(all),
                 (Names{"10000 20000 1 1 aten::mm MmBackward0", "2000 3000 1 1 aten::relu ReluBackward0"}));
        QCOMPARE(std::get<double>(all.rows[0][0]), 100.0 * 30 / 35);
        QCOMPARE(all.searches[0], std::string("aten::mm"));
        // Half of the matmul backward: the trace begins at 100.250 us, its kernel at 240.
        const int64_t fromNs = 240'000 + 10'000 - 100'250;
        const ReportTable part = makeReport(**report, {.trace = *trace, .range = TimeRange{fromNs, fromNs + 100'000}});
        QCOMPARE(rowsOf(part), Names{"0 10000 0 1 aten::mm MmBackward0"});
        QCOMPARE(part.notes.size(), size_t{1});
        QVERIFY(makeReport(**report, {.trace = *loaded(traceOf(smallRun()))}).rows.empty());
    }

    /// torch.profiler files, which are not part of the project.
    void flowEventsAndSequenceNumbersOfRealProfilesAgree_data() {
        QTest::addColumn<int>("pairs");
        QTest::newRow("hta-19-digit-times") << 905;
        QTest::newRow("hta-nccl-args") << 543;
        QTest::newRow("mi300-resnet") << 213;
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
            text.replace(at, category.size(), R"("nobody")");
        QCOMPARE(ends, 4 * pairs);  // Category and name of each of two ends.
        const TracePtr byNumbers = loaded(text);
        const auto areSame = [](const Column<uint32_t>& a, const Column<uint32_t>& b) {
            return std::equal(a.begin(), a.end(), b.begin(), b.end());
        };
        QVERIFY(areSame(byNumbers->backwards.forward, byArrows->backwards.forward));
        QVERIFY(areSame(byNumbers->backwards.backward, byArrows->backwards.backward));
    }

  private:
    std::filesystem::path fileOf(const Trace& trace, const char* name) {
        std::filesystem::path path = folder_ / name;
        if (!writeTraceFile(trace, path)) qFatal("not written");
        return path;
    }
    TemporaryFolder folder_;
};

LANESCOPE_TEST(tst_BackwardFiles, NoApplication)
#include "tst_BackwardFiles.moc"
