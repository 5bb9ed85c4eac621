// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QtWidgets>

#include "tests/support/child.h"
#include "tests/support/doubleClick.h"
#include "tests/support/runTest.h"
#include "tests/views/explain/madeRun.h"
#include "views/explain/StepStrip.h"
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

struct ShownStrip {
    ShownStrip(int ranks, int steps, int width = 1000) {
        strip.setMargins(200, 12);
        strip.setRun(madeRun(ranks, steps));
        strip.resize(width, strip.sizeHint().height());
        strip.show();
        QObject::connect(&strip, &StepStrip::stepChosen, [this](StepPlace place) { chosen.push_back(place); });
    }
    QColor colorAt(QPoint place) { return strip.grab().toImage().pixelColor(place); }

    StepStrip strip;
    std::vector<StepPlace> chosen;
};

/// Returns the text of the tool tip of a step.
QString tipAt(StepStrip& strip, StepPlace place) {
    const QPoint at = strip.barOf(place).center();
    QHelpEvent help(QEvent::ToolTip, at, strip.mapToGlobal(at));
    QApplication::sendEvent(&strip, &help);
    return QTextDocumentFragment::fromHtml(QToolTip::text()).toPlainText();
}

/// Returns the parts with a visible name, which follow the bar, each after a swatch of its colour.
std::vector<analysis::StepPart> namedParts(PartsLegend& legend) {
    const QImage image = legend.grab().toImage();
    const QRect bar = legend.barArea();
    std::vector<analysis::StepPart> found;
    for (int x = bar.right() + 2; x < image.width(); ++x) {
        for (size_t number = 0; number < analysis::stepPartCount; ++number) {
            const auto part = static_cast<analysis::StepPart>(number);
            const bool isThere = image.pixelColor(x, bar.center().y()) == Theme::light().colorOf(part);
            if (isThere && (found.empty() || found.back() != part)) found.push_back(part);
        }
    }
    return found;
}

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

    void clickLeadsToAStep() {
        ShownStrip shown(2, 20);
        const QRect bar = shown.strip.barOf({1, 3});
        QVERIFY(!bar.isEmpty());
        QTest::mouseClick(&shown.strip, Qt::LeftButton, {}, bar.center());
        QCOMPARE(shown.chosen, (std::vector{StepPlace{1, 3}}));
        QCOMPARE(*shown.strip.chosen(), (StepPlace{1, 3}));
        QTest::mouseClick(&shown.strip, Qt::LeftButton, {}, QPoint(50, bar.center().y()));
        QCOMPARE(shown.chosen.size(), size_t{1});  // the names are no steps
    }

    void keysWalkTheStepsAndTheRanks() {
        ShownStrip shown(2, 20);
        QVERIFY(QTest::qWaitForWindowActive(&shown.strip));
        shown.strip.setFocus();
        shown.strip.setChosen(StepPlace{0, 5});
        for (const Qt::Key key : {Qt::Key_Right, Qt::Key_Right, Qt::Key_Left, Qt::Key_Down, Qt::Key_End, Qt::Key_Right,
                                  Qt::Key_Home, Qt::Key_Left})
            QTest::keyClick(&shown.strip, key);
        const std::vector<StepPlace> expected{{0, 6}, {0, 7}, {0, 6}, {1, 6}, {1, 19}, {1, 0}};
        QCOMPARE(shown.chosen, expected);
    }

    void requestsAreNotCalledSteps() {
        analysis::RunSummary summary = madeSummary(1, 20);
        ShownStrip shown(1, 20);
        QVERIFY(tipAt(shown.strip, {0, 3}).startsWith("Step 3"));
        QCOMPARE(shown.strip.accessibleDescription(), QString("20 steps of 1 workers"));
        summary.kind = StepKind::Request;
        shown.strip.setRun(std::make_shared<const ExplainedRun>(summary));
        QVERIFY(tipAt(shown.strip, {0, 3}).startsWith("Request 3"));
        QCOMPARE(shown.strip.accessibleDescription(), QString("20 requests of 1 workers"));
    }

    void barsHaveTheColoursOfTheirParts() {
        ShownStrip shown(1, 20);
        const Theme theme = Theme::light();
        const QRect bar = shown.strip.barOf({0, 2});
        QCOMPARE(shown.colorAt({bar.center().x(), bar.bottom() - 3}), theme.colorOf(analysis::StepPart::Compute));
        QVERIFY(shown.colorAt({bar.center().x(), bar.top() + 2}) == theme.canvas);
        // The longest is as high as the strip; idle time is at the top.
        const QRect odd = shown.strip.barOf({0, 7});
        QVERIFY(shown.colorAt({odd.center().x(), odd.top() + 7}) != theme.canvas);
    }

    void slowestStepIsMarked() {
        ShownStrip shown(1, 20);
        const QRect odd = shown.strip.barOf({0, 7});
        QCOMPARE(shown.colorAt({odd.center().x(), odd.top() - 3}), Theme::light().slower);
        const QRect other = shown.strip.barOf({0, 8});
        QVERIFY(shown.colorAt({other.center().x(), other.top() - 3}) != Theme::light().slower);
    }

    void toolTipShowsTimeAndParts() {
        ShownStrip shown(1, 20);
        const QString tip = tipAt(shown.strip, {0, 7});
        for (const char* text : {"Step 7", "47.0 ms", "compute: 10.0 ms", "waiting for data: 32.0 ms",
                                 "+30.0 ms vs. median: +30.0 ms waiting for data"})
            QVERIFY2(tip.contains(text), qPrintable(tip));
        // Longest first.
        QVERIFY2(tip.indexOf("waiting for data: ") < tip.indexOf("compute: "), qPrintable(tip));
        QVERIFY2(tip.indexOf("compute: ") < tip.indexOf("waiting for launches: "), qPrintable(tip));
    }

    void toolTipShowsTheColours() {
        const Theme theme = Theme::dark();
        const QString tip = partsTip({"<b>"}, madeSummary(1, 20).workers[0].steps[0].parts, theme);
        for (const analysis::StepPart part : {analysis::StepPart::Compute, analysis::StepPart::LaunchBound})
            QVERIFY2(tip.contains(theme.colorOf(part).name()), qPrintable(tip));
        QVERIFY(!tip.contains("<b>"));
    }

    void legendShowsPartsBySize() {
        using analysis::StepPart;
        PartsLegend legend;
        QVERIFY(!legend.hasContent());
        legend.setParts("Step 7, 47 ms", madeSummary(1, 20).workers[0].steps[7].parts, "+30 ms vs. median");
        legend.resize(1200, legend.sizeHint().height());
        legend.show();
        QCOMPARE(namedParts(legend), (std::vector{StepPart::DataLoading, StepPart::Compute, StepPart::LaunchBound}));
        const QImage image = legend.grab().toImage();
        const QRect bar = legend.barArea();
        const Theme theme = Theme::light();
        QCOMPARE(image.pixelColor(bar.left() + 2, bar.center().y()), theme.colorOf(StepPart::DataLoading));
        QCOMPARE(image.pixelColor(bar.right() - 2, bar.center().y()), theme.colorOf(StepPart::LaunchBound));
        // The first parts remain in a narrow window.
        legend.resize(600, legend.height());
        QVERIFY(!namedParts(legend).empty());
        QCOMPARE(namedParts(legend).front(), StepPart::DataLoading);
    }

    void stripOfMoreStepsThanPixelsShowsTheLongest() {
        ShownStrip shown(1, 20'000, 612);
        const QRect odd = shown.strip.barOf({0, 7});
        QVERIFY(!odd.isEmpty());
        const auto place = shown.strip.stepAt(odd.center());
        QVERIFY(place.has_value());
        QCOMPARE(*place, (StepPlace{0, 7}));
        QVERIFY(tipAt(shown.strip, *place).contains("The longest of"));
        // The last bar ends within the strip.
        QVERIFY(shown.strip.barOf({0, 19'999}).right() <= 612 - 12 + 1);
        shown.strip.grab();
    }

    void manyRanksStayLow() {
        ShownStrip shown(64, 20);
        QCOMPARE(shown.strip.rows().size(), StepStrip::maxRows);
        // The last one is the rank that the others would wait for.
        QCOMPARE(shown.strip.rows().back(), size_t{63});
        QVERIFY(shown.strip.sizeHint().height() < 150);
    }

    void runWithoutStepsShowsNothing() {
        ShownStrip shown(1, 1);
        QVERIFY(!shown.strip.hasContent() && !shown.strip.stepAt({500, 20}));
        QTest::keyClick(&shown.strip, Qt::Key_Right);
        QVERIFY(shown.chosen.empty());
        shown.strip.setRun(nullptr);
        shown.strip.grab();
    }

    void visibleStepsAreUnderlined() {
        ShownStrip shown(1, 20);
        shown.strip.setVisibleRange({100 * ms + 17 * ms, 100 * ms + 3 * 17 * ms});
        const QRect seen = shown.strip.barOf({0, 1}), hidden = shown.strip.barOf({0, 12});
        const QImage image = shown.strip.grab().toImage();
        QCOMPARE(image.pixelColor(seen.center().x(), seen.bottom()), Theme::light().accent);
        QVERIFY(image.pixelColor(hidden.center().x(), hidden.bottom()) != Theme::light().accent);
    }
};

LANESCOPE_TEST(TestStepsPanel, QApplication)
#include "tst_StepsPanel.moc"
