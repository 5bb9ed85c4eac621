// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>

#include "model/format/text.h"
#include "tests/support/runTest.h"
#include "views/text/shownText.h"
#include "views/text/typedText.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

// 2026-11-21 12:34:00 UTC
constexpr int64_t startUtcNs = 1'795'264'440'000'000'000;
constexpr TimeContext context{{0, 10'000'000'000}, {1'000'000'000, 3'000'000'000}, 0, startUtcNs};

}  // namespace

class tst_TimeTarget : public QObject {
    Q_OBJECT

    static int score(std::string_view typed, std::string_view name) {
        return FuzzyPattern(typed).score(lowerCase(std::string(name)));
    }

  private slots:
    void durationsHaveThreeDigits() {
        for (const auto& [ns, text] : {std::pair<int64_t, const char*>{0, "0 ns"},
                                       {47, "47 ns"},
                                       {1'234, "1.23 µs"},
                                       {12'345, "12.3 µs"},
                                       {999'600, "1.00 ms"},
                                       {12'325'000, "12.3 ms"},
                                       {123'456'789, "123 ms"},
                                       {-4'397'000, "−4.40 ms"},
                                       {61'000'000'000, "61.0 s"}})
            QCOMPARE(shortDuration(ns), QString::fromUtf8(text));
        QCOMPARE(signedDuration(4'800'000), QString("+4.80 ms"));
        QCOMPARE(signedDuration(-4'800'000), QString::fromUtf8("−4.80 ms"));
    }

    void shortenedNamesKeepTheirDifference() {
        const QFontMetrics metrics(QApplication::font());
        const QString a = "resnet152-nvlink.sqlite.gz", b = "resnet152-no-p2p.sqlite.gz";
        QCOMPARE(distinctName(a, b, metrics, 10'000), a);
        const int width = metrics.horizontalAdvance(a) * 4 / 5;
        for (const auto& [name, other, part] : {std::tuple(a, b, "nvlink"), std::tuple(b, a, "no-p2p")}) {
            const QString shown = distinctName(name, other, metrics, width);
            QVERIFY2(shown.contains(part), qPrintable(shown));
            QVERIFY(metrics.horizontalAdvance(shown) <= width);
            const QString narrow = distinctName(name, other, metrics, metrics.horizontalAdvance("mmmmmmmm"));
            QVERIFY2(narrow.contains(QString(part).left(3)), qPrintable(narrow));
        }
    }

    void timesAreParsed_data() {
        const test::Rows<QString, qint64> row;
        const auto add = [&row](const char* text, int64_t ns) { row(text, QString(text), qint64(ns)); };
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
        const auto [text, timeNs] = test::row<QString, qint64>();
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
        for (const char* part : {"fastest", "#", "#step", "#step 99999999999999999999"})
            QVERIFY2(!parseTimeTarget(part, context), part);
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
        const test::Rows<QString, QString> row;
        const auto add = [&row](const char* text, const char* says) { row(text, QString(text), QString(says)); };
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
        const auto [text, says] = test::row<QString, QString>();
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
        QVERIFY(!target && target.error().sentence.find("times of day") != std::string::npos);
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

    void findsWordsPiecesAndInitials() {
        for (const char* part : {"kern", "all nccl"}) QVERIFY2(score(part, "ncclDevKernel_AllReduce") > 0, part);
        QVERIFY(score("zts", "Zoom to the selection") > 0 && score("ptt", "Pin to the top") > 0);
        QCOMPARE(test::listed(score("gemm", "softmax"), score("stream 99", "Stream 7")), "0 | 0");
        QCOMPARE(score("ab", "a------------------------------b"), 0);
    }

    void betterMatchesComeFirst() {
        QVERIFY(score("stream", "Stream 7") > score("stream", "Upstream 7"));
        QVERIFY(score("gpu", "GPU 0") > score("gpu", "Time on the GPU"));
        QVERIFY(score("fold", "Fold all tracks") > score("fold", "Unfold all tracks"));
        QVERIFY(score("gemm", "gemm") > score("gemm", "gemm_with_a_very_long_name_after_it"));
        QVERIFY(score("zoom", "Zoom in") > score("zoom", "z_o_o_m"));
    }

    void emptyTextIsEmpty() {
        for (const char* part : {"", "  \t "}) QVERIFY2(FuzzyPattern(part).isEmpty(), part);
        QVERIFY(!FuzzyPattern(" a ").isEmpty());
    }

    void anyBytesAreHarmless() {
        std::mt19937 random(3);
        for (int round = 0; round < 5000; ++round) {
            std::string typed, text;
            for (unsigned i = random() % 12; i > 0; --i) typed += static_cast<char>(random());
            for (unsigned i = random() % 60; i > 0; --i) text += static_cast<char>(random());
            const std::string lowered = lowerCase(text);
            QVERIFY(FuzzyPattern(typed).score(lowered) >= 0);
            // A name without blanks always matches itself.
            const FuzzyPattern itself(text.substr(0, text.find_first_of(" \t")));
            if (!itself.isEmpty()) QVERIFY(itself.score(lowered) > 0);
        }
    }

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

LANESCOPE_TEST(tst_TimeTarget, QApplication)
#include "tst_TimeTarget.moc"
