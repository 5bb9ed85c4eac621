// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "model/reports/describeTrace.h"
#include "model/trace/healthNotes.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "views/details/DetailsPanel.h"
#include "views/details/WarningPanel.h"
#include "views/text/shownText.h"

using namespace lanescope;
using namespace lanescope::views;

class TestWarningBar : public QObject {
    Q_OBJECT
  private slots:
    void isInvisibleWithoutLosses() {
        QWidget window;
        WarningBar bar(&window);
        window.show();
        bar.setNotes({});
        QVERIFY(!bar.isVisible());
        bar.setNotes({{Severity::Info, HealthCode::Untimed, "12 calls were not timed."}});
        QVERIFY(!bar.isVisible());
    }

    void showsTheMostSevereNoteAndTheNumberOfOthers() {
        QWidget window;
        WarningBar bar(&window);
        window.show();
        bar.setNotes({{Severity::Warning, HealthCode::LogGap, "3 blocks of records were lost."},
                      {Severity::Error, HealthCode::ProcessEndedAbnormally, "4242 is gone."},
                      {Severity::Info, HealthCode::Untimed, "12 calls were not timed."}});
        QVERIFY(bar.isVisible());
        QCOMPARE(bar.text(), QString("4242 is gone."));
        const auto buttons = bar.findChildren<QToolButton*>();
        QCOMPARE(buttons.front()->text(), QString("1 more"));
        QSignalSpy details(&bar, &WarningBar::detailsRequested);
        QTest::mouseClick(buttons.front(), Qt::LeftButton);
        QCOMPARE(details.count(), 1);
        QTest::mouseClick(buttons.back(), Qt::LeftButton);
        QVERIFY(!bar.isVisible());
    }

    void notesOfOtherToolsAreUnwrapped() {
        QWidget window;
        WarningBar bar(&window);
        bar.setNotes({{Severity::Warning, HealthCode::LogGap, "No samples.\n  Try:\n\tsudo."}});
        QCOMPARE(bar.text(), QString("No samples. Try: sudo."));
    }

    void panelListsEveryNoteMostSevereFirst() {
        TraceBuilder builder;
        builder.note({Severity::Info, HealthCode::Windows, "Information."});
        builder.note({Severity::Error, HealthCode::LogDamaged, "Grave."});
        builder.note({Severity::Info, HealthCode::Windows, "Information.", 7});
        builder.count("kernels", 1'234, 5);
        builder.finish();
        WarningPanel panel;
        panel.setTrace(builder.take());
        const QString text = child<FactSheet>(panel, "notes").text();
        QVERIFY(text.indexOf("Grave.") >= 0);
        QVERIFY(text.indexOf("Grave.") < text.indexOf("Information."));
        QCOMPARE(text.count("Information."), 1);
        QVERIFY(text.contains("1,234, 5 of them without a time"));
    }

    /// `lanescope info` prints the same description.
    void panelShowsTheWholeDescription() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 100);
        TraceDescription& trace = builder.description();
        trace.facts.commandLine = "python3 train.py";
        trace.facts.others = {{"brandNew", "yes"}};
        builder.processes()[0].facts.edit().cuptiVersion = 130001;
        builder.addGap(0, Loss::NcclEvents, 10, 20, 5);
        HealthNote unknown{Severity::Warning, HealthCode::Unknown, "Something new happened."};
        unknown.unknownCode = "brand-new";
        trace.health = {unknown, unknown};
        const TracePtr made = builder.finish();
        WarningPanel panel;
        panel.setTrace(made);
        const QString notes = child<FactSheet>(panel, "notes").text();
        const QString facts = child<FactSheet>(panel, "facts").text();
        const DescribedTrace description = describeTrace(*made);
        QCOMPARE(description.health.size(), size_t{1});
        for (const HealthNote& note : description.health) QCOMPARE(notes.count(toQString(shownText(note))), 1);
        QVERIFY(notes.contains("brand-new"));
        for (const Property& fact : description.run)
            QVERIFY2(facts.contains(toQString(fact.name)) && facts.contains(toQString(fact.value)), fact.name.c_str());
        for (const auto& things : {description.gpus, description.processes})
            for (const DescribedThing& thing : things) {
                QVERIFY2(facts.contains(toQString(thing.title)), thing.title.c_str());
                for (const Property& fact : thing.facts)
                    QVERIFY2(facts.contains(toQString(fact.value)), fact.name.c_str());
            }
        QVERIFY(facts.contains("5 NCCL events"));
        QVERIFY2(!facts.contains("commandLine") && !facts.contains("PID 4242)"), qPrintable(facts));
    }
};

LANESCOPE_TEST(TestWarningBar, QApplication)
#include "tst_WarningBar.moc"
