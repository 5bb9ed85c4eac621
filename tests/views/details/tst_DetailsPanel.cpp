// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "model/reports/describeTrace.h"
#include "model/trace/healthNotes.h"
#include "model/trace/kinds/eventFacts.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "views/details/DetailsPanel.h"
#include "views/details/WarningPanel.h"
#include "views/text/shownText.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

/// Position of the last `text` in the sheet, which is the link; (-1, -1) if absent.
QPoint linkPosition(const FactSheet& sheet, const QString& text) {
    QTextCursor end(sheet.document());
    end.movePosition(QTextCursor::End);
    QTextCursor cursor = sheet.document()->find(text, end, QTextDocument::FindBackward);
    if (cursor.isNull()) return {-1, -1};
    cursor.setPosition(cursor.selectionStart() + 1);
    return sheet.cursorRect(cursor).center();
}

}  // namespace

class TestDetailsPanel : public QObject {
    Q_OBJECT

  private slots:
    void showsEveryPropertyOfTheEvent() {
        SimulatedTrace builder;
        const EventRef kernel =
            builder.launch(builder.defaultThread(), builder.defaultStream(), "gemm", 1'000, 10'000, 30'000);
        const TracePtr trace = builder.finish();
        DetailsPanel panel;
        panel.setTrace(trace);
        panel.setEvent(kernel);
        const QString text = child<FactSheet>(panel).text();
        for (const Property& property : describe(*trace, kernel)) {
            QVERIFY2(text.contains(QString::fromStdString(property.name)), property.name.c_str());
            QVERIFY2(text.contains(QString::fromStdString(property.value)), property.value.c_str());
        }
    }

    void titleIsNotRepeated() {
        SimulatedTrace builder;
        const EventRef kernel =
            builder.launch(builder.defaultThread(), builder.defaultStream(), "gemm", 1'000, 10'000, 30'000);
        DetailsPanel panel;
        panel.setTrace(builder.finish());
        panel.setEvent(kernel);
        QVERIFY(child<FactSheet>(panel).text().startsWith("gemm\nKernel\n"));
    }

    void nothingIsShownTwice() {
        SimulatedTrace builder;
        const EventRef kernel =
            builder.launch(builder.defaultThread(), builder.defaultStream(), "gemm", 1'000, 10'000, 30'000);
        DetailsPanel panel;
        panel.setTrace(builder.finish());
        panel.setEvent(kernel);
        const QString text = child<FactSheet>(panel).text();
        QCOMPARE(test::listed(text.count("Launched by"), text.count("cudaLaunchKernel")), "1 | 1");
        QVERIFY2(text.startsWith("gemm\n") && !text.contains("\ngemm\n"), qPrintable(text));
    }

    void clickOnALinkLeadsFromTheKernelToItsCallAndBack() {
        SimulatedTrace builder;
        const EventRef kernel =
            builder.launch(builder.defaultThread(), builder.defaultStream(), "gemm", 1'000, 10'000, 30'000);
        const TracePtr trace = builder.finish();
        const EventRef call = trace->launchingCall(kernel);
        QVERIFY(call.isValid());
        DetailsPanel panel;
        panel.resize(360, 700);
        panel.setTrace(trace);
        panel.setEvent(kernel);
        panel.show();
        QVERIFY(QTest::qWaitForWindowExposed(&panel));
        QSignalSpy activated(&panel, &DetailsPanel::eventActivated);

        const auto clickOn = [&](EventRef event) {
            QTest::mouseClick(child<FactSheet>(panel).viewport(), Qt::LeftButton, {},
                              linkPosition(child<FactSheet>(panel), QString::fromStdString(trace->nameOf(event))));
        };
        clickOn(call);
        QCOMPARE(activated.count(), 1);
        QCOMPARE(activated.takeFirst().front().value<EventRef>(), call);

        panel.setEvent(call);
        clickOn(kernel);
        QCOMPARE(activated.count(), 1);
        QCOMPARE(activated.takeFirst().front().value<EventRef>(), kernel);
    }

    void clickOnALinkLeadsFromAnOperatorToItsBackwardAndBack() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        const EventRef forward = builder.addNvtx(thread, "aten::mm", 0, 100);
        const EventRef backward = builder.addNvtx(thread, "MmBackward0", 500, 700);
        builder.backward(forward, backward);
        const TracePtr trace = builder.finish();
        DetailsPanel panel;
        panel.resize(360, 700);
        panel.setTrace(trace);
        panel.show();
        QVERIFY(QTest::qWaitForWindowExposed(&panel));
        QSignalSpy activated(&panel, &DetailsPanel::eventActivated);
        const auto goes = [&](EventRef from, const char* heading, EventRef to) {
            panel.setEvent(from);
            QVERIFY(child<FactSheet>(panel).text().contains(heading));
            QTest::mouseClick(child<FactSheet>(panel).viewport(), Qt::LeftButton, {},
                              linkPosition(child<FactSheet>(panel), QString::fromStdString(trace->nameOf(to))));
            QCOMPARE(activated.count(), 1);
            QCOMPARE(activated.takeFirst().front().value<EventRef>(), to);
        };
        goes(forward, "Backward operator", backward);
        goes(backward, "Forward operator", forward);
    }

    void namesAreTakenLiterally() {
        SimulatedTrace builder;
        const EventRef range = builder.addNvtx(builder.defaultThread(), "<b>bold</b> & <img src='x'>", 0, 100);
        const TracePtr trace = builder.finish();
        DetailsPanel panel;
        panel.setTrace(trace);
        panel.setEvent(range);
        QVERIFY(child<FactSheet>(panel).text().contains("<b>bold</b> & <img src='x'>"));
    }

    void longNamesWrap() {
        SimulatedTrace builder;
        const EventRef kernel = builder.addKernel(builder.defaultStream(), std::string(600, 'k'), 0, 100);
        DetailsPanel panel;
        panel.resize(300, 600);
        panel.setTrace(builder.finish());
        panel.setEvent(kernel);
        panel.show();
        QVERIFY(child<FactSheet>(panel).document()->size().width() <= child<FactSheet>(panel).viewport()->width() + 1);
    }

    void namesBreakAtSensiblePlacesAndAreCopiedUnbroken() {
        const QString name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
        SimulatedTrace builder;
        const EventRef kernel = builder.addKernel(builder.defaultStream(), name.toStdString(), 0, 100);
        DetailsPanel panel;
        panel.resize(280, 600);
        panel.setTrace(builder.finish());
        panel.setEvent(kernel);
        panel.show();
        QVERIFY(QTest::qWaitForWindowExposed(&panel));
        FactSheet& sheet = child<FactSheet>(panel);
        const QTextBlock title = sheet.document()->firstBlock();
        QVERIFY(title.layout()->lineCount() > 1);
        for (int i = 0; i + 1 < title.layout()->lineCount(); ++i) {
            const QTextLine line = title.layout()->lineAt(i);
            const QString text = title.text().mid(line.textStart(), line.textLength()).remove(QChar(0x200b));
            QVERIFY2(QString("_,<>(/: ").contains(text.back()), qPrintable(text));
        }
        sheet.selectAll();
        sheet.copy();
        QVERIFY(QApplication::clipboard()->text().contains(name));
    }

    void withoutEventTheInstructionIsShown() {
        DetailsPanel panel;
        QVERIFY(child<FactSheet>(panel).text().contains("Click a slice"));
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 100);
        panel.setTrace(builder.finish());
        panel.setEvent(EventRef(EventKind::Kernel, 0));
        QVERIFY(!child<FactSheet>(panel).text().contains("Click a slice"));
        panel.setEvent({});
        QVERIFY(child<FactSheet>(panel).text().contains("Click a slice"));
    }

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
        QVERIFY(text.indexOf("Grave.") >= 0 && text.indexOf("Grave.") < text.indexOf("Information."));
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

LANESCOPE_TEST(TestDetailsPanel, QApplication)
#include "tst_DetailsPanel.moc"
