// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "tests/support/child.h"
#include "tests/support/doubleClick.h"
#include "tests/support/runTest.h"
#include "tests/views/explain/madeRun.h"
#include "views/explain/StepsPanel.h"
#include "views/tables/ReportView.h"

using namespace lanescope;
using namespace lanescope::explain;
using namespace lanescope::views;

namespace {

struct Shown {
    explicit Shown(ExplainedRunPtr run) {
        panel.setRun(std::move(run));
        panel.resize(1000, 320);
        panel.show();
        QObject::connect(&panel, &StepsPanel::stepActivated, [this](StepPlace place) { activated.push_back(place); });
    }
    bool wait() {
        return QTest::qWaitFor([this] { return !panel.isStale(); });
    }
    StepsPanel panel;
    std::vector<StepPlace> activated;
};

}  // namespace

class TestStepsPanel : public QObject {
    Q_OBJECT
  private slots:
    void rowLeadsToItsStep() {
        Shown shown(madeRun(2, 20));
        QVERIFY(shown.wait());
        ReportView& view = child<ReportView>(shown.panel);
        QCOMPARE(view.model().rowCount(), 40);
        QCOMPARE(shown.panel.table(), &view);
        // The longest comes first.
        const QModelIndex first = view.filter().index(0, 0);
        view.table().setCurrentIndex(first);
        QTest::keyClick(&view.table(), Qt::Key_Return);
        QCOMPARE(shown.activated, (std::vector{StepPlace{1, 7}}));
        // In another order, a row still leads to its own step.
        view.fitAndSort(2, Qt::AscendingOrder);
        view.table().setCurrentIndex(view.filter().index(0, 0));
        emit view.table().activated(view.filter().index(0, 0));
        QCOMPARE(shown.activated.back().step, uint32_t{0});
    }

    void partsAreABarInTheirColoursAndColumnsBySize() {
        using analysis::StepPart;
        Shown shown(madeRun(1, 20));
        shown.panel.setTheme(Theme::dark());
        QVERIFY(shown.wait());
        ReportView& view = child<ReportView>(shown.panel);
        const auto columnOf = [&](const QString& name) {
            for (int column = 0; column < view.model().columnCount(); ++column)
                if (view.model().headerData(column, Qt::Horizontal).toString() == name) return column;
            return -1;
        };
        QVERIFY(columnOf("Compute") < columnOf("Waiting for launches"));
        QVERIFY(columnOf("Waiting for launches") < columnOf("Waiting for data"));
        QVERIFY(columnOf("Waiting for data") < columnOf("Start"));
        QCOMPARE(columnOf("Worker"), -1);
        const int parts = columnOf("Parts, largest first");
        QCOMPARE(view.filter().index(0, parts).data().toString(), QString("waiting for data, 68.1 %"));
        // The idle time that is the problem is in view without scrolling.
        QTableView& table = view.table();
        QVERIFY(table.columnViewportPosition(columnOf("Waiting for launches")) +
                    table.columnWidth(columnOf("Waiting for launches")) <=
                table.viewport()->width());
        const QRect cell = table.visualRect(view.filter().index(0, parts));
        const QRectF bar = ShareBarDelegate::segmentsArea(cell);
        const QImage image = table.viewport()->grab().toImage();
        const auto colorAt = [&](double share) {
            return image.pixelColor(static_cast<int>(bar.left() + share * bar.width()),
                                    static_cast<int>(bar.center().y()));
        };
        QCOMPARE(colorAt(0.3), Theme::dark().colorOf(StepPart::DataLoading));
        QCOMPARE(colorAt(0.8), Theme::dark().colorOf(StepPart::Compute));
        QCOMPARE(colorAt(0.97), Theme::dark().colorOf(StepPart::LaunchBound));
        // The whole text is above the bar.
        const int above = static_cast<int>(std::floor(bar.top())) - 1;
        for (int x = cell.left() + 1; x < cell.right(); ++x)
            QCOMPARE(image.pixelColor(x, above), image.pixelColor(cell.left() + 1, above));
    }

    void otherUnitsCanBeChosen() {
        Shown shown(madeRun(1, 20));
        QVERIFY(shown.wait());
        auto& unit = child<QComboBox>(shown.panel, "unit");
        QVERIFY(!unit.isVisible());
        shown.panel.setUnits({{StepSource::NvtxRange, "step #", 20}}, {});
        QVERIFY(!unit.isVisible());
        shown.panel.setUnits({{StepSource::NvtxRange, "step #", 20}, {StepSource::NvtxRange, "layer #", 480}}, {});
        QVERIFY(unit.isVisible());
        QCOMPARE(unit.itemText(1), QString("480 \u00d7 layer #"));
        QSignalSpy chosen(&shown.panel, &StepsPanel::unitChosen);
        QVERIFY(QTest::qWaitForWindowActive(&shown.panel));
        unit.setFocus();
        QTest::keyClick(&unit, Qt::Key_Down);
        QCOMPARE(chosen.size(), 1);
        QCOMPARE(chosen[0][0].toString(), QString("layer #"));
        QTest::keyClick(&unit, Qt::Key_Up);
        QCOMPARE(chosen[1][0].toString(), QString());
    }

    void runWithoutStepsIsTheWholeRun() {
        analysis::RunSummary run = madeSummary(2, 1);
        run.source = StepSource::WholeRun;
        run.pattern.clear();
        Shown shown(std::make_shared<const ExplainedRun>(run));
        QVERIFY(shown.wait());
        ReportView& view = child<ReportView>(shown.panel);
        QCOMPARE(view.model().rowCount(), 2);
        for (int row = 0; row < 2; ++row) QCOMPARE(view.filter().index(row, 0).data().toString(), QString("whole run"));
        shown.panel.setUnits({StepUnit(), {StepSource::NvtxRange, "layer #", 480}}, {});
        QCOMPARE(child<QComboBox>(shown.panel, "unit").currentText(), QString("Whole run"));
        child<QComboBox>(shown.panel, "choice").setCurrentIndex(1);
        QVERIFY(child<RankLens>(shown.panel).tipAt({1, 0}).startsWith("Whole run, rank 1"));
    }

    void mapIsMostIntenseAtTheLongestSteps() {
        Shown shown(madeRun(4, 20));
        child<QComboBox>(shown.panel, "choice").setCurrentIndex(1);
        QVERIFY(shown.wait());
        RankLens& lens = child<RankLens>(shown.panel);
        QVERIFY(lens.isVisible());
        QVERIFY(shown.panel.table() == nullptr);
        const Theme theme = Theme::light();
        QCOMPARE(lens.colorOf({3, 7}), theme.slower);
        QVERIFY(lens.colorOf({3, 8}) != theme.slower);
        QCOMPARE(lens.colorOf({3, 8}), lens.colorOf({0, 7}));
        QVERIFY(lens.tipAt({3, 7}).contains("time not spent waiting: 47"));
        QCOMPARE(lens.grab().toImage().pixelColor(lens.cellOf(3, 7).center().toPoint()), theme.slower);
        for (int index = 0; index < child<QComboBox>(shown.panel, "measure").count(); ++index)
            if (child<QComboBox>(shown.panel, "measure").itemText(index) == "waiting for data")
                child<QComboBox>(shown.panel, "measure").setCurrentIndex(index);
        QCOMPARE(lens.colorOf({3, 7}), theme.colorOf(analysis::StepPart::DataLoading));
        QVERIFY(lens.tipAt({3, 7}).contains("waiting for data: 32"));
    }

    void mapIsNavigatedWithKeysAndTheMouse() {
        Shown shown(madeRun(4, 20));
        child<QComboBox>(shown.panel, "choice").setCurrentIndex(1);
        QVERIFY(shown.wait());
        RankLens& lens = child<RankLens>(shown.panel);
        QTest::mouseClick(&lens, Qt::LeftButton, {}, lens.cellOf(1, 5).center().toPoint());
        QCOMPARE(*lens.chosen(), (StepPlace{1, 5}));
        for (const Qt::Key key : {Qt::Key_Right, Qt::Key_Down, Qt::Key_Return}) QTest::keyClick(&lens, key);
        QCOMPARE(shown.activated, (std::vector{StepPlace{2, 6}}));
        QTest::keyClick(&lens, Qt::Key_Home);
        QCOMPARE(*lens.chosen(), (StepPlace{2, 0}));
        QTest::keyClick(&lens, Qt::Key_Left);
        QTest::keyClick(&lens, Qt::Key_End);
        QCOMPARE(*lens.chosen(), (StepPlace{2, 19}));
        doubleClick(&lens, lens.cellOf(0, 3).center().toPoint());
        QCOMPARE(shown.activated.back(), (StepPlace{0, 3}));
    }

    void moreStepsThanPixelsShowTheLongest() {
        Shown shown(madeRun(2, 30'000));
        child<QComboBox>(shown.panel, "choice").setCurrentIndex(1);
        QVERIFY(shown.wait());
        RankLens& lens = child<RankLens>(shown.panel);
        const auto place = lens.stepAt(lens.cellOf(1, 7).topLeft().toPoint() + QPoint(0, 3));
        QVERIFY(place.has_value());
        QCOMPARE(*place, (StepPlace{1, 7}));
        lens.grab();
    }

    void runWithoutStepsIsReported() {
        Shown shown(nullptr);
        QVERIFY(shown.wait());
        child<QComboBox>(shown.panel, "choice").setCurrentIndex(1);
        QVERIFY(!child<RankLens>(shown.panel).stepAt({300, 50}));
        QTest::keyClick(&child<RankLens>(shown.panel), Qt::Key_Right);
        child<RankLens>(shown.panel).grab();
        QVERIFY(shown.activated.empty());
    }
};

LANESCOPE_TEST(TestStepsPanel, QApplication)
#include "tst_StepsPanel.moc"
