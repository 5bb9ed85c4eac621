// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/storedSummary.h"
#include "model/format/Sqlite.h"
#include "model/format/checksums.h"
#include "model/format/tables/Schema.h"
#include "tests/app/compareFiles.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::analysis;

/// Tests of a run among earlier ones of its folder: `--history`, and `--spread` with a folder. Simulated.
class TestCompareHistory : public QObject {
    Q_OBJECT

    struct Run {
        QString name;
        double scale = 1;
        int day = 0;
        std::string command = "python train.py";
        std::string host = "gpu1";
    };

    std::unique_ptr<QTemporaryDir> folder_;

    QString in(const QString& name) const { return folder_->filePath(name); }

    bool write(const Run& run) const {
        SimulatedTraining training;
        training.steps = 10;
        training.layers = 4;
        training.kernelScale = run.scale;
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
        QVERIFY(QDir(folder_->path()).mkpath("runs"));
        int day = 0;
        for (const double scale : scales) {
            ++day;
            QVERIFY(write({QString("runs/r%1.sqlite").arg(day), scale, day}));
        }
    }

  private slots:
    void init() { folder_ = std::make_unique<QTemporaryDir>(); }

    void folderGivesTheSpread() {
        writeRuns({1, 1.002, 0.998, 1.001, 0.999});
        QVERIFY(write({"runs/other.sqlite", 3, 2, "python other.py"}));
        QVERIFY(write({"runs/elsewhere.sqlite", 3, 2, "python train.py", "gpu2"}));
        QVERIFY(write({"a.sqlite", 1, 20}) && write({"b.sqlite", 1.1, 21}));
        const Outcome found =
            compareFiles({in("a.sqlite"), in("b.sqlite"), "--spread", in("runs"), "--fail-if", "slower"});
        QVERIFY2(found.exitCode == 1, qPrintable(found.output + found.errors));
        QVERIFY2(found.output.contains("by the spread of 5 earlier ones"), found.output);
        const QByteArray text = found.output.simplified();
        QVERIFY2(text.contains("The spread between runs is taken from 5 runs of the baseline's "
                               "command on its machine in"),
                 text);
        QVERIFY2(text.contains("2 other traces in the folder are corrupt, or of another command, machine"), text);
    }

    void comparedRunsAreNotEarlierOnes() {
        writeRuns({1, 1.002, 0.998, 1.2});
        const QJsonObject document = jsonOf({in("runs/r1.sqlite"), in("runs/r4.sqlite"), "--spread", in("runs")});
        const QJsonObject claim = criticalPair(candidateOf(document))["claim"].toObject();
        QCOMPARE(claim["earlierRuns"].toInt(), 2);
        QCOMPARE(claim["outcome"].toString(), QString("slower"));
    }

    void folderOfOtherRunsIsIgnored() {
        writeRuns({1, 1.002});
        QVERIFY(write({"a.sqlite", 1, 20, "python a.py"}));
        QVERIFY(write({"b.sqlite", 1.1, 21, "python b.py"}));
        const Outcome none = compareFiles({in("a.sqlite"), in("b.sqlite"), "--spread", in("runs")});
        QCOMPARE(none.exitCode, 3);
        QVERIFY2(none.errors.contains("has no other run of the command of either side"), qPrintable(none.errors));
        QVERIFY(write({"runs/a1.sqlite", 1, 3, "python a.py"}));
        const Outcome one = compareFiles({in("a.sqlite"), in("b.sqlite"), "--spread", in("runs")});
        QCOMPARE(one.exitCode, 3);
        QVERIFY2(one.errors.contains("There is one earlier run"), qPrintable(one.errors));
    }

    void ordinaryRunIsWithinTheEarlierOnes() {
        writeRuns({1, 1.004, 0.996, 1.002, 0.999, 1.001});
        QVERIFY(write({"runs/today.sqlite", 1.002, 10}));
        QVERIFY(write({"runs/later.sqlite", 1.5, 11}));
        const QStringList asked{"--history", in("runs"), in("runs/today.sqlite"), "--fail-if", "slower"};
        const Outcome outcome = compareFiles(asked);
        QVERIFY2(outcome.exitCode == 0, qPrintable(outcome.output + outcome.errors));
        QVERIFY2(outcome.output.startsWith("No difference beyond that between runs"), outcome.output);
        const QByteArray text = outcome.output.simplified();
        QVERIFY2(text.contains("The last 6 runs of this command on this machine in"), text);
        QVERIFY2(text.contains("No change of their level is certain"), text);
    }

    void runOutsideTheEarlierOnesIsSlower() {
        writeRuns({1, 1.004, 0.996, 1.002, 0.999, 1.001});
        QVERIFY(write({"today.sqlite", 1.1, 10}));
        const QStringList asked{"--history", in("runs"), in("today.sqlite"), "--fail-if", "slower"};
        const Outcome outcome = compareFiles(asked);
        QVERIFY2(outcome.exitCode == 1, qPrintable(outcome.output + outcome.errors));
        const QJsonObject document = jsonOf(asked);
        QCOMPARE(candidateOf(document)["answer"].toObject()["outcome"].toString(), QString("slower"));
        const QJsonObject history = document["history"].toObject();
        QCOMPARE(history["runs"].toArray().size(), 7);
        QCOMPARE(history["runs"].toArray()[6].toObject()["title"].toString(), QString("today.sqlite"));
        QCOMPARE(history["comparedRuns"].toInt(), 6);
        QVERIFY(history["change"].isNull());
        const QJsonObject last = jsonOf(asked + QStringList{"--last", "4"});
        QCOMPARE(last["history"].toObject()["comparedRuns"].toInt(), 4);
    }

    void levelChangeIsReported() {
        writeRuns({1, 1.004, 0.996, 1.002, 0.999, 1.001, 1.2, 1.204, 1.196, 1.201});
        QVERIFY(write({"today.sqlite", 1.2, 20}));
        const QStringList asked{"--history", in("runs"), in("today.sqlite"), "--fail-if", "slower"};
        const Outcome outcome = compareFiles(asked);
        QVERIFY2(outcome.exitCode == 0, qPrintable(outcome.output + outcome.errors));
        const QByteArray text = outcome.output.simplified();
        QVERIFY2(text.contains("Their level changed between r6.sqlite and r7.sqlite: +"), text);
        QVERIFY2(text.contains("this run is compared with the 4 since."), text);
        const QJsonObject history = jsonOf(asked)["history"].toObject();
        QCOMPARE(history["change"].toObject()["first"].toInt(), 6);
        QVERIFY(history["change"].toObject()["percent"].toDouble() > 5);
        QCOMPARE(history["comparedRuns"].toInt(), 4);
    }

    void historyNeedsRuns() {
        writeRuns({1, 1.004});
        QVERIFY(write({"today.sqlite", 1, 10}));
        QVERIFY(write({"nowhere.sqlite", 1, 10, "python train.py", ""}));
        const auto said = [&](const char* run) {
            const Outcome outcome = compareFiles({"--history", in("runs"), in(run)});
            return outcome.exitCode == 3 ? outcome.errors : QString();
        };
        QVERIFY(said("today.sqlite").contains("has 2 earlier runs of the command"));
        QVERIFY(said("nowhere.sqlite").contains("does not say when, where"));
        QVERIFY(compareFiles({"--history", in("none"), in("today.sqlite")}).exitCode == 3);
    }

    void wrongArgumentsAreRefused() {
        QVERIFY(write({"a.sqlite"}) && write({"b.sqlite"}));
        const QString folder = folder_->path();
        for (const QStringList& words :
             {QStringList{"--history", folder, in("a.sqlite"), in("b.sqlite")}, QStringList{"--history", folder},
              QStringList{"--history", folder, "--baseline", in("a.sqlite"), "--candidate", in("b.sqlite")},
              QStringList{in("a.sqlite"), "--history", folder, "--spread", in("b.sqlite"), folder},
              QStringList{"--history", folder, in("a.sqlite"), "--last", "2"}})
            QCOMPARE(compareFiles(words).exitCode, 2);
    }
};

LANESCOPE_TEST(TestCompareHistory, QCoreApplication)
#include "tst_CompareHistory.moc"
