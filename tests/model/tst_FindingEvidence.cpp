// SPDX-License-Identifier: Apache-2.0
#include <variant>

#include "model/explain/Explanation.h"
#include "model/explain/findingQueries.h"
#include "model/explain/rules.h"
#include "model/export/traceFile.h"
#include "model/importers/TraceFormat.h"
#include "model/numbers/Statistics.h"
#include "model/query/TraceQuery.h"
#include "tests/support/cpuStates.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::explain;

namespace {

constexpr int64_t ms = 1'000'000;

/// Queries split time by simpler rules than the analysis.
constexpr double tolerance = 0.1;
/// Calls that wait have other names in traces of compilers, which are few.
constexpr double toleranceOfOthers = 0.4;

std::optional<size_t> columnOf(const ReportTable& table, std::string_view name) {
    for (size_t column = 0; column < table.columns.size(); ++column)
        if (table.columns[column].name == name) return column;
    return std::nullopt;
}

int64_t integer(const Cell& cell) {
    const int64_t* value = std::get_if<int64_t>(&cell);
    return value == nullptr ? 0 : *value;
}

std::vector<int64_t> valuesOf(const ReportTable& table, std::string_view name) {
    std::vector<int64_t> values;
    if (const std::optional<size_t> column = columnOf(table, name))
        for (const auto& row : table.rows) values.push_back(integer(row[*column]));
    return values;
}

double sumOf(const std::vector<int64_t>& values) {
    double sum = 0;
    for (const int64_t value : values) sum += static_cast<double>(value);
    return sum;
}

/// Returns the time by which the steps that the query marks exceed the median of the others, summed.
double excessOf(const ReportTable& table) {
    const std::vector<int64_t> ns = valuesOf(table, "ns"), longer = valuesOf(table, "longer");
    std::vector<int64_t> others;
    for (size_t row = 0; row < ns.size(); ++row)
        if (longer[row] == 0) others.push_back(ns[row]);
    double sum = 0;
    for (size_t row = 0; row < ns.size(); ++row)
        if (longer[row] != 0) sum += static_cast<double>(ns[row]) - medianOf(others);
    return sum;
}

bool isAbout(double value, double expected, double within) {
    return std::abs(value - expected) <= within * std::abs(expected);
}

void collect(const std::filesystem::path& folder) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, ignored)) {
        const std::string name = entry.path().filename().string();
        if (!name.ends_with(".sqlite.gz") && !name.ends_with(".sqlite")) continue;
        QTest::newRow(entry.path().parent_path().filename().append("/").append(name).c_str())
            << QString::fromStdString(entry.path().string());
    }
}

}  // namespace

/// The query of a finding returns rows that add up to its claim, in every recording at hand.
class tst_FindingEvidence : public QObject {
    Q_OBJECT

    TemporaryFolder folder_;
    double evidenceNs_ = 0;  ///< Of the latest verified finding.

    /// Verifies that the run has a finding of a rule, and that the rows of its query add up to its time.
    void verifyEvidence(SimulatedTrace& made, const Rule& rule, double within = tolerance) {
        const std::filesystem::path path = folder_ / "run.sqlite";
        std::filesystem::remove(path);
        QVERIFY(writeTraceFile(*made.finish(), path));
        const Explanation explanation = explain::explain(*summarizeRun(*test::orFail(loadTrace(path))));
        const auto finding = std::ranges::find(explanation.findings, &rule, &Finding::rule);
        QVERIFY2(finding != explanation.findings.end(), explanation.sentence.c_str());
        const auto query = test::orFail(TraceQuery::open(path.string()));
        const double sumNs = sumOf(valuesOf(test::orFail(query.run(finding->sql, {})).table, "ns"));
        evidenceNs_ = static_cast<double>(finding->evidenceNs);
        QVERIFY(evidenceNs_ > 0);
        QVERIFY2(isAbout(sumNs, static_cast<double>(finding->evidenceNs), within),
                 fmt::format("rows {}, evidence {}", sumNs, finding->evidenceNs).c_str());
    }

  private slots:
    /// Names of kernels are part of queries: with quotes, and with so many bytes that only parts of them are compared.
    void everyNameIsFound_data() {
        const test::Rows<QString, QString> row;
        const QString same(450, 'a');
        row("plain", "index_put", "gemm");
        row("quotes", R"(it's "one" %_ 'kernel')", "it''s");
        row("equal start", "void f<" + same + "1>()", "void f<" + same + "22>()");
        row("equal length", "void f<" + same + "1>()", "void f<" + same + "2>()");
        row("shortened", "void f<" + QString(6000, 'b') + "1>()", "void f<" + QString(6001, 'b') + "2>()");
    }
    void everyNameIsFound() {
        const auto [name, other] = test::row<QString, QString>();
        SimulatedTrace made;
        int64_t at = ms;
        for (int step = 0; step < 20; ++step) {
            const int64_t startNs = at;
            for (int kernel = 0; kernel < 20; ++kernel, at += ms / 10)
                made.addKernel(made.defaultStream(), other.toStdString(), at, at + ms / 10);
            made.addKernel(made.defaultStream(), name.toStdString(), at, at + 5 * ms);
            at += 5 * ms;
            made.addNvtx(made.defaultThread(), "step " + std::to_string(step), startNs, at);
        }
        verifyEvidence(made, longKernelRule);
    }

    /// Whatever call launched the work before and after a gap, one call launched both.
    void gapsWithinALaunchAreFound() {
        SimulatedTrace made;
        for (int step = 0; step < 20; ++step) {
            const int64_t at = (step + 1) * 10 * ms;
            const auto correlation = static_cast<uint32_t>(step + 1);
            made.addNvtx(made.defaultThread(), "step " + std::to_string(step), at, at + 9 * ms);
            made.addApi(made.defaultThread(), "cudaLaunchCooperativeKernelMultiDevice", at, at + ms / 100, correlation);
            for (int kernel = 0; kernel < 10; ++kernel)
                made.addKernel(made.defaultStream(), "gemm", at + ms / 10 + kernel * ms, at + ms / 2 + kernel * ms,
                               correlation);
        }
        verifyEvidence(made, graphGapsRule);
    }

    /// Each step has two late launches. The query returns only the one after samples in the compiler.
    void samplesSelectTheEvidenceOfCompiling() {
        SimulatedTrace made;
        made.description().producer = "Lanescope 1.0";
        const uint32_t main = made.addThread(0, 4242, "python3"), stream = made.defaultStream();
        const uint32_t compiler = made.frame("compile", "/x/torch/_dynamo/convert_frame.py", 7);
        const uint32_t inner = made.frame("visit", "/x/ast.py", 3, compiler);
        const uint32_t other = made.frame("prepare", "/srv/own.py", 3);
        constexpr int64_t busyNs = 8 * ms, gpuNs = 2 * ms;
        int64_t at = ms;
        for (int step = 0; step < 20; ++step) {
            const int64_t startNs = at;
            for (const uint32_t stack : {inner, other}) {
                made.launch(main, stream, "gemm", at, at + ms / 100, at + ms / 100 + gpuNs);
                test::addState(made, main, ThreadState::Running, {at + ms / 50, at + busyNs}, busyNs, 0, stack);
                at += busyNs;
            }
            made.addNvtx(main, "step " + std::to_string(step), startNs, at);
        }
        const std::filesystem::path path = folder_ / "compiling.sqlite";
        QVERIFY(writeTraceFile(*made.finish(), path));
        const Explanation explanation = explain::explain(*summarizeRun(*test::orFail(loadTrace(path))));
        const auto finding = std::ranges::find(explanation.findings, &compilingRule, &Finding::rule);
        QVERIFY2(finding != explanation.findings.end(), explanation.sentence.c_str());
        const auto query = test::orFail(TraceQuery::open(path.string()));
        const auto result = test::orFail(query.run(finding->sql, {}));
        QCOMPARE(result.table.rows.size(), size_t{20});
        QVERIFY(isAbout(sumOf(valuesOf(result.table, "ns")), 20.0 * (busyNs - gpuNs), tolerance));
    }

    /// A call with a pageable copy keeps the GPU idle before the copy, whatever another thread does meanwhile.
    void pageableCopiesAddUp() {
        SimulatedTrace made;
        const uint32_t main = made.defaultThread(), stream = made.defaultStream(), other = made.addThread(0, 4243);
        for (uint32_t step = 0; step < 20; ++step) {
            const int64_t at = (step + 1) * 10 * ms;
            made.addNvtx(main, "step " + std::to_string(step), at, at + 9 * ms);
            made.launch(main, stream, "gemm", at, at + ms / 10, at + 2 * ms);
            made.addApi(main, "cudaMemcpyAsync", at + ms, at + 5 * ms, step + 1);
            made.addMemcpy(stream, MemcpyKind::HtoD, 1 << 24, at + 4 * ms, at + 5 * ms, step + 1, MemoryKind::Pageable);
            made.addApi(other, "cudaStreamSynchronize", at + ms, at + 4 * ms);
            made.launch(main, stream, "gemm", at + 5 * ms, at + 5 * ms + ms / 10, at + 9 * ms);
        }
        verifyEvidence(made, pageableCopiesRule, 0.01);
    }

    /// The GPU waits from the end of the work before the capture to the launch after it.
    void capturesAreFound_data() {
        const test::Rows<bool, double> row;
        // 19 steps without the first. Between the end of a capture and the instantiation, the GPU waits for other code.
        row("with its end", true, 19 * (3.1 + 1.0));
        row("without", false, 19 * 5.0);
    }
    void capturesAreFound() {
        const auto [isEndRecorded, sumMs] = test::row<bool, double>();
        SimulatedTrace made;
        const uint32_t main = made.defaultThread(), stream = made.defaultStream();
        for (int step = 0; step < 20; ++step) {
            int64_t at = (step + 1) * 10 * ms;
            made.addNvtx(main, "step " + std::to_string(step), at, at + 9 * ms);
            made.launch(main, stream, "gemm", at, at + ms / 10, at + ms);
            at += ms;
            made.addApi(main, "cuStreamBeginCapture_v2", at, at + ms / 100);
            for (int call = 1; call <= 10; ++call)
                made.addApi(main, "cuLaunchKernel", at + call * ms / 4, at + call * ms / 4 + ms / 100);
            if (isEndRecorded) made.addApi(main, "cuStreamEndCapture", at + 3 * ms, at + 3 * ms + ms / 10);
            made.addApi(main, "cuGraphInstantiateWithFlags", at + 4 * ms, at + 5 * ms);
            made.launch(main, stream, "gemm", at + 5 * ms, at + 5 * ms + ms / 10, at + 7 * ms);
        }
        verifyEvidence(made, graphCapturesRule);
        QVERIFY2(isAbout(evidenceNs_, sumMs * ms, tolerance), std::to_string(evidenceNs_).c_str());
    }

    void rowsAddUpToTheFinding_data() {
        QTest::addColumn<QString>("path");
        collect(LANESCOPE_SAMPLES);
        collect(LANESCOPE_SOURCE_DIR "/tests/golden");
        // Larger recordings lie next to the sources of some machines.
        collect(LANESCOPE_SOURCE_DIR "/../shared/data/recordings");
        collect(LANESCOPE_SOURCE_DIR "/../shared/data/nsys-exports");
    }
    void rowsAddUpToTheFinding() {
        QFETCH(QString, path);
        const auto trace = loadTrace(path.toStdString());
        if (!trace) return;  // A summary alone, or a damaged file.
        const auto run = test::orFail(summarizeRun(**trace));
        const Explanation explanation = explain::explain(run);
        if (explanation.findings.empty()) return;
        const bool isOurs = run.facts.producerKind == ProducerKind::Lanescope;
        const double within = isOurs ? tolerance : toleranceOfOthers;
        std::vector<TimeRange> shown;
        for (const Finding& finding : explanation.findings) {
            const FindingPlace place = test::orFail(placeOf(**trace, run, finding, explanation.findings));
            const std::string said = fmt::format("{} at {}", finding.rule->id, place.range.startNs);
            QVERIFY2(std::ranges::find(shown, place.range) == shown.end(), said.c_str());
            shown.push_back(place.range);
            QVERIFY2(place.view.startNs < place.range.startNs && place.view.endNs > place.range.endNs, said.c_str());
            QVERIFY2(place.range.durationNs() * 160 >= place.view.durationNs(), said.c_str());
            const bool isOfIdleTime = finding.contributor.isIdle() || finding.rule == &idleBetweenStepsRule;
            if (isOfIdleTime && !finding.rule->isOfLateRank && !finding.rule->isOfSingleSteps())
                QVERIFY2(place.isGap && !place.event.isValid(), said.c_str());
            if (finding.rule->isOfLateRank) QVERIFY2(place.event.isValid(), said.c_str());
        }
        const auto query = test::orFail(TraceQuery::open(path.toStdString()));
        for (const Finding& finding : explanation.findings) {
            const std::string rule(finding.rule->id);
            QVERIFY2(!finding.sql.empty(), rule.c_str());
            const auto result = query.run(finding.sql, {.time = std::chrono::minutes(5)});
            QVERIFY2(result, (rule + ": " + (result ? "" : result.error().sentence)).c_str());
            const ReportTable& table = result->table;
            QVERIFY2(!table.rows.empty(), rule.c_str());
            if (finding.evidenceNs == 0) continue;
            const double sumNs = sumOf(valuesOf(table, "ns"));
            const auto evidenceNs = static_cast<double>(finding.evidenceNs);
            const double claimNs =
                static_cast<double>(finding.maxGainNs) * static_cast<double>(run.workers[finding.worker].steps.size());
            const std::string said =
                fmt::format("{}: rows {}, evidence {}, claim {}", rule, sumNs, evidenceNs, claimNs);
            QVERIFY2(isAbout(sumNs, evidenceNs, within), said.c_str());
            if (finding.rule == &lateRankRule) {
                const std::vector<int64_t> ranks = valuesOf(table, "ns");
                QVERIFY2(isAbout(static_cast<double>(ranks[1] - ranks[0]), claimNs, within), said.c_str());
            } else if (finding.rule == &oddStepsRule || finding.rule == &stepPatternRule) {
                // The rows of many steps are those of the first.
                const size_t affected =
                    finding.pattern ? finding.pattern->affected.size() : run.workers[finding.worker].outliers.size();
                const double shown = sumOf(valuesOf(table, "longer")) / static_cast<double>(affected);
                const double excessNs = excessOf(table);
                // The claim is the difference of two medians in each of them.
                QVERIFY2(isOurs ? isAbout(excessNs, claimNs * shown, 2 * within) : excessNs > 0,
                         fmt::format("{}, excess {}", said, excessNs).c_str());
            } else if (finding.rule != &unbalancedRanksRule) {
                // The mean step is rounded.
                QVERIFY2(claimNs <= evidenceNs * 1.001, said.c_str());
            }
        }
    }
};

LANESCOPE_TEST(tst_FindingEvidence, NoApplication)
#include "tst_FindingEvidence.moc"
