// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/HitNavigator.h"
#include "app/viewer/SearchBar.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "views/timeline/TimelineView.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;

namespace {

struct Searched {
    Searched() {
        SimulatedTrace builder;
        for (int i = 0; i < 3; ++i) {
            builder.addKernel(builder.defaultStream(), "gemm", i * 1'000'000, i * 1'000'000 + 500'000);
        }
        builder.addKernel(builder.defaultStream(), "softmax", 3'000'000, 3'500'000);
        timeline.resize(900, 500);
        timeline.setTrace(builder.finish());
        bar.setNavigator(&navigator);
        timeline.show();
        bar.show();
    }
    bool wait(int count) {
        return QTest::qWaitFor([&] { return !navigator.isSearching() && navigator.count() == qint64(count); });
    }
    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) { QTest::keyClick(&bar.edit(), key, modifiers); }
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
        // Typing alone moves nothing.
        QVERIFY(!searched.timeline.state().selection().event().isValid());
    }

    void enterGoesFromHitToHitAndWrapsAround() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        for (const int expected : {0, 1, 2, 0}) {
            searched.key(Qt::Key_Return);
            QCOMPARE(searched.navigator.current(), qint64(expected));
            QCOMPARE(searched.timeline.state().selection().event(), EventRef(EventKind::Kernel, uint32_t(expected)));
            QCOMPARE(searched.bar.countText(), QString("%1 of 3").arg(expected + 1));
        }
    }

    void shiftEnterGoesBack() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        searched.key(Qt::Key_Return);
        searched.key(Qt::Key_Return, Qt::ShiftModifier);
        QCOMPARE(searched.navigator.current(), qint64(2));
    }

    void enterAfterTypingWaitsForTheSearch() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "softmax");
        searched.key(Qt::Key_Return);
        QTRY_COMPARE(searched.timeline.state().selection().event(), EventRef(EventKind::Kernel, 3));
        QTRY_COMPARE(searched.bar.countText(), QString("1 of 1"));
    }

    void enterAfterAChangedTextGoesToTheNewHits() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        searched.key(Qt::Key_Return);
        searched.bar.edit().setText("softmax");
        searched.key(Qt::Key_Return);
        QTRY_COMPARE(searched.timeline.state().selection().event(), EventRef(EventKind::Kernel, 3));
    }

    void firstStepStartsAtTheVisibleRange() {
        Searched searched;
        searched.timeline.state().range().axis().setRange({900'000, 2'600'000});
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        searched.key(Qt::Key_Return);
        QCOMPARE(searched.navigator.current(), qint64(1));
    }

    void missingTextIsReported() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "nothing like this");
        QTRY_COMPARE(searched.bar.countText(), QString("no hits"));
        searched.key(Qt::Key_Return);
        QCOMPARE(searched.navigator.current(), qint64(-1));
    }

    void toggleSearchesAnExpression() {
        Searched searched;
        child<QToolButton>(searched.bar, "expression").click();
        QVERIFY(child<QToolButton>(searched.bar, "expression").isChecked());
        QTest::keyClicks(&searched.bar.edit(), "^(soft|hard)max$");
        QVERIFY(searched.wait(1));
        QCOMPARE(searched.bar.countText(), QString("1 hit"));
        // The same text as a substring is another search.
        child<QToolButton>(searched.bar, "expression").click();
        QTRY_COMPARE(searched.bar.countText(), QString("no hits"));
    }

    void wrongExpressionIsExplained() {
        Searched searched;
        child<QToolButton>(searched.bar, "expression").click();
        QTest::keyClicks(&searched.bar.edit(), "gemm(");
        QTRY_VERIFY(searched.bar.countText().startsWith("Not a regular expression"));
        QCOMPARE(searched.navigator.count(), qint64(0));
        searched.key(Qt::Key_Return);
        QCOMPARE(searched.navigator.current(), qint64(-1));
        searched.key(Qt::Key_Backspace);
        QVERIFY(searched.wait(3));
        QCOMPARE(searched.bar.countText(), QString("3 hits"));
    }

    void hitsOfTwoTimelinesAreSortedByTime() {
        const auto traceAt = [](int64_t offsetNs) {
            SimulatedTrace builder;
            for (int i = 0; i < 4; ++i)
                builder.addKernel(builder.defaultStream(), "gemm", offsetNs + i * 1'000, offsetNs + i * 1'000 + 100);
            return builder.finish();
        };
        TimelineView first, second;
        first.setTrace(traceAt(0));
        second.setTrace(traceAt(5'500));
        second.state().range().setOrigin(5'000);
        HitNavigator navigator({&first, &second});
        navigator.search("gemm");
        QTRY_COMPARE(navigator.count(), qint64(8));
        QTRY_VERIFY(!navigator.isSearching());
        for (int index = 0; index < 8; ++index) {
            const HitNavigator::Hit hit = navigator.hit(index);
            QCOMPARE(hit.timeline, index % 2 == 0 ? &first : &second);
            QCOMPARE(hit.event, EventRef(EventKind::Kernel, uint32_t(index / 2)));
        }
    }

    void escapeClearsAndReturnsTheFocus() {
        Searched searched;
        QSignalSpy dismissed(&searched.bar, &SearchBar::dismissed);
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        searched.key(Qt::Key_Escape);
        QCOMPARE(dismissed.count(), 1);
        QCOMPARE(searched.navigator.count(), qint64(0));
        QVERIFY(searched.bar.countText().isEmpty());
    }

    void crossClears() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        QAction* cross = searched.bar.edit().actions().front();
        QVERIFY(cross->isVisible());
        cross->trigger();
        QTRY_COMPARE(searched.navigator.count(), qint64(0));
        QVERIFY(!cross->isVisible());
    }

    void withoutDocumentItIsOff() {
        SearchBar bar;
        QVERIFY(!bar.isEnabled());
        bar.next();
    }
};

LANESCOPE_TEST(TestSearchBar, QApplication)
#include "tst_SearchBar.moc"
