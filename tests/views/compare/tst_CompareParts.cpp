// SPDX-License-Identifier: GPL-3.0-or-later
//
// Tests of the single parts of the comparison page.
#include <qcustomplot.h>
#include <QtWidgets>

#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "views/compare/CompareTables.h"
#include "views/compare/ComparedTimelines.h"
#include "views/compare/HeadlinePanel.h"
#include "views/compare/WaterfallChart.h"
#include "views/timeline/TimelineState.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;
using namespace lanescope::views;

namespace {

ComparisonTable lossTable(const std::vector<int64_t>& lostNs) {
    ComparisonTable table;
    table.columns = {{"Name", Form::Text}, {"Lost", Form::StepLoss}};
    for (const int64_t lost : lostNs) table.add({std::string("row"), lost});
    return table;
}

void show(const ComparisonTable& table, DifferenceModel& model) {
    model.setComparison(table);
    model.setTable(table.asReport());
}

Answer answerOf(std::string sentence) {
    Answer answer{.outcome = Outcome::Longer, .sentence = std::move(sentence)};
    return answer;
}

WorkerComparison pairWith(int64_t baselineNs, std::vector<std::pair<StepPart, int64_t>> lost) {
    WorkerComparison pair;
    pair.baseline.meanNs = pair.candidate.meanNs = baselineNs;
    for (size_t index = 0; index < stepPartCount; ++index)
        pair.parts.push_back({static_cast<StepPart>(index), 1'000'000, 1'000'000});
    for (const auto& [part, lostNs] : lost) {
        pair.parts[static_cast<size_t>(part)].candidateNs += lostNs;
        pair.candidate.meanNs += lostNs;
    }
    return pair;
}

}  // namespace

class TestCompareParts : public QObject {
    Q_OBJECT
  private slots:
    void modelPassesTheQtModelTester() {
        DifferenceModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        show(lossTable({5, -3, 0}), model);
        QCOMPARE(model.rowCount(), 3);
        model.setTheme(Theme::dark());
        show({}, model);
    }

    void lostTimeHasTheSlowerColourAndSavedTimeTheFaster() {
        const Theme theme = Theme::light();
        DifferenceModel model;
        model.setTheme(theme);
        show(lossTable({5, -10, 0}), model);
        const auto color = [&](int row) { return model.index(row, 1).data(Qt::ForegroundRole); };
        QCOMPARE(color(0).value<QColor>(), theme.slower);
        QCOMPARE(color(1).value<QColor>(), theme.faster);
        QVERIFY(!color(2).isValid());
        QCOMPARE(model.index(0, 1).data(ReportModel::ShareRole).toDouble(), 0.5);
        QCOMPARE(test::listed(model.index(1, 1).data(ReportModel::ShareRole).toDouble(), model.lostNsAt(1)), "1 | -10");
        show(lossTable({5'000'000}), model);
        QCOMPARE(model.index(0, 1).data().toString(), QString("+5.000 ms"));
    }

    void answerIsReadableCompletely() {
        // As long as a sentence with two causes and an outlier step.
        const QString words =
            "In these two runs steps are alike: median step 39.73 ms against 39.74 ms (0.0 %), "
            "within the spread of each run's own steps; but +0.458 ms in the mean step for "
            "waiting for launches in host code (no CUDA call) on the main thread in checkpoint, which the "
            "baseline does not have; but step 17 of the candidate took 5.332 ms longer.";
        HeadlinePanel card;
        card.setAnswer(answerOf(words.toStdString()));
        for (const int width : {480, 640, 1100, 1500}) {
            card.resize(width, 150);
            card.show();
            QCOMPARE(card.shownHeadline().simplified(), words);
            QVERIFY(card.sizeHint().height() < 150);
        }
    }

    void longAnswerIsWrappedAndTruncated() {
        HeadlinePanel card;
        card.resize(400, 120);
        QString words;
        for (int i = 0; i < 100; ++i) words += "word ";
        Answer answer = answerOf(words.toStdString());
        answer.details = {std::string(500, 'x')};
        card.setAnswer(answer);
        card.show();
        QVERIFY(card.reasons().endsWith(QChar(0x2026)));
        QCOMPARE(card.headline(), words);
        QVERIFY(card.sizeHint().height() < 200);
    }

    void cautionsPrecedeTheAnswer() {
        HeadlinePanel card;
        Answer answer = answerOf("Slower.");
        answer.cautions = {"The GPUs differ.", "The drivers differ."};
        card.setAnswer(answer);
        card.resize(800, 120);
        card.show();
        QCOMPARE(card.cautions().size(), 2);
        const auto labels = card.findChildren<QLabel*>();
        const auto find = [&](const QString& text) {
            for (QLabel* label : labels)
                if (label->text().contains(text)) return label;
            return static_cast<QLabel*>(nullptr);
        };
        QVERIFY(find("The GPUs differ.") && find("Slower."));
        QTRY_VERIFY(find("The GPUs differ.")->y() < find("Slower.")->y());
    }

    void runningComparisonCanBeStopped() {
        HeadlinePanel card;
        card.show();
        QVERIFY(!child<QPushButton>(card, "cancel").isVisible());
        card.setProgress(0.4);
        QSignalSpy spy(&card, &HeadlinePanel::cancelRequested);
        QTest::mouseClick(&child<QPushButton>(card, "cancel"), Qt::LeftButton);
        QCOMPARE(spy.size(), 1);
        card.setProgress(-1);
        QVERIFY(!child<QPushButton>(card, "cancel").isVisible());
    }

    void waterfallShowsTheLargestPartsFirst() {
        WaterfallChart chart;
        chart.resize(900, 170);
        const WorkerComparison pair = pairWith(50'000'000, {{StepPart::Compute, -3'000'000},
                                                            {StepPart::ExposedCommunication, 9'000'000},
                                                            {StepPart::Memset, 10},
                                                            {StepPart::OtherIdle, 20}});
        chart.setPair(&pair);
        // The last two are too small for their own columns.
        QCOMPARE(chart.parts(), (std::vector<StepPart>{StepPart::ExposedCommunication, StepPart::Compute}));
        QVERIFY(chart.accessibleDescription().contains("exposed communication"));
        chart.setPair(nullptr);
        QVERIFY(chart.parts().empty() && !chart.grab().isNull());
    }

    void waterfallMarksItsTruncatedAxis() {
        WaterfallChart chart;
        chart.resize(900, 170);
        const WorkerComparison small = pairWith(50'000'000, {{StepPart::Compute, 2'000'000}});
        chart.setPair(&small);
        QVERIFY(chart.plot().yAxis->range().lower > 0 && chart.plot().yAxis->label().contains("cut at "));
        QVERIFY(chart.accessibleDescription().contains("the axis begins at "));
        int truncates = 0;
        for (int index = 0; index < chart.plot().itemCount(); ++index) {
            auto* line = qobject_cast<QCPItemLine*>(chart.plot().item(index));
            truncates += line && line->pen().width() == 3 ? 1 : 0;
        }
        QCOMPARE(truncates, 4);  // two across the column of each run
        const WorkerComparison large = pairWith(20'000'000, {{StepPart::Compute, 60'000'000}});
        chart.setPair(&large);
        QCOMPARE(chart.plot().yAxis->range().lower, 0.0);
        QVERIFY(!chart.plot().yAxis->label().contains("clipped"));
        QVERIFY(!chart.accessibleDescription().contains("axis"));
    }

    void axisTitleIsNeverTruncated() {
        const WorkerComparison pair = pairWith(50'000'000, {{StepPart::Compute, 2'000'000}});
        WaterfallChart chart;
        chart.setPair(&pair);
        chart.show();
        for (const int height : {400, 190, 170, 140, 110}) {
            chart.resize(600, height);
            chart.plot().replot();
            const QRect axis = chart.plot().axisRect()->rect();
            // It is written upwards in the middle of the axis.
            const int room = 2 * std::min(axis.center().y(), height - axis.center().y());
            const QFontMetrics metrics(chart.plot().yAxis->labelFont());
            for (const QString& line : chart.plot().yAxis->label().split(QLatin1Char('\n')))
                QVERIFY2(metrics.horizontalAdvance(line) <= room, qPrintable(line));
        }
    }

    void waterfallLeavesRoomForEachNameAndNumber() {
        const WorkerComparison pair = pairWith(50'000'000, {{StepPart::Compute, -3'000'000},
                                                            {StepPart::ExposedCommunication, 9'000'000},
                                                            {StepPart::DataLoading, 2'000'000},
                                                            {StepPart::LaunchBound, 1'900'000},
                                                            {StepPart::Synchronization, 1'800'000},
                                                            {StepPart::OtherIdle, 1'700'000}});
        WaterfallChart chart;
        chart.setPair(&pair);
        chart.show();
        size_t fewer = 7;
        for (const int width : {1400, 800, 500, 360}) {
            chart.resize(width, 170);
            chart.plot().replot();
            QVERIFY(chart.parts().size() <= fewer);
            fewer = chart.parts().size();
            std::vector<QRectF> numbers;
            for (int index = 0; index < chart.plot().itemCount(); ++index)
                if (auto* text = qobject_cast<QCPItemText*>(chart.plot().item(index)))
                    numbers.push_back({text->topLeft->pixelPosition(), text->bottomRight->pixelPosition()});
            for (size_t a = 0; a < numbers.size(); ++a) {
                QVERIFY(numbers[a].left() >= 0 && numbers[a].right() <= width);
                for (size_t b = 0; b < a; ++b)
                    QVERIFY2(!numbers[a].intersects(numbers[b]),
                             qPrintable(QString("%1 of %2").arg(width).arg(chart.width())));
            }
        }
        QVERIFY(fewer < 4);
    }

    void laneNumbersTheLargestDifferencesFirst() {
        VisibleRange range;
        const QObject owner;
        range.setExtent(&owner, {0, 20'000});
        DifferenceLane lane(range);
        lane.resize(800, lane.preferredHeight());
        std::vector<StepDifference> steps;
        for (int i = 0; i < 20; ++i) steps.push_back({i, "", 0, 900, i * 1'000, i == 7 || i == 15 ? 5'900 : 910, 0});
        lane.setSteps(steps, 0);
        QStringList texts;
        for (const DifferenceLane::Number& number : lane.numbers()) texts << number.text;
        QCOMPARE(texts, (QStringList{"+5.00 µs", "+5.00 µs"}));
    }

    void laneFindsTheStepUnderThePointer() {
        VisibleRange range;
        const QObject owner;
        range.setExtent(&owner, {0, 3'000});
        range.setRange({0, 3'000});
        DifferenceLane lane(range);
        lane.resize(300, lane.preferredHeight());
        // Three steps of 800 ns each, 200 ns apart, from 10 000 ns in candidate time.
        std::vector<StepDifference> steps;
        for (int i = 0; i < 3; ++i) steps.push_back({i, "", 0, 700, 10'000 + i * 1'000, 800, 100 * (i + 1)});
        lane.setSteps(steps, 10'000);
        lane.show();
        QSignalSpy spy(&lane, &DifferenceLane::stepChosen);
        QTest::mouseClick(&lane, Qt::LeftButton, {}, {140, 10});
        QCOMPARE(spy.size(), 1);
        QCOMPARE(spy.first().first().toInt(), 1);
        QCOMPARE(lane.stepAt(95), -1);  // between two steps
        // It is painted at any zoom.
        range.setRange({1'500, 1'510});
        QVERIFY(!lane.grab().isNull());
        QCOMPARE(lane.stepAt(150), 1);
    }

    void columnsAndLineDoNotCoverTheNumbersOfTheLane() {
        for (const int64_t sign : {-1, 1}) {
            VisibleRange range;
            const QObject owner;
            range.setExtent(&owner, {0, 100'000});
            DifferenceLane lane(range);
            lane.resize(300, lane.preferredHeight());
            // Too narrow for numbers; first saved and later lost time, or vice versa.
            std::vector<StepDifference> steps;
            int64_t inAllNs = 0;
            for (int i = 0; i < 100; ++i) {
                const int64_t lostNs = sign * (i < 50 ? -300 : 500);
                inAllNs += lostNs;
                steps.push_back({i, "", 0, 900 - lostNs, i * 1'000, 900, inAllNs});
            }
            lane.setSteps(steps, 0);
            lane.show();
            const QImage image = lane.grab().toImage();
            const QRect numbers = lane.numbersArea();
            QVERIFY(numbers.height() >= lane.fontMetrics().height());
            QSet<QRgb> colors;
            for (int y = numbers.top(); y <= numbers.bottom(); ++y)
                for (int x = 0; x < image.width(); ++x) colors.insert(image.pixel(x, y));
            QCOMPARE(colors, QSet<QRgb>{Theme::light().canvas.rgb()});
            QSet<QRgb> above;
            for (int x = 0; x < image.width(); ++x)
                for (int y = 0; y < numbers.top(); ++y) above.insert(image.pixel(x, y));
            QVERIFY(above.size() > 3);
        }
    }

    void stepChartAcceptsRunsOfDifferentLength() {
        WorkerSummary a, b;
        for (int i = 0; i < 3; ++i) a.steps.push_back({i, "", i * 100, 90, {}});
        for (int i = 0; i < 5; ++i) b.steps.push_back({i, "", i * 100, 95, {}});
        StepChart chart;
        chart.resize(500, 180);
        chart.setSteps({&a, {}}, {&b, {}});
        QCOMPARE(chart.stepCount(), 5);
        chart.setChosen(4);
        QVERIFY(!chart.grab().isNull());
        chart.setSteps({&a, {}}, {});
        QCOMPARE(test::listed(chart.stepCount(), chart.chosen()), "3 | -1");
        chart.setSteps({}, {});
        QVERIFY(!chart.grab().isNull());
    }

    void stepLegendFitsItsWidth() {
        WorkerSummary a, b;
        for (int i = 0; i < 3; ++i) a.steps.push_back({i, "", i * 100, 90, {}});
        for (int i = 0; i < 3; ++i) b.steps.push_back({i, "", i * 100, 95, {}});
        StepDistribution slow, fast;
        slow.medianNs = 77'000'000;
        fast.medianNs = 81'000'000;
        StepChart chart;
        chart.setSteps({&a, slow}, {&b, fast});
        chart.show();
        qsizetype longer = 0;
        for (const int width : {320, 420, 640, 1'000}) {
            chart.resize(width, 170);
            QApplication::processEvents();
            auto& plot = *chart.findChild<QCustomPlot*>();
            plot.replot();
            std::vector<QRectF> texts;
            qsizetype length = 0;
            for (int index = 0; index < plot.itemCount(); ++index)
                if (auto* text = qobject_cast<QCPItemText*>(plot.item(index))) {
                    texts.push_back({text->topLeft->pixelPosition(), text->bottomRight->pixelPosition()});
                    length += text->text().size();
                }
            QCOMPARE(texts.size(), size_t(2));
            QVERIFY(!texts[0].intersects(texts[1]));
            QVERIFY(length >= longer);
            longer = length;
        }
        QVERIFY(longer > 40);
    }

    void thousandsOfStepsShowTheirLongest() {
        // One long step among many indistinguishably narrow ones.
        const auto pictureOf = [](int longest) {
            WorkerSummary worker;
            for (int i = 0; i < 25'000; ++i) worker.steps.push_back({i, "", i * 100, i == longest ? 400 : 90, {}});
            StepChart chart;
            chart.resize(500, 180);
            chart.setSteps({&worker, {}}, {});
            auto* const plot = chart.findChild<QCustomPlot*>();
            const auto* const bars = plot->findChild<QCPBars*>();
            double greatest = 0;
            for (auto bar = bars->data()->constBegin(); bar != bars->data()->constEnd(); ++bar)
                greatest = std::max(greatest, bar->value);
            return std::pair(bars->data()->size(), greatest);
        };
        const auto [count, greatest] = pictureOf(12'345);
        const auto [countOfEven, maxOfEven] = pictureOf(-1);
        QVERIFY(count > 500 && count <= 1100);
        QCOMPARE(test::listed(count, greatest / maxOfEven), test::listed(countOfEven, 400.0 / 90.0));
    }
};

LANESCOPE_TEST(TestCompareParts, QApplication)
#include "tst_CompareParts.moc"
