// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "model/fleet/FleetReport.h"
#include "tests/support/child.h"
#include "tests/support/doubleClick.h"
#include "tests/support/fleetReport.h"
#include "tests/support/runTest.h"
#include "views/fleet/FleetMap.h"
#include "views/fleet/FleetView.h"

using namespace lanescope;
using namespace lanescope::fleet;
using namespace lanescope::views;

namespace {

struct Opened {
    std::vector<size_t> rows;
    std::optional<StepRange> steps;
};

struct Shown {
    explicit Shown(const ReportMaker& maker = {}) {
        maker.write(folder / "fleet.sqlite");
        report = *readFleetReport(folder / "fleet.sqlite");
        view.setReport(report);
        view.resize(1300, 640);
        view.show();
        QObject::connect(&view, &FleetView::openRequested,
                         [this](const std::vector<size_t>& rows, const std::optional<StepRange>& steps) {
                             opened.push_back({rows, steps});
                         });
    }
    QPoint at(size_t row, size_t column) const { return view.map().rectOf({row, column}).center().toPoint(); }
    /// Returns a place of a cell among the top ranks, which are above all ranks.
    QPoint atTop(size_t row, size_t column) const {
        const QPoint below = at(row, column);
        for (int y = 0; y < at(0, 0).y() && y < below.y(); ++y)
            if (view.map().cellAt({below.x(), y}) == FleetCell{row, column})
                return {below.x(), y + view.map().fontMetrics().height() / 2};
        qFatal("rank %zu is not at the top", row);
    }
    void drag(QPoint from, QPoint to) const {
        FleetMap& map = view.map();
        QTest::mousePress(&map, Qt::LeftButton, {}, from);
        QTest::mouseMove(&map, (from + to) / 2);
        // Moves without a button do not drag.
        QMouseEvent move(QEvent::MouseMove, to, map.mapToGlobal(to), Qt::NoButton, Qt::LeftButton, {});
        QCoreApplication::sendEvent(&map, &move);
        QTest::mouseRelease(&map, Qt::LeftButton, {}, to);
    }
    TemporaryFolder folder;
    FleetReportPtr report;
    FleetView view;
    std::vector<Opened> opened;
};

}  // namespace

class TestFleetView : public QObject {
    Q_OBJECT
  private slots:
    void firstViewNamesTheSlowRank() {
        Shown shown;
        QCOMPARE(shown.view.headline(), QString("Rank 5 on node1 loses 12 ms per step."));
        FleetMap& map = shown.view.map();
        QCOMPARE(map.worst().front(), size_t{5});
        const QImage image = map.grab().toImage();
        const Theme theme = Theme::light();
        const auto strength = [&](QPoint place) {
            const QColor color = image.pixelColor(place);
            return Theme::contrast(color, theme.canvas);
        };
        // From the middle on, in both bands, and no other rank.
        QVERIFY(strength(shown.at(5, 15)) > 2 && strength(shown.at(5, 5)) < 1.1);
        QVERIFY(strength(shown.at(2, 15)) < 1.1 && strength(shown.atTop(5, 15)) > 2);
        QVERIFY(map.textOf({5, 15}).contains("Rank 5 on node1, local rank 1, step 115"));
        QVERIFY(map.textOf({5, 15}).contains("+12.0 ms (+20.0 %) against its role"));
    }

    void rubberBandSelectsRanksAndSteps() {
        Shown shown;
        FleetMap& map = shown.view.map();
        shown.drag(shown.at(2, 3), shown.at(4, 7));
        QCOMPARE(map.selection().rows, (std::vector<size_t>{2, 3, 4}));
        QCOMPARE(test::listed(map.selection().firstColumn, map.selection().lastColumn), "3 | 7");
        QCOMPARE(child<QPushButton>(shown.view, "openMarked").text(), QString("Open 3 ranks in 5 steps"));
        QTest::mouseClick(&child<QPushButton>(shown.view, "openMarked"), Qt::LeftButton);
        QCOMPARE(shown.opened.size(), size_t{1});
        QCOMPARE(shown.opened[0].rows, (std::vector<size_t>{2, 3, 4}));
        QCOMPARE(shown.opened[0].steps, (std::optional<StepRange>({103, 107})));
        // Beyond the edge it is clamped, and in the other direction it is the same.
        shown.drag(shown.at(6, 18), QPoint(5000, -500));
        QCOMPARE(test::listed(map.selection().rows.front(), map.selection().lastColumn), "0 | 19");
        // Among the cells with the largest loss, it selects these.
        const QPoint first = shown.atTop(5, 10);
        shown.drag(first, first + QPoint(60, 0));
        QCOMPARE(map.selection().rows, std::vector<size_t>{5});
        doubleClick(&map, shown.at(1, 1));
        QCOMPARE(shown.opened.back().rows, std::vector<size_t>{1});
        QCOMPARE(shown.opened.back().steps, (std::optional<StepRange>({101, 101})));
    }

    void keysWalkSelectAndOpen() {
        Shown shown;
        FleetMap& map = shown.view.map();
        map.setFocus();
        QSignalSpy said(&map, &FleetMap::pointed);
        QTest::keyClick(&map, Qt::Key_Down);
        QCOMPARE(map.selection().rows, std::vector<size_t>{0});
        QTest::keyClick(&map, Qt::Key_Down);
        QTest::keyClick(&map, Qt::Key_Right);
        QTest::keyClick(&map, Qt::Key_Right);
        QCOMPARE(map.selection().rows, std::vector<size_t>{1});
        QCOMPARE(map.selection().firstColumn, size_t{2});
        QVERIFY(said.back()[0].toString().contains("Rank 1 on node0"));
        QTest::keyClick(&map, Qt::Key_Down, Qt::ShiftModifier);
        QTest::keyClick(&map, Qt::Key_Right, Qt::ShiftModifier);
        QTest::keyClick(&map, Qt::Key_Right, Qt::ShiftModifier);
        QCOMPARE(map.selection().rows, (std::vector<size_t>{1, 2}));
        QCOMPARE(test::listed(map.selection().firstColumn, map.selection().lastColumn), "2 | 4");
        QTest::keyClick(&map, Qt::Key_Return);
        QCOMPARE(shown.opened.back().rows, (std::vector<size_t>{1, 2}));
        QTest::keyClick(&map, Qt::Key_End);
        QCOMPARE(map.selection().lastColumn, size_t{19});
        QTest::keyClick(&map, Qt::Key_Home);
        QTest::keyClick(&map, Qt::Key_PageDown);
        QCOMPARE(map.selection().rows, std::vector<size_t>{7});
        QCOMPARE(map.selection().firstColumn, size_t{0});
        QTest::keyClick(&map, Qt::Key_Escape);
        QVERIFY(map.selection().isEmpty());
        QVERIFY(!child<QPushButton>(shown.view, "openMarked").isEnabled());
        QTest::keyClick(&map, Qt::Key_Return);
        QCOMPARE(shown.opened.size(), size_t{1});
    }

    void findingSelectsItsCellsAndOpensThem() {
        Shown shown;
        FindingList& findings = shown.view.findings();
        const QRect first = findings.visualRect(findings.model()->index(0, 0));
        QVERIFY(first.height() > 2 * findings.fontMetrics().height());
        QTest::mouseClick(findings.viewport(), Qt::LeftButton, {}, first.center());
        const FleetSelection& marked = shown.view.map().selection();
        QCOMPARE(marked.rows, std::vector<size_t>{5});
        QCOMPARE(test::listed(marked.firstColumn, marked.lastColumn), "10 | 14");
        QTest::keyClick(&findings, Qt::Key_Return);
        QCOMPARE(shown.opened.back().rows, (std::vector<size_t>{5, 4, 1}));
        QCOMPARE(shown.opened.back().steps, (std::optional<StepRange>({110, 114})));
        QTest::keyClick(&findings, Qt::Key_C, Qt::ControlModifier);
        QVERIFY(QGuiApplication::clipboard()->text().startsWith("lanescope view --merge"));
        // The earlier selection returns.
        QTest::mouseClick(&shown.view.map(), Qt::LeftButton, {}, shown.at(1, 1));
        QTest::mouseClick(findings.viewport(), Qt::LeftButton, {}, first.center());
        QCOMPARE(marked.rows, std::vector<size_t>{5});
        QTest::mouseClick(&child<QPushButton>(shown.view, "openFindings"), Qt::LeftButton);
        QCOMPARE(shown.opened.back().rows, (std::vector<size_t>{5, 4, 1}));
    }

    void orderAndMeasureAreSelected() {
        Shown shown;
        FleetMap& map = shown.view.map();
        const QPoint before = shown.at(5, 15);
        QTest::keyClick(&shown.view.order(), Qt::Key_Down);
        QTest::keyClick(&shown.view.order(), Qt::Key_Down);
        QVERIFY(shown.view.order().currentText().contains("time lost") && shown.at(5, 15).y() < before.y());
        QVERIFY(shown.at(5, 15).y() < shown.at(0, 15).y());
        for (int measure = 0; measure < child<QComboBox>(shown.view, "measure").count(); ++measure) {
            child<QComboBox>(shown.view, "measure").setCurrentIndex(measure);
            map.grab();
        }
        // Every rank has equal loader time.
        child<QComboBox>(shown.view, "measure").setCurrentIndex(static_cast<int>(Measure::Time));
        QVERIFY(map.cellAt(shown.at(5, 15)).has_value());
    }

    void thousandRanksShareThePixelsAndTheStrongestShows() {
        Shown shown({.ranks = 1024, .perMachine = 8, .steps = 12, .firstStep = 0, .culprit = 517});
        FleetMap& map = shown.view.map();
        QVERIFY(map.rectOf({517, 8}).height() < 1);
        const auto found = map.cellAt(shown.at(517, 8));
        QVERIFY(found.has_value());
        QCOMPARE(*found, (FleetCell{517, 8}));
        QVERIFY(Theme::contrast(map.grab().toImage().pixelColor(shown.at(517, 8)), Theme::light().canvas) > 2);
        QTest::mouseClick(&map, Qt::LeftButton, {}, shown.at(517, 8));
        QCOMPARE(map.selection().rows, std::vector<size_t>{517});
    }

    void cleanJobIsReported() {
        Shown shown({.culprit = -1});
        QCOMPARE(shown.view.headline(), QString("No rank, link or host differs by more than equal ranks usually do, "
                                                "and no rank is missing. 'explain' names the rank that waits least."));
        QVERIFY(!child<QPushButton>(shown.view, "openFindings").isEnabled());
        shown.view.openFindings();
        QVERIFY(shown.opened.empty());
        shown.view.setTheme(Theme::dark());
        shown.view.grab();
    }

    void withoutReportNothingHappens() {
        FleetView view;
        view.resize(800, 500);
        view.show();
        view.grab();
        QTest::keyClick(&view.map(), Qt::Key_Down);
        QTest::mouseClick(&view.map(), Qt::LeftButton, {}, {200, 200});
        QVERIFY(view.map().selection().isEmpty());
        view.openFindings();
    }
};

LANESCOPE_TEST(TestFleetView, QApplication)
#include "tst_FleetView.moc"
