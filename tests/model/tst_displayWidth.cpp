// SPDX-License-Identifier: Apache-2.0
#include "model/pages/TextGrid.h"
#include "model/text/formatValue.h"
#include "tests/support/runTest.h"

using namespace lanescope;

class tst_displayWidth : public QObject {
    Q_OBJECT

  private slots:
    void wideCharactersTakeTwoColumns_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("width");
        QTest::newRow("nothing") << "" << 0;
        QTest::newRow("ASCII") << "step 12" << 7;
        QTest::newRow("accents") << "Größe é" << 7;
        QTest::newRow("Greek, arrows") << "λ → μ" << 5;
        QTest::newRow("Chinese") << "训练步骤" << 8;
        QTest::newRow("Japanese, full width") << "ステップＡ" << 10;
        QTest::newRow("Korean") << "단계" << 4;
        QTest::newRow("emoji") << "🔥 hot" << 6;
        QTest::newRow("ellipsis, middle dot") << "a…b·c" << 5;
    }
    void wideCharactersTakeTwoColumns() {
        QFETCH(QString, text);
        QFETCH(int, width);
        QCOMPARE(displayWidth(text.toStdString()), static_cast<size_t>(width));
    }

    /// Compared with adding letter by letter, at every width.
    void truncatesToTheWidth() {
        const std::vector<std::string> letters{"a", " ", "é", "训", "🔥", "…", "0"};
        std::mt19937 random(3);
        for (int round = 0; round < 200; ++round) {
            std::string text;
            std::vector<std::string> parts;
            for (size_t count = random() % 30; count-- > 0;) {
                parts.push_back(letters[random() % letters.size()]);
                text += parts.back();
            }
            for (size_t width = 0; width < 40; ++width) {
                std::string head, tail;
                size_t used = 0;
                for (const std::string& part : parts) {
                    used += displayWidth(part);
                    if (used > width) break;
                    head += part;
                }
                used = 0;
                for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
                    used += displayWidth(*part);
                    if (used > width) break;
                    tail = *part + tail;
                }
                QCOMPARE(prefixWithin(text, width), std::string_view(head));
                QCOMPARE(suffixWithin(text, width), std::string_view(tail));
                for (const std::string& cut : {elideEnd(text, width), elideMiddle(text, width)}) {
                    QVERIFY(displayWidth(cut) <= width);
                    if (displayWidth(text) <= width)
                        QCOMPARE(cut, text);
                    else if (width > 0)
                        QVERIFY(cut.find("…") != std::string::npos);
                }
            }
        }
    }

    void elisionKeepsBothEnds() {
        QCOMPARE(elideMiddle("abcdefghijklmnop", 11), std::string("abcdef…mnop"));
        QCOMPARE(elideEnd("abcdefghijklmnop", 11), std::string("abcdefghij…"));
        QCOMPARE(elideMiddle("训练步骤训练步骤", 7), std::string("训练…骤"));
    }

    void tablesOfWideCharactersAreAligned() {
        using report::TextGrid;
        TextGrid grid({TextGrid::Side::Left, TextGrid::Side::Right, TextGrid::Side::Left});
        grid.add({"训练", "1", "a name 训练步骤训练步骤 that is long"});
        grid.add({"step", "20", "b"});
        const std::string text = grid.text(30);
        const size_t end = text.find('\n');
        QVERIFY(displayWidth(text.substr(0, end)) <= 30);
        // Both numbers end in one column.
        QCOMPARE(displayWidth(text.substr(0, text.find('1'))), size_t{7});
        QCOMPARE(text.substr(end + 1), std::string("step  20  b\n"));
    }
};

LANESCOPE_TEST(tst_displayWidth, QCoreApplication)
#include "tst_displayWidth.moc"
