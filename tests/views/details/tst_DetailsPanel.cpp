// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "model/trace/kinds/eventFacts.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "views/details/DetailsPanel.h"

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
};

LANESCOPE_TEST(TestDetailsPanel, QApplication)
#include "tst_DetailsPanel.moc"
