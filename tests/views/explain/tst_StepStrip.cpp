// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>

#include "tests/support/runTest.h"
#include "tests/views/explain/madeRun.h"
#include "views/explain/StepStrip.h"

using namespace lanescope;
using namespace lanescope::explain;
using namespace lanescope::views;

namespace {

struct Shown {
    Shown(int ranks, int steps, int width = 1000) {
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

}  // namespace

class TestStepStrip : public QObject {
    Q_OBJECT
  private slots:
    void clickLeadsToAStep() {
        Shown shown(2, 20);
        const QRect bar = shown.strip.barOf({1, 3});
        QVERIFY(!bar.isEmpty());
        QTest::mouseClick(&shown.strip, Qt::LeftButton, {}, bar.center());
        QCOMPARE(shown.chosen, (std::vector{StepPlace{1, 3}}));
        QCOMPARE(*shown.strip.chosen(), (StepPlace{1, 3}));
        QTest::mouseClick(&shown.strip, Qt::LeftButton, {}, QPoint(50, bar.center().y()));
        QCOMPARE(shown.chosen.size(), size_t{1});  // the names are no steps
    }

    void keysWalkTheStepsAndTheRanks() {
        Shown shown(2, 20);
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
        Shown shown(1, 20);
        QVERIFY(shown.strip.tipAt({0, 3}).startsWith("Step 3"));
        QCOMPARE(shown.strip.accessibleDescription(), QString("20 steps of 1 workers"));
        summary.kind = StepKind::Request;
        shown.strip.setRun(std::make_shared<const ExplainedRun>(summary));
        QVERIFY(shown.strip.tipAt({0, 3}).startsWith("Request 3"));
        QCOMPARE(shown.strip.accessibleDescription(), QString("20 requests of 1 workers"));
    }

    void barsHaveTheColoursOfTheirParts() {
        Shown shown(1, 20);
        const Theme theme = Theme::light();
        const QRect bar = shown.strip.barOf({0, 2});
        QCOMPARE(shown.colorAt({bar.center().x(), bar.bottom() - 3}), theme.colorOf(analysis::StepPart::Compute));
        QVERIFY(shown.colorAt({bar.center().x(), bar.top() + 2}) == theme.canvas);
        // The longest is as high as the strip; idle time is at the top.
        const QRect odd = shown.strip.barOf({0, 7});
        QVERIFY(shown.colorAt({odd.center().x(), odd.top() + 7}) != theme.canvas);
    }

    void slowestStepIsMarked() {
        Shown shown(1, 20);
        const QRect odd = shown.strip.barOf({0, 7});
        QCOMPARE(shown.colorAt({odd.center().x(), odd.top() - 3}), Theme::light().slower);
        const QRect other = shown.strip.barOf({0, 8});
        QVERIFY(shown.colorAt({other.center().x(), other.top() - 3}) != Theme::light().slower);
    }

    void toolTipShowsTimeAndParts() {
        Shown shown(1, 20);
        const QString tip = shown.strip.tipAt({0, 7});
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
        QCOMPARE(legend.shownParts(), (std::vector{StepPart::DataLoading, StepPart::Compute, StepPart::LaunchBound}));
        const QImage image = legend.grab().toImage();
        const QRect bar = legend.barArea();
        const Theme theme = Theme::light();
        QCOMPARE(image.pixelColor(bar.left() + 2, bar.center().y()), theme.colorOf(StepPart::DataLoading));
        QCOMPARE(image.pixelColor(bar.right() - 2, bar.center().y()), theme.colorOf(StepPart::LaunchBound));
        // The first parts remain in a narrow window.
        legend.resize(600, legend.height());
        QVERIFY(!legend.shownParts().empty());
        QCOMPARE(legend.shownParts().front(), StepPart::DataLoading);
    }

    void moreStepsThanPixelsShowTheLongest() {
        Shown shown(1, 20'000, 612);
        const QRect odd = shown.strip.barOf({0, 7});
        QVERIFY(!odd.isEmpty());
        const auto place = shown.strip.stepAt(odd.center());
        QVERIFY(place.has_value());
        QCOMPARE(*place, (StepPlace{0, 7}));
        QVERIFY(shown.strip.tipAt(*place).contains("The longest of"));
        // The last bar ends within the strip.
        QVERIFY(shown.strip.barOf({0, 19'999}).right() <= 612 - 12 + 1);
        shown.strip.grab();
    }

    void manyRanksStayLow() {
        Shown shown(64, 20);
        QCOMPARE(shown.strip.rows().size(), StepStrip::maxRows);
        // The last one is the rank that the others would wait for.
        QCOMPARE(shown.strip.rows().back(), size_t{63});
        QVERIFY(shown.strip.sizeHint().height() < 150);
    }

    void runWithoutStepsShowsNothing() {
        Shown shown(1, 1);
        QVERIFY(!shown.strip.hasContent());
        QVERIFY(!shown.strip.stepAt({500, 20}));
        QTest::keyClick(&shown.strip, Qt::Key_Right);
        QVERIFY(shown.chosen.empty());
        shown.strip.setRun(nullptr);
        shown.strip.grab();
    }

    void visibleStepsAreUnderlined() {
        Shown shown(1, 20);
        shown.strip.setVisibleRange({100 * ms + 17 * ms, 100 * ms + 3 * 17 * ms});
        const QRect seen = shown.strip.barOf({0, 1}), hidden = shown.strip.barOf({0, 12});
        const QImage image = shown.strip.grab().toImage();
        QCOMPARE(image.pixelColor(seen.center().x(), seen.bottom()), Theme::light().accent);
        QVERIFY(image.pixelColor(hidden.center().x(), hidden.bottom()) != Theme::light().accent);
    }
};

LANESCOPE_TEST(TestStepStrip, QApplication)
#include "tst_StepStrip.moc"
