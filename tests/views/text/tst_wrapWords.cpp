// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>

#include "tests/support/runTest.h"
#include "views/text/shownText.h"

using namespace lanescope::views;

class TestWrapWords : public QObject {
    Q_OBJECT
  private slots:
    void everyLineFitsAndNoWordIsLost() {
        const QFontMetrics metrics(QApplication::font());
        const QString text = "The GPU waits 6.939 ms of a step for work to be launched";
        for (int width = 120; width < 600; width += 7)
            for (const int indent : {0, 60, 110}) {
                const QStringList lines = wrapWords(text, metrics, {width, indent, 40});
                QCOMPARE(lines.join(' ').trimmed(), text);
                for (qsizetype line = 0; line < lines.size(); ++line)
                    QVERIFY(metrics.horizontalAdvance(lines[line]) <= width - (line == 0 ? indent : 0));
            }
    }

    void firstLineIsEmptyIfNoWordFitsNextToItsPrefix() {
        const QFontMetrics metrics(QApplication::font());
        const QStringList lines = wrapWords("synchronization of streams", metrics, {200, 190, 9});
        QVERIFY(lines.size() >= 2);
        QCOMPARE(lines.front(), QString());
        QVERIFY(lines[1].startsWith("synchronization"));
    }

    void overflowEndsInAnEllipsis() {
        const QFontMetrics metrics(QApplication::font());
        const QStringList few = wrapWords("one two three four five six", metrics, {60, 0, 2});
        QCOMPARE(few.size(), 2);
        QVERIFY(few.back().endsWith(QChar(0x2026)));
        // A word may have any length.
        const QStringList one = wrapWords(QString(9'000, 'x'), metrics, {100, 0, 6});
        QCOMPARE(one.size(), 1);
        QVERIFY(metrics.horizontalAdvance(one.front()) <= 100);
        QCOMPARE(wrapWords({}, metrics, {100, 0, 6}), QStringList{QString()});
    }
};

LANESCOPE_TEST(TestWrapWords, QApplication)
#include "tst_wrapWords.moc"
