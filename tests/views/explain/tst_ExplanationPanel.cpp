// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "model/explain/rules.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "tests/views/explain/madeRun.h"
#include "views/explain/ExplanationPanel.h"
#include "views/explain/IdlePanel.h"

using namespace lanescope;
using namespace lanescope::explain;
using namespace lanescope::views;

Q_DECLARE_METATYPE(lanescope::explain::Finding)

namespace {

struct Shown {
    explicit Shown(ExplainedRunPtr run, int width = 900) {
        card.setRun(std::move(run));
        card.resize(width, card.sizeHint().height());
        card.show();
    }
    std::vector<const Rule*> rules() const {
        std::vector<const Rule*> found;
        for (const Finding& finding : card.explanation().findings) found.push_back(finding.rule);
        return found;
    }
    ExplanationPanel card;
};

/// Selects a command of the menu that opens next.
void chooseInMenu(const QString& text) {
    QTimer::singleShot(0, [text] {
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        QVERIFY(menu);
        for (QAction* action : menu->actions())
            if (action->text().contains(text)) {
                QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(action).center());
                return;
            }
        menu->close();
        QFAIL(qPrintable("no command " + text));
    });
}

}  // namespace

class TestExplanationPanel : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase() { qRegisterMetaType<Finding>(); }

    void panelShowsTheExplanation() {
        Shown shown(madeRun(1, 20));
        QVERIFY(shown.card.hasContent() && shown.card.sentence().startsWith("The GPU computes"));
        QCOMPARE(shown.rules().front(), &launchBoundRule);
        QCOMPARE(shown.card.findings().size(), shown.rules().size());
        const FindingButton& first = *shown.card.findings().front();
        QCOMPARE(first.text().gain, QString::fromUtf8("\u2264 5.00 ms (27.0 %)"));
        QCOMPARE(first.text().brief, QString("GPU waits for launches: host code"));
        QVERIFY(first.text().sentence.startsWith("The GPU waits 5.000 ms of a step"));
        QVERIFY(!ExplanationPanel().hasContent());
        const auto labels = shown.card.findChildren<QLabel*>();
        QVERIFY(std::ranges::any_of(labels, [&](const QLabel* each) {
            return each->accessibleDescription().toStdString() == shown.card.explanation().steps;
        }));
    }

    void estimateIsShownInsteadOfTheBound() {
        analysis::RunSummary run = madeSummary(1, 20);
        // The mean step takes 18.5 ms.
        run.workers[0].kernels = {{.family = KernelFamily::Elementwise,
                                   .sequence = analysis::KernelSequence::Chain,
                                   .count = 80,
                                   .exposedNs = 20 * 6 * ms,
                                   .sequences = 20,
                                   .savedNs = 20 * 3 * ms}};
        run.workers[0].kernels[0].name = "void at::native::vectorized_elementwise_kernel<4>()";
        Shown shown(std::make_shared<const ExplainedRun>(run));
        const std::vector<const Rule*> rules = shown.rules();
        const auto chains = std::ranges::find(rules, &unfusedChainsRule);
        QVERIFY(chains != rules.end());
        QCOMPARE(shown.card.findings()[size_t(chains - rules.begin())]->text().gain, QString("≈ 3.00 ms (16.2 %)"));
    }

    void clickAndEnterLeadToTheFinding() {
        Shown shown(madeRun(1, 20));
        QSignalSpy activated(&shown.card, &ExplanationPanel::findingActivated);
        QTest::mouseClick(shown.card.findings()[0], Qt::LeftButton);
        QCOMPARE(activated.size(), 1);
        QCOMPARE(activated[0][0].value<Finding>().rule, &launchBoundRule);
        QVERIFY(QTest::qWaitForWindowActive(&shown.card));
        shown.card.focusFirst();
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Down);
        QCOMPARE(QApplication::focusWidget(), shown.card.findings()[1]);
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
        QCOMPARE(activated.size(), 2);
        QCOMPARE(activated[1][0].value<Finding>().rule, shown.rules()[1]);
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Up);
        QCOMPARE(QApplication::focusWidget(), shown.card.findings()[0]);
        QSignalSpy closed(&shown.card, &ExplanationPanel::closed);
        QSignalSpy undone(&shown.card, &ExplanationPanel::undoRequested);
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
        QCOMPARE(test::listed(undone.size(), closed.size()), "1 | 0");
    }

    void findingIsOneLineWithItsDetailsBelowOnClick() {
        Shown shown(madeRun(1, 20));
        const int low = shown.card.sizeHint().height();
        for (size_t each = 0; each < shown.card.findings().size(); ++each)
            QVERIFY(!shown.card.details(each)->isVisible());
        QTest::mouseClick(shown.card.findings()[0], Qt::LeftButton);
        QCOMPARE(shown.card.openFinding(), std::optional<size_t>(0));
        QVERIFY(shown.card.details(0)->isVisible());
        for (const QString& text :
             {shown.card.findings()[0]->text().sentence, QString("Potential saving"), QString("Try:")})
            QVERIFY2(shown.card.details(0)->text().contains(text), qPrintable(shown.card.details(0)->text()));
        QVERIFY(shown.card.sizeHint().height() > low);
        // Only one is open at a time.
        QTest::mouseClick(shown.card.findings()[1], Qt::LeftButton);
        QVERIFY(!shown.card.details(0)->isVisible() && shown.card.details(1)->isVisible());
        QTest::mouseClick(shown.card.findings()[1], Qt::LeftButton);
        QVERIFY(!shown.card.details(1)->isVisible());
        QCOMPARE(shown.card.sizeHint().height(), low);
    }

    void focusIsVisibleAndTheTipNamesItsKey() {
        Shown shown(madeRun(1, 20));
        QVERIFY(QTest::qWaitForWindowActive(&shown.card));
        FindingButton& first = *shown.card.findings()[0];
        const auto edge = [&first] { return first.grab().toImage().pixelColor(first.width() / 2, 1); };
        const QColor without = edge();
        QTest::keyClick(&shown.card, Qt::Key_Tab);
        shown.card.focusFirst();
        QTRY_VERIFY(first.hasFocus());
        QVERIFY(edge() != without);
        QVERIFY(child<QToolButton>(shown.card, "close").toolTip().contains("F7"));
    }

    void everyPartIsReachableByTab() {
        Shown shown(madeRun(1, 20));
        QVERIFY(QTest::qWaitForWindowActive(&shown.card));
        shown.card.focusFirst();
        QSet<QWidget*> seen;
        for (int tabs = 0; tabs < 20; ++tabs) {
            seen.insert(QApplication::focusWidget());
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        }
        for (FindingButton* button : shown.card.findings()) QVERIFY(seen.contains(button));
        QVERIFY(seen.contains(shown.card.queryButton(0)));
        QVERIFY(seen.contains(&child<QToolButton>(shown.card, "close")));
    }

    void buttonOpensTheSqlQuery() {
        Shown shown(madeRun(1, 20));
        QSignalSpy asked(&shown.card, &ExplanationPanel::queryRequested);
        QTest::mouseClick(shown.card.queryButton(0), Qt::LeftButton);
        QCOMPARE(asked.size(), 1);
        QCOMPARE(asked[0][0].toString().toStdString(), shown.card.explanation().findings[0].sql);
    }

    void rulesAreMutedAndUnmuted() {
        Shown shown(madeRun(1, 20));
        chooseInMenu("Ignore the rule launch_bound");
        emit shown.card.findings()[0]->customContextMenuRequested({5, 5});
        QCOMPARE(shown.card.muted(), (std::set{&launchBoundRule}));
        QVERIFY(shown.rules().front() != &launchBoundRule && !shown.card.sentence().isEmpty());
        chooseInMenu("Show findings of all rules");
        emit shown.card.findings()[0]->customContextMenuRequested({5, 5});
        QVERIFY(shown.card.muted().empty());
        QCOMPARE(shown.rules().front(), &launchBoundRule);
    }

    /// For example in the banner over the timeline.
    void noteOfTheBannerIsNotRepeated() {
        analysis::RunSummary run = madeSummary(1, 20);
        const std::string stolen = "The host of this virtual machine kept 0.5 of a core from it.";
        run.facts.healthWarnings.push_back({Severity::Warning, HealthCode::CpuStolen, stolen});
        Shown shown(std::make_shared<const ExplainedRun>(run));
        const auto isReported = [&] {
            return std::ranges::any_of(shown.card.findChildren<QLabel*>(), [&](const QLabel* each) {
                return !each->isHidden() && each->text().contains(QString::fromStdString(stolen));
            });
        };
        QVERIFY(isReported());
        shown.card.setShownCaveat("Something else.");
        QVERIFY(isReported());
        shown.card.setShownCaveat(stolen);
        QVERIFY(!isReported());
        // The explanation itself contains it.
        QVERIFY(std::ranges::count(shown.card.explanation().caveats, stolen) == 1);
        shown.card.setShownCaveat({});
        QVERIFY(isReported());
    }

    void findingIsCopied() {
        Shown shown(madeRun(1, 20));
        chooseInMenu("Copy the sentence");
        emit shown.card.findings()[0]->customContextMenuRequested({5, 5});
        QCOMPARE(QApplication::clipboard()->text(), shown.card.findings()[0]->text().sentence);
    }

    void causeOfAGapKeepsItsWords() {
        analysis::GapCause cause{analysis::StepPart::DataLoading, analysis::IdleCause{}, "fetch", 1};
        cause.name.idle.kind = analysis::CauseKind::LoadingRange;
        QCOMPARE(causeText(cause), QString("waiting for data: loading data (NVTX range), in fetch"));
    }

    void namesAreNoMarkup() {
        analysis::RunSummary made = madeSummary(1, 20);
        for (auto& each : made.workers[0].contributors) each.path = "<b>big</b>\n<img src=x>";
        Shown shown(std::make_shared<const ExplainedRun>(std::move(made)));
        const FindingButton& first = *shown.card.findings().front();
        QVERIFY(first.text().sentence.contains("<b>big</b> <img"));
        for (const char* part : {"<b>", "<img"}) QVERIFY2(!first.toolTip().contains(part), part);
    }

    void narrowPanelKeepsItsWidth() {
        Shown shown(madeRun(4, 20), 480);
        QVERIFY(shown.card.minimumSizeHint().width() <= 480);
        for (const FindingButton* button : shown.card.findings()) QVERIFY(button->geometry().right() < 480);
        shown.card.setMaxLines(1);
        const int low = shown.card.sizeHint().height();
        shown.card.setMaxLines(3);
        QVERIFY(shown.card.sizeHint().height() > low);
    }
};

LANESCOPE_TEST(TestExplanationPanel, QApplication)
#include "tst_ExplanationPanel.moc"
