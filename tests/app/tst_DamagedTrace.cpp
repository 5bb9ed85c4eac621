// SPDX-License-Identifier: Apache-2.0
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QtTest>
#include <algorithm>
#include <optional>

#include "model/compare/storedSummary.h"
#include "model/explain/Explanation.h"
#include "model/export/traceFile.h"
#include "model/format/PageSeal.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Schema.h"
#include "model/index/openTrace.h"
#include "model/trace/notesOf.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/openForWriting.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

/// A trace that was damaged after its summary was stored in it: who answers by that summary says so
/// as its health does.
class tst_DamagedTrace : public QObject {
    Q_OBJECT

    TemporaryFolder folder_;

    std::filesystem::path file(const char* name) const { return folder_ / name; }
    QString path(const char* name) const { return QString::fromStdString(file(name).string()); }

    /// A recording that was closed: with its summary and its checksums.
    void writeClosed(const std::filesystem::path& to, double scale) const {
        const TracePtr trace = simulatedTraining({.steps = 8, .layers = 6, .kernelScale = scale});
        QVERIFY(writeTraceFile(*trace, to));
        const Result<TracePtr> loaded = loadTrace(to);
        QVERIFY(loaded);
        const auto summary = compare::summarizeRun(**loaded);
        QVERIFY(summary);
        {
            Result<Database> database = openForWriting(to);
            QVERIFY(database && announceSeal(*database) &&
                    compare::writeRunSummary(*database, *summary));
        }
        QVERIFY(sealPages(to));
        QVERIFY(std::filesystem::file_size(to) < OpenOptions().leastBytes);  // no index
    }
    /// Changes a byte of events and none of the summary.
    void damage(const std::filesystem::path& which) const {
        QFile bytes(QString::fromStdString(which.string()));
        QVERIFY(bytes.open(QIODevice::ReadWrite));
        const QByteArray whole = bytes.readAll();
        constexpr int pageBytes = 4096;
        for (qint64 at = pageBytes + pageBytes / 2; at < whole.size(); at += pageBytes) {
            const auto put = [&](char byte) {
                QVERIFY(bytes.seek(at) && bytes.write(&byte, 1) == 1 && bytes.flush());
            };
            put(static_cast<char>(whole[at] ^ 4));
            const Result<TracePtr> trace = loadTrace(which);
            const bool isSaid =
                trace && std::ranges::any_of((*trace)->health, [](const HealthNote& note) {
                    return note.code == HealthCode::PagesDamaged;
                });
            if (isSaid && compare::readRunSummary(which)) return;
            put(whole[at]);
        }
        QFAIL("no page of events was found");
    }

    QByteArray said(const QStringList& arguments) const {
        QProcess process;
        process.start(LANESCOPE_BINARY_DIR "/bin/lanescope", arguments);
        if (!process.waitForFinished(60'000)) qFatal("lanescope does not end");
        return process.readAllStandardOutput();
    }
    QJsonObject document(const QStringList& arguments) const {
        return QJsonDocument::fromJson(said(arguments + QStringList{"-f", "json"})).object();
    }
    /// What `info` says of the damage.
    QString ofHealth(const QString& trace) const {
        for (const QJsonValue& note : document({"info", trace})["health"].toArray())
            if (note["code"].toString() == "pages-damaged") return note["sentence"].toString();
        return {};
    }

  private slots:
    void initTestCase() {
        writeClosed(file("whole.sqlite"), 1);
        writeClosed(file("broken.sqlite"), 1.2);
        damage(file("broken.sqlite"));
        QVERIFY(ofHealth(path("broken.sqlite")).startsWith("The file is damaged"));
        QVERIFY(ofHealth(path("whole.sqlite")).isEmpty());
    }

    void explainSaysIt() {
        const QString sentence = ofHealth(path("broken.sqlite"));
        QVERIFY(document({"explain", path("broken.sqlite")})["doubts"].toArray().contains(
            QJsonValue(sentence)));
        QVERIFY(!said({"explain", path("whole.sqlite")}).contains("damaged"));
        // Nor are its numbers those of the damaged events.
        const auto stored = compare::readRunSummary(file("broken.sqlite"));
        const QJsonObject worker =
            document({"explain", path("broken.sqlite")})["workers"][0].toObject();
        QCOMPARE(worker["steps"].toInteger(), qint64(stored->workers[0].steps.size()));
    }

    void compareSaysIt() {
        const QString sentence = ofHealth(path("broken.sqlite"));
        const QByteArray text =
            said({"compare", path("whole.sqlite"), path("broken.sqlite"), "-f", "json"});
        QVERIFY2(text.contains(("The candidate: " + sentence).toUtf8()), text.constData());
        QVERIFY(said({"compare", path("broken.sqlite"), path("whole.sqlite"), "-f", "json"})
                    .contains(("The baseline: " + sentence).toUtf8()));
    }

    /// Where a file is opened by its index, nobody reads its pages.
    void whoHasAnIndexReadsNoPages() {
        QVERIFY(!hasIndex(file("whole.sqlite")));
        const std::filesystem::path large = file("large.sqlite");
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 100}), large));
        QVERIFY(!hasIndex(large));
        QVERIFY(openTrace(large));
        QVERIFY(hasIndex(large));
    }

    void anAbnormalEndIsSaidAsHealthSaysIt() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 1000);
        builder.processes()[0].endedAbnormally = true;
        const TracePtr trace = builder.finish();
        const auto summary = compare::summarizeRun(*trace);
        QVERIFY(summary && summary->facts.isTruncated && summary->facts.saysWhoEnded());
        const std::vector<std::string> doubts = explain::explain(*summary).doubts;
        for (const HealthNote& note : notesOf(*trace))
            if (note.code == HealthCode::ProcessEndedAbnormally)
                QCOMPARE(std::ranges::count(doubts, note.sentence), 1);
    }
};

LANESCOPE_TEST(tst_DamagedTrace, NoApplication)
#include "tst_DamagedTrace.moc"
