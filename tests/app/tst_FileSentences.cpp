// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/SampleCopies.h"
#include "tests/support/fileBytes.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/writeFinishedTrace.h"

using namespace lanescope;

namespace fs = std::filesystem;

/// Tests of messages on files that block the output, are corrupt, locked or impossibly named: they
/// give the true cause, and no advice that would destroy a trace.
class tst_FileSentences : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        folder_ = std::make_unique<TemporaryFolder>();
        if (!recorded_.isEmpty()) return;
        const fs::path made = *folder_ / "made.sqlite";
        QVERIFY(test::writeFinishedTrace(*simulatedTraining({.steps = 8, .layers = 6}), made));
        recorded_ = contentOf("made.sqlite");
        fs::remove(made);
    }

    void existingOutputIsReportedBeforeReading_data() {
        const test::Rows<QString, QString> row;
        row("file", "there.sqlite", "there.sqlite: the file exists. Choose another name, or remove it.");
        row("folder", "folder", "folder: this is a folder, cannot write to it.");
        row("device", "/dev/full", "/dev/full: cannot write, not a regular file.");
        row("nowhere", "no/such.sqlite", "no/such.sqlite: cannot write, the folder no does not exist. Create it.");
        row("file for a folder", "there.sqlite/x.sqlite",
            "there.sqlite/x.sqlite: cannot write, there.sqlite is not a folder.");
        row("links in a ring", "ring/x.sqlite", "Cannot write ring/x.sqlite: Too many levels of symbolic links.");
        row("too long while it is made", QString(243, 'a') + ".sqlite",
            QString(243, 'a') +
                ".sqlite: cannot write, the name is 3 bytes too long with .partial, which is "
                "appended until the trace is complete. Choose a shorter one.");
        row("input", "run.json",
            "run.json: this file is being read, will not be overwritten. Choose another output file.");
        row("unfinished", "late.sqlite",
            "late.sqlite: late.sqlite.partial exists, so the trace is being written, or writing "
            "was interrupted. Choose another name, or remove that file if no program writes it.");
    }
    void existingOutputIsReportedBeforeReading() {
        const auto [target, sentence] = test::row<QString, QString>();
        put("there.sqlite", "mine");
        put("late.sqlite.partial", "half");
        put("run.json", "no trace: who reads it says so");
        put("other.json", "no trace: who reads it says so");
        QVERIFY(QDir(at("")).mkdir("folder") && QFile::link("ring", at("ring")));
        const QStringList before = entries();
        const QList<QStringList> commands{
            {"export", "-f", "sqlite", "run.json", "-o", target},
            {"merge", "run.json", "other.json", "-o", target},
        };
        for (const QStringList& command : commands) {
            const Outcome outcome = run(command);
            QCOMPARE(outcome.exitCode, 1);
            QCOMPARE(test::listed(outcome.errors, entries()), test::listed("lanescope: " + sentence + "\n", before));
        }
        if (target == "late.sqlite") {
            QVERIFY(QFile::rename(at("late.sqlite.partial"), at("run.sqlite.partial")));
            const Outcome imported = run({"import", "run.json"});
            QCOMPARE(imported.exitCode, 1);
            QCOMPARE(imported.errors, "lanescope: " + QString(sentence).replace("late", "run") + "\n");
        }
        QCOMPARE(contentOf("there.sqlite"), QByteArray("mine"));
    }

    /// Its content is unknown, and the message claims none.
    void inaccessibleFolderIsTheReportedCause() {
        put("run.json", R"([{"ph":"X","name":"a","ts":1,"dur":2,"pid":1}])");
        QVERIFY(QDir(at("")).mkdir("closed"));
        fs::permissions(*folder_ / "closed", fs::perms(0500));
        fs::permissions(folder_->path(), fs::perms(0755));
        if (::geteuid() == 0) fs::permissions(*folder_ / "closed", fs::perms(0700));
        for (const QStringList& command : {QStringList{"export", "-f", "sqlite", "run.json", "-o", "closed/run.sqlite"},
                                           QStringList{"import", "run.json", "--into", "closed"}}) {
            const Outcome outcome = run(command, Who::OtherUser);
            QCOMPARE(outcome.exitCode, 1);
            QCOMPARE(outcome.errors, QString("lanescope: Cannot write closed/run.sqlite: Permission denied.\n"));
        }
    }

    void unreadableFileNamesTheRemedy() {
        put("run.json", R"([{"ph":"X","name":"a","ts":1,"dur":2,"pid":1}])");
        fs::permissions(*folder_ / "run.json", fs::perms::none);
        fs::permissions(folder_->path(), fs::perms(0755));
        const Outcome outcome = run({"info", "run.json"}, Who::OtherUser);
        QCOMPARE(outcome.exitCode, 1);
        QVERIFY2(outcome.errors.contains("Permission denied. Its owner can share it with chmod."),
                 qPrintable(outcome.errors));
    }

    void importSourceIsNeverSuggestedForRemoval_data() {
        QTest::addColumn<QString>("kind");
        for (const char* kind : {"ours", "export", "JSON"}) QTest::newRow(kind) << kind;
    }
    void importSourceIsNeverSuggestedForRemoval() {
        QFETCH(QString, kind);
        put("run.sqlite", kind == "JSON" ? R"([{"ph":"X","name":"a","ts":1,"dur":2,"pid":1}])" : recorded_);
        if (kind == "export") {
            Result<Database> database = openForWriting(*folder_ / "run.sqlite");
            QVERIFY(database && database->execute("PRAGMA application_id = 0"));
        }
        const QByteArray before = contentOf("run.sqlite");
        for (const QStringList& words :
             {QStringList{"run.sqlite"}, QStringList{"."}, QStringList{"run.sqlite", "-o", "run.sqlite"}}) {
            const Outcome outcome = run(QStringList{"import"} + words);
            QCOMPARE(outcome.exitCode, 1);
            QVERIFY2(outcome.errors.contains("run.sqlite"), qPrintable(outcome.errors));
            QVERIFY2(!outcome.errors.contains("remove"), qPrintable(outcome.errors));
            QVERIFY2(outcome.errors.contains(kind == "JSON" ? "would be overwritten" : "no import needed"),
                     qPrintable(outcome.errors));
            QCOMPARE(contentOf("run.sqlite"), before);
        }
        QVERIFY(::mkfifo((*folder_ / "pipe.sqlite").c_str(), 0600) == 0);
        QCOMPARE(run({"import", "pipe.sqlite"}).errors,
                 QString("lanescope: pipe.sqlite: not a regular file. Name a trace file.\n"));
        // Two files of a folder whose outputs would have the same name.
        put("run.json", R"([{"ph":"X","name":"a","ts":1,"dur":2,"pid":1}])");
        const Outcome both = run({"import", "run.json"});
        QCOMPARE(both.exitCode, 1);
        QVERIFY2(both.errors.contains("exists") && !both.errors.contains("remove"), qPrintable(both.errors));
    }

    void missingIndexGivesTheReason() {
        writeCorrupt("broken.sqlite");
        const Outcome damaged = run({"index", "broken.sqlite"});
        QCOMPARE(damaged.exitCode, 1);
        QVERIFY2(damaged.errors.contains("broken.sqlite: no index is built"), qPrintable(damaged.errors));
        QVERIFY2(damaged.errors.contains("The file is corrupt") && damaged.errors.contains("Copy it again."),
                 qPrintable(damaged.errors));
        QVERIFY2(damaged.errors.contains("The table CUPTI_ACTIVITY_KIND_KERNEL is corrupt"),
                 qPrintable(damaged.errors));
        QCOMPARE(damaged.errors.count('\n'), 1);
        // Neither next to it nor in the cache.
        put("run.sqlite", recorded_);
        QVERIFY(QDir(at("")).mkpath("run.sqlite.lanescope-index/in the way"));
        put("cache", "no folder");
        const Outcome full = run({"index", "run.sqlite"});
        QCOMPARE(full.exitCode, 1);
        QVERIFY2(full.errors.contains("run.sqlite: the index could not be written: "), qPrintable(full.errors));
        QVERIFY2(full.errors.contains("cannot create the folder"), qPrintable(full.errors));
    }

    void unreadableWalIsTheReportedCause() {
        QVERIFY(QDir(at("")).mkdir("locked"));
        put("run.sqlite", recorded_);
        {
            Result<Database> database = openForWriting(*folder_ / "run.sqlite");
            QVERIFY(database && database->execute("PRAGMA journal_mode = WAL"));
            QVERIFY(database->execute("CREATE TABLE mine (a); INSERT INTO mine VALUES (1)"));
            // As during writing, or as copied then.
            for (const char* name : {"run.sqlite", "run.sqlite-wal"})
                put(("locked/" + std::string(name)).c_str(), contentOf(name));
        }
        QVERIFY(fs::file_size(*folder_ / "locked/run.sqlite-wal") > 0);
        fs::permissions(*folder_ / "locked/run.sqlite-wal", fs::perms::none);
        fs::permissions(folder_->path(), fs::perms(0755));
        for (const QStringList& command :
             {QStringList{"info", "locked/run.sqlite"}, QStringList{"explain", "locked/run.sqlite"},
              QStringList{"check", "locked/run.sqlite"}, QStringList{"sql", "locked/run.sqlite", "SELECT 1"}}) {
            const Outcome outcome = run(command, Who::OtherUser);
            const QString said = outcome.output + outcome.errors;
            QVERIFY2(outcome.exitCode == 1, qPrintable(said));
            QVERIFY2(said.contains("locked/run.sqlite-wal"), qPrintable(said));
            QVERIFY2(said.contains("cannot be read, but has rows of"), qPrintable(said));
            QVERIFY2(!said.contains("No such file"), qPrintable(said));
        }
    }

    void corruptHeaderSuggestsAnotherCopy_data() {
        const test::Rows<int, int> row;
        row("page size", 16, 7);
        row("payload", 21, 1);
        row("schema format", 47, 9);
        row("encoding", 59, 7);
        row("truncated in it", -50, 0);
        row("truncated after it", -5000, 0);
    }
    void corruptHeaderSuggestsAnotherCopy() {
        const auto [place, value] = test::row<int, int>();
        QByteArray bytes = recorded_;
        if (place < 0)
            bytes.truncate(-place);
        else
            bytes[place] = static_cast<char>(value);
        put("run.sqlite", bytes);
        const Outcome outcome = run({"info", "run.sqlite"});
        QCOMPARE(outcome.exitCode, 1);
        QVERIFY2(outcome.errors.contains("run.sqlite"), qPrintable(outcome.errors));
        QVERIFY2(outcome.errors.endsWith("Copy it again.\n"), qPrintable(outcome.errors));
    }

    void ranksGetNoFilesFromDevicesAndFolders() {
        const SampleCopies sample;
        for (const QString& place : {QString("/dev/null"), at("")}) {
            const QStringList before = entries();
            const Outcome outcome = run({"export", "-f", "kineto", sample("nvlink"), "-o", place});
            QCOMPARE(outcome.exitCode, 1);
            QVERIFY2(outcome.errors.contains("a file for each of 2 ranks"), qPrintable(outcome.errors));
            QCOMPARE(entries(), before);
            QVERIFY(!QFile::exists("/dev/null.rank0"));
        }
    }

    void mergedFilesMustExist() {
        const Outcome one = run({"merge", "nowhere", "-o", "job.sqlite"});
        QCOMPARE(test::listed(one.exitCode, one.errors), "1 | lanescope: nowhere: no such file. Check the path.\n");
        put("run.sqlite", recorded_);
        const Outcome alone = run({"merge", "run.sqlite", "-o", "job.sqlite"});
        QVERIFY2(alone.errors.contains("there is only run.sqlite"), qPrintable(alone.errors));
    }

    void tooLongNameHasNoNeighbourFiles_data() {
        QTest::addColumn<int>("length");
        for (const int length : {236, 240, 247, 255}) QTest::newRow(qPrintable(QString::number(length))) << length;
    }
    void tooLongNameHasNoNeighbourFiles() {
        QFETCH(int, length);
        const QString name = QString(length - 7, 'a') + ".sqlite";
        put(qPrintable(name), recorded_);
        const Outcome checked = run({"check", name});
        QVERIFY2(checked.exitCode == 0, qPrintable(checked.output + checked.errors));
        QVERIFY2(!checked.output.contains("BAD"), qPrintable(checked.output));
        QCOMPARE(run({"index", "--remove", name}).errors, QString("lanescope: There was no index.\n"));
        QVERIFY(run({"index", name}).exitCode == 0);
        const Outcome removed = run({"index", "--remove", name});
        QCOMPARE(test::listed(removed.errors, removed.exitCode), "lanescope: The index was removed.\n | 0");
    }

    void emptyNameIsAnError_data() {
        QTest::addColumn<QStringList>("command");
        const auto row = [](const QString& words) { QTest::newRow(qPrintable(words)) << words.split(' '); };
        for (const char* words : {"stats run.sqlite -o", "explain run.sqlite -o", "compare run.sqlite run.sqlite -o",
                                  "export run.sqlite -o", "export -f sqlite run.sqlite -o", "sql run.sqlite SELECT -o",
                                  "merge run.sqlite run.sqlite -o", "import run.sqlite -o", "import run.sqlite --into",
                                  "recover .run.sqlite.run -o", "summarize run.sqlite -o", "fleet . -o",
                                  "fleet . --html", "bench true --- true -o", "record true -o"})
            row(words);
    }
    void emptyNameIsAnError() {
        QFETCH(QStringList, command);
        put("run.sqlite", recorded_);
        const QStringList before = entries();
        // The option before the subcommand.
        const QString option = command.takeLast();
        command.insert(1, option);
        command.insert(2, "");
        const Outcome outcome = run(command);
        QVERIFY2(outcome.exitCode == 2, qPrintable(outcome.errors));
        QVERIFY2(outcome.errors.contains("the output name is empty"), qPrintable(outcome.errors));
        QVERIFY2(outcome.errors.count('\n') <= 2, qPrintable(outcome.errors));
        QCOMPARE(test::listed(outcome.output, entries()), test::listed(QString(), before));
        // As with an unset script variable: the parser would take the next word.
        command.removeAt(2);
        command[1] = (option == "-o" ? "--output" : option) + QString("=");
        const Outcome unset = run(command);
        QVERIFY2(unset.exitCode == 2, qPrintable(unset.errors));
        QVERIFY2(unset.errors.contains(command[1] + " has no value"), qPrintable(unset.errors));
        QCOMPARE(entries(), before);
    }

    void argumentsOfAProgramAreItsOwn() {
        const Outcome recorded = run({"record", "-o", "run.sqlite", "echo", "--output=", "--", "x"});
        QVERIFY2(recorded.output.contains("--output= -- x"), qPrintable(recorded.output));
    }

    void reportsNeverReplaceATrace() {
        put("run.sqlite", recorded_);
        const SampleCopies sample;
        put("other.sqlite", recorded_);
        put("truncated.sqlite", recorded_.left(5'000));
        QVERIFY(QFile::copy(LANESCOPE_SAMPLES "/resnet152-nvlink.sqlite.gz", at("packed.gz")));
        QVERIFY(QFile::link("other.sqlite", at("link.sqlite")));
        put("report.txt", "an older report");
        for (const QStringList& command :
             {QStringList{"stats", "run.sqlite"}, QStringList{"explain", "run.sqlite"},
              QStringList{"compare", sample("nvlink"), sample("no-p2p")}, QStringList{"export", "run.sqlite"},
              QStringList{"export", "-f", "folded", "run.sqlite"}, QStringList{"sql", "run.sqlite", "SELECT 1"}}) {
            for (const QString trace : {"other.sqlite", "truncated.sqlite", "packed.gz", "link.sqlite"}) {
                const QByteArray before = contentOf(qPrintable(trace));
                const Outcome outcome = run(command + QStringList{"-o", trace});
                QCOMPARE(outcome.exitCode, command[0] == "compare" ? 3 : 1);
                QCOMPARE(outcome.errors, QString("lanescope: %1: a trace or another database, will not be "
                                                 "overwritten. Choose another output file.\n")
                                             .arg(trace));
                QCOMPARE(contentOf(qPrintable(trace)), before);
            }
            const Outcome replaced = run(command + QStringList{"-o", "report.txt"});
            QVERIFY2(replaced.exitCode == 0, qPrintable(replaced.errors));
            QVERIFY(contentOf("report.txt") != "an older report");
        }
    }

    /// It may be a trace that another user recorded into this folder.
    void outputRefusesToOverwriteUnreadableFile() {
        put("run.sqlite", recorded_);
        put("secret.sqlite", recorded_);
        fs::permissions(*folder_ / "run.sqlite", fs::perms(0644));
        fs::permissions(*folder_ / "secret.sqlite", fs::perms(0));
        fs::permissions(folder_->path(), fs::perms(0777));
        const Outcome outcome = run({"stats", "run.sqlite", "-o", "secret.sqlite"}, Who::OtherUser);
        QCOMPARE(outcome.exitCode, 1);
        QVERIFY2(outcome.errors.startsWith("lanescope: secret.sqlite: may be a trace, will not be overwritten. "
                                           "Cannot read secret.sqlite: "),
                 qPrintable(outcome.errors));
        fs::permissions(*folder_ / "secret.sqlite", fs::perms(0600));
        QCOMPARE(contentOf("secret.sqlite"), recorded_);
    }

    void tooLongNameReportsItsExcess() {
        const QString name = QString(243, 'a') + ".sqlite";
        put(qPrintable(name), recorded_);
        const Outcome summed = run({"summarize", name});
        QCOMPARE(summed.exitCode, 1);
        QVERIFY2(summed.errors.endsWith(" bytes too long. Give the trace a shorter name.\n"),
                 qPrintable(summed.errors));
        for (const char* format : {"perfetto", "folded"}) {
            const Outcome exported = run({"export", "-f", format, name, "-o", QString(260, 'b')});
            QCOMPARE(exported.exitCode, 1);
            QCOMPARE(exported.errors, "lanescope: " + QString(260, 'b') +
                                          ": cannot write, the name is 5 bytes too long. Choose a shorter one.\n");
        }
        const SampleCopies sample;
        const QString stem(250, 'c');
        const Outcome ranks = run({"export", "-f", "kineto", sample("nvlink"), "-o", stem});
        QCOMPARE(ranks.exitCode, 1);
        QCOMPARE(ranks.errors,
                 "lanescope: " + stem + ".rank0: cannot write, the name is 1 byte too long. Choose a shorter one.\n");
        QCOMPARE(entries().size(), 1);
    }

    void longestFileNameWorks() {
        put("run.sqlite", recorded_);
        const QString name = QString(250, 'b') + ".json";
        const Outcome exported = run({"export", "run.sqlite", "-o", name});
        QVERIFY2(exported.exitCode == 0, qPrintable(exported.errors));
        QVERIFY(QFile::exists(at(name)));
        QVERIFY(entries().size() == 2);
    }

    void allCommandsReportChangesByOtherPrograms() {
        put("run.sqlite", recorded_);
        {
            Result<Database> database = openForWriting(*folder_ / "run.sqlite");
            QVERIFY(database && database->execute("DROP TABLE LANESCOPE_STORED"));
        }
        const QString sentence =
            "Another program modified the trace. Events are shown as they are now; stored summaries are ignored.";
        const Outcome checked = run({"check", "run.sqlite"});
        QCOMPARE(checked.exitCode, 1);
        QVERIFY2(checked.output.contains("BAD  " + sentence), qPrintable(checked.output));
        const Outcome info = run({"info", "run.sqlite"});
        QVERIFY2(info.output.contains("warning: " + sentence), qPrintable(info.output));
        const Outcome explained = run({"explain", "run.sqlite"});
        QVERIFY2(explained.output.simplified().contains(sentence), qPrintable(explained.output));
        const Outcome asked = run({"stats", "run.sqlite"});
        QVERIFY2(asked.errors.contains(sentence), qPrintable(asked.errors));
    }

  private:
    struct Outcome {
        int exitCode = -1;
        QString output, errors;
    };
    enum class Who { Me, OtherUser };

    Outcome run(const QStringList& arguments, Who who = Who::Me) const {
        QProcess process;
        process.setWorkingDirectory(at(""));
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("XDG_CACHE_HOME", at("cache"));
        process.setProcessEnvironment(environment);
        constexpr uid_t otherUser = 65534;
        // Root may write anywhere.
        if (who == Who::OtherUser && ::geteuid() == 0)
            process.setChildProcessModifier([] {
                if (::setgid(otherUser) != 0 || ::setuid(otherUser) != 0) ::_exit(99);
            });
        process.start(LANESCOPE_BINARY_DIR "/bin/lanescope", arguments);
        if (!process.waitForFinished(60'000)) qFatal("lanescope does not end");
        return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
    }

    QString at(const QString& name) const {
        return QString::fromStdString((folder_->path() / name.toStdString()).string());
    }
    /// Names in the folder, without the user's cache.
    QStringList entries() const {
        QStringList all = QDir(at("")).entryList(QDir::AllEntries | QDir::NoDotAndDotDot);
        all.removeAll("cache");
        return all;
    }
    void put(const char* name, const QByteArray& bytes) const {
        QFile file(at(name));
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size());
    }
    QByteArray contentOf(const char* name) const { return test::fileBytes(at(name)); }
    /// Writes a trace whose first page of kernels is unreadable.
    void writeCorrupt(const char* name) const {
        put(name, recorded_);
        int64_t page = 0;
        {
            const Database database = test::orFail(Database::openReadOnly(*folder_ / name));
            auto root =
                database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'CUPTI_ACTIVITY_KIND_KERNEL'");
            QVERIFY(root && *root->step());
            page = root->integer(0);
        }
        QByteArray bytes = recorded_;
        for (int byte = 0; byte < 8; ++byte) bytes[static_cast<qsizetype>((page - 1) * 4096 + byte)] = '\xee';
        put(name, bytes);
    }

    std::unique_ptr<TemporaryFolder> folder_;
    QByteArray recorded_;
};

LANESCOPE_TEST(tst_FileSentences, QCoreApplication)
#include "tst_FileSentences.moc"
