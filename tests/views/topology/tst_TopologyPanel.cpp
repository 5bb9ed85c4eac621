// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "tests/support/SimulatedTrace.h"
#include "tests/support/child.h"
#include "tests/support/doubleClick.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedMachine.h"
#include "views/tables/ReportPanel.h"
#include "views/topology/TopologyPanel.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

constexpr int64_t ms = 1'000'000;

struct ShownPanel {
    explicit ShownPanel(TracePtr shown) : trace(std::move(shown)) {
        panel.resize(1400, 420);
        panel.setTrace(trace);
        panel.show();
        wait();
    }
    explicit ShownPanel(SimulatedMachine options = {}) : ShownPanel(simulatedMachine(options)) {}
    void wait() { QTRY_VERIFY_WITH_TIMEOUT(!panel.isStale(), 60'000); }
    TopologyGraph& graph() { return child<TopologyGraph>(panel); }
    ScopeChoice& scope() { return child<ScopeChoice>(panel); }
    QString cell(int row, int column) { return child<TopologyMatrix>(panel).index(row, column).data().toString(); }
    TracePtr trace;
    TopologyPanel panel;
};

SimulatedMachine machine(int gpuCount, int linksPerGpu) {
    SimulatedMachine options{.gpuCount = gpuCount, .steps = 2, .linksPerGpu = linksPerGpu};
    return options;
}

}  // namespace

class TestTopologyPanel : public QObject {
    Q_OBJECT
  private slots:
    void matrixMatchesNvidiaSmi() {
        ShownPanel shown(machine(4, 0));
        const TopologyMatrix& matrix = child<TopologyMatrix>(shown.panel);
        QCOMPARE(test::listed(matrix.rowCount(), matrix.columnCount()), "4 | 6");
        QCOMPARE(test::listed(shown.cell(0, 0), shown.cell(0, 1), shown.cell(0, 3)), "X | PHB | SYS");
        QCOMPARE(test::listed(shown.cell(0, 4), shown.cell(3, 5)), "0-31,64-95 | 1");
        QCOMPARE(test::listed(matrix.headerData(2, Qt::Horizontal).toString(), matrix.legend().size()), "GPU2 | 2");
        for (const QString& line : matrix.legend()) QVERIFY(line.contains(": "));
    }

    void matrixPassesTheQtModelTester() {
        TopologyMatrix matrix;
        QAbstractItemModelTester tester(&matrix, QAbstractItemModelTester::FailureReportingMode::QtTest);
        matrix.setAnswer(answerTopology(simulatedMachine(machine(8, 18)), std::nullopt));
        QCOMPARE(matrix.rowCount(), 8);
        matrix.setTheme(Theme::dark());
        matrix.setAnswer(nullptr);
        QCOMPARE(matrix.rowCount(), 0);
    }

    void termsOfNvidiaSmiAreExplained() {
        for (const char* word : {"X", "SYS", "NODE", "PHB", "PXB", "PIX", "NV1", "NV18"})
            QVERIFY2(!meaningOf(word).isEmpty(), word);
        QVERIFY(meaningOf("NV18").contains("18"));
        for (const char* part : {"NVx", ""}) QVERIFY2(meaningOf(part).isEmpty(), part);
    }

    void verdictStatesIfNvlinkIsUsed() {
        ShownPanel with(machine(2, 18));
        QVERIFY2(with.panel.verdictText().startsWith("NVLink: used"), qPrintable(with.panel.verdictText()));
        ShownPanel without(machine(2, 0));
        QVERIFY2(without.panel.verdictText().startsWith("NVLink: absent"), qPrintable(without.panel.verdictText()));
    }

    void edgesShowTheCountsOfTheModel() {
        ShownPanel shown(machine(2, 18));
        const TopologyGraph& graph = shown.graph();
        QCOMPARE(int(graph.edges().size()), 1);
        const auto uses = linkUse(*shown.trace);
        QCOMPARE(graph.edges()[0].there->copyBytes, uses[0].copyBytes);
        QCOMPARE(graph.edges()[0].back->copyBytes, uses[1].copyBytes);
        for (const char* part : {"NV18", "GB/s"}) QVERIFY2(graph.edgeText(0).contains(part), part);
    }

    void eightGpusHaveAnEdgeForEachPair() {
        ShownPanel shown(machine(8, 18));
        QCOMPARE(int(shown.graph().edges().size()), 28);
        QVERIFY(!shown.graph().grab().toImage().isNull());
    }

    void clickSelectsAnEdgeAndDoubleClickShowsItsCopies() {
        ShownPanel shown(machine(2, 18));
        TopologyGraph& graph = shown.graph();
        QVERIFY(!child<QToolButton>(shown.panel, "copies").isEnabled());
        QTest::mouseClick(&graph, Qt::LeftButton, {}, graph.edgePosition(0));
        QCOMPARE(graph.selectedEdge(), std::optional(0));
        QVERIFY(child<QToolButton>(shown.panel, "copies").isEnabled());
        QVERIFY(!graph.accessibleDescription().isEmpty());
        QSignalSpy activated(&shown.panel, &TopologyPanel::pairActivated);
        doubleClick(&graph, graph.edgePosition(0));
        QCOMPARE(activated.count(), 1);
        QTest::mouseClick(&child<QToolButton>(shown.panel, "copies"), Qt::LeftButton);
        QCOMPARE(activated.count(), 2);
        QTest::mouseClick(&graph, Qt::LeftButton, {}, QPoint(3, 3));
        QVERIFY(!graph.selectedEdge());
    }

    void cursorKeysWalkTheEdges() {
        ShownPanel shown(machine(3, 18));
        TopologyGraph& graph = shown.graph();
        QTest::keyClick(&graph, Qt::Key_Right);
        QTest::keyClick(&graph, Qt::Key_Right);
        QCOMPARE(graph.selectedEdge(), std::optional(1));
        QTest::keyClick(&graph, Qt::Key_Left);
        QTest::keyClick(&graph, Qt::Key_Left);
        QCOMPARE(graph.selectedEdge(), std::optional(2));
        QSignalSpy activated(&shown.panel, &TopologyPanel::pairActivated);
        QTest::keyClick(&graph, Qt::Key_Return);
        QCOMPARE(activated.count(), 1);
        QTest::keyClick(&graph, Qt::Key_Escape);
        QVERIFY(!graph.selectedEdge());
    }

    void matrixCellSelectsItsEdge() {
        ShownPanel shown(machine(3, 18));
        QTableView& view = child<QTableView>(shown.panel, "matrix");
        const QModelIndex cell = child<TopologyMatrix>(shown.panel).index(2, 1);
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.visualRect(cell).center());
        const auto edge = shown.graph().selectedEdge();
        QVERIFY(edge);
        QCOMPARE(shown.graph().edges()[size_t(*edge)].from, size_t(1));
        QCOMPARE(shown.graph().edges()[size_t(*edge)].to, size_t(2));
    }

    void rangeCountsOnlyItsCopies() {
        ShownPanel shown(machine(2, 18));
        const int64_t all = shown.graph().edges()[0].bytes();
        QTest::mouseClick(&shown.graph(), Qt::LeftButton, {}, shown.graph().edgePosition(0));
        shown.panel.setRange(TimeRange{0, 20 * ms});
        shown.wait();
        QCOMPARE(shown.graph().edges()[0].bytes(), all / 2);
        // The selection stays during the drag of a range.
        QCOMPARE(shown.graph().selectedEdge(), std::optional(0));
    }

    void visibleRangeCountsOnRequest() {
        ShownPanel shown(machine(2, 18));
        const int64_t all = shown.graph().edges()[0].bytes();
        shown.panel.setVisibleRange(TimeRange{0, 20 * ms});
        QVERIFY(!shown.panel.isStale());
        QTest::keyClick(&shown.scope(), Qt::Key_Down);
        shown.wait();
        QCOMPARE(shown.graph().edges()[0].bytes(), all / 2);
        QVERIFY(shown.panel.verdictText().contains("Visible range"));
        shown.panel.setRange(TimeRange{0, ms});
        QVERIFY(!shown.panel.isStale());
        QTest::keyClick(&shown.scope(), Qt::Key_Down);
        shown.wait();
        QCOMPARE(shown.graph().edges()[0].bytes(), all);
        QVERIFY(!shown.scope().accessibleName().isEmpty());
    }

    void linkLeadsToItsLargestAndItsSlowestCopy() {
        ShownPanel shown(machine(2, 18));
        QSignalSpy asked(&shown.panel, &TopologyPanel::eventActivated);
        QVERIFY(!child<QToolButton>(shown.panel, "largest").isEnabled());
        QTest::mouseClick(&shown.graph(), Qt::LeftButton, {}, shown.graph().edgePosition(0));
        const LinkUse& use = *shown.graph().selectedUse();
        QTest::mouseClick(&child<QToolButton>(shown.panel, "largest"), Qt::LeftButton);
        child<QToolButton>(shown.panel, "slowest").setFocus();
        QTest::keyClick(&child<QToolButton>(shown.panel, "slowest"), Qt::Key_Space);
        QCOMPARE(asked.count(), 2);
        QCOMPARE(asked[0][0].value<EventRef>(), use.largest);
        QCOMPARE(asked[1][0].value<EventRef>(), use.slowest);
        QCOMPARE(use.largest.kind(), EventKind::Memcpy);
    }

    void singleGpuIsReportedInASentence() {
        ShownPanel shown(machine(1, 0));
        QVERIFY(shown.panel.verdictText().contains("one GPU") && !shown.graph().isVisible());
        QVERIFY(!child<QTableView>(shown.panel, "matrix").isVisible());
    }

    void traceWithoutTopologyIsReportedInASentence() {
        SimulatedMachine options = machine(2, 18);
        options.hasTopology = false;
        ShownPanel shown(options);
        QVERIFY2(shown.panel.verdictText().contains("does not contain how its GPUs are connected"),
                 qPrintable(shown.panel.verdictText()));
        QVERIFY(!child<QTableView>(shown.panel, "matrix").isVisible());
    }

    void traceWithoutGpuIsHarmless() {
        SimulatedTrace builder;
        builder.addNvtx(builder.defaultThread(), "step", 0, 10);
        ShownPanel shown(builder.finish());
        QVERIFY(shown.panel.verdictText().contains("no GPU") && !shown.graph().isVisible());
    }
};

LANESCOPE_TEST(TestTopologyPanel, QApplication)
#include "tst_TopologyPanel.moc"
