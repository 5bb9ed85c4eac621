// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/storedSummary.h"
#include "model/export/traceFile.h"
#include "model/format/Sqlite.h"
#include "model/format/checksums.h"
#include "model/format/tables/Schema.h"
#include "tests/app/compareFiles.h"
#include "tests/app/sampleTrace.h"
#include "tests/support/SampleCopies.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/fileBytes.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::analysis;

using lanescope::test::Ended;
using lanescope::test::verifyFailure;

namespace {

/// Writes a trace whose every name is hostile to a web page, a terminal and a table.
bool writeHostileTrace(const QString& path, int64_t extraNs) {
    SimulatedTrace builder;
    const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
    for (int step = 0; step < 8; ++step) {
        const int64_t at = step * 10'000'000;
        builder.addNvtx(thread, "</code><img src=x onerror=alert(2)> " + std::to_string(step), at, at + 9'000'000);
        builder.launch(thread, stream, "<script>alert(1)</script>", at + 1'000, at + 10'000, at + 3'000'000 + extraNs);
        builder.launch(thread, stream, "a\"b'c,&\x1b[31m\xff\xe2\x80\xae", at + 9'000, at + 4'000'000,
                       at + 8'000'000 + step * 1'000);
    }
    return writeTraceFile(*builder.finish(), path.toStdString()).has_value();
}

/// Writes steps of slightly more than 20 ms; in every third, from the second on, the CPU is busy
/// for `hiccupNs` before it launches the kernel.
bool writeUnevenTrace(const QString& path, int64_t hiccupNs) {
    SimulatedTrace builder;
    const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
    int64_t at = 0;
    for (int step = 0; step < 40; ++step) {
        const int64_t hiccup = step % 3 == 1 ? hiccupNs : 0;
        const int64_t end = at + 20'000'000 + hiccup + step * 7 % 11 * 10'000, launched = at + 300'000 + hiccup;
        builder.addNvtx(thread, "step " + std::to_string(step), at, end - 1'000);
        builder.addNvtx(thread, "tokenizer", at + 100'000, launched - 100'000);
        builder.launch(thread, stream, "gemm", launched, launched + 100'000, end - 10'000);
        at = end;
    }
    return writeTraceFile(*builder.finish(), path.toStdString()).has_value();
}

bool writeTraceWithoutSteps(const QString& path, int64_t kernelNs) {
    SimulatedTrace builder;
    builder.launch(builder.defaultThread(), builder.defaultStream(), "once", 1'000, 20'000, 20'000 + kernelNs);
    return writeTraceFile(*builder.finish(), path.toStdString()).has_value();
}

}  // namespace

/// Tests of a run among earlier ones of its folder: `--history`, and `--spread` with a folder. Simulated.
class tst_CompareCommand : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    const SampleCopies sample;
    QString fast_, slow_, same_, hostile_, empty_, oneStep_, oneSlowStep_;

    QString path(const QString& name) const { return folder_.filePath(name); }

    static void verifyFits(const QByteArray& text) {
        for (const QString& line : QString::fromUtf8(text).split('\n')) QVERIFY2(line.size() <= 100, qPrintable(line));
    }

    QString writtenTraining(const QString& name, SimulatedTraining training) const {
        training.steps = 12;
        training.layers = 4;
        return writeTraceFile(*simulatedTraining(training), path(name).toStdString()) ? path(name) : QString();
    }

    struct Run {
        QString name;
        double scale = 1;
        int day = 0;
        std::string command = "python train.py", host = "gpu1";
    };

    std::unique_ptr<QTemporaryDir> historyFolder_;

    QString in(const QString& name) const { return historyFolder_->filePath(name); }

    bool write(const Run& run) const {
        SimulatedTraining training{.steps = 10, .layers = 4, .kernelScale = run.scale};
        Result<RunSummary> summary = summarizeRun(*simulatedTraining(training));
        if (!summary) return false;
        static uint64_t hash = 0;
        summary->facts.contentHash = ++hash;
        summary->facts.commandLine = run.command;
        summary->facts.host = run.host;
        summary->facts.startUtcNs = 1'700'000'000'000'000'000 + run.day * 86'400'000'000'000;
        const std::filesystem::path path = in(run.name).toStdString();
        {
            Result<Database> database = Database::create(path);
            if (!database || !createTraceTables(*database) || !writeRunSummary(*database, *summary)) return false;
        }
        return sealPages(path).has_value();
    }

    /// Writes runs with these relative lengths, one per day: r1.sqlite, r2.sqlite ...
    void writeRuns(const std::vector<double>& scales) const {
        QVERIFY(QDir(historyFolder_->path()).mkpath("runs"));
        int day = 0;
        for (const double scale : scales) {
            ++day;
            QVERIFY(write({QString("runs/r%1.sqlite").arg(day), scale, day}));
        }
    }

  private slots:
    void initTestCase() {
        fast_ = writtenTraining("fast.sqlite", {});
        SimulatedTraining slower{.kernelScale = 1.25, .copiesFromPageableMemory = true};
        slow_ = writtenTraining("slow.sqlite", slower);
        SimulatedTraining same;
        same.kernelScale = 1.0001;
        same_ = writtenTraining("same.sqlite", same);
        hostile_ = path("hostile.sqlite");
        QVERIFY(writeHostileTrace(hostile_, 0));
        oneStep_ = path("once.sqlite");
        oneSlowStep_ = path("once-slow.sqlite");
        QVERIFY(writeTraceWithoutSteps(oneStep_, 1'000'000) && writeTraceWithoutSteps(oneSlowStep_, 1'500'000));
        empty_ = path("nothing.sqlite");
        QVERIFY(writeTraceFile(*SimulatedTrace().finish(), empty_.toStdString()));
        QVERIFY(!fast_.isEmpty() && !slow_.isEmpty() && !same_.isEmpty());
    }

    void init() { historyFolder_ = std::make_unique<QTemporaryDir>(); }

    void answerComesFirst() {
        const Ended outcome = compareFiles({sample("nvlink"), sample("no-p2p")});
        QCOMPARE(outcome.status, 0);
        const QByteArray answer = outcome.out.left(outcome.out.indexOf("\n\n"));
        const QByteArray firstLine = answer.left(answer.indexOf('\n'));
        QVERIFY2(firstLine.contains("9.9 % longer: +7.074 ms exposed communication"), firstLine);
        QVERIFY2(answer.simplified().contains("+7.053 ms in NCCL AllReduce"), answer);
        QVERIFY(outcome.out.contains("Where the time of a step goes"));
        verifyFits(outcome.out);
    }

    void swappedRunsAreFaster() {
        const Ended outcome = compareFiles({sample("no-p2p"), sample("nvlink")});
        QVERIFY2(outcome.out.left(100).contains("shorter"), outcome.out.constData());
    }

    void printedPartsAddUp() {
        const Ended outcome = compareFiles({sample("nvlink"), sample("no-p2p")});
        const QStringList lines = QString::fromUtf8(outcome.out).split('\n');
        const qsizetype heading = lines.indexOf(QRegularExpression("^Mean step.*"));
        QVERIFY(heading >= 0);
        const QRegularExpression number("[\u2212+]?[0-9,]+\\.[0-9]{3}");
        std::array<qint64, 3> sums{};
        bool isChecked = false;
        for (qsizetype line = heading + 3; line < lines.size() && !isChecked; ++line) {
            if (lines[line].startsWith("---")) continue;
            std::array<qint64, 3> values{};
            QRegularExpressionMatchIterator match = number.globalMatch(lines[line]);
            for (qint64& value : values) {
                QVERIFY2(match.hasNext(), qPrintable(lines[line]));
                value = match.next().captured().remove('.').remove(',').replace(QChar(0x2212), '-').toLongLong();
            }
            QCOMPARE(values[1] - values[0], values[2]);
            isChecked = lines[line].startsWith("step");
            for (size_t column = 0; column < 3; ++column) {
                if (isChecked) QCOMPARE(values[column], sums[column]);
                sums[column] += values[column];
            }
        }
        QVERIFY(isChecked);
    }

    void jsonPartsSumExactly() {
        const QJsonObject document = jsonOf({sample("nvlink"), sample("no-p2p")});
        QCOMPARE(test::listed(document["schema"].toString(), document["version"].toInt()), "lanescope-comparison | 4");
        const QJsonObject candidate = candidateOf(document);
        QCOMPARE(candidate["answer"].toObject()["outcome"].toString(), QString("longer"));
        QVERIFY(!candidate["workers"].toArray().isEmpty());
        for (const QJsonValue& value : candidate["workers"].toArray()) {
            const QJsonObject pair = value.toObject();
            const QJsonArray parts = pair["parts"].toArray();
            QCOMPARE(sumIn(parts, "baselineNs"), pair["baselineSteps"].toObject()["meanNs"].toInteger());
            QCOMPARE(sumIn(parts, "candidateNs"), pair["candidateSteps"].toObject()["meanNs"].toInteger());
            QCOMPARE(sumIn(parts, "lostNs"), pair["lostNs"].toInteger());
            QCOMPARE(sumIn(pair["contributors"].toArray(), "lostNs"), pair["lostNs"].toInteger());
        }
        int steps = 0;
        for (const QJsonValue& worker : document["baseline"].toObject()["workers"].toArray()) {
            for (const QJsonValue& value : worker.toObject()["steps"].toArray()) {
                qint64 sum = 0;
                for (const QJsonValue& part : value.toObject()["partsNs"].toObject()) sum += part.toInteger();
                QCOMPARE(sum, value.toObject()["wallNs"].toInteger());
                ++steps;
            }
        }
        QCOMPARE(steps, 18);
    }

    void conditionsDecideTheExitStatus_data() {
        const test::Rows<QStringList, int> row;
        row("met", {"step.p50 > +3%"}, 1);
        row("not met", {"step.p50 > +900%"}, 0);
        row("absolute", {"step.mean > 1 us"}, 1);
        row("faster of one run", {"faster"}, 3);
        row("slower of one run", {"slower"}, 3);
        row("both needed", {"slower and step > +900%"}, 0);
        row("any is enough", {"step > +900%", "step > +3%"}, 1);
        row("part", {"part compute > +1%"}, 1);
        row("kernel", {"kernel flash_bwd_kernel > +10%"}, 1);
        row("count", {"kernel flash_bwd_kernel.count > +0"}, 0);
        row("copy", {"copy HtoD.bandwidth < 20 GB/s"}, 1);
        row("collective", {"collective AllReduce.count >= 1"}, 1);
        row("range", {"range forward > +1%"}, 1);
        row("unknown kernel", {"kernel nothing > +1%"}, 3);
        row("met next to unknown", {"kernel nothing > +1%", "step > +3%"}, 1);
        row("false next to unknown", {"kernel nothing > +1% and step > +900%"}, 0);
        row("nonsense", {"step.p50 >"}, 2);
    }
    void conditionsDecideTheExitStatus() {
        const auto [conditions, exitCode] = test::row<QStringList, int>();
        QStringList arguments{fast_, slow_};
        for (const QString& condition : conditions) arguments << "--fail-if" << condition;
        const Ended outcome = compareFiles(arguments);
        QVERIFY2(outcome.status == exitCode, qPrintable(QString::fromUtf8(outcome.out) + outcome.err));
        // JSON output has the same status, and the reason on stderr.
        const Ended json = compareFiles(arguments + QStringList{"-f", "json"});
        QCOMPARE(test::listed(json.status, json.err.isEmpty()), test::listed(exitCode, exitCode == 0));
    }

    void missingNameMayBeSkipped() {
        const QStringList arguments{fast_, slow_, "--fail-if", "kernel nothing > 1%"};
        const Ended outcome = compareFiles(arguments);
        QCOMPARE(outcome.status, 3);
        QVERIFY2(outcome.out.contains("neither run has such a kernel"), outcome.out);
        QCOMPARE(compareFiles(arguments + QStringList{"--skip-missing"}).status, 0);
    }

    void oneOfSeveralCandidatesIsEnough() {
        const Ended outcome = compareFiles({fast_, same_, slow_, "--fail-if", "step > +3%"});
        QCOMPARE(outcome.status, 1);
        QVERIFY2(outcome.out.contains("[1] step > +3%: not met"), outcome.out);
        QVERIFY2(outcome.out.contains("[2] step > +3%: met"), outcome.out);
    }

    void candidatesAreColumns() {
        const Ended text = compareFiles({fast_, same_, slow_});
        QCOMPARE(text.status, 0);
        QVERIFY2(text.out.contains("[1] lost") && text.out.contains("[2] lost"), text.out);
        verifyFits(text.out);
        const QJsonObject document = jsonOf({fast_, same_, slow_});
        QCOMPARE(document["candidates"].toArray().size(), 2);
        const QString outcome = candidateOf(document, 0)["answer"].toObject()["outcome"].toString();
        QCOMPARE(outcome, QString("alike"));
    }

    void csvRepeatsRowsForEveryCandidate() {
        const Ended csv = compareFiles({fast_, same_, slow_, "-f", "csv", "--table", "parts"});
        QCOMPARE(csv.status, 0);
        const QList<QByteArray> lines = csv.out.split('\n');
        QVERIFY2(lines[0].startsWith("Candidate,Worker,Part,Baseline (ns),"), lines[0]);
        const QByteArray all = csv.out;
        QCOMPARE(all.count("same.sqlite,"), 26);  // 13 parts of two workers
        QCOMPARE(all.count("slow.sqlite,"), 26);
    }

    void severalCsvTablesAreOneTable() {
        const QList<QByteArrayList> rows = csvRows(compareFiles({fast_, slow_, "-f", "csv"}).out);
        QVERIFY(rows.size() > 30);
        const QByteArrayList& header = rows.front();
        QCOMPARE(header.mid(0, 2), (QByteArrayList{"Table", "Candidate"}));
        QCOMPARE(QSet(header.begin(), header.end()).size(), header.size());
        const qsizetype duration = header.indexOf("Duration (ns)"), part = header.indexOf("Part");
        QVERIFY(header.contains("Baseline Rate (GB/s)") && duration > 0 && part > 0);
        QMap<QByteArray, int> countOf;
        for (const QByteArrayList& row : rows.mid(1)) {
            QCOMPARE(row.size(), header.size());
            ++countOf[row[0]];
            QCOMPARE(row[duration].isEmpty(), row[0] != "steps" && row[0] != "outliers");
            if (row[0] == "parts") QVERIFY(!row[part].isEmpty());
        }
        QCOMPARE(test::listed(countOf["summary"], countOf["parts"]), "1 | 26");
        for (const char* table : {"contributors", "ranges", "steps"}) QVERIFY(countOf[table] > 2);

        // Columns specific to a table are the same there.
        const auto parts =
            csvRows(compareFiles({fast_, slow_, "-f", "csv", "--table", "parts", "--table", "parts"}).out);
        QCOMPARE(parts.size(), 27);
        for (qsizetype column = 0; column < parts[0].size(); ++column) {
            QByteArrayList alone, united;
            for (const QByteArrayList& row : parts.mid(1)) alone << row[column];
            for (const QByteArrayList& row : rows.mid(1))
                if (row[0] == "parts") united << row[header.indexOf(parts[0][column])];
            QCOMPARE(united, alone);
        }
        const auto two =
            csvRows(compareFiles({fast_, slow_, "-f", "csv", "--table", "parts", "--table", "summary"}).out);
        QCOMPARE(two.size(), 1 + 26 + 1);
        QCOMPARE(two[1][0], QByteArray("parts"));
    }

    void storedSummaryReplacesTheEvents() {
        QStringList files;
        for (const double scale : {1.0, 1.3}) {
            SimulatedTraining training{.steps = 10, .kernelScale = scale};
            const Result<RunSummary> summary = summarizeRun(*simulatedTraining(training));
            files << path(QString("summary-%1.sqlite").arg(files.size()));
            {
                Result<Database> database = Database::create(files.last().toStdString());
                QVERIFY(summary && database && createTraceTables(*database));
                QVERIFY(writeRunSummary(*database, *summary).has_value());
            }
            // Without the summary, the steps are unknown.
            QCOMPARE(compareFiles({files.last(), fast_}).status, 3);
            QVERIFY(sealPages(files.last().toStdString()).has_value());
        }
        const Ended outcome = compareFiles(files);
        QCOMPARE(outcome.status, 0);
        QVERIFY2(outcome.out.contains("longer"), outcome.out);
        // Other steps need the events, which these files lack.
        QVERIFY(compareFiles(files + QStringList{"--steps", "1-4"}).status == 3);
    }

    void severalRunsPerSideComparePrograms() {
        const auto runs = [](const char* names) {
            QStringList files;
            for (const QString& name : QString(names).split(' '))
                files << LANESCOPE_SOURCE_DIR "/tests/golden/compare-pairs/" + name + ".sqlite.gz";
            return files;
        };
        const QStringList gate{"--fail-if", "slower"};
        const Ended alike = compareFiles(QStringList{"--baseline"} + runs("same1 same2 same3") +
                                         QStringList{"--candidate"} + runs("same4 same5 same6") + gate);
        QVERIFY2(alike.status == 0, qPrintable(alike.out + alike.err));
        QVERIFY(alike.out.startsWith("No difference beyond that between runs"));
        const Ended slower =
            compareFiles(runs("same1 workers0") + QStringList{"--spread"} + runs("same2 same3 same4") + gate);
        QVERIFY2(slower.status == 1, qPrintable(slower.out + slower.err));
        QVERIFY(slower.out.contains("by the spread of 3 earlier ones"));
    }

    void inconsistentRunsAreRefused() {
        QCOMPARE(compareFiles({"--baseline", fast_}).status, 2);
        QCOMPARE(compareFiles({fast_, "--baseline", fast_, "--candidate", slow_}).status, 2);
        QCOMPARE(compareFiles({"--baseline", fast_, fast_, "--candidate", slow_}).status, 2);
        QCOMPARE(compareFiles({fast_, slow_, "--spread", fast_}).status, 2);
        QCOMPARE(compareFiles({fast_}).status, 2);
    }

    /// A change that no median shows: every third step of the candidate.
    void patternOfStepsIsReported() {
        QVERIFY(writeUnevenTrace(path("even.sqlite"), 0));
        QVERIFY(writeUnevenTrace(path("uneven.sqlite"), 13'900'000));
        const QStringList files{path("even.sqlite"), path("uneven.sqlite")};
        const QByteArray text = compareFiles(files).out.simplified();
        QVERIFY2(text.startsWith("In these two runs steps are alike"), text);
        QVERIFY2(text.contains("but only in the candidate, every third step of PID"), text);
        QVERIFY2(text.contains("takes 13.91 ms longer than the other steps (+4.5"), text);
        QVERIFY2(text.contains("in the range \"tokenizer\""), text);
        const QJsonArray patterns = candidateOf(jsonOf(files))["patterns"].toArray();
        QCOMPARE(patterns.size(), 1);
        const QJsonObject one = patterns[0].toObject();
        QCOMPARE(test::listed(one["run"].toString(), one["kind"].toString()), "candidate | period");
        QCOMPARE(test::listed(one["period"].toInt(), one["path"].toString()), "3 | tokenizer");
        QVERIFY(std::abs(one["excessNs"].toDouble() - 13.9e6) < 0.2e6);
        QVERIFY(candidateOf(jsonOf({path("even.sqlite"), fast_}))["patterns"].toArray().isEmpty());
    }

    void topLimitsTheListsInText() {
        const auto lines = [&](const QString& top) {
            return compareFiles({sample("nvlink"), sample("no-p2p"), "--top", top}).out.count('\n');
        };
        QVERIFY(lines("1") < lines("5"));
    }

    void htmlIsSelfContained() {
        const QString file = path("report.html");
        const Ended outcome = compareFiles({sample("nvlink"), sample("no-p2p"), "-f", "html", "-o", file});
        QCOMPARE(outcome.status, 0);
        const QString page = QString::fromUtf8(test::fileBytes(file));
        QVERIFY(page.startsWith("<!DOCTYPE html>") && page.endsWith("</html>\n"));
        QCOMPARE(page.count("class=\"trace\""), 2);
        static const QRegularExpression data("class=\"trace\">[A-Za-z0-9+/=]*<");
        const QString html = QString(page).remove(data);
        for (const char* outside : {"http:", "https:", "src=", "<link", "url(", "@import"})
            QVERIFY2(!html.contains(outside), outside);
        QCOMPARE(html.count("<svg"), 3);
        QVERIFY(html.contains("longer"));
    }

    void namesNeverBecomeMarkup() {
        const QString other = path("hostile-too.sqlite");
        QVERIFY(writeHostileTrace(other, 500'000));
        const Ended html = compareFiles({hostile_, other, "-f", "html"});
        QCOMPARE(html.status, 0);
        QVERIFY(html.out.contains("&lt;script&gt;alert(1)"));
        for (const char* part : {"<script>alert", "<img"}) QVERIFY2(!html.out.contains(part), part);
        QVERIFY(!html.out.contains('\x1b') && !html.out.contains("\xe2\x80\xae"));
        QVERIFY(!compareFiles({hostile_, other}).out.contains('\x1b'));
        QVERIFY(!QJsonDocument::fromJson(compareFiles({hostile_, other, "-f", "json"}).out).isNull());
    }

    void stepsAndRangesAreSelected() {
        const QJsonObject chosen = criticalPair(candidateOf(jsonOf({fast_, slow_, "--steps", "2-5"})));
        QCOMPARE(chosen["baselineSteps"].toObject()["count"].toInt(), 4);
        const QJsonObject document = jsonOf({fast_, slow_, "--range", "forward"});
        QCOMPARE(document["baseline"].toObject()["stepPattern"].toString(), QString("forward"));
        QCOMPARE(document["selection"].toString(), QString("ranges \"forward\""));
        verifyFailure(compareFiles({fast_, slow_, "--range", "epoch"}), 3, "epoch");
        verifyFailure(compareFiles({fast_, slow_, "--steps", "50-60"}), 3, "50");
    }

    void runsAreAligned() {
        const auto steps = [&](const QStringList& more) {
            return criticalPair(candidateOf(jsonOf(QStringList{fast_, slow_} + more)))["baselineSteps"]
                .toObject()["count"]
                .toInt();
        };
        QVERIFY(steps({"--align", "start"}) >= steps({"--align", "step"}));
        QCOMPARE(steps({"--align", "step 4"}), steps({"--align", "start"}) - 4);
        QCOMPARE(steps({"--align", "step ##4"}), steps({"--align", "step 4"}));
        QCOMPARE(steps({"--align", "step 4", "--steps", "1-3"}), 3);
        verifyFailure(compareFiles({fast_, slow_, "--align", "epoch"}), 3, "no NVTX range");
        verifyFailure(compareFiles({fast_, slow_, "--align", "#3"}), 2, "names no range");
    }

    void sameFileTwiceIsAnError() {
        verifyFailure(compareFiles({fast_, fast_}), 2, "same file");
        verifyFailure(compareFiles({fast_, slow_, slow_}), 2, "same file");
        const QString link = path("link.sqlite");
        QVERIFY(QFile::link(fast_, link));
        verifyFailure(compareFiles({fast_, link}), 2, "same file");
        const QString copy = path("copy.sqlite");
        QVERIFY(QFile::copy(fast_, copy));
        const Ended outcome = compareFiles({fast_, copy});
        QCOMPARE(outcome.status, 0);
        QVERIFY2(outcome.out.contains("same recording"), outcome.out);
    }

    void badFilesGiveNoAnswer() {
        verifyFailure(compareFiles({path("missing.sqlite"), fast_}), 3, "missing.sqlite");
        verifyFailure(compareFiles({fast_, path("missing.sqlite")}), 3, "missing.sqlite");
        QFile whole(fast_);
        QVERIFY(whole.open(QIODevice::ReadOnly));
        QFile half(path("half.sqlite"));
        QVERIFY(half.open(QIODevice::WriteOnly));
        half.write(whole.read(whole.size() / 3));
        half.close();
        verifyFailure(compareFiles({fast_, half.fileName()}), 3, "half.sqlite");
        const QString otherTool = path("other-tool.sqlite");
        QVERIFY(writeThirdPartyDatabase(otherTool.toStdString()));
        verifyFailure(compareFiles({otherTool, fast_}), 3, "other-tool.sqlite");
        verifyFailure(compareFiles({fast_, slow_, "-o", fast_}), 3, "being read");
    }

    void emptyTraceCannotBeCompared() {
        const Ended outcome = compareFiles({fast_, empty_, "--fail-if", "step > 3%"});
        QCOMPARE(outcome.status, 3);
        QVERIFY2(outcome.out.contains("not comparable"), outcome.out);
        for (const char* format : {"csv", "json", "html"}) {
            const Ended other = compareFiles({empty_, fast_, "-f", format});
            QCOMPARE(other.status, 3);
            QVERIFY2(!other.out.isEmpty() && !other.err.isEmpty(), format);
        }
    }

    void runsWithoutStepsAreComparedAsAWhole() {
        const Ended outcome = compareFiles({oneStep_, oneSlowStep_, "--fail-if", "step.p50 > +3%"});
        QCOMPARE(outcome.status, 3);
        QVERIFY2(outcome.out.contains("the runs have no steps"), outcome.out);
        const Ended part = compareFiles({oneStep_, oneSlowStep_, "--fail-if", "part compute > +3%"});
        QVERIFY2(part.status == 1, part.out);
    }

    void folderGivesTheSpread() {
        writeRuns({1, 1.002, 0.998, 1.001, 0.999});
        QVERIFY(write({"runs/other.sqlite", 3, 2, "python other.py"}));
        QVERIFY(write({"runs/elsewhere.sqlite", 3, 2, "python train.py", "gpu2"}));
        QVERIFY(write({"a.sqlite", 1, 20}) && write({"b.sqlite", 1.1, 21}));
        const Ended found =
            compareFiles({in("a.sqlite"), in("b.sqlite"), "--spread", in("runs"), "--fail-if", "slower"});
        QVERIFY2(found.status == 1, qPrintable(found.out + found.err));
        QVERIFY2(found.out.contains("by the spread of 5 earlier ones"), found.out);
        const QByteArray text = found.out.simplified();
        QVERIFY2(text.contains("The spread between runs is taken from 5 runs of the baseline's "
                               "command on its machine in"),
                 text);
        QVERIFY2(text.contains("2 other traces in the folder are corrupt, or of another command, machine"), text);
    }

    void comparedRunsAreNotEarlierOnes() {
        writeRuns({1, 1.002, 0.998, 1.2});
        const QJsonObject document = jsonOf({in("runs/r1.sqlite"), in("runs/r4.sqlite"), "--spread", in("runs")});
        const QJsonObject claim = criticalPair(candidateOf(document))["claim"].toObject();
        QCOMPARE(test::listed(claim["earlierRuns"].toInt(), claim["outcome"].toString()), "2 | slower");
    }

    void folderOfOtherRunsIsIgnored() {
        writeRuns({1, 1.002});
        QVERIFY(write({"a.sqlite", 1, 20, "python a.py"}) && write({"b.sqlite", 1.1, 21, "python b.py"}));
        const Ended none = compareFiles({in("a.sqlite"), in("b.sqlite"), "--spread", in("runs")});
        QCOMPARE(none.status, 3);
        QVERIFY2(none.err.contains("has no other run of the command of either side"), qPrintable(none.err));
        QVERIFY(write({"runs/a1.sqlite", 1, 3, "python a.py"}));
        const Ended one = compareFiles({in("a.sqlite"), in("b.sqlite"), "--spread", in("runs")});
        QCOMPARE(one.status, 3);
        QVERIFY2(one.err.contains("There is one earlier run"), qPrintable(one.err));
    }

    void ordinaryRunIsWithinTheEarlierOnes() {
        writeRuns({1, 1.004, 0.996, 1.002, 0.999, 1.001});
        QVERIFY(write({"runs/today.sqlite", 1.002, 10}) && write({"runs/later.sqlite", 1.5, 11}));
        const QStringList asked{"--history", in("runs"), in("runs/today.sqlite"), "--fail-if", "slower"};
        const Ended outcome = compareFiles(asked);
        QVERIFY2(outcome.status == 0, qPrintable(outcome.out + outcome.err));
        QVERIFY2(outcome.out.startsWith("No difference beyond that between runs"), outcome.out);
        const QByteArray text = outcome.out.simplified();
        QVERIFY2(text.contains("The last 6 runs of this command on this machine in"), text);
        QVERIFY2(text.contains("No change of their level is certain"), text);
    }

    void runOutsideTheEarlierOnesIsSlower() {
        writeRuns({1, 1.004, 0.996, 1.002, 0.999, 1.001});
        QVERIFY(write({"today.sqlite", 1.1, 10}));
        const QStringList asked{"--history", in("runs"), in("today.sqlite"), "--fail-if", "slower"};
        const Ended outcome = compareFiles(asked);
        QVERIFY2(outcome.status == 1, qPrintable(outcome.out + outcome.err));
        const QJsonObject document = jsonOf(asked);
        QCOMPARE(candidateOf(document)["answer"].toObject()["outcome"].toString(), QString("slower"));
        const QJsonObject history = document["history"].toObject();
        QCOMPARE(history["runs"].toArray().size(), 7);
        QCOMPARE(history["runs"].toArray()[6].toObject()["title"].toString(), QString("today.sqlite"));
        QCOMPARE(history["comparedRuns"].toInt(), 6);
        QVERIFY(history["change"].isNull());
        QCOMPARE(jsonOf(asked + QStringList{"--last", "4"})["history"].toObject()["comparedRuns"].toInt(), 4);
    }

    void levelChangeIsReported() {
        writeRuns({1, 1.004, 0.996, 1.002, 0.999, 1.001, 1.2, 1.204, 1.196, 1.201});
        QVERIFY(write({"today.sqlite", 1.2, 20}));
        const QStringList asked{"--history", in("runs"), in("today.sqlite"), "--fail-if", "slower"};
        const Ended outcome = compareFiles(asked);
        QVERIFY2(outcome.status == 0, qPrintable(outcome.out + outcome.err));
        const QByteArray text = outcome.out.simplified();
        QVERIFY2(text.contains("Their level changed between r6.sqlite and r7.sqlite: +"), text);
        QVERIFY2(text.contains("this run is compared with the 4 since."), text);
        const QJsonObject history = jsonOf(asked)["history"].toObject();
        QCOMPARE(history["change"].toObject()["first"].toInt(), 6);
        QVERIFY(history["change"].toObject()["percent"].toDouble() > 5);
        QCOMPARE(history["comparedRuns"].toInt(), 4);
    }

    void historyNeedsRuns() {
        writeRuns({1, 1.004});
        QVERIFY(write({"today.sqlite", 1, 10}) && write({"nowhere.sqlite", 1, 10, "python train.py", ""}));
        const auto said = [&](const char* run) {
            const Ended outcome = compareFiles({"--history", in("runs"), in(run)});
            return outcome.status == 3 ? outcome.err : QString();
        };
        QVERIFY(said("today.sqlite").contains("has 2 earlier runs of the command"));
        QVERIFY(said("nowhere.sqlite").contains("does not contain its start time"));
        QVERIFY(compareFiles({"--history", in("none"), in("today.sqlite")}).status == 3);
    }

    void wrongArgumentsAreRefused() {
        QVERIFY(write({"a.sqlite"}) && write({"b.sqlite"}));
        const QString folder = historyFolder_->path();
        for (const QStringList& words :
             {QStringList{"--history", folder, in("a.sqlite"), in("b.sqlite")}, QStringList{"--history", folder},
              QStringList{"--history", folder, "--baseline", in("a.sqlite"), "--candidate", in("b.sqlite")},
              QStringList{in("a.sqlite"), "--history", folder, "--spread", in("b.sqlite"), folder},
              QStringList{"--history", folder, in("a.sqlite"), "--last", "2"}})
            QCOMPARE(compareFiles(words).status, 2);
    }
};

LANESCOPE_TEST(tst_CompareCommand, QCoreApplication)
#include "tst_CompareCommand.moc"
