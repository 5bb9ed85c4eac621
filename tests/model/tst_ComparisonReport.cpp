#include <QCryptographicHash>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QSet>
#include <QXmlStreamReader>
#include <QtTest>
#include <numeric>
#include <random>

#include "model/export/comparison/ChartAxis.h"
#include "model/export/comparison/ComparisonReport.h"
#include "model/export/comparison/TextGrid.h"
#include "model/export/comparison/DurationScale.h"
#include "model/export/comparison/comparisonRows.h"
#include "model/export/comparison/htmlStyle.h"
#include "model/export/comparison/htmlText.h"
#include "model/export/comparison/stepChart.h"
#include "model/export/comparison/waterfallChart.h"
#include "model/values/kernelName.h"
#include "tests/support/TraceBuilder.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

RunSummary summaryOf(const TracePtr& trace) {
    Result<RunSummary> summary = summarizeRun(*trace);
    if (!summary) qFatal("%s", summary.error().sentence.c_str());
    return *summary;
}

RunSummary training(double kernelScale, int steps = 8) {
    SimulatedTraining options;
    options.kernelScale = kernelScale;
    options.steps = steps;
    options.layers = 3;
    return summaryOf(simulatedTraining(options));
}

ComparisonReport reportOf(RunSummary baseline, std::vector<RunSummary> candidates) {
    ComparisonReport report;
    report.baseline = std::move(baseline);
    for (RunSummary& summary : candidates) {
        ComparedCandidate candidate{std::move(summary), {}, {}};
        candidate.comparison =
            compareRuns(BaselineRun{report.baseline}, CandidateRun{candidate.summary});
        report.candidates.push_back(std::move(candidate));
    }
    return report;
}

QByteArray base64Sha256(std::string_view text) {
    return QCryptographicHash::hash(QByteArray(text.data(), static_cast<qsizetype>(text.size())),
                                    QCryptographicHash::Sha256)
        .toBase64();
}

void verifyIsXml(const std::string& xml) {
    QXmlStreamReader reader(QByteArray::fromStdString(xml));
    while (!reader.atEnd()) reader.readNext();
    QVERIFY2(!reader.hasError(), qPrintable(reader.errorString() + "\n" + xml.c_str()));
}

}  // namespace

class TestComparisonReport : public QObject {
    Q_OBJECT

  private slots:
    void roundingKeepsTheSum() {
        std::mt19937_64 random(7);
        for (int round = 0; round < 500; ++round) {
            const int64_t quantum = std::array<int64_t, 4>{1, 10, 1000, 1'000'000}[random() % 4];
            std::vector<int64_t> values(random() % 14);
            for (int64_t& value : values) value = static_cast<int64_t>(random() % 100'000'000);
            const std::vector<int64_t> rounded = roundedToSum(values, quantum);
            const int64_t exact = std::accumulate(values.begin(), values.end(), int64_t{0});
            const int64_t sum = std::accumulate(rounded.begin(), rounded.end(), int64_t{0});
            QVERIFY(std::abs(sum - exact) * 2 <= quantum);
            for (size_t index = 0; index < values.size(); ++index) {
                QCOMPARE(rounded[index] % quantum, 0);
                QVERIFY(std::abs(rounded[index] - values[index]) < quantum);
            }
        }
    }

    void timesOfATableShareAUnit() {
        QCOMPARE(DurationScale::fitting(2'000'000).number(1'234'567), std::string("1.235"));
        QCOMPARE(DurationScale::fitting(5'000'000'000).number(1'234'567'890), std::string("1.235"));
        QCOMPARE(DurationScale::fitting(999).number(12), std::string("12"));
        const DurationScale scale = DurationScale::fitting(1'500'000'000'000);
        QCOMPARE(scale.number(1'500'000'000'000), std::string("1,500.000"));
        const DurationScale ms = DurationScale::fitting(10'000'000);
        QCOMPARE(ms.difference(-400), std::string("0.000"));
        QCOMPARE(ms.difference(400), std::string("0.000"));
        QCOMPARE(ms.difference(600), std::string("+0.001"));
        QCOMPARE(ms.difference(-600), std::string("-0.001"));
        QCOMPARE(percentDifference(100, 635), std::string("+535.0"));
        QCOMPARE(percentDifference(100, 1'000'000), std::string("+999,900.0"));
        QCOMPARE(percentDifference(0, 5), std::string());
        QCOMPARE(percentDifference(1'000'000, 1'000'001), std::string("0.0"));
    }

    void textIsCutInTheMiddleAndWrappedBetweenWords() {
        QCOMPARE(cutTo("abcdefghij", 10), std::string("abcdefghij"));
        QCOMPARE(cutTo("abcdefghijk", 6), std::string("abc\u2026jk"));
        QCOMPARE(cutTo("\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc", 3),
                 std::string("\u00e4\u00f6\u2026"));
        QCOMPARE(cutTo("abc", 0), std::string());
        QCOMPARE(wrapped("one two three", 2, 8), std::string("one two\n  three\n"));
        QCOMPARE(wrapped("it took 12 ms.", 0, 12), std::string("it took\n12 ms.\n"));
    }

    void markupIsEscaped() {
        QCOMPARE(htmlEscaped("<b a=\"1\" c='2'>&"),
                 std::string("&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;"));
        QCOMPARE(htmlEscaped("a\nb\x1b\xff"), std::string("a b \ufffd"));
        QCOMPARE(htmlEscaped("x\u202ey\u2066z\u200f"), std::string("x\ufffdy\ufffdz\ufffd"));
        QCOMPARE(htmlEscaped("\u2013\u20ac"), std::string("\u2013\u20ac"));
    }

    void thePageNamesItsOwnScriptAndStyleOnly() {
        QCOMPARE(QByteArray(reportStyleHash().data()), base64Sha256(reportStyle()));
        QCOMPARE(QByteArray(reportScriptHash().data()), base64Sha256(reportScript()));
        const std::string html = comparisonAsHtml(reportOf(training(1), {training(1.2)}));
        QVERIFY(html.find(std::string(reportStyleHash())) != std::string::npos);
        QVERIFY(html.find(" style=") == std::string::npos);  // the policy would ignore it
        QVERIFY(html.find("onclick") == std::string::npos);
    }

    void hostileTitlesAreText() {
        RunSummary baseline = training(1), candidate = training(1.2);
        baseline.facts.title = "</title><script>alert(1)</script>";
        candidate.facts.title = "\" onload=\"alert(2)";
        candidate.facts.commandLine = "<svg/onload=alert(3)>";
        ComparisonReport report = reportOf(baseline, {candidate, candidate});
        report.selection = "<i>";
        const std::string html = comparisonAsHtml(report);
        QVERIFY(html.find("<script>alert") == std::string::npos);
        QVERIFY(html.find("\" onload") == std::string::npos);
        QVERIFY(html.find("<svg/") == std::string::npos);
    }

    void noNameAddsATagToThePage() {
        std::mt19937 random(3);
        const std::string letters("<>&\"'`=/! sx\x1b\xff\xe2\x80\xae\xc3\xbc#%;", 27);
        for (int round = 0; round < 40; ++round) {
            const auto name = [&] {
                std::string text;
                for (size_t left = random() % 40; left > 0; --left)
                    text += letters[random() % letters.size()];
                return text;
            };
            ComparisonReport report = reportOf(training(1), {training(1.2)});
            RunComparison& comparison = report.candidates[0].comparison;
            comparison.answer.sentence = name();
            comparison.answer.cautions = {name()};
            comparison.answer.details = {name()};
            for (WorkerComparison& pair : comparison.workers) {
                pair.candidateLabel = name();
                for (RangeDifference& range : pair.ranges) range.path = name();
                for (ContributorDifference& one : pair.contributors) {
                    one.baseline.name = name();
                    one.path = name();
                }
            }
            for (RunSummary* run : {&report.baseline, &report.candidates[0].summary}) {
                run->facts.title = name();
                run->workers[0].steps[0].name = name();
            }
            const QString html = QString::fromStdString(comparisonAsHtml(report));
            static const QRegularExpression tag("<[/!]?([^ \\s>]*)");
            static const QSet<QString> known{
                "DOCTYPE", "html",    "head",    "meta",   "title",   "style",      "body",
                "header",  "p",       "h1",      "h2",     "h3",      "span",       "main",
                "div",     "ul",      "li",      "b",      "section", "svg",        "figure",
                "rect",    "text",    "line",    "path",   "circle",  "table",      "thead",
                "tbody",   "tfoot",   "tr",      "th",     "td",      "code",       "small",
                "strong",  "details", "summary", "footer", "script",  "figcaption", "caption"};
            // What the script itself compares is no tag.
            const QString markup = html.left(html.indexOf("<script>"));
            for (auto match = tag.globalMatch(markup); match.hasNext();) {
                const QString found = match.next().captured(1);
                QVERIFY2(known.contains(found), qPrintable(found));
            }
            QCOMPARE(html.count("<script"), 1);
        }
    }

    void chartsAreWellFormed() {
        Waterfall waterfall{"w", "a < b & \"c\"", "base<line", "end", 1, 100, {}};
        verifyIsXml(waterfallChart(waterfall));
        waterfall.bars = {{"<x>", 30}, {"y", -120}, {"z", 0}, {"w", 5}};
        verifyIsXml(waterfallChart(waterfall));
        waterfall.startNs = 0;
        waterfall.bars.clear();
        verifyIsXml(waterfallChart(waterfall));
        verifyIsXml(stepChart({}));
        StepSeries empty;
        StepSeries one{"<one>", {"<a>"}, {5}, 0, 5, 5, 5};
        StepSeries outlier{"o", {}, std::vector<int64_t>(50, 1000), 1, 1000, 1000, 1000};
        outlier.wallNs[49] = 9'000'000'000;
        outlier.wallNs[0] = 1001;
        StepSeries many{"m", {}, std::vector<int64_t>(30'000, 1000), 7, 1000, 900, 1100};
        verifyIsXml(stepChart({empty, one}));
        verifyIsXml(stepChart({one, outlier}));
        const std::string large = stepChart({outlier, many});
        verifyIsXml(large);
        QVERIFY(large.size() < 200'000);
    }

    void anAxisHasRoundMarksWithinIt() {
        std::mt19937_64 random(11);
        for (int round = 0; round < 1000; ++round) {
            const double from = static_cast<double>(random() % 1'000'000'000'000);
            const double to = from + static_cast<double>(random() % 1'000'000'000);
            const ChartAxis axis(from, to, 0, 100);
            const std::vector<double> marks = axis.marks(6);
            QVERIFY(marks.size() <= 13);
            for (const double mark : marks) {
                QVERIFY(axis.pixelOf(mark) >= -0.01 && axis.pixelOf(mark) <= 100.01);
                QVERIFY(!axis.label(mark, 6).empty());
            }
        }
    }

    void candidatesOfOneBaselineWorkerShareAGroup() {
        const ComparisonReport report =
            reportOf(training(1), {training(1.1), training(1.2), training(1.3)});
        size_t columns = 0;
        for (const CandidateGroup& group : candidateGroups(report, 2)) {
            QVERIFY(group.candidates.size() <= 2);
            columns += group.candidates.size();
        }
        QCOMPARE(columns, size_t{3});
    }

    void listsHoldTheWeightiestRowsByLoss() {
        const ComparisonReport report = reportOf(training(1), {training(1.3)});
        const CandidateGroup group = candidateGroups(report, 1)[0];
        const auto all = contributorRows(report, group, ContributorList::Kernels, 0);
        const auto three = contributorRows(report, group, ContributorList::Kernels, 3);
        QVERIFY(all.size() > 3);
        QCOMPARE(three.size(), size_t{3});
        QVERIFY(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) {
            return a.greatestLossNs > b.greatestLossNs;
        }));
        int64_t least = std::abs(three[0].greatestLossNs);
        for (const auto& row : three) least = std::min(least, std::abs(row.greatestLossNs));
        QCOMPARE(
            std::count_if(all.begin(), all.end(),
                          [&](const auto& row) { return std::abs(row.greatestLossNs) > least; }),
            2);
    }

    void everyContributorIsInOneList() {
        const ComparisonReport report = reportOf(training(1), {training(1.3)});
        const CandidateGroup group = candidateGroups(report, 1)[0];
        size_t listed = 0;
        for (size_t list = 0; list < contributorListCount; ++list)
            listed += contributorRows(report, group, static_cast<ContributorList>(list), 0).size();
        QCOMPARE(listed, pairOf(report, 0).contributors.size());
    }

    void emptyRunsMakeEveryFormat() {
        const ComparisonReport report = reportOf(summaryOf(TraceBuilder().finish()), {training(1)});
        QVERIFY(!comparisonAsText(report).empty());
        QVERIFY(comparisonAsHtml(report).ends_with("</html>\n"));
        QVERIFY(
            !QJsonDocument::fromJson(QByteArray::fromStdString(comparisonAsJson(report))).isNull());
        QVERIFY(comparisonAsCsv(report, {}).has_value());
        ComparisonReport none;
        QVERIFY(!comparisonAsHtml(none).empty());
        QVERIFY(!comparisonAsJson(none).empty());
    }

    void tablesAreFoundByName() {
        const ComparisonReport report = reportOf(training(1), {training(1.1)});
        QCOMPARE(comparisonTables(report).size(), comparisonTableNames().size());
        for (const ReportTable& table : comparisonTables(report)) {
            for (const auto& row : table.rows) QCOMPARE(row.size(), table.columns.size());
            QVERIFY(comparisonAsCsv(report, {table.name}).has_value());
        }
        QVERIFY(!comparisonAsCsv(report, {"nothing"}));
    }

    void kernelNames() {
        QCOMPARE(withoutParameters("void gemm<float>(float*, int)"),
                 std::string_view("void gemm<float>"));
        QCOMPARE(withoutParameters("f(int (*)(int))"), std::string_view("f"));
        QCOMPARE(withoutParameters("plain"), std::string_view("plain"));
        QCOMPARE(kernelBaseName("void a::b::gemm<float, c::d<1> >(float*, int)"),
                 std::string_view("gemm"));
        QCOMPARE(kernelBaseName("flash_fwd_kernel"), std::string_view("flash_fwd_kernel"));
        for (const char* odd : {"", "(", ")", "<", ">", "f<(", "a b<c>::", ")))((("})
            QVERIFY(kernelBaseName(odd).size() <= strlen(odd));
    }
};

LANESCOPE_TEST(TestComparisonReport, NoApplication)
#include "tst_ComparisonReport.moc"
