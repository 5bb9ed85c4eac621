// SPDX-License-Identifier: Apache-2.0
#include "model/compare/Condition.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;

namespace {

ConditionTest onlyTest(std::string_view text) {
    const Result<Condition> condition = parseCondition(text);
    if (!condition) qFatal("%s", condition.error().sentence.c_str());
    if (condition->tests.size() != 1) qFatal("not one test: %s", std::string(text).c_str());
    return condition->tests[0];
}

}  // namespace

class TestParseCondition : public QObject {
    Q_OBJECT

  private slots:
    void relativeStepTimeIsParsed() {
        const ConditionTest test = onlyTest("step.p50 > +3%");
        QVERIFY(test.subject == Subject::Step);
        QVERIFY(test.measure == Measure::Median);
        QVERIFY(test.relation == Relation::Greater);
        QVERIFY(test.threshold.kind == ThresholdKind::Percent);
        QCOMPARE(test.threshold.number, 3.0);
    }

    void everyRelationIsParsed() {
        QVERIFY(onlyTest("step>1ms").relation == Relation::Greater);
        QVERIFY(onlyTest("step>=1ms").relation == Relation::GreaterOrEqual);
        QVERIFY(onlyTest("step < 1 ms").relation == Relation::Less);
        QVERIFY(onlyTest("step <= 1 ms").relation == Relation::LessOrEqual);
    }

    void signMeansADifferenceAndNoSignTheValue() {
        const ConditionTest value = onlyTest("step > 70 ms");
        QVERIFY(value.threshold.kind == ThresholdKind::Value);
        QCOMPARE(value.threshold.number, 70e6);
        const ConditionTest difference = onlyTest("step > +2.5ms");
        QVERIFY(difference.threshold.kind == ThresholdKind::Difference);
        QCOMPARE(difference.threshold.number, 2.5e6);
        QCOMPARE(onlyTest("step < -2.5us").threshold.number, -2500.0);
        QVERIFY(onlyTest("step > 3%").threshold.kind == ThresholdKind::Percent);
    }

    void unitsMatchTheMeasure_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<double>("number");
        QTest::newRow("ns") << "step > 5 ns" << 5.0;
        QTest::newRow("us") << "step > 5us" << 5e3;
        QTest::newRow("micro") << "step > 5\u00b5s" << 5e3;
        QTest::newRow("ms") << "step > 5ms" << 5e6;
        QTest::newRow("s") << "step > 0.5 s" << 5e8;
        QTest::newRow("count") << "kernel k.count > 1000" << 1000.0;
        QTest::newRow("more") << "kernel k.count > +10" << 10.0;
        QTest::newRow("B") << "memset.bytes > 5 B" << 5.0;
        QTest::newRow("KiB") << "copy HtoD.bytes > 2KiB" << 2048.0;
        QTest::newRow("MB") << "copy HtoD.bytes > 2MB" << 2e6;
        QTest::newRow("GiB") << "copy HtoD.bytes > 1 GiB" << 1073741824.0;
        QTest::newRow("GB/s") << "copy HtoD.bandwidth < 40 GB/s" << 40.0;
        QTest::newRow("MB/s") << "collective AllReduce.bandwidth < 500MB/s" << 0.5;
        QTest::newRow("TB/s") << "copy DtoD.bandwidth < 1.5TB/s" << 1500.0;
    }

    void unitsMatchTheMeasure() {
        QFETCH(QString, text);
        QFETCH(double, number);
        QCOMPARE(onlyTest(text.toStdString()).threshold.number, number);
    }

    void namesMayBeQuoted() {
        QCOMPARE(onlyTest("kernel gemm > +3%").name, std::string("gemm"));
        QCOMPARE(onlyTest("kernel flash_fwd*.count > 3").name, std::string("flash_fwd*"));
        const ConditionTest quoted = onlyTest("kernel \"void f<float, 128>(float*, int)\".exposed > 1us");
        QCOMPARE(quoted.name, std::string("void f<float, 128>(float*, int)"));
        QVERIFY(quoted.measure == Measure::Exposed);
        QCOMPARE(onlyTest("kernel 'a.b > c' > 1us").name, std::string("a.b > c"));
        QCOMPARE(onlyTest("kernel \"a\\\"b\\\\c\" > 1us").name, std::string("a\"b\\c"));
        QCOMPARE(onlyTest("range step/backward > 1us").name, std::string("step/backward"));
        QCOMPARE(onlyTest("range \"layer #\" > 1us").name, std::string("layer #"));
        QCOMPARE(onlyTest("range \"\u00fcber\" > 1us").name, std::string("\u00fcber"));
    }

    void partsHaveSeveralSpellings() {
        for (const char* text :
             {"part exposed_communication > +1ms", "part exposed-communication > +1ms",
              "part \"Exposed Communication\" > +1ms", "part idle > 5%", "part copies.time > 5%", "part compute > 5%"})
            QVERIFY2(parseCondition(text).has_value(), text);
    }

    void missingMeasureIsTheFirst() {
        QVERIFY(onlyTest("step > 1ms").measure == Measure::Median);
        QVERIFY(onlyTest("step.median > 1ms").measure == Measure::Median);
        QVERIFY(onlyTest("kernel k > 1ms").measure == Measure::Time);
        QVERIFY(onlyTest("memset > 1ms").measure == Measure::Time);
    }

    void testsAreCombinedByAnd() {
        const Result<Condition> condition =
            parseCondition("slower and step.p95 > +3% and kernel k.count > 5 and memset > 1ms");
        QVERIFY(condition.has_value());
        QCOMPARE(condition->tests.size(), size_t{4});
        QVERIFY(condition->tests[0].subject == Subject::Slower);
        QVERIFY(condition->tests[2].measure == Measure::Count);
        QCOMPARE(condition->tests[2].threshold.number, 5.0);
    }

    void nonsenseIsAnErrorWithPosition_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("character");
        QTest::addColumn<QString>("mentions");
        QTest::newRow("empty") << "" << 1 << "ends where step, part";
        QTest::newRow("spaces") << "   " << 4 << "ends where";
        QTest::newRow("subject") << "steps > 3%" << 1 << "found \"steps\"";
        QTest::newRow("measure") << "step.p99 > 3%" << 6 << "p50, p95";
        QTest::newRow("measure of another") << "kernel k.p50 > 3%" << 10 << "time, exposed or count";
        QTest::newRow("no measure") << "step. > 3%" << 7 << "found \">\"";
        QTest::newRow("no relation") << "step.p50" << 9 << "ends where >";
        QTest::newRow("equals") << "step.p50 = 3%" << 10 << "found \"=\"";
        QTest::newRow("no number") << "step.p50 > fast" << 12 << "number";
        QTest::newRow("twice") << "step.p50 >> 3%" << 11 << "number";
        QTest::newRow("no unit") << "step.p50 > 3" << 13 << "there is none";
        QTest::newRow("other unit") << "step.p50 > 3 GB/s" << 14 << "not \"GB/s\"";
        QTest::newRow("unit of a count") << "step.count > 3 ms" << 16 << "nothing or %";
        QTest::newRow("half a number") << "step > .5 ms" << 8 << "number";
        QTest::newRow("point at the end") << "step > 5. ms" << 9 << "unit";
        QTest::newRow("exponent") << "step > 1e9 ns" << 9 << "not \"e\"";
        QTest::newRow("infinity") << "step > inf" << 8 << "number";
        QTest::newRow("two signs") << "step > +-3%" << 9 << "number";
        QTest::newRow("too large") << QString("step > %1 s").arg(QString(400, '9')) << 8 << "large";
        QTest::newRow("no name") << "kernel > 3%" << 8 << "name of a kernel";
        QTest::newRow("empty name") << "kernel \"\" > 3%" << 8 << "empty";
        QTest::newRow("open quote") << "kernel \"gemm > 3%" << 8 << "not closed";
        QTest::newRow("open escape") << "kernel \"gemm\\" << 8 << "not closed";
        QTest::newRow("part") << "part thinking > 3%" << 6 << "exposed_communication";
        QTest::newRow("rest") << "step > 3% 4" << 11 << "\"and\" or the end";
        QTest::newRow("or") << "slower or faster" << 8 << "found \"or\"";
        QTest::newRow("in nothing") << "slower in" << 10 << "a part of the step";
        QTest::newRow("in no part") << "slower in thinking" << 11 << "exposed_communication";
        QTest::newRow("in no range") << "slower in range" << 16 << "the name of a range";
        QTest::newRow("and nothing") << "slower and" << 11 << "ends where";
        QTest::newRow("characters count, not bytes") << "range \u00fc > ?" << 11 << "found \"?\"";
        QTest::newRow("more than ASCII") << "step > \u2265" << 8 << "found \"\u2265\"";
    }

    void nonsenseIsAnErrorWithPosition() {
        QFETCH(QString, text);
        QFETCH(int, character);
        QFETCH(QString, mentions);
        const Result<Condition> condition = parseCondition(text.toStdString());
        QVERIFY(!condition);
        const QString sentence = QString::fromStdString(condition.error().sentence);
        QVERIFY2(sentence.contains(mentions), qPrintable(sentence));
        QVERIFY2(sentence.contains(QString("at character %1:").arg(character)), qPrintable(sentence));
        QVERIFY(sentence.endsWith('.'));
        QVERIFY(!sentence.contains('\n'));
    }

    void controlCharactersAreEscaped() {
        const Result<Condition> condition = parseCondition("step \x1b[31m\n> 3");
        QVERIFY(!condition);
        for (const char c : condition.error().sentence) QVERIFY(static_cast<unsigned char>(c) >= 0x20);
    }

    /// Pieces of valid conditions in any order, and bytes in any order: never a crash, always
    /// either tests or a sentence.
    void anyInputIsParsedOrRefused() {
        const std::vector<std::string> pieces{"step",
                                              "part",
                                              "kernel",
                                              "copy",
                                              "range",
                                              "slower",
                                              "and",
                                              ".",
                                              ".p50",
                                              ".count",
                                              ">",
                                              "<=",
                                              "=",
                                              "+",
                                              "-",
                                              "3",
                                              "0.5",
                                              "%",
                                              "ms",
                                              "GB/s",
                                              "\"",
                                              "'",
                                              "\\",
                                              " ",
                                              "\t",
                                              "compute",
                                              "idle",
                                              "*",
                                              "\xc3\xbc",
                                              "\xff",
                                              std::string(1, '\0'),
                                              "99999999999999999999"};
        std::mt19937 random(20260101);
        int accepted = 0;
        for (int round = 0; round < 20'000; ++round) {
            std::string text;
            const size_t length = random() % 12;
            for (size_t index = 0; index < length; ++index)
                text += round % 4 == 0 ? std::string(1, static_cast<char>(random() % 256))
                                       : pieces[random() % pieces.size()];
            const Result<Condition> condition = parseCondition(text);
            if (condition) {
                ++accepted;
                QVERIFY(!condition->tests.empty());
                for (const ConditionTest& test : condition->tests) QVERIFY(hasName(test.subject) == !test.name.empty());
            } else {
                QVERIFY(condition.error().sentence.starts_with("In the condition \""));
                QVERIFY(condition.error().sentence.ends_with('.'));
            }
        }
        QVERIFY(accepted > 0);  // otherwise only errors were tested
    }
};

LANESCOPE_TEST(TestParseCondition, NoApplication)
#include "tst_parseCondition.moc"
