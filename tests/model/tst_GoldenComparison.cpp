// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/shownNumbers.h"
#include "model/compare/ComparisonView.h"
#include "model/compare/RunComparison.h"
#include "model/importers/TraceFormat.h"
#include "model/pages/ComparisonReport.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;
using namespace lanescope::report;

namespace {

/// Returns true if the time is within 10 % of the known cause.
bool isAbout(int64_t ns, double expectedNs) {
    return std::abs(static_cast<double>(ns) - expectedNs) <= 0.1 * std::abs(expectedNs);
}

const ContributorDifference* named(const RunComparison& comparison, const Cause& cause) {
    for (const ContributorDifference& each : comparison.criticalPair()->contributors)
        if (cause.main && each.part == cause.part && each.name() == cause.main->name() && each.path == cause.main->path)
            return &each;
    return nullptr;
}

/// Returns true if the top sentence gives this reason.
bool tells(const RunComparison& comparison, const std::string& text) {
    return !text.empty() && comparison.answer.sentence.find(text) != std::string::npos;
}

constexpr std::array pairNames{std::pair("resnet152-nvlink", "resnet152-no-p2p"),
                               std::pair("same1", "pageable"),
                               std::pair("same1", "stall"),
                               std::pair("same1", "extra"),
                               std::pair("workers4", "workers0"),
                               std::pair("same1", "bf16"),
                               std::pair("same1", "same2"),
                               std::pair("same2", "same3"),
                               std::pair("same3", "same4"),
                               std::pair("same4", "same5"),
                               std::pair("same5", "same6")};

using Rows = QList<QStringList>;

RunSummary summaryOf(const TracePtr& trace) { return test::orFail(summarizeRun(*trace)); }

RunSummary sample(const char* name) {
    const TracePtr trace = test::orFail(loadTrace(std::filesystem::path(LANESCOPE_SAMPLES) / name));
    return summaryOf(trace);
}

ComparisonReport reportOf(const RunSummary& baseline, const RunSummary& candidate) {
    ComparisonReport report{baseline, {{candidate, {}, {}}}, {}, 0};
    report.lineWidth = 1000;  // Names are neither truncated nor wrapped.
    report.candidates[0].comparison =
        compareRuns(BaselineRun{report.baseline}, CandidateRun{report.candidates[0].summary});
    return report;
}

/// Cells of the text table below the line that begins with `heading`, without headings, units and rules.
Rows textRows(const QString& text, const QString& heading, bool hasTitle) {
    Rows rows;
    const QStringList lines = text.split('\n');
    qsizetype line = 0;
    while (line < lines.size() && !lines[line].startsWith(heading)) ++line;
    line += hasTitle ? 5 : 3;
    for (; line < lines.size() && !lines[line].isEmpty(); ++line)
        if (!lines[line].startsWith("---")) rows << lines[line].trimmed().split(QRegularExpression("\\s{2,}"));
    return rows;
}

/// Cells of the first table of the page after a text, as displayed.
Rows pageRows(const QString& html, const QString& after) {
    Rows rows;
    const qsizetype from = html.indexOf("<tbody>", html.indexOf(after));
    const QString table = html.mid(from, html.indexOf("</table>", from) - from);
    static const QRegularExpression row("<tr>(.*?)</tr>", QRegularExpression::DotMatchesEverythingOption);
    static const QRegularExpression cell("<t[dh][^>]*>(.*?)</t[dh]>");
    static const QRegularExpression tag("<[^>]*>");
    if (html.indexOf(after) < 0) return rows;
    for (auto found = row.globalMatch(table); found.hasNext();) {
        QStringList& cells = rows.emplaceBack();
        for (auto each = cell.globalMatch(found.next().captured(1)); each.hasNext();)
            cells << each.next().captured(1).remove(tag).replace(QChar(0x2013), "-");
    }
    return rows;
}

/// Fields of a CSV table by column; names of these runs have commas and quotes only inside quotes.
QList<QMap<QString, QString>> csvRows(const ComparisonReport& report, const std::string& table) {
    const std::string csv = test::orFail(comparisonAsCsv(report, {table}));
    QList<QMap<QString, QString>> rows;
    QStringList header;
    for (const QString& line : QString::fromStdString(csv).split("\r\n", Qt::SkipEmptyParts)) {
        QStringList fields{QString()};
        bool isQuoted = false;
        for (const QChar letter : line) {
            if (letter == '"')
                isQuoted = !isQuoted;
            else if (letter == ',' && !isQuoted)
                fields << QString();
            else
                fields.last() += letter;
        }
        if (header.isEmpty()) {
            header = fields;
            continue;
        }
        QMap<QString, QString>& row = rows.emplaceBack();
        for (qsizetype column = 0; column < header.size(); ++column) row[header[column]] = fields.value(column);
    }
    return rows;
}

QString qt(const std::string& text) { return QString::fromStdString(text); }

/// One fact in all places of a report that show it.
class Places {
  public:
    explicit Places(const ComparisonReport& report)
        : report_(report),
          comparison_(report.candidates[0].comparison),
          pair_(*comparison_.criticalPair()),
          text_(qt(comparisonAsText(report))),
          html_(qt(comparisonAsHtml(report))),
          json_(QJsonDocument::fromJson(QByteArray::fromStdString(comparisonAsJson(report)))
                    .object()["candidates"]
                    .toArray()[0]
                    .toObject()["workers"]
                    .toArray()[int(comparison_.critical)]
                    .toObject()) {}

    void checkParts() const {
        const Rows text = textRows(text_, "Mean step", false), page = pageRows(html_, "Part of the mean step");
        QVERIFY(text.size() > 2);
        QCOMPARE(text, page);
        int checked = 0;
        for (const QMap<QString, QString>& row : csvRows(report_, "parts")) {
            if (row["Worker"] != qt(pair_.candidateLabel)) continue;
            const auto part = std::find_if(pair_.parts.begin(), pair_.parts.end(), [&](const PartDifference& each) {
                return qt(std::string(identifier(each.part))) == row["Part"];
            });
            const QStringList cells = rowCalled(text, qt(std::string(name(part->part))));
            if (cells.isEmpty()) continue;
            ++checked;
            QCOMPARE(time(row["Baseline (ns)"]), cells[1]);
            QCOMPARE(time(row["Candidate Time (ns)"]), cells[2]);
            QCOMPARE(loss(row["Diff (ns)"]), cells[3]);
            const QJsonObject json = json_["parts"].toArray()[int(part - pair_.parts.begin())].toObject();
            QCOMPARE(json["lostNs"].toInteger(), row["Diff (ns)"].toLongLong());
            QCOMPARE(json["baselineNs"].toInteger(), row["Baseline (ns)"].toLongLong());
        }
        QCOMPARE(checked, int(text.size()) - 1);
        QCOMPARE(time(QString::number(json_["baselineSteps"].toObject()["meanNs"].toInteger())), text.last()[1]);
    }

    /// A change that no part's cause explains has the number of its contributor.
    void checkChange(const Cause& cause, const QString& words, const QString& unit, const Rows& contributors) const {
        const QString lost = loss(QString::number(cause.lostNs));
        QVERIFY2(words.startsWith(lost + unit + " "), qPrintable(words));
        QVERIFY(std::any_of(contributors.begin(), contributors.end(), [&](const auto& each) {
            return each[0] == lost && each.last() == qt(cause.main->name().text());
        }));
    }

    void checkSentence() const {
        const Rows text = textRows(text_, "Mean step", false), contributors = csvContributors();
        for (const Cause& cause : comparison_.answer.causes) {
            const QStringList row = rowCalled(text, qt(std::string(name(cause.part))));
            const QString words = qt(cause.text), unit = " " + qt(std::string(pair_.scale.unit));
            QVERIFY(qt(comparison_.answer.sentence).contains(words));
            if (!cause.isOfWholePart) {
                checkChange(cause, words, unit, contributors);
                continue;
            }
            QVERIFY2(words.startsWith(row.value(3) + unit + " "), qPrintable(words));
            QVERIFY2(html_.contains(">" + row.value(3) + unit + "</text>"), qPrintable(words));
            if (!cause.main || cause.main->kind == ContributorKind::Collective) continue;
            const QString lost = loss(QString::number(cause.main->lostNs()));
            QVERIFY2(words.contains(", " + lost + unit + " "), qPrintable(words));
            QVERIFY(std::any_of(contributors.begin(), contributors.end(), [&](const QStringList& each) {
                return each[0] == lost && each.last() == qt(cause.main->name().text());
            }));
        }
        const QString means =
            QString("means %1 against %2.")
                .arg(qt(pair_.scale.text(pair_.candidate.meanNs)), qt(pair_.scale.text(pair_.baseline.meanNs)));
        QVERIFY(std::any_of(comparison_.answer.details.begin(), comparison_.answer.details.end(),
                            [&](const std::string& each) { return qt(each).endsWith(means); }));
        QCOMPARE(text.last()[1], qt(pair_.scale.number(pair_.baseline.meanNs)));
    }

    void checkContributors() const {
        Rows listed;
        for (size_t group = 0; group < partGroupCount; ++group) {
            const QString title = qt(std::string(name(static_cast<PartGroup>(group))));
            const Rows text = textRows(text_, title + ": contribution to the mean step", true);
            const Rows page = pageRows(html_, "<h3>" + title + "</h3>");
            QCOMPARE(text.size(), page.size());
            const bool hasRates = hasBandwidth(static_cast<PartGroup>(group));
            for (qsizetype row = 0; row < text.size(); ++row) {
                const qsizetype numbers = hasRates ? 5 : 3;
                QCOMPARE(text[row].mid(0, numbers), page[row].mid(0, numbers));
                listed << text[row].mid(0, 3);
            }
        }
        Rows csv;
        for (const QStringList& row : csvContributors()) csv << row.mid(0, 3);
        std::sort(listed.begin(), listed.end());
        std::sort(csv.begin(), csv.end());
        QVERIFY(!csv.isEmpty());
        QCOMPARE(listed, csv);
    }

    void checkMedians() const {
        const QMap<QString, QString> row = csvRows(report_, "summary").front();
        for (const auto& [column, ns] : {std::pair("Baseline Median (ns)", pair_.baseline.medianNs),
                                         std::pair("Candidate Median (ns)", pair_.candidate.medianNs)}) {
            const QString shown = qt(timeText(row[column].toDouble()));
            QCOMPARE(row[column].toDouble(), ns);
            QVERIFY(text_.contains("median " + shown));
            QVERIFY(html_.contains("<b>" + shown + "</b>") && html_.contains("median " + shown + "</text>"));
        }
        const QString percent = qt(percentText(std::abs(pair_.claim.percent))) + " %";
        QCOMPARE(qt(percentText(std::abs(row["Change (%)"].toDouble()))) + " %", percent);
        if (comparison_.answer.outcome != Outcome::TooFewSteps)
            QVERIFY(html_.contains("<b>" + qt(pValueEquation(pair_.claim.pValue)).replace("<", "&lt;") + "</b>"));
        const bool isTimes = pair_.claim.percent >= 100;  // "2.3 times as long"
        if (comparison_.answer.outcome == Outcome::Longer && !isTimes)
            QVERIFY(qt(comparison_.answer.sentence).contains(" " + percent + " longer"));
    }

  private:
    QString time(const QString& ns) const { return ns.isEmpty() ? "-" : qt(pair_.scale.number(ns.toLongLong())); }
    QString loss(const QString& ns) const { return ns.isEmpty() ? "-" : qt(pair_.scale.difference(ns.toLongLong())); }
    /// Loss, baseline, candidate and name.
    Rows csvContributors() const {
        Rows rows;
        for (const QMap<QString, QString>& row : csvRows(report_, "contributors")) {
            if (row["Worker"] != qt(pair_.candidateLabel)) continue;
            if (!row["Baseline (ns)"].isEmpty())
                [&] { QCOMPARE(row["Baseline (ns)"].toLongLong() % pair_.scale.quantumNs(), 0); }();
            const QString& name = row["Candidate Name"];
            rows << QStringList{loss(row["Diff (ns)"]), time(row["Baseline (ns)"]), time(row["Candidate Time (ns)"]),
                                name.isEmpty() ? row["Baseline Name"] : name};
        }
        return rows;
    }
    static QStringList rowCalled(const Rows& rows, const QString& title) {
        for (const QStringList& row : rows)
            if (row.first() == title) return row;
        return {};
    }

    const ComparisonReport& report_;
    const RunComparison& comparison_;
    const WorkerComparison& pair_;
    QString text_, html_;
    QJsonObject json_;
};

}  // namespace

/// Tests "Why is run B slower?" on pairs of recordings from a real GPU that differ in one known
/// way. Plain loops over the events of the compared steps give the expected answer.
/// Tests on the two sample recordings of the project: the same training over NVLink and, with peer
/// access disabled, through host memory.
/// Tests that a number is the same in the sentence, the text, the page, CSV and JSON.
class tst_GoldenComparison : public QObject {
    Q_OBJECT

    struct Run {
        TracePtr trace;
        RunSummary summary;
        const WorkerSummary& worker() const { return summary.workers.at(0); }
    };
    /// Predicate: the row of a table counts.
    using Counts = std::function<bool(const Trace&, uint32_t row)>;

    const Run& run(const std::string& name) { return runs_.at(name); }

    RunComparison compared(const std::string& baseline, const std::string& candidate) {
        return compareRuns(BaselineRun{run(baseline).summary}, CandidateRun{run(candidate).summary});
    }

    /// Summed durations per step of the counted rows that start in the compared steps.
    template <class Table>
    static double perStepNs(const Run& run, const Table& table, const Counts& counts) {
        int64_t sum = 0;
        for (const StepSummary& step : run.worker().steps)
            for (uint32_t row = 0; row < table.size(); ++row)
                if (table.startNs[row] >= step.startNs && table.startNs[row] < step.startNs + step.wallNs &&
                    counts(*run.trace, row))
                    sum += table.endNs[row] - table.startNs[row];
        return static_cast<double>(sum) / static_cast<double>(run.worker().steps.size());
    }

    static std::string kernelName(const Trace& trace, uint32_t row) {
        const LaunchConfig config = trace.launchConfigs[trace.kernels.config[row]];
        return std::string(trace.strings.at(config.demangledName));
    }

    static std::set<std::string> kernelNames(const Run& run) {
        std::set<std::string> names;
        for (uint32_t row = 0; row < run.trace->kernels.size(); ++row) names.insert(kernelName(*run.trace, row));
        return names;
    }

    /// Total duration of the NVTX ranges with that text that start in a step.
    static int64_t rangeNs(const Run& run, const StepSummary& step, std::string_view text) {
        const NvtxTable& nvtx = run.trace->nvtx;
        int64_t sum = 0;
        for (uint32_t row = 0; row < nvtx.size(); ++row)
            if (run.trace->strings.at(nvtx.text[row]) == text && nvtx.startNs[row] >= step.startNs &&
                nvtx.startNs[row] < step.startNs + step.wallNs)
                sum += nvtx.endNs[row] - nvtx.startNs[row];
        return sum;
    }

    /// Mean time over the steps from the end of the GPU work to its next batch copy.
    static double waitForBatchNs(const Run& run) {
        const Trace& trace = *run.trace;
        int64_t sum = 0;
        for (const StepSummary& step : run.worker().steps) {
            int64_t copyNs = INT64_MAX;
            for (uint32_t row = 0; row < trace.memcpys.size(); ++row)
                if (trace.memcpys.kind[row] == MemcpyKind::HtoD && trace.memcpys.bytes[row] > 1'000'000 &&
                    trace.memcpys.startNs[row] >= step.startNs)
                    copyNs = std::min(copyNs, trace.memcpys.startNs[row]);
            int64_t doneNs = 0;
            for (uint32_t row = 0; row < trace.kernels.size(); ++row)
                if (trace.kernels.endNs[row] <= copyNs) doneNs = std::max(doneNs, trace.kernels.endNs[row]);
            sum += copyNs - doneNs;
        }
        return static_cast<double>(sum) / static_cast<double>(run.worker().steps.size());
    }

    std::map<std::string, Run> runs_;

    RunSummary nvlink_, noPeers_;

    std::vector<ComparisonReport> reports_;

  private slots:
    void initTestCase() {
        const std::filesystem::path source = LANESCOPE_SOURCE_DIR;
        for (const auto& [baseline, candidate] : pairNames) {
            for (const std::string name : {baseline, candidate}) {
                if (runs_.contains(name)) continue;
                const bool isSample = name.starts_with("resnet152");
                const std::filesystem::path folder =
                    source / (isSample ? "resources/samples" : "tests/golden/compare-pairs");
                const TracePtr trace = test::orFail(loadTrace(folder / (name + ".sqlite.gz")));
                const Result<RunSummary> summary = summarizeRun(*trace);
                QVERIFY2(summary.has_value(), name.c_str());
                QVERIFY2(!summary->isEmpty(), name.c_str());
                runs_[name] = {trace, *summary};
            }
        }
        const std::filesystem::path folder = LANESCOPE_SAMPLES;
        for (auto& [name, summary] :
             {std::pair("resnet152-nvlink.sqlite.gz", &nvlink_), std::pair("resnet152-no-p2p.sqlite.gz", &noPeers_)}) {
            const TracePtr trace = test::orFail(loadTrace(folder / name));
            const RunSummary made = test::orFail(summarizeRun(*trace));
            *summary = made;
        }
        reports_.push_back(reportOf(sample("resnet152-nvlink.sqlite.gz"), sample("resnet152-no-p2p.sqlite.gz")));
        reports_.push_back(reportOf(sample("resnet152-no-p2p.sqlite.gz"), sample("resnet152-nvlink.sqlite.gz")));
        std::mt19937 random(17);
        for (int round = 0; round < 12; ++round) {
            const auto training = [&random](double scale) {
                SimulatedTraining options;
                options.steps = 3 + static_cast<int>(random() % 8);
                options.layers = 1 + static_cast<int>(random() % 4);
                options.kernelScale = scale * (0.7 + static_cast<double>(random() % 900) / 1000);
                options.copiesFromPageableMemory = random() % 2 == 0;
                return summaryOf(simulatedTraining(options));
            };
            // From steps of microseconds to steps of minutes.
            const double scale = std::array{0.01, 1.0, 100.0, 20'000.0}[random() % 4];
            reports_.push_back(reportOf(training(scale), training(scale)));
        }
    }

    void everySumIsExact_data() {
        const test::Rows<QString, QString> row;
        for (const auto& [baseline, candidate] : pairNames)
            row(QString::asprintf("%s against %s", candidate, baseline), baseline, candidate);
    }
    void everySumIsExact() {
        const auto [baseline, candidate] = test::row<QString, QString>();
        for (const QString& name : {baseline, candidate}) {
            for (const WorkerSummary& worker : run(name.toStdString()).summary.workers) {
                QVERIFY(worker.steps.size() >= 9);
                for (const StepSummary& step : worker.steps) QCOMPARE(step.parts.sum(), step.wallNs);
                StepParts sums;
                for (const Contributor& each : worker.contributors) sums[each.part] += each.exposedNs;
                QCOMPARE(sums, worker.totalParts());
            }
        }
        for (const WorkerComparison& pair : compared(baseline.toStdString(), candidate.toStdString()).workers) {
            int64_t before = 0, after = 0, contributors = 0, ranges = 0;
            for (const PartDifference& part : pair.parts) {
                before += part.baselineNs;
                after += part.candidateNs;
            }
            for (const ContributorDifference& each : pair.contributors) contributors += each.lostNs();
            for (const RangeDifference& range : pair.ranges) ranges += range.lostNs();
            QCOMPARE(test::listed(before, after), test::listed(pair.baseline.meanNs, pair.candidate.meanNs));
            QCOMPARE(test::listed(contributors, ranges), test::listed(pair.lostNs(), pair.lostNs()));
        }
    }

    void lostNvlinkIsReportedAsExposedAllReduce() {
        const RunComparison comparison = compared("resnet152-nvlink", "resnet152-no-p2p");
        QCOMPARE(comparison.answer.outcome, Outcome::Longer);
        const Cause& cause = comparison.answer.causes.at(0);
        QCOMPARE(cause.part, StepPart::ExposedCommunication);
        QVERIFY(cause.main);
        QCOMPARE(cause.main->name().text(), std::string("AllReduce"));
        QCOMPARE(qRound(cause.main->baseline.gigabytesPerSecond * 10), 2243);
        QCOMPARE(qRound(cause.main->candidate.gigabytesPerSecond * 10), 278);
        const WorkerComparison& pair = *comparison.criticalPair();
        // The ranks waited less for each other, because the exchange took the time.
        int64_t togetherNs = 0;
        for (const PartDifference& part : pair.parts)
            if (groupOf(part.part) == PartGroup::Collectives) togetherNs += part.lostNs();
        QVERIFY(isAbout(togetherNs, static_cast<double>(pair.lostNs())));
        QVERIFY(tells(comparison, cause.text));
    }

    void pageableBatchesAreReportedAsExposedCopies() {
        const RunComparison comparison = compared("same1", "pageable");
        QCOMPARE(comparison.answer.outcome, Outcome::Longer);
        const Cause& cause = comparison.answer.causes.at(0);
        QCOMPARE(cause.part, StepPart::ExposedHtoD);
        QVERIFY(tells(comparison, cause.text));
        const ContributorDifference* copies = named(comparison, cause);
        QVERIFY(copies);
        QCOMPARE(copies->match, MatchKind::SamePosition);
        QCOMPARE(copies->baseline.name.text(), std::string("HtoD from pinned"));
        QCOMPARE(copies->candidate.name.text(), std::string("HtoD from pageable"));
        QVERIFY(copies->baseline.gigabytesPerSecond > 3 * copies->candidate.gigabytesPerSecond);
        const auto isHtoD = [](const Trace& trace, uint32_t row) {
            return trace.memcpys.kind[row] == MemcpyKind::HtoD;
        };
        const double busyNs = perStepNs(run("pageable"), run("pageable").trace->memcpys, isHtoD) -
                              perStepNs(run("same1"), run("same1").trace->memcpys, isHtoD);
        QVERIFY(busyNs > 500e3);
        QVERIFY(isAbout(cause.lostNs, busyNs));
    }

    void stalledStepsAreReportedDespiteEqualMedian() {
        const RunComparison comparison = compared("same1", "stall");
        QCOMPARE(comparison.answer.outcome, Outcome::Alike);
        QCOMPARE(comparison.outliers.size(), size_t{2});
        std::set<int64_t> numbers;
        for (const RunOutlier& outlier : comparison.outliers) {
            QVERIFY(outlier.isCandidate);
            const OutlierStep& step = outlier.step;
            numbers.insert(step.number);
            QVERIFY(isIdle(step.part));
            QVERIFY(step.part != StepPart::DataLoading);
            QCOMPARE(step.path, std::string("checkpoint"));
            const auto& steps = run("stall").worker().steps;
            const auto found = std::find_if(steps.begin(), steps.end(),
                                            [&step](const auto& each) { return each.number == step.number; });
            QVERIFY(found != steps.end());
            const int64_t checkpointNs = rangeNs(run("stall"), *found, "checkpoint");
            QVERIFY(checkpointNs >= 5'000'000);
            QVERIFY(isAbout(step.excessNs, static_cast<double>(checkpointNs)));
            QVERIFY(isAbout(step.partExcessNs, static_cast<double>(checkpointNs)));
        }
        QCOMPARE(numbers, (std::set<int64_t>{7, 17}));
        QVERIFY(tells(comparison, "checkpoint") && tells(comparison, "step 7") && tells(comparison, "step 17"));
    }

    void extraKernelIsReportedAsNewCompute() {
        const RunComparison comparison = compared("same1", "extra");
        QCOMPARE(comparison.answer.outcome, Outcome::Longer);
        const Cause& cause = comparison.answer.causes.front();
        QCOMPARE(cause.part, StepPart::Compute);
        QVERIFY(cause.isChangeOfKind);
        QVERIFY(tells(comparison, cause.text));
        // Other changes may be named, too, but no longer ones of equal work.
        for (const Cause& each : comparison.answer.causes) QVERIFY(each.isChangeOfKind);

        const std::set<std::string> known = kernelNames(run("same1"));
        const double extraNs =
            perStepNs(run("extra"), run("extra").trace->kernels,
                      [&](const Trace& trace, uint32_t row) { return !known.contains(kernelName(trace, row)); });
        QVERIFY(extraNs > 2e6);
        QVERIFY(isAbout(cause.lostNs, extraNs));

        std::map<std::string, double> launches;  // by range
        int64_t onlyCandidateNs = 0;
        for (const ContributorDifference& each : comparison.criticalPair()->contributors) {
            if (each.part != StepPart::Compute || each.match != MatchKind::OnlyCandidate) continue;
            QVERIFY(!known.contains(each.name().text()));
            launches[each.path] += each.candidate.count;
            onlyCandidateNs += each.candidate.exposedNs;
        }
        QCOMPARE(launches, (std::map<std::string, double>{{"backward", 8}, {"forward", 8}}));
        QVERIFY(isAbout(onlyCandidateNs, extraNs));
        const ContributorDifference* kernel = named(comparison, cause);
        QVERIFY(kernel);
        QCOMPARE(kernel->match, MatchKind::OnlyCandidate);
    }

    void loadingInTheTrainingThreadIsReportedAsDataLoading() {
        const RunComparison comparison = compared("workers4", "workers0");
        QCOMPARE(comparison.answer.outcome, Outcome::Longer);
        QCOMPARE(comparison.answer.causes.size(), size_t{1});
        const Cause& cause = comparison.answer.causes.front();
        QCOMPARE(cause.part, StepPart::DataLoading);
        QVERIFY(cause.main);
        QCOMPARE(cause.main->path, std::string("data"));
        QVERIFY(tells(comparison, cause.text));
        const double waitNs = waitForBatchNs(run("workers0")) - waitForBatchNs(run("workers4"));
        QVERIFY(waitNs > 10e6);
        QVERIFY(isAbout(cause.lostNs, waitNs));
    }

    void identicalRunsAreWithinNoise() {
        for (int a = 1; a <= 6; ++a) {
            for (int b = 1; b <= 6; ++b) {
                if (a == b) continue;
                const RunComparison comparison = compared("same" + std::to_string(a), "same" + std::to_string(b));
                QVERIFY2(comparison.answer.outcome == Outcome::Alike, comparison.answer.sentence.c_str());
                QVERIFY(comparison.answer.causes.empty() && comparison.answer.cautions.empty());
                QVERIFY(comparison.outliers.empty());
            }
        }
    }

    void otherPrecisionMatchesRenamedKernels() {
        const RunComparison comparison = compared("same1", "bf16");
        QCOMPARE(comparison.answer.outcome, Outcome::Shorter);
        QCOMPARE(comparison.answer.causes.at(0).part, StepPart::Compute);
        QVERIFY(tells(comparison, comparison.answer.causes[0].text));
        // Names of cuDNN's inner convolutions state their purpose and precision.
        const std::map<std::string, std::string> convolutions{{"sm90_xmma_fprop_implicit_gemm", "forward"},
                                                              {"sm90_xmma_dgrad_implicit_gemm", "backward"},
                                                              {"sm90_xmma_wgrad_indexed_implicit_gemm", "backward"}};
        size_t found = 0;
        for (const ContributorDifference& each : comparison.criticalPair()->contributors) {
            for (const auto& [name, range] : convolutions) {
                if (each.baseline.name.work.find(name + "_f32f32") == std::string::npos || each.path != range) continue;
                ++found;
                QCOMPARE(each.match, MatchKind::SamePosition);
                HAS(each.candidate.name.work, name + "_bf16bf16");
                QCOMPARE(each.baseline.count, each.candidate.count);
                QVERIFY(each.lostNs() < 0);
            }
        }
        QVERIFY(found >= convolutions.size());
    }

    void stepsAndWarmUpAreFound() {
        for (const RunSummary* run : {&nvlink_, &noPeers_}) {
            QCOMPARE(test::listed(run->pattern, run->workers.size()), "step # | 2");
            for (const WorkerSummary& worker : run->workers) {
                QCOMPARE(test::listed(worker.foundSteps, worker.warmUpSteps, worker.steps.size()), "10 | 1 | 9");
            }
        }
    }

    void partsAndContributorsSumToTheSteps() {
        for (const RunSummary* run : {&nvlink_, &noPeers_}) {
            for (const WorkerSummary& worker : run->workers) {
                for (const StepSummary& step : worker.steps) QCOMPARE(step.parts.sum(), step.wallNs);
                StepParts sums;
                for (const Contributor& each : worker.contributors) sums[each.part] += each.exposedNs;
                QCOMPARE(sums, worker.totalParts());
            }
        }
    }

    void lossIsExposedCommunication() {
        const RunComparison comparison = compareRuns(BaselineRun{nvlink_}, CandidateRun{noPeers_});
        const Answer& answer = comparison.answer;
        QCOMPARE(answer.outcome, Outcome::Longer);
        QVERIFY(answer.cautions.empty());
        QCOMPARE(answer.causes.size(), size_t{2});
        QCOMPARE(answer.causes[0].part, StepPart::ExposedCommunication);
        // The collectives are slower, and the ranks wait less for each other before them.
        QCOMPARE(answer.causes[1].part, StepPart::WaitingForRanks);
        QVERIFY(answer.causes[1].lostNs < 0 && answer.causes[0].main);
        const ContributorDifference& main = *answer.causes[0].main;
        QCOMPARE(test::listed(main.name().text(), main.path), "AllReduce | backward");
        // Without the time that one rank waited for the other.
        QCOMPARE(qRound(main.baseline.gigabytesPerSecond * 10), 2243);
        QCOMPARE(qRound(main.candidate.gigabytesPerSecond * 10), 278);
        const QString sentence = QString::fromStdString(answer.sentence);
        QVERIFY2(sentence.startsWith("In these two runs the candidate's median step is 9.9 % longer: +"),
                 qPrintable(sentence));
        QVERIFY2(sentence.endsWith("One run per side: run-to-run spread unknown."), qPrintable(sentence));
        QVERIFY(
            sentence.contains("+7.074 ms exposed communication in the mean step, +7.053 ms in NCCL AllReduce, bus "
                              "bandwidth 224.3 → 27.8 GB/s"));
        QVERIFY(sentence.contains("no longer over the NVLink that connects these GPUs"));
        QVERIFY2(sentence.contains("; offset by \u22122.871 ms waiting for ranks in the mean step, \u22122.871 "
                                   "ms in NCCL AllReduce. "),
                 qPrintable(sentence));
    }

    void answerReportsNvlinkUseOfBothRuns() {
        QCOMPARE(nvlink_.nvlink.use, NvlinkVerdict::Use::Used);
        QCOMPARE(noPeers_.nvlink.use, NvlinkVerdict::Use::NotSeen);
        for (const RunSummary* run : {&nvlink_, &noPeers_}) QCOMPARE(run->nvlink.evidence, LinkEvidence::Counters);
        const RunComparison comparison = compareRuns(BaselineRun{nvlink_}, CandidateRun{noPeers_});
        // The fact comes first, because the rest may be truncated.
        const QString sentence = QString::fromStdString(comparison.answer.details.front());
        QCOMPARE(sentence, QString("NVLink, sent by each GPU per step: baseline 222.46 MiB (used; by its "
                                   "counters); candidate 0 B (not used; by its counters)."));
    }

    void deltasSumToTheDifferenceOfTheMeans() {
        const RunComparison comparison = compareRuns(BaselineRun{nvlink_}, CandidateRun{noPeers_});
        QCOMPARE(comparison.workers.size(), size_t{2});
        for (const WorkerComparison& pair : comparison.workers) {
            int64_t parts = 0, contributors = 0, ranges = 0;
            for (const PartDifference& part : pair.parts) parts += part.lostNs();
            for (const ContributorDifference& each : pair.contributors) contributors += each.lostNs();
            for (const RangeDifference& range : pair.ranges) ranges += range.lostNs();
            QCOMPARE(test::listed(parts, contributors), test::listed(pair.lostNs(), pair.lostNs()));
            QCOMPARE(ranges, pair.lostNs());
            // On rank 1, a part of it is a wait for the root of a Broadcast.
            int64_t inNccl = 0;
            for (const PartDifference& part : pair.parts)
                if (part.part == StepPart::ExposedCommunication || part.part == StepPart::WaitingForRanks)
                    inNccl += part.lostNs();
            QVERIFY(inNccl > pair.lostNs() * 8 / 10);
        }
    }

    void identicalFilesAreWithinNoise() {
        for (const RunSummary* run : {&nvlink_, &noPeers_}) {
            const RunComparison comparison = compareRuns(BaselineRun{*run}, CandidateRun{*run});
            QCOMPARE(comparison.answer.outcome, Outcome::Alike);
            QCOMPARE(comparison.answer.cautions, std::vector<std::string>{"Both sides are the same recording."});
            for (const WorkerComparison& pair : comparison.workers)
                for (const ContributorDifference& each : pair.contributors)
                    QVERIFY(each.lostNs() == 0 && each.match == MatchKind::SameName);
        }
    }

    void swappedRunsAreFaster() {
        const RunComparison comparison = compareRuns(BaselineRun{noPeers_}, CandidateRun{nvlink_});
        QCOMPARE(comparison.answer.outcome, Outcome::Shorter);
        QCOMPARE(comparison.answer.causes.at(0).part, StepPart::ExposedCommunication);
        QVERIFY(comparison.answer.causes[0].lostNs < 0);
    }

    void partsAreEqualInAllFormats() {
        for (const ComparisonReport& report : reports_) Places(report).checkParts();
    }
    void sentenceNumbersAreEqualInAllFormats() {
        for (const ComparisonReport& report : reports_) Places(report).checkSentence();
    }
    void contributorsAreEqualInAllFormats() {
        for (const ComparisonReport& report : reports_) Places(report).checkContributors();
    }
    void mediansAreEqualInAllFormats() {
        for (const ComparisonReport& report : reports_) Places(report).checkMedians();
    }
};

LANESCOPE_TEST(tst_GoldenComparison, NoApplication)
#include "tst_GoldenComparison.moc"
