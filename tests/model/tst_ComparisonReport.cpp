// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/shownNumbers.h"
#include "model/analysis/storedSummary.h"
#include "model/compare/RunComparison.h"
#include "model/compare/comparePrograms.h"
#include "model/fleet/RankDetails.h"
#include "model/format/GlobalId.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Stored.h"
#include "model/importers/TraceFormat.h"
#include "model/pages/ComparisonReport.h"
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
using namespace lanescope::fleet;

namespace {

RunSummary summaryOf(const TracePtr& trace) { return test::orFail(summarizeRun(*trace)); }

RunSummary training(double kernelScale, int steps = 8) {
    SimulatedTraining options{.steps = steps, .layers = 3, .kernelScale = kernelScale};
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

using Use = NvlinkVerdict::Use;

constexpr int64_t mib = 1 << 20;

RunSummary run(Use use, LinkEvidence evidence, std::optional<int64_t> bytesPerStep, int64_t bestBytesPerSecond = 0,
               size_t gpus = 2) {
    RunSummary summary;
    summary.source = StepSource::NvtxRange;
    summary.facts.gpuNames.assign(gpus, "Simulated H200");
    summary.nvlink = {use, evidence, bytesPerStep, evidence, bestBytesPerSecond};
    return summary;
}

QString sentence(const RunSummary& baseline, const RunSummary& candidate) {
    return QString::fromStdString(nvlinkSentence(baseline, candidate));
}

int64_t numberIn(const Database& database, const char* sql) {
    auto statement = database.prepare(sql);
    const auto row = statement ? statement->step() : Result<bool>(false);
    return row && *row ? statement->integer(0) : -1;
}

}  // namespace

class tst_ComparisonReport : public QObject {
    Q_OBJECT

    TracePtr trace_;
    RunSummary run_;
    RankDetails details_;

  private slots:
    void initTestCase() {
        trace_ = simulatedTraining({.steps = 12, .ncclPlugin = true});
        RunSummary run = test::orFail(summarizeRun(*trace_));
        run_ = std::move(run);
        RankDetails details = test::orFail(rankDetails(*trace_, run_));
        details_ = std::move(details);
    }

    void timesOfATableShareOneUnit() {
        QCOMPARE(DurationScale::fitting(2'000'000).number(1'234'567), std::string("1.235"));
        QCOMPARE(DurationScale::fitting(5'000'000'000).number(1'234'567'890), std::string("1.235"));
        QCOMPARE(DurationScale::fitting(999).number(12), std::string("12"));
        QCOMPARE(DurationScale::fitting(1'500'000'000'000).number(1'500'000'000'000), std::string("1,500.000"));
        const DurationScale ms = DurationScale::fitting(10'000'000);
        QCOMPARE(test::listed(ms.difference(-400), ms.difference(400), ms.difference(600)), "0.000 | 0.000 | +0.001");
        QCOMPARE(test::listed(ms.difference(-600), ms.differenceText(-600)), "\u22120.001 | \u22120.001 ms");
        // Short times next to a long step stay visible.
        QCOMPARE(DurationScale::ofStep(12'345'678'901).text(12'345'678'901), std::string("12,345.679 ms"));
        QCOMPARE(DurationScale::ofStep(123'456'789'012).unit, std::string_view("s"));
        QCOMPARE(DurationScale::ofStep(999'000).unit, std::string_view("µs"));
        QCOMPARE(test::listed(percentDifferenceText(535), percentDifferenceText(999'900)), "+535.0 | +999,900.0");
        QCOMPARE(test::listed(percentDifferenceText(-0.04), percentDifferenceText(0.04)), "0.0 | 0.0");
        QCOMPARE(test::listed(timeDifferenceText(7.2314e6), pValueEquation(0.0042)), "+7.231 ms | p = 0.0042");
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
        for (const char* part : {"<script>alert", "\" onload", "<svg/"})
            QVERIFY2(html.find(part) == std::string::npos, part);
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
            int64_t levelNs = waterfall.baselineNs, before = INT64_MAX;
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
        QVERIFY(!fromIdentifier("not seen", NvlinkVerdict::Use::Used) && !fromIdentifier("", Outcome::Shorter));
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
        for (const char* heading : {"Run", "Worker", "Step", "Duration", "Above Median", "Largest Cause"})
            QVERIFY2(text.find(heading) != std::string::npos, heading);
        QVERIFY(text.find("waiting for launches: in cudaMalloc\n") != std::string::npos);
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
        QCOMPARE(test::listed(said["code"].toString(), said["pid"].toInt()), "events-dropped | 4242");
        QCOMPARE(test::listed(said["count"].toInt(), said["sentence"].toString()), "12 | 12 events were dropped.");
    }

    /// The terminal truncates names, so kernels of one template must differ early.
    void longKernelNamesBeginWithTheShortName() {
        ComparisonReport report = reportOf(training(1), {training(1.3)});
        for (WorkerComparison& pair : report.candidates[0].comparison.workers)
            for (ContributorDifference& one : pair.contributors)
                one.baseline.name = one.candidate.name =
                    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
                    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)";
        const std::string text = comparisonAsText(report);
        HAS(text, "add f32 \u00b7 void at::native::vec");
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
        QCOMPARE(test::listed(withoutParameters("f(int (*)(int))"), withoutParameters("plain")), "f | plain");
        QCOMPARE(kernelBaseName("void a::b::gemm<float, c::d<1> >(float*, int)"), std::string_view("gemm"));
        QCOMPARE(kernelBaseName("flash_fwd_kernel"), std::string_view("flash_fwd_kernel"));
        for (const char* odd : {"", "(", ")", "<", ">", "f<(", "a b<c>::", ")))((("})
            QVERIFY(kernelBaseName(odd).size() <= strlen(odd));
    }

    void countersDescribeBothRuns() {
        const RunSummary used = run(Use::Used, LinkEvidence::Counters, 222 * mib, 91'000'000'000);
        const RunSummary idle = run(Use::NotSeen, LinkEvidence::Counters, 0);
        QCOMPARE(sentence(used, idle),
                 "NVLink, sent by each GPU per step: baseline 222.00 MiB (used; by its counters); "
                 "candidate 0 B (not used; by its counters).");
        QVERIFY(isNvlinkUseOther(used, idle) && isNvlinkUseOther(idle, used));
    }

    void computedValuesAreReportedAsComputed() {
        const RunSummary nccl = run(Use::Used, LinkEvidence::Collectives, 5 * mib);
        const RunSummary copies = run(Use::Used, LinkEvidence::Copies, 5 * mib);
        QCOMPARE(sentence(nccl, copies),
                 "NVLink, sent by each GPU per step: baseline 5.00 MiB (used; computed from NCCL); "
                 "candidate 5.00 MiB (used; computed from copies).");
        QVERIFY(!isNvlinkUseOther(nccl, copies));
        QVERIFY(isNvlinkUseOther(nccl, run(Use::Used, LinkEvidence::Copies, 6 * mib)));
        QCOMPARE(sentence(nccl, run(Use::NotSeen, LinkEvidence::Collectives, 5 * mib, 21'340'000'000))
                     .section("candidate ", 1),
                 "not seen in use (5.00 MiB at up to 21.3 GB/s, as PCIe can; computed from NCCL).");
    }

    /// Counters read every few seconds show use, not the bytes of a step.
    void bytesPerStepNameTheirSource() {
        RunSummary used = run(Use::Used, LinkEvidence::Counters, 432 * mib);
        used.nvlink.stepEvidence = LinkEvidence::Collectives;
        const RunSummary idle = run(Use::NotSeen, LinkEvidence::Counters, std::nullopt);
        QCOMPARE(sentence(used, idle),
                 "NVLink, sent by each GPU per step: baseline 432.00 MiB (computed from NCCL; used, "
                 "by its counters); candidate not used, by its counters.");
    }

    void unknownUseIsReportedAsUnknown() {
        const RunSummary used = run(Use::Used, LinkEvidence::Counters, std::nullopt);
        const RunSummary unknown = run(Use::Unknown, LinkEvidence::None, std::nullopt);
        QCOMPARE(sentence(used, unknown),
                 "NVLink, sent by each GPU per step: baseline an unknown amount (used; by its "
                 "counters); candidate unknown (no link counters, and no transfer between GPUs that shows it).");
        QVERIFY(!isNvlinkUseOther(used, used));
        QVERIFY(sentence(used, run(Use::Absent, LinkEvidence::None, 5 * mib))
                    .endsWith("candidate none (no NVLink connects its GPUs)."));
    }

    void singleGpuRunsHaveNoNvlinkSentence() {
        const RunSummary one = run(Use::Unknown, LinkEvidence::None, std::nullopt, 0, 1);
        QVERIFY(sentence(one, one).isEmpty() && sentence(RunSummary{}, RunSummary{}).isEmpty());
        QVERIFY(!sentence(one, run(Use::Used, LinkEvidence::Counters, mib)).isEmpty());
    }

    void runWithoutStepsIsOneStep() {
        RunSummary whole = run(Use::Used, LinkEvidence::Counters, mib);
        whole.source = StepSource::WholeRun;
        QVERIFY(sentence(whole, whole).startsWith("NVLink, sent by each GPU: baseline 1.00 MiB"));
    }

    void jsonDistinguishesUnknownFromNone() {
        ComparisonReport report;
        report.baseline = run(Use::Used, LinkEvidence::Counters, 0, 5);
        ComparedCandidate candidate{run(Use::Unknown, LinkEvidence::None, std::nullopt), {}, {}};
        report.candidates.push_back(std::move(candidate));
        const QJsonObject json = QJsonDocument::fromJson(QByteArray::fromStdString(comparisonAsJson(report))).object();
        const QJsonObject used = json["baseline"].toObject()["nvlinkTraffic"].toObject();
        QCOMPARE(test::listed(used["use"].toString(), used["evidence"].toString()), "used | counters");
        QCOMPARE(test::listed(used["bytesPerStep"].toInt(-1), used["bestBytesPerSecond"].toInt()), "0 | 5");
        const QJsonObject unknown = json["candidates"][0]["run"]["nvlinkTraffic"].toObject();
        QCOMPARE(unknown["use"].toString(), "unknown");
        for (const char* part : {"bytesPerStep", "bestBytesPerSecond"}) QVERIFY2(unknown[part].isNull(), part);
    }

    void kernelSumsMatchPlainLoop() {
        const RunSteps steps = test::orFail(findSteps(*trace_));
        std::map<std::tuple<uint32_t, std::string, uint32_t>, std::pair<int64_t, int64_t>> loop;
        for (uint32_t row = 0; row < trace_->kernels.size(); ++row) {
            const Stream& stream = trace_->streams[trace_->kernels.stream[row]];
            for (const WorkerSteps& worker : steps.workers) {
                if (worker.process != stream.process || worker.gpu != stream.gpu) continue;
                const EventRef call = trace_->launchingCall({EventKind::Kernel, row});
                QVERIFY(call.isValid());
                const uint32_t step = worker.stepOf(trace_->kernels.startNs[row], trace_->apiCalls.startNs[call.row()]);
                if (step == noIndex) continue;
                const StringIndex name = trace_->launchConfigs.shortName(trace_->kernels.config[row]);
                auto& [count, totalNs] = loop[{workerOf(run_, *trace_, worker.process, worker.gpu),
                                               std::string(trace_->strings.at(name)), step}];
                ++count;
                totalNs += trace_->kernels.endNs[row] - trace_->kernels.startNs[row];
            }
        }
        QVERIFY(loop.size() > 20);
        QCOMPARE(details_.kernels.size(), loop.size());
        for (const StepKernels& each : details_.kernels) {
            QCOMPARE(each.steps, 1u);
            const auto [count, totalNs] = loop.at({each.worker, each.name, each.step});
            QCOMPARE(test::listed(each.count, each.totalNs), test::listed(count, totalNs));
            QVERIFY(each.maxNs * each.count >= each.totalNs);
        }
    }

    void ncclCallsAreNumberedAsInAllRanks() {
        QVERIFY(trace_->nccl.size() > 0);
        QCOMPARE(details_.collectives.size(), size_t{trace_->nccl.size()});
        std::map<std::pair<uint64_t, int64_t>, std::set<uint32_t>> workers;
        std::map<std::pair<uint32_t, uint64_t>, int64_t> places;
        for (const RankCollective& each : details_.collectives) {
            QCOMPARE(each.place, (places[{each.worker, each.communicator}]++));
            QVERIFY(each.gpu.has_value() && each.gpu->endNs >= each.gpu->startNs);
            workers[{each.communicator, each.place}].insert(each.worker);
        }
        for (const auto& [collective, who] : workers) QCOMPARE(who.size(), run_.workers.size());
        for (const RankCommunicator& each : details_.communicators)
            QCOMPARE(each.calls, (places[{each.worker, each.id}]));
    }

    void everyWorkerHasItsPlace() {
        QCOMPARE(details_.places.size(), run_.workers.size());
        for (uint32_t worker = 0; worker < details_.places.size(); ++worker) {
            QCOMPARE(details_.places[worker].worker, worker);
            QVERIFY(!details_.places[worker].range.isEmpty());
        }
    }

    void storedDetailsAreCompleteAndNoTrace() {
        const TemporaryFolder folder;
        const std::filesystem::path path = folder / "a.lanescope-summary";
        QVERIFY(writeSummaryFile(path, *trace_, run_, details_, false).has_value());
        // Again, over the existing file.
        QVERIFY(writeSummaryFile(path, *trace_, run_, details_, true).has_value());
        const Database database = test::orFail(Database::openReadOnly(path));
        const std::optional<RunSummary> stored = readRunSummary(database);
        QVERIFY(stored.has_value() && stored->workers == run_.workers);
        QCOMPARE(database.rowCount(tables::storedCollectives.tableName()),
                 static_cast<int64_t>(details_.collectives.size()));
        QCOMPARE(database.rowCount(tables::storedKernels.tableName()), static_cast<int64_t>(details_.kernels.size()));
        int64_t totalNs = 0;
        for (const StepKernels& each : details_.kernels) totalNs += each.totalNs;
        QCOMPARE(numberIn(database, "SELECT sum(totalNs) FROM LANESCOPE_STORED_KERNELS"), totalNs);
        QCOMPARE(numberIn(database, "SELECT count(*) FROM LANESCOPE_STORED_PLACES"),
                 static_cast<int64_t>(run_.workers.size()));
        QVERIFY(!loadTrace(path).has_value());
        QCOMPARE(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
    }

    void storedFileIsNamedAfterItsTrace() {
        QCOMPARE(summaryName("/x/run.0.sqlite"), std::filesystem::path("run.0.lanescope-summary"));
        QCOMPARE(summaryName("run.sqlite.gz"), std::filesystem::path("run.lanescope-summary"));
    }
};

LANESCOPE_TEST(tst_ComparisonReport, NoApplication)
#include "tst_ComparisonReport.moc"
