#include <QAction>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>

#include "app/viewer/HitNavigator.h"
#include "app/viewer/SearchBar.h"
#include "tests/support/TraceBuilder.h"
#include "views/timeline/TimelineView.h"

using namespace lanescope;

namespace {

struct Searched {
    Searched() {
        TraceBuilder builder;
        for (int i = 0; i < 3; ++i) {
            builder.addKernel(builder.defaultStream(), "gemm", i * 1'000'000,
                              i * 1'000'000 + 500'000);
        }
        builder.addKernel(builder.defaultStream(), "softmax", 3'000'000, 3'500'000);
        timeline.resize(900, 500);
        timeline.setTrace(builder.finish());
        bar.setNavigator(&navigator);
        timeline.show();
        bar.show();
    }
    bool wait(int count) {
        return QTest::qWaitFor(
            [&] { return !navigator.isSearching() && navigator.count() == count; });
    }
    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
        QTest::keyClick(&bar.edit(), key, modifiers);
    }
    TimelineView timeline;
    HitNavigator navigator{{&timeline}};
    SearchBar bar;
};

}  // namespace

class TestSearchBar : public QObject {
    Q_OBJECT
  private slots:
    void findsWhileTyping() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        QCOMPARE(searched.bar.countText(), QString("3 hits"));
        QVERIFY(!searched.timeline.selectedEvent().isValid());  // typing alone moves nothing
    }

    void enterGoesFromHitToHitAndRound() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        for (const int expected : {0, 1, 2, 0}) {
            searched.key(Qt::Key_Return);
            QCOMPARE(searched.navigator.current(), expected);
            QCOMPARE(searched.timeline.selectedEvent(),
                     EventRef(EventKind::Kernel, uint32_t(expected)));
            QCOMPARE(searched.bar.countText(), QString("%1 of 3").arg(expected + 1));
        }
    }

    void shiftEnterGoesBack() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        searched.key(Qt::Key_Return);
        searched.key(Qt::Key_Return, Qt::ShiftModifier);
        QCOMPARE(searched.navigator.current(), 2);
    }

    void enterRightAfterTypingWaitsForTheSearch() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "softmax");
        searched.key(Qt::Key_Return);
        QTRY_COMPARE(searched.timeline.selectedEvent(), EventRef(EventKind::Kernel, 3));
        QCOMPARE(searched.bar.countText(), QString("1 of 1"));
    }

    void enterAfterAChangedTextGoesToTheNewHits() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        searched.key(Qt::Key_Return);
        searched.bar.edit().setText("softmax");
        searched.key(Qt::Key_Return);
        QTRY_COMPARE(searched.timeline.selectedEvent(), EventRef(EventKind::Kernel, 3));
    }

    void theFirstStepStartsWhereTheEyesAre() {
        Searched searched;
        searched.timeline.visibleRange()->setRange({900'000, 2'600'000});
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        searched.key(Qt::Key_Return);
        QCOMPARE(searched.navigator.current(), 1);
    }

    void whatIsNotThereIsSaid() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "nothing like this");
        QTRY_COMPARE(searched.bar.countText(), QString("no hits"));
        searched.key(Qt::Key_Return);
        QCOMPARE(searched.navigator.current(), -1);
    }

    void escapeClearsAndGivesTheKeyboardBack() {
        Searched searched;
        QSignalSpy dismissed(&searched.bar, &SearchBar::dismissed);
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        searched.key(Qt::Key_Escape);
        QCOMPARE(dismissed.count(), 1);
        QCOMPARE(searched.navigator.count(), 0);
        QVERIFY(searched.bar.countText().isEmpty());
    }

    void theCrossClears() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        QAction* cross = searched.bar.edit().actions().front();
        QVERIFY(cross->isVisible());
        cross->trigger();
        QTRY_COMPARE(searched.navigator.count(), 0);
        QVERIFY(!cross->isVisible());
    }

    void withoutADocumentItIsOff() {
        SearchBar bar;
        QVERIFY(!bar.isEnabled());
        bar.next();
    }
};

QTEST_MAIN(TestSearchBar)
#include "tst_SearchBar.moc"
