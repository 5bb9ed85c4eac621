// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include "model/export/traceFile.h"
#include "model/format/checksums.h"
#include "model/index/openTrace.h"
#include "tests/fault/faults.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

/// Tests of trace readers with one failing system call at any place: they answer correctly or
/// report the reason, and leave correct files.
class tst_ReaderFaults : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        path_ = folder_ / "run.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 3}), path_).has_value());
        QVERIFY(sealPages(path_).has_value());
        // With zeros after it, which are read, too.
        packed_ = folder_ / "packed.sqlite.gz";
        QFile plain(QString::fromStdString(path_.string()));
        QVERIFY(plain.open(QIODevice::ReadOnly));
        const QByteArray bytes = plain.readAll();
        const gzFile packed = gzopen(packed_.c_str(), "wb");
        QCOMPARE(gzwrite(packed, bytes.constData(), unsigned(bytes.size())), int(bytes.size()));
        QCOMPARE(gzclose(packed), Z_OK);
        std::filesystem::resize_file(packed_, std::filesystem::file_size(packed_) + 600'000);
    }

    void singleFailingCallIsHandled_data() {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<bool>("goesOn");
        const QString file = QString::fromStdString(path_.string());
        const QString other = QString::fromStdString((folder_ / "out.json").string());
        for (const char* kind : {"malloc", "read", "open", "mmap", "write", "fsync", "rename"}) {
            const auto add = [&](const char* name, const QStringList& words) {
                for (const bool goesOn : {false, true}) {
                    const QString row = QString("%1, %2%3").arg(kind, name, goesOn ? ", from then on" : "");
                    QTest::newRow(qPrintable(row)) << QString(kind) << words << goesOn;
                }
            };
            add("index", {"index", file});
            add("stats", {"stats", file, "-r", "cuda_gpu_kern_sum", "-f", "csv"});
            add("export", {"export", file, "-o", other});
            add("sql", {"sql", file, "SELECT sum(start) FROM CUPTI_ACTIVITY_KIND_KERNEL"});
            const QString packed = QString::fromStdString(packed_.string());
            add("packed", {"stats", packed, "-r", "cuda_gpu_kern_sum", "-f", "csv"});
        }
    }
    void singleFailingCallIsHandled() {
        QFETCH(QString, kind);
        QFETCH(QStringList, words);
        QFETCH(bool, goesOn);
        QVERIFY(removeIndexes(path_).has_value() && removeIndexes(packed_).has_value());
        const Outcome good = run(words, {.kind = kind});
        QCOMPARE(good.status, 0);
        const std::vector<uint64_t> calls = this->calls();
        const auto count = static_cast<long>(calls.size());
        if (count == 0) return;  // it makes no such call
        const QByteArray file = exported();
        QVERIFY(removeIndexes(path_).has_value() && removeIndexes(packed_).has_value());
        int refused = 0, answered = 0;
        for (const long number : chosen(calls, 6)) {
            const Outcome outcome = run(words, {.kind = kind, .at = number, .goesOn = goesOn});
            const QString at = QString("at %1 of %2: %3").arg(number).arg(count).arg(QString::fromUtf8(outcome.errors));
            QVERIFY2(outcome.hasEnded, qPrintable(at));
            if (outcome.status == 0) {
                ++answered;
                if (words[0] != "index") QVERIFY2(outcome.output == good.output && exported() == file, qPrintable(at));
            } else {
                ++refused;
                QCOMPARE(outcome.status, 1);
                QVERIFY2(outcome.errors.contains("lanescope: ") && outcome.errors.endsWith(".\n"), qPrintable(at));
            }
            // Any existing index gives correct results. Without one, the file is unchanged.
            if (!hasIndex()) continue;
            const Outcome after = run(words, {});
            QVERIFY2(after.status == 0, qPrintable(at));
            QVERIFY2(after.output == good.output || words[0] == "index", qPrintable(at));
            QVERIFY2(exported() == file, qPrintable(at));
            QVERIFY(removeIndexes(path_).has_value() && removeIndexes(packed_).has_value());
        }
        qInfo("%ld calls, %d refused, %d answered", count, refused, answered);
    }

  private:
    Outcome run(const QStringList& words, Fault fault) const {
        // The program, and its allocating libraries.
        fault.objects = "/bin/lanescope:libsqlite3:libstdc++:libfmt:libz.";
        fault.stacksFile = stacksFile();
        return runProgram("lanescope", words, fault);
    }

    std::vector<uint64_t> calls() const { return callsIn(stacksFile()); }
    QString stacksFile() const { return QString::fromStdString((folder_ / "stacks").string()); }
    bool hasIndex() const {
        const auto isThere = [](const std::filesystem::path& index) { return std::filesystem::exists(index); };
        return std::ranges::any_of(indexPaths(path_), isThere) || std::ranges::any_of(indexPaths(packed_), isThere);
    }
    QByteArray exported() const {
        QFile file(QString::fromStdString((folder_ / "out.json").string()));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    TemporaryFolder folder_;
    std::filesystem::path path_, packed_;
};

LANESCOPE_TEST(tst_ReaderFaults, QCoreApplication)
#include "tst_ReaderFaults.moc"
