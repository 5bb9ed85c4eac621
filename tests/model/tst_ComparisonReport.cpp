// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/shownNumbers.h"
#include "model/format/GlobalId.h"
#include "model/pages/ComparisonReport.h"
#include "model/pages/ReportGroup.h"
#include "model/pages/TextGrid.h"
#include "model/pages/charts.h"
#include "model/pages/htmlPage.h"
#include "model/text/formatValue.h"
#include "model/text/kernelNames.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;
using namespace lanescope::report;

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
        candidate.comparison = compareRuns(BaselineRun{report.baseline}, CandidateRun{candidate.summary});
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
    void timesOfATableShareOneUnit() {
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
        QCOMPARE(ms.differenceText(-600), std::string("-0.001 ms"));
        // Short times next to a long step stay visible.
        QCOMPARE(DurationScale::ofStep(12'345'678'901).text(12'345'678'901), std::string("12,345.679 ms"));
        QCOMPARE(DurationScale::ofStep(123'456'789'012).unit, std::string_view("s"));
        QCOMPARE(DurationScale::ofStep(999'000).unit, std::string_view("us"));
        QCOMPARE(percentDifferenceText(535), std::string("+535.0"));
        QCOMPARE(percentDifferenceText(999'900), std::string("+999,900.0"));
        QCOMPARE(percentDifferenceText(-0.04), std::string("0.0"));
        QCOMPARE(percentDifferenceText(0.04), std::string("0.0"));
        QCOMPARE(timeDifferenceText(7.2314e6), std::string("+7.231 ms"));
        QCOMPARE(pValueEquation(0.0042), std::string("p = 0.0042"));
    }

    void textIsElidedInTheMiddleAndWrappedBetweenWords() {
        QCOMPARE(elideMiddle("abcdefghij", 10), std::string("abcdefghij"));
        QCOMPARE(elideMiddle("abcdefghijk", 6), std::string("abc\u2026jk"));
        QCOMPARE(elideMiddle("\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc", 3), std::string("\u00e4\u00f6\u2026"));
        QCOMPARE(elideMiddle("abc", 0), std::string());
        QCOMPARE(wrapped("one two three", 2, 8), std::string("one two\n  three\n"));
        QCOMPARE(wrapped("it took 12 ms.", 0, 12), std::string("it took\n12 ms.\n"));
    }

    void textsThatDifferInTheMiddleAreWrapped() {
        using Overlong = TextGrid::Overlong;
        TextGrid grid({TextGrid::Side::Right, TextGrid::Side::Left});
        grid.add({"Lost", "Name"});
        grid.addRule();
        grid.add({"12", "in cudaStreamSynchronize at a.py:104 in step"}, Overlong::Wrap);
        grid.add({"3", "in cudaStreamSynchronize at a.py:105 in step"}, Overlong::Elide);
        QCOMPARE(grid.text(32), std::string("Lost  Name\n"
                                            "----  --------------------------\n"
                                            "  12  in cudaStreamSynchronize\n"
                                            "      at a.py:104 in step\n"
                                            "   3  in cudaStreamSy\u202605 in step\n"));
    }

    void markupIsEscaped() {
        QCOMPARE(markupEscaped("<b a=\"1\" c='2'>&"), std::string("&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;"));
        QCOMPARE(markupEscaped("a\nb\x1b\xff"), std::string("a b \ufffd"));
        QCOMPARE(markupEscaped("x\u202ey\u2066z\u200f"), std::string("x\ufffdy\ufffdz\ufffd"));
        QCOMPARE(markupEscaped("\u2013\u20ac"), std::string("\u2013\u20ac"));
    }

    void htmlPageUsesOnlyItsOwnScriptAndStyle() {
        QCOMPARE(QByteArray(reportStyleHash().data()), base64Sha256(reportStyle()));
        QCOMPARE(QByteArray(reportScriptHash().data()), base64Sha256(reportScript()));
        const std::string html = comparisonAsHtml(reportOf(training(1), {training(1.2)}));
        QVERIFY(html.find(std::string(reportStyleHash())) != std::string::npos);
        QVERIFY(html.find(" style=") == std::string::npos);  // the content security policy would ignore it
        QVERIFY(html.find("onclick") == std::string::npos);
    }

    void hostileTitlesAreEscaped() {
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

    void namesAddNoTagToThePage() {
        std::mt19937 random(3);
        const std::string letters("<>&\"'`=/! sx\x1b\xff\xe2\x80\xae\xc3\xbc#%;");
        for (int round = 0; round < 40; ++round) {
            const auto name = [&] {
                std::string text;
                for (size_t left = random() % 40; left > 0; --left) text += letters[random() % letters.size()];
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
                "DOCTYPE", "html",    "head",   "meta",   "title",      "style",  "body", "header", "p",
                "h1",      "h2",      "h3",     "span",   "main",       "div",    "ul",   "li",     "b",
                "section", "svg",     "figure", "rect",   "text",       "line",   "path", "circle", "table",
                "thead",   "tbody",   "tfoot",  "tr",     "th",         "td",     "code", "small",  "strong",
                "details", "summary", "footer", "script", "figcaption", "caption"};
            // Comparisons in the script itself are not tags.
            const QString markup = html.left(html.indexOf("<script>"));
            for (auto match = tag.globalMatch(markup); match.hasNext();) {
                const QString found = match.next().captured(1);
                QVERIFY2(known.contains(found), qPrintable(found));
            }
            QCOMPARE(html.count("<script"), 1);
        }
    }

    void chartsAreWellFormed() {
        WorkerComparison pair;
        pair.baseline.meanNs = pair.candidate.meanNs = 100;
        const WaterfallTitles titles{"w", "a < b & \"c\"", "base<line", "end", 1};
        verifyIsXml(waterfallChart(waterfallBars(pair), titles));
        pair.parts = {{StepPart::Compute, 40, 70}, {StepPart::Memset, 120, 0}};
        pair.candidate.meanNs = 10;
        verifyIsXml(waterfallChart(waterfallBars(pair), titles));
        pair = {};
        verifyIsXml(waterfallChart(waterfallBars(pair), titles));
        verifyIsXml(stepChart({}, {}));
        const auto stepsOf = [](std::vector<int64_t> wallNs) {
            WorkerSummary worker;
            for (const int64_t ns : wallNs) worker.steps.push_back({std::ssize(worker.steps), "<a>", 0, ns, {}});
            return worker;
        };
        std::vector<int64_t> times(50, 1000);
        times[49] = 9'000'000'000;
        times[0] = 1001;
        const WorkerSummary one = stepsOf({5}), outlier = stepsOf(times),
                            many = stepsOf(std::vector<int64_t>(30'000, 1000));
        const std::vector<StepLabel> labels{{"<one>", 0}, {"o", 7}};
        const auto chart = [&](const WorkerSummary* a, const WorkerSummary* b) {
            return stepChart(stepBars(std::vector<StepBarsOf>{{a, {}}, {b, {}}}), labels);
        };
        verifyIsXml(chart(nullptr, &one));
        verifyIsXml(chart(&one, &outlier));
        const std::string large = chart(&outlier, &many);
        verifyIsXml(large);
        QVERIFY(large.size() < 200'000);
    }

    void waterfallGroupsSmallPartsAndEndsAtTheCandidate() {
        std::mt19937_64 random(13);
        for (int round = 0; round < 300; ++round) {
            WorkerComparison pair;
            for (size_t part = 0; part < stepPartCount; ++part) {
                const auto ns = [&] { return static_cast<int64_t>(random() % (1u << (random() % 20))); };
                pair.parts.push_back({static_cast<StepPart>(part), ns(), ns()});
                pair.baseline.meanNs += pair.parts.back().baselineNs;
                pair.candidate.meanNs += pair.parts.back().candidateNs;
            }
            const WaterfallBars waterfall = waterfallBars(pair);
            QVERIFY(waterfall.bars.size() <= 8);
            int64_t levelNs = waterfall.baselineNs;
            int64_t before = INT64_MAX;
            for (const WaterfallBars::Bar& bar : waterfall.bars) {
                QCOMPARE(bar.fromNs, levelNs);
                levelNs = bar.toNs;
                if (!bar.part) continue;
                QCOMPARE(bar.lostNs(), pair.parts[static_cast<size_t>(*bar.part)].lostNs());
                QVERIFY(std::abs(bar.lostNs()) <= before);
                before = std::abs(bar.lostNs());
            }
            QCOMPARE(levelNs, waterfall.candidateNs);
        }
    }

    void axisTicksAreRoundAndInRange() {
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
        const ComparisonReport report = reportOf(training(1), {training(1.1), training(1.2), training(1.3)});
        size_t columns = 0;
        for (const ReportGroup& group : reportGroups(report, 2)) {
            QVERIFY(group.candidates.size() <= 2);
            QCOMPARE(group.view.candidates.size(), group.candidates.size());
            columns += group.candidates.size();
        }
        QCOMPARE(columns, size_t{3});
    }

    void baselineNumbersAreEqualForEveryCandidate() {
        const ComparisonReport report = reportOf(training(1), {training(1.1), training(40), training(0.01)});
        for (const ReportGroup& group : reportGroups(report, 3)) {
            for (const auto& candidate : group.view.candidates) {
                QVERIFY(candidate.pair->scale == group.view.scale());
                for (size_t part = 0; part < stepPartCount; ++part)
                    QCOMPARE(candidate.pair->parts[part].baselineNs, group.view.first().parts[part].baselineNs);
            }
        }
    }

    void listsContainTheLargestLosses() {
        const ComparisonReport report = reportOf(training(1), {training(1.3)});
        const ReportGroup group = reportGroups(report, 1)[0];
        const auto rows = [&](size_t top) {
            std::vector<ComparisonRow> kept = contributorRows(group.view, PartGroup::Kernels);
            keepLargestChanges(kept, top);
            return kept;
        };
        const std::vector<ComparisonRow> all = rows(0), three = rows(3);
        QVERIFY(all.size() > 3);
        QCOMPARE(three.size(), size_t{3});
        QVERIFY(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) {
            return a.maxAbsoluteLossNs() > b.maxAbsoluteLossNs();
        }));
        int64_t least = std::abs(three[0].maxAbsoluteLossNs());
        for (const auto& row : three) least = std::min(least, std::abs(row.maxAbsoluteLossNs()));
        const auto isGreater = [least](const ComparisonRow& row) { return std::abs(row.maxAbsoluteLossNs()) > least; };
        QVERIFY(std::count_if(all.begin(), all.end(), isGreater) <= 2);
    }

    void everyContributorIsInOneList() {
        const ComparisonReport report = reportOf(training(1), {training(1.3)});
        const ReportGroup group = reportGroups(report, 1)[0];
        size_t listed = 0;
        for (size_t parts = 0; parts < partGroupCount; ++parts)
            listed += contributorRows(group.view, static_cast<PartGroup>(parts)).size();
        QCOMPARE(listed, group.view.first().contributors.size());
        QCOMPARE(contributorRows(group.view).size(), listed);
    }

    void identifiersAreReadBack() {
        QCOMPARE(fromIdentifier("too_few_steps", Outcome::Shorter), std::optional(Outcome::TooFewSteps));
        QCOMPARE(fromIdentifier("only_candidate", MatchKind::OnlyCandidate), std::optional(MatchKind::OnlyCandidate));
        QCOMPARE(fromIdentifier("not_seen", NvlinkVerdict::Use::Used), std::optional(NvlinkVerdict::Use::NotSeen));
        QCOMPARE(fromIdentifier("copies", LinkEvidence::Collectives), std::optional(LinkEvidence::Copies));
        QCOMPARE(fromIdentifier("graph", ContributorKind::Others), std::optional(ContributorKind::Graph));
        QCOMPARE(fromIdentifier("whole_run", StepSource::Chosen), std::optional(StepSource::WholeRun));
        QCOMPARE(fromIdentifier("not_met", ConditionState::Skipped), std::optional(ConditionState::NotMet));
        QVERIFY(!fromIdentifier("not seen", NvlinkVerdict::Use::Used));
        QVERIFY(!fromIdentifier("", Outcome::Shorter));
    }

    /// Outlier steps have the same headings in every format.
    void everyFormatUsesTheSameOutlierTable() {
        RunSummary baseline = training(1), candidate = training(1.2);
        for (RunSummary* run : {&baseline, &candidate})
            run->workers[0].outliers = {
                {7, "step 7", 5, 900'000, 400'000, StepPart::LaunchBound, 300'000, "in cudaMalloc(int)", "forward"}};
        const ComparisonReport report = reportOf(baseline, {candidate, candidate});
        const ComparisonTable all = outliersOf(report);
        QCOMPARE(all.rows.size(), size_t{3});  // the baseline's outliers once
        QCOMPARE(all.text(2, 0), std::string("[2]"));
        const std::string text = comparisonAsText(report), html = comparisonAsHtml(report);
        for (const ComparisonColumn& column : all.columns)
            QVERIFY2(html.find(column.name) != std::string::npos, column.name.c_str());
        for (const char* heading : {"Run", "Worker", "Step", "Wall", "Excess", "Contributor"})
            QVERIFY2(text.find(heading) != std::string::npos, heading);
        QVERIFY(text.find("CPU-bound idle: in cudaMalloc\n") != std::string::npos);
    }

    void warningsHaveCodesInJson() {
        RunSummary run = training(1);
        run.facts.healthWarnings = {
            {Severity::Warning, HealthCode::EventsDropped, "12 events were dropped.", globalPid(4242), {}, 12, {}}};
        const QJsonObject said =
            QJsonDocument::fromJson(QByteArray::fromStdString(comparisonAsJson(reportOf(run, {training(1.2)}))))
                .object()["baseline"]
                .toObject()["healthWarnings"]
                .toArray()[0]
                .toObject();
        QCOMPARE(said["code"].toString(), QString("events-dropped"));
        QCOMPARE(said["pid"].toInt(), 4242);
        QCOMPARE(said["count"].toInt(), 12);
        QCOMPARE(said["sentence"].toString(), QString("12 events were dropped."));
    }

    /// The terminal truncates names, so kernels of one template must differ early.
    void longKernelNamesBeginWithTheShortName() {
        ComparisonReport report = reportOf(training(1), {training(1.3)});
        for (WorkerComparison& pair : report.candidates[0].comparison.workers)
            for (ContributorDifference& one : pair.contributors)
                one.baseline.name = one.candidate.name =
                    "void at::native::vectorized_elementwise_kernel<4, "
                    "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, "
                    "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)";
        const std::string text = comparisonAsText(report);
        QVERIFY2(text.find("add f32 \u00b7 void at::native::vec") != std::string::npos, text.c_str());
    }

    void emptyRunsMakeEveryFormat() {
        const ComparisonReport report = reportOf(summaryOf(SimulatedTrace().finish()), {training(1)});
        QVERIFY(!comparisonAsText(report).empty());
        QVERIFY(comparisonAsHtml(report).ends_with("</html>\n"));
        QVERIFY(!QJsonDocument::fromJson(QByteArray::fromStdString(comparisonAsJson(report))).isNull());
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
        QCOMPARE(withoutParameters("void gemm<float>(float*, int)"), std::string_view("void gemm<float>"));
        QCOMPARE(withoutParameters("f(int (*)(int))"), std::string_view("f"));
        QCOMPARE(withoutParameters("plain"), std::string_view("plain"));
        QCOMPARE(kernelBaseName("void a::b::gemm<float, c::d<1> >(float*, int)"), std::string_view("gemm"));
        QCOMPARE(kernelBaseName("flash_fwd_kernel"), std::string_view("flash_fwd_kernel"));
        for (const char* odd : {"", "(", ")", "<", ">", "f<(", "a b<c>::", ")))((("})
            QVERIFY(kernelBaseName(odd).size() <= strlen(odd));
    }
};

LANESCOPE_TEST(TestComparisonReport, NoApplication)
#include "tst_ComparisonReport.moc"
