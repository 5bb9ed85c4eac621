// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/shownNumbers.h"
#include "model/compare/ComparisonView.h"
#include "model/importers/loadTrace.h"
#include "model/pages/ComparisonReport.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;
using namespace lanescope::report;

namespace {

using Rows = QList<QStringList>;

RunSummary summaryOf(const TracePtr& trace) {
    const Result<RunSummary> summary = summarizeRun(*trace);
    if (!summary) qFatal("%s", summary.error().sentence.c_str());
    return *summary;
}

RunSummary sample(const char* name) {
    const Result<TracePtr> trace = loadTrace(std::filesystem::path(LANESCOPE_SAMPLES) / name);
    if (!trace) qFatal("%s", trace.error().sentence.c_str());
    return summaryOf(*trace);
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
    const Result<std::string> csv = comparisonAsCsv(report, {table});
    if (!csv) qFatal("%s", csv.error().sentence.c_str());
    QList<QMap<QString, QString>> rows;
    QStringList header;
    for (const QString& line : QString::fromStdString(*csv).split("\r\n", Qt::SkipEmptyParts)) {
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
        const Rows text = textRows(text_, "Mean step", false);
        const Rows page = pageRows(html_, "Part of the mean step");
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
            QCOMPARE(loss(row["Lost (ns)"]), cells[3]);
            const QJsonObject json = json_["parts"].toArray()[int(part - pair_.parts.begin())].toObject();
            QCOMPARE(json["lostNs"].toInteger(), row["Lost (ns)"].toLongLong());
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
        const Rows text = textRows(text_, "Mean step", false);
        const Rows contributors = csvContributors();
        for (const Cause& cause : comparison_.answer.causes) {
            const QStringList row = rowCalled(text, qt(std::string(name(cause.part))));
            const QString words = qt(cause.text);
            const QString unit = " " + qt(std::string(pair_.scale.unit));
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
            const Rows text = textRows(text_, title + ": time", true);
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
            QVERIFY(html_.contains("<b>" + shown + "</b>"));
            QVERIFY(html_.contains("median " + shown + "</text>"));
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
            rows << QStringList{loss(row["Lost (ns)"]), time(row["Baseline (ns)"]), time(row["Candidate Time (ns)"]),
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

/// Tests that a number is the same in the sentence, the text, the page, CSV and JSON.
class TestOneNumber : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
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

  private:
    std::vector<ComparisonReport> reports_;
};

LANESCOPE_TEST(TestOneNumber, NoApplication)
#include "tst_OneNumber.moc"
