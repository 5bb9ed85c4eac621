// SPDX-License-Identifier: Apache-2.0
#include "model/format/optionValues.h"
#include "tests/support/runTest.h"

using namespace lanescope;

/// Tests of the small languages with one parser each: name patterns, times, step numbers.
class tst_parsing : public QObject {
    Q_OBJECT

  private slots:
    void matchesPatterns_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("pattern");
        QTest::addColumn<bool>("matches");
        const auto row = [](const char* text, const char* pattern, bool matches) {
            QTest::addRow("%s like %s", text, pattern) << text << pattern << matches;
        };
        row("python", "python", true);
        row("python3", "python", false);
        row("python", "python3", false);
        row("python3.11", "python*", true);
        row("python", "python*", true);
        row("xxabab", "*a*b*", true);
        row("xxabab", "*a*b*c", false);
        row("train", "t?ain", true);
        row("train", "train?", false);
        row("", "", true);
        row("", "*", true);
        row("", "a", false);
        row("", "?", false);
        row("aaaab", "*aab", true);
        row("aXbXc", "a*b*c", true);
        row("abc", "*d", false);
        row("f(float*, int)", "f(float*, int)", true);
        row("why?", "why?", true);
        // The pattern is the second argument.
        row("a*", "ab", false);
        row("ab", "a*", true);
    }
    void matchesPatterns() {
        QFETCH(QString, text);
        QFETCH(QString, pattern);
        QFETCH(bool, matches);
        QCOMPARE(matchesPattern(text.toStdString(), pattern.toStdString()), matches);
    }

    void manyStarsAreFast() {
        std::string pattern, text(20'000, 'a');
        for (int i = 0; i < 200; ++i) pattern += "a*";
        QVERIFY(!matchesPattern(text, pattern + "b"));
    }

    void durationsAreParsed_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<qint64>("ns");
        const auto row = [](const char* text, qint64 ns) { QTest::newRow(text) << text << ns; };
        row("2", 2'000'000'000);
        row("1.5 s", 1'500'000'000);
        row("18.9875ms", 18'987'500);
        row("  -3us ", -3'000);
        row("7 \xc2\xb5s", 7'000);
        row("7\xce\xbcs", 7'000);
        row("12ns", 12);
        row("0.6ns", 1);
        row(".5", 500'000'000);
        row("1.", 1'000'000'000);
        row("3min", 180'000'000'000);
        row("2 h", 7'200'000'000'000);
        row("0", 0);
        row("9000000000s", 9'000'000'000'000'000'000);
    }
    void durationsAreParsed() {
        QFETCH(QString, text);
        QFETCH(qint64, ns);
        QCOMPARE(qint64(parseDuration(text.toStdString()).value_or(-1)), ns);
    }

    void otherTextIsNoDuration() {
        for (const char* text : {"",    " ",   "s",   "soon", ".",    "-",   "--1",  "+1",          "1x",    "1 m s",
                                 "1e3", "inf", "nan", "-inf", "1..2", "1s2", "0x10", "9100000000s", "1e400", "5 sec"})
            QVERIFY2(!parseDuration(text), text);
        QVERIFY(!nsPerUnit(""));
    }

    void stepRangesAreParsed() {
        QCOMPARE(*parseStepRange("5-20"), (StepRange{5, 20}));
        QCOMPARE(*parseStepRange("7"), (StepRange{7, 7}));
        QCOMPARE(*parseStepRange("0-0"), (StepRange{0, 0}));
        QCOMPARE(parseStepRange("0-9223372036854775807")->last, std::numeric_limits<int64_t>::max());
        for (const char* text :
             {"", "-", "3-2", "-1", "1-", "-1-2", "a", "1-b", "1--2", " 1", "1 ", "9223372036854775808"})
            QVERIFY2(!parseStepRange(text), text);
    }
};

LANESCOPE_TEST(tst_parsing, NoApplication)
#include "tst_parsing.moc"
