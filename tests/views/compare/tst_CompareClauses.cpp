// SPDX-License-Identifier: GPL-3.0-or-later
//
// Tests that the sentence of a comparison leads to its evidence, and that several runs per side are
// one comparison.
#include <qcustomplot.h>
#include <QtWidgets>

#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/views/compare/ShownComparison.h"
#include "views/compare/AlignmentBar.h"
#include "views/compare/HeadlinePanel.h"
#include "views/compare/StepChart.h"
#include "views/tables/ReportModel.h"
#include "views/timeline/VisibleRange.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

QLabel* sentenceOf(HeadlinePanel& card) {
    for (QLabel* label : card.findChildren<QLabel*>())
        if (label->accessibleName() == "Answer") return label;
    return nullptr;
}

/// Position of the link to this clause, found by moving the pointer over the sentence.
QPoint placeOf(QLabel& label, int clause) {
    QString under;
    QObject context;
    QObject::connect(&label, &QLabel::linkHovered, &context, [&under](const QString& link) { under = link; });
    for (int y = 4; y < label.height(); y += 5) {
        for (int x = 2; x < label.width(); x += 6) {
            QTest::mouseMove(&label, QPoint(x, y));
            if (under == QString::number(clause)) return {x, y};
        }
    }
    return {-1, -1};
}

/// The first clause of the kind and, for a cause, of the part.
int clauseOf(const ShownComparison& compared, compare::ClauseKind kind, std::optional<analysis::StepPart> part = {}) {
    const auto& clauses = compared.view.runs()->comparisons.front().answer.clauses;
    for (size_t index = 0; index < clauses.size(); ++index)
        if (clauses[index].kind == kind && (!part || clauses[index].query->part == *part)) return int(index);
    return -1;
}

std::vector<TracePtr> runsOf(const std::vector<int64_t>& stepNs, const std::string& name) {
    std::vector<TracePtr> runs;
    for (const int64_t each : stepNs)
        runs.push_back(numberedSteps(std::vector<int64_t>(6, each), 0, name + std::to_string(runs.size() + 1)));
    return runs;
}

QComboBox* boxCalled(ShownComparison& compared, const QString& name) {
    for (QComboBox* box : compared.view.alignment().findChildren<QComboBox*>())
        if (box->accessibleName() == name) return box;
    return nullptr;
}

}  // namespace

class TestCompareClauses : public QObject {
    Q_OBJECT
  private slots:
    void clausesFormTheSentence() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        const compare::Answer& answer = compared.view.runs()->comparisons.front().answer;
        std::string joined;
        for (const compare::Clause& clause : answer.clauses) joined += clause.text;
        QCOMPARE(joined, answer.sentence);
        QCOMPARE(compared.view.headline().shownHeadline().simplified(), QString::fromStdString(answer.sentence));
    }

    void clickOnACauseSelectsItInBothRuns() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        QLabel* label = sentenceOf(compared.view.headline());
        QVERIFY(label);
        const int clause = clauseOf(compared, compare::ClauseKind::Cause, analysis::StepPart::Compute);
        QVERIFY(clause >= 0);
        const QPoint place = placeOf(*label, clause);
        QVERIFY(place.x() >= 0);
        QTest::mouseClick(label, Qt::LeftButton, {}, place);
        QTRY_VERIFY(!compared.view.isBusy());
        const EventRef before = compared.baseline().state().selection().event();
        const EventRef after = compared.candidate().state().selection().event();
        QVERIFY(before.isValid() && after.isValid());
        QCOMPARE(before.kind(), EventKind::Kernel);
        QCOMPARE(after.kind(), EventKind::Kernel);
        const TimeRange shown = compared.view.baseline().toTrace(compared.baseline().state().range().axis().range());
        const TimeRange kernel = compared.baseline().trace()->rangeOf(before);
        QVERIFY(shown.startNs <= kernel.startNs && kernel.endNs <= shown.endNs);
    }

    void idleCauseSelectsTheWorkAfterTheGap() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        const int clause = clauseOf(compared, compare::ClauseKind::Cause, analysis::StepPart::LaunchBound);
        QVERIFY(clause >= 0);
        QLabel* label = sentenceOf(compared.view.headline());
        QTest::mouseClick(label, Qt::LeftButton, {}, placeOf(*label, clause));
        QTRY_VERIFY(!compared.view.isBusy());
        QVERIFY(compared.baseline().state().selection().event().isValid());
        QVERIFY(compared.candidate().state().selection().event().isValid());
    }

    void keysReachEveryClause() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        QLabel* label = sentenceOf(compared.view.headline());
        QSignalSpy chosen(&compared.view.headline(), &HeadlinePanel::clauseChosen);
        label->setFocus(Qt::TabFocusReason);
        int links = 0;
        for (const compare::Clause& clause : compared.view.runs()->comparisons.front().answer.clauses)
            links += clause.hasEvidence() ? 1 : 0;
        QVERIFY(links >= 2);
        for (int link = 0; link < links; ++link) {
            QTest::keyClick(label, Qt::Key_Return);
            if (chosen.count() <= link) QTest::keyClick(label, Qt::Key_Tab);
            if (chosen.count() <= link) QTest::keyClick(label, Qt::Key_Return);
            QCOMPARE(chosen.count(), link + 1);
            QTest::keyClick(label, Qt::Key_Tab);
        }
        QVERIFY(chosen.first() != chosen.last());
        QTRY_VERIFY(!compared.view.isBusy());
        QVERIFY(compared.baseline().state().selection().event().isValid());
    }

    void namesInASentenceAreNoMarkup() {
        HeadlinePanel card;
        compare::Answer answer;
        answer.sentence = "in kernel <b>gemm</b> & more";
        answer.clauses = {{"in kernel "}, {"<b>gemm</b> & more", compare::ClauseKind::Step}};
        card.resize(600, 120);
        card.setAnswer(answer);
        card.show();
        QCOMPARE(card.shownHeadline(), QString("in kernel <b>gemm</b> & more"));
        QVERIFY(sentenceOf(card)->text().contains("&lt;b&gt;gemm"));
    }

    void severalRunsPerSideAreJudgedAsPrograms() {
        ShownComparison compared(runsOf({1'000'000, 1'010'000, 990'000}, "a"),
                                 runsOf({1'200'000, 1'190'000, 1'210'000}, "b"));
        QVERIFY(compared.wait());
        const QString sentence = compared.view.headline().headline();
        QVERIFY2(sentence.contains("slower") && sentence.contains("3 against 3 runs"), qPrintable(sentence));
        QVERIFY(!compared.table("Certain").model().table().rows.empty());
        int bands = 0;
        for (int item = 0; item < compared.view.steps().plot().itemCount(); ++item)
            bands += qobject_cast<QCPItemRect*>(compared.view.steps().plot().item(item)) ? 1 : 0;
        QCOMPARE(bands, 2);
    }

    void shownPairOfRunsCanBeChosen() {
        ShownComparison compared(runsOf({1'000'000, 1'010'000, 990'000}, "a"),
                                 runsOf({1'200'000, 1'190'000, 1'210'000}, "b"));
        QVERIFY(compared.wait());
        const QString sentence = compared.view.headline().headline();
        QCOMPARE(compared.baseline().trace()->title, std::string("a1"));
        QComboBox* box = boxCalled(compared, "Run of the candidate");
        QVERIFY(box && box->isVisible());
        box->setFocus();
        QTest::keyClick(box, Qt::Key_Down);
        QTest::keyClick(box, Qt::Key_Down);
        QVERIFY(compared.wait());
        QCOMPARE(compared.candidate().trace()->title, std::string("b3"));
        QCOMPARE(compared.baseline().trace()->title, std::string("a1"));
        QCOMPARE(compared.view.headline().headline(), sentence);  // the runs are the same
        compared.view.swapSides();
        QVERIFY(compared.wait());
        QVERIFY(compared.view.headline().headline().contains("faster"));
    }
};

LANESCOPE_TEST(TestCompareClauses, QApplication)
#include "tst_CompareClauses.moc"
