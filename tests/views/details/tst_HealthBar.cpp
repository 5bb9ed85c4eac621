#include <QApplication>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include "tests/support/runTest.h"
#include "views/details/FactSheet.h"
#include "views/details/HealthBar.h"
#include "views/details/HealthPanel.h"

using namespace lanescope;

class TestHealthBar : public QObject {
    Q_OBJECT
  private slots:
    void isHiddenWhileNothingWasLost() {
        QWidget window;
        HealthBar bar(&window);
        window.show();
        bar.setNotes({});
        QVERIFY(!bar.isVisible());
        bar.setNotes({{Severity::Info, "12 calls were not timed."}});
        QVERIFY(!bar.isVisible());
    }

    void showsTheGravestSentenceAndHowManyMoreThereAre() {
        QWidget window;
        HealthBar bar(&window);
        window.show();
        bar.setNotes({{Severity::Warning, "3 blocks of records were lost."},
                      {Severity::Error, "Process 4242 ended abnormally at 12.3 s."},
                      {Severity::Info, "12 calls were not timed."}});
        QVERIFY(bar.isVisible());
        QCOMPARE(bar.text(), QString("Process 4242 ended abnormally at 12.3 s."));
        const auto buttons = bar.findChildren<QToolButton*>();
        QCOMPARE(buttons.front()->text(), QString("1 more"));
        QSignalSpy details(&bar, &HealthBar::detailsRequested);
        QTest::mouseClick(buttons.front(), Qt::LeftButton);
        QCOMPARE(details.count(), 1);
        QTest::mouseClick(buttons.back(), Qt::LeftButton);
        QVERIFY(!bar.isVisible());
    }

    void thePanelListsEveryNoteGravestFirst() {
        auto trace = std::make_shared<Trace>();
        trace->health = {{Severity::Info, "Information."}, {Severity::Error, "Grave."}};
        trace->counts = {{"kernels", 1'234, 5}};
        HealthPanel panel;
        panel.setTrace(trace);
        const QString text = panel.notes().text();
        QVERIFY(text.indexOf("Grave.") >= 0);
        QVERIFY(text.indexOf("Grave.") < text.indexOf("Information."));
        QVERIFY(text.contains("1,234, 5 of them not timed"));
    }
};

LANESCOPE_TEST(TestHealthBar, QApplication)
#include "tst_HealthBar.moc"
