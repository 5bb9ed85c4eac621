// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/runTest.h"
#include "views/text/typedText.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

// 2026-11-21 12:34:00 UTC
constexpr int64_t startUtcNs = 1'795'264'440'000'000'000;
constexpr TimeContext context{{0, 10'000'000'000}, {1'000'000'000, 3'000'000'000}, 0, startUtcNs};

}  // namespace

class TestTimeTarget : public QObject {
    Q_OBJECT
  private slots:
    void timesAreParsed_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<qint64>("timeNs");
        const auto add = [](const char* text, int64_t ns) { QTest::newRow(text) << QString(text) << qint64(ns); };
        add("1.234 s", 1'234'000'000);
        add("1.234", 1'234'000'000);
        add("18.9875ms", 18'987'500);
        add(" 5 us ", 5'000);
        add("5µs", 5'000);
        add("7ns", 7);
        add(".5 s", 500'000'000);
        add("0.1min", 6'000'000'000);
        add("+350 us", 2'000'350'000);
        add("-2ms", 1'998'000'000);
        add("50 %", 5'000'000'000);
        add("100%", 10'000'000'000);
        add("12:34:05", 5'000'000'000);
        add("12:34:00.25", 250'000'000);
        add("12:34", 0);
        add("2026-11-21 12:34:09", 9'000'000'000);
        add("2026-11-21T12:34:09Z", 9'000'000'000);
        add("1.234567891 s", 1'234'567'891);
    }
    void timesAreParsed() {
        QFETCH(QString, text);
        QFETCH(qint64, timeNs);
        const auto target = parseTimeTarget(text.toStdString(), context);
        QVERIFY2(target, target ? "" : target.error().sentence.c_str());
        QVERIFY(target->isSingleTime());
        QCOMPARE(target->range.startNs, timeNs);
    }

    void rangesAreParsed() {
        const auto range = [](const char* text) {
            const auto target = parseTimeTarget(text, context);
            return target ? target->range : TimeRange{};
        };
        QCOMPARE(range("1.2s..1.4s"), (TimeRange{1'200'000'000, 1'400'000'000}));
        QCOMPARE(range("1 .. 2"), (TimeRange{1'000'000'000, 2'000'000'000}));
        QCOMPARE(range("1.5 s..+5 ms"), (TimeRange{1'500'000'000, 1'505'000'000}));
        QCOMPARE(range("10%..20%"), (TimeRange{1'000'000'000, 2'000'000'000}));
        QCOMPARE(range("-1ms..+2ms"), (TimeRange{1'999'000'000, 2'001'000'000}));
    }

    void stepsAreParsed() {
        const auto step = parseTimeTarget("#step 12", context);
        QVERIFY(step && step->step == 12 && step->stepName == "step");
        const auto bare = parseTimeTarget(" # 7", context);
        QVERIFY(bare && bare->step == 7 && bare->stepName.empty());
        const auto named = parseTimeTarget("it 25", context);
        QVERIFY(named && named->step == 25);
        QCOMPARE(named->stepName, "it");
        QVERIFY(parseTimeTarget("step12", context)->step == 12);
        QVERIFY(parseTimeTarget("slowest", context)->isSlowestStep);
        QVERIFY(!parseTimeTarget("slowest", context)->isSingleTime());
        QVERIFY(!parseTimeTarget("fastest", context));
        QVERIFY(!parseTimeTarget("#", context));
        QVERIFY(!parseTimeTarget("#step", context));
        QVERIFY(!parseTimeTarget("#step 99999999999999999999", context));
    }

    void countsFromTheOriginOfTheRuler() {
        TimeContext shifted = context;
        shifted.originNs = 4'000'000'000;
        QCOMPARE(parseTimeTarget("1 s", shifted)->range.startNs, 5'000'000'000);
        QCOMPARE(parseTimeTarget("50 %", shifted)->range.startNs, 5'000'000'000);
    }

    void continuesPastMidnight() {
        TimeContext late = context;
        late.startUtcNs = startUtcNs - startUtcNs % 86'400'000'000'000 + 86'395'000'000'000;
        QCOMPARE(parseTimeTarget("00:00:02", late)->range.startNs, 7'000'000'000);
    }

    void errorsAreReported_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("says");
        const auto add = [](const char* text, const char* says) {
            QTest::newRow(text) << QString(text) << QString(says);
        };
        add("", "is no time");
        add("soon", "is no time");
        add("1.2.3", "is no time");
        add("1 parsec", "is no time");
        add("1e9", "is no time");
        add("inf", "is no time");
        add("120 %", "is no time");
        add("25:00:00", "is no time");
        add("2026-02-30 12:00:00", "is no time");
        add("1 s..", "is no time");
        add("..2 s", "is no time");
        add("2 s..1 s", "ends before it begins");
        add("11 s", "outside the trace");
        add("20 s..30 s", "outside the trace");
        add("99999999999 h", "is no time");
    }
    void errorsAreReported() {
        QFETCH(QString, text);
        QFETCH(QString, says);
        const auto target = parseTimeTarget(text.toStdString(), context);
        QVERIFY(!target);
        const QString sentence = QString::fromStdString(target.error().sentence);
        QVERIFY2(sentence.contains(says), qPrintable(sentence));
        QVERIFY(sentence.endsWith('.'));
    }

    void withoutStartTimeThereAreNoTimesOfDay() {
        TimeContext unknown = context;
        unknown.startUtcNs = 0;
        const auto target = parseTimeTarget("12:34:56", unknown);
        QVERIFY(!target);
        QVERIFY(target.error().sentence.find("times of day") != std::string::npos);
    }

    void anyTextGivesATargetOrASentence() {
        std::mt19937 random(5);
        constexpr std::string_view pieces[] = {"1",  "9223372036854775807",
                                               ".",  "..",
                                               "-",  "+",
                                               ":",  "%",
                                               "#",  " ",
                                               "T",  "Z",
                                               "s",  "ms",
                                               "us", "ns",
                                               "h",  "min",
                                               "00", "2026-11-21",
                                               "µ",  "\xff"};
        for (int round = 0; round < 20'000; ++round) {
            std::string text;
            for (unsigned i = random() % 9; i > 0; --i) text += pieces[random() % std::size(pieces)];
            TimeContext any = context;
            if (round % 3 == 0) any.originNs = INT64_MAX - 5;
            if (round % 5 == 0) any.trace = any.visible = {INT64_MIN / 2, INT64_MAX / 2};
            const auto target = parseTimeTarget(text, any);
            if (!target) QVERIFY(target.error().sentence.size() > 10);
            if (target && !target->step) QVERIFY(target->range.startNs <= target->range.endNs);
        }
    }
};

LANESCOPE_TEST(TestTimeTarget, NoApplication)
#include "tst_TimeTarget.moc"
