// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include "tests/support/fileBytes.h"
#include "tests/support/runProgram.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"

using namespace lanescope;

using lanescope::test::Ended;
using lanescope::test::endOf;

/// End-to-end tests of `bisect` with small repositories and a simulated GPU. The program of each commit reads the
/// number of its kernels per step from a file of that commit. This number is the metric, because times depend on the
/// machine.
class tst_Bisect : public QObject {
    Q_OBJECT
    std::unique_ptr<QTemporaryDir> folder_;

    const QStringList metric_{"--fail-if", "kernel \"*\".count > 3%"};

    static constexpr int waitMs = 120'000;

    QString in(const QString& name) const { return folder_->filePath(name); }

    void write(const QString& name, const QByteArray& text) const {
        QFile file(in(name));
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
    }
    QByteArray textOf(const QString& name) const { return test::fileBytes(in(name)); }

    QByteArray git(const QStringList& words) const {
        QProcess process;
        process.setWorkingDirectory(in("repo"));
        process.start("git", words);
        const Ended ended = endOf(process);
        if (ended.status != 0) qFatal("git: %s", ended.err.constData());
        return ended.out.trimmed();
    }

    void start(QProcess& process, const QStringList& words, const QString& folder) const {
        QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
        variables.insert("LANESCOPE_CUPTI", LANESCOPE_BINARY_DIR "/lib/standin/libcupti.so.13");
        variables.insert("BASE", folder_->path());
        process.setProcessEnvironment(variables);
        process.setWorkingDirectory(in(folder));
        process.start(
            LANESCOPE_BINARY_DIR "/bin/lanescope",
            QStringList{"bisect", "--warmup", "0"} + (words.contains("--fail-if") ? QStringList() : metric_) + words);
    }
    Ended run(const QStringList& words, const QString& folder = "repo") const {
        QProcess process;
        start(process, words, folder);
        return endOf(process);
    }

    /// Makes a repository with a commit for each number of kernels; 0 does not build.
    void makeRepository(const QList<int>& kernels) const {
        QVERIFY(QDir(folder_->path()).mkdir("repo"));
        git({"init", "-q", "-b", "main"});
        write("repo/train",
              "#!/bin/sh\nwhile test -e $BASE/hold; do sleep 0.02; done\necho run >> "
              "$BASE/runs\nexec " LANESCOPE_BINARY_DIR "/bin/standin-training --live 1 --cupti " LANESCOPE_BINARY_DIR
              "/lib/standin/libcupti.so.13 --steps 12 --kernels $(cat built) \"$@\"\n");
        write("repo/build", "#!/bin/sh\necho build >> $BASE/builds\ntest $(cat step) -gt 0 && cp step built\n");
        for (const char* name : {"train", "build"})
            QVERIFY(QFile::setPermissions(in(QString("repo/%1").arg(name)),
                                          QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        for (qsizetype commit = 0; commit < kernels.size(); ++commit) {
            write("repo/step", QByteArray::number(kernels[commit]) + "\n");
            write("repo/number", QByteArray::number(commit) + "\n");
            git({"add", "-A"});
            git({"-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "-m",
                 QString("Change %1").arg(commit)});
        }
    }
    qsizetype worktrees() const { return git({"worktree", "list", "--porcelain"}).count("worktree "); }
    static QString before(int commits) { return QString("HEAD~%1").arg(commits); }

    static QJsonObject object(const Ended& ended) { return QJsonDocument::fromJson(ended.out).object(); }

  private slots:
    void init() { folder_ = std::make_unique<QTemporaryDir>(); }

    void findsTheCommitAndLeavesTheTree() {
        makeRepository({4, 4, 4, 4, 4, 0, 8, 8, 8});
        write("repo/untracked", "mine");
        write("repo/number", "changed");
        const QByteArray status = git({"status", "--porcelain"}), head = git({"rev-parse", "HEAD"});
        const Ended found = run({before(8), "main", "--build", "./build", "-f", "json", "--", "./train"});
        QVERIFY2(found.status == 0, found.err);
        const QJsonObject answer = object(found);
        QCOMPARE(answer["outcome"].toString(), QString("found"));
        // The broken commit cannot be distinguished from the next one.
        QCOMPARE(answer["states"].toArray().size(), 2);
        QVERIFY(answer["states"].toArray()[1].toObject()["title"].toString().contains("Change 6 (Ada, "));
        QCOMPARE(answer["skipped"].toArray()[0].toString().toUtf8(), git({"rev-parse", "HEAD~3"}));
        QVERIFY(answer["probability"].toDouble() >= 0.95);
        QVERIFY2(std::abs(answer["change"].toObject()["percent"].toDouble() - 100) < 1e-6, found.out);
        QVERIFY2(!answer["reason"].toString().isEmpty(), found.out);
        QVERIFY2(found.err.contains("Plan: 8 runs of both ends or more") &&
                     found.err.contains("The planned 11 runs take at least ") &&
                     found.err.contains("Control, the first"),
                 found.err);
        // Neither tree nor branches nor worktrees changed.
        QCOMPARE(git({"status", "--porcelain"}), status);
        QCOMPARE(git({"rev-parse", "HEAD"}), head);
        QCOMPARE(git({"branch", "--format=%(refname:short)"}), QByteArray("main"));
        QCOMPARE(worktrees(), 1);
        QVERIFY(QFile::exists(in("repo-bisect/bisect.json")));
        QVERIFY(QDir(in("repo-bisect")).entryList({"tree-*"}).isEmpty());
        // The same command again has all it needs.
        const QByteArray runs = textOf("runs");
        const Ended again = run({before(8), "main", "--build", "./build", "--", "./train"});
        QVERIFY2(again.status == 0 && again.out.contains("The first worse commit is one of 2"), again.out);
        QVERIFY2(again.out.contains("Details: lanescope compare --baseline "), again.out);
        QCOMPARE(textOf("runs"), runs);
        // Another search does not use its folder.
        const Ended other = run({before(7), "main", "--build", "./build", "--", "./train"});
        QVERIFY2(other.status == 3 && other.err.contains("Choose another with -o"), other.err);
        const Ended recorded = run({before(8), "main", "--build", "./build", "--no-nvtx", "--", "./train"});
        QVERIFY2(recorded.status == 3 && recorded.err.contains("Choose another with -o"), recorded.err);
    }

    void interruptedSearchContinues_data() { test::rows<int>("signal", {{"Ctrl-C", SIGINT}, {"kill", SIGTERM}}); }
    void interruptedSearchContinues() {
        QFETCH(int, signal);
        if (lanescope::test::hasThreadSanitizer) QSKIP("It keeps signals back while a program is waited for.");
        makeRepository({4, 4, 8, 8, 8});
        const QStringList words{before(4), "main", "--build", "./build", "-f", "json", "--", "./train"};
        QProcess process;
        start(process, words, "repo");
        const auto traces = [this] { return QDir(in("repo-bisect")).entryList({"*.sqlite"}, QDir::Files).size(); };
        QTRY_VERIFY_WITH_TIMEOUT(traces() >= 3, waitMs);
        write("hold", "");  // The next run of the first search waits.
        const Ended second = run(words);
        QVERIFY2(second.status == 3 && second.err.contains("another bisect uses this folder"), second.err);
        ::kill(static_cast<pid_t>(process.processId()), signal);
        const Ended first = endOf(process);
        QVERIFY2(first.status == 128 + signal, first.err);
        QVERIFY2(first.err.contains("The same command continues there."), first.err);
        QCOMPARE(worktrees(), 1);
        QVERIFY(QFile::remove(in("hold")));
        const auto kept = traces();
        const Ended found = run(words);
        QVERIFY2(found.status == 0, found.err);
        QVERIFY2(found.err.contains("Continues after " + QByteArray::number(kept) + " earlier runs"), found.err);
        QCOMPARE(object(found)["states"].toArray()[0].toObject()["source"].toString().toUtf8(),
                 git({"rev-parse", "HEAD~2"}));
    }

    void endsWithoutADifference() {
        makeRepository({4, 4, 4});
        const Ended none = run({before(2), "main", "--build", "./build", "--", "./train"});
        QVERIFY2(none.status == 3, none.err);
        QVERIFY2(none.out.startsWith("No difference of more than 3.0 % could be shown in 8 runs."), none.out);
        QCOMPARE(textOf("builds").count('\n'), 2);
    }

    void medianStepIsTheDefault() {
        const QString program = LANESCOPE_BINARY_DIR "/bin/standin-training --live 1 --cupti " LANESCOPE_BINARY_DIR
                                                     "/lib/standin/libcupti.so.13 --kernels 4 --steps 12 --step-ms ";
        QVERIFY(QDir(folder_->path()).mkdir("repo"));
        const Ended found = run({"--versions", "echo {} > $BASE/step", "10", "200", "-f", "json", "--fail-if",
                                 "step.p50 > 50%", "--", "/bin/sh", "-c", program + "$(cat $BASE/step)"});
        QVERIFY2(found.status == 0, found.err);
        QVERIFY2(object(found)["reason"].toString().contains("Candidate takes"), found.out);
    }

    void fasterEndIsReported() {
        makeRepository({8, 4});
        const Ended faster = run({before(1), "main", "--build", "./build", "-f", "json", "--", "./train"});
        QVERIFY2(faster.status == 3 && object(faster)["outcome"].toString() == "better", faster.out + faster.err);
    }

    void versionsAreInstalledByTheirCommand() {
        QVERIFY(QDir(folder_->path()).mkdir("repo"));
        const Ended found = run({"--versions",
                                 "echo {} >> $BASE/installed; test {} = 2.8 && echo 4 > $BASE/step || "
                                 "echo 8 > $BASE/step",
                                 "2.8", "2.10", "--no-sample", "--no-threads", "-f", "json", "--", "/bin/sh", "-c",
                                 LANESCOPE_BINARY_DIR "/bin/standin-training --live 1 --cupti " LANESCOPE_BINARY_DIR
                                                      "/lib/standin/libcupti.so.13 --steps 12 --kernels "
                                                      "$(cat $BASE/step)"});
        QVERIFY2(found.status == 0, found.err);
        QCOMPARE(object(found)["states"].toArray()[0].toObject()["source"].toString(), QString("2.10"));
        QVERIFY2(found.err.contains("--no-sample, --no-threads. Runs are kept"), found.err);
        QVERIFY(textOf("installed").startsWith("2.8\n2.10\n2.8\n"));
        QVERIFY(QFile::exists(in("repo/lanescope-bisect/bisect.json")));
    }

    void foldersAreRunInPlace() {
        QVERIFY(QDir(folder_->path()).mkdir("repo"));
        for (const auto& [name, ms] : {std::pair("a", "4"), {"b", "4"}, {"c", "8"}}) {
            QVERIFY(QDir(in("repo")).mkdir(name));
            write(QString("repo/%1/step").arg(name), ms);
        }
        const Ended found = run({"--folders", "a", "b", "c", "-o", "o", "--", "/bin/sh", "-c",
                                 LANESCOPE_BINARY_DIR "/bin/standin-training --live 1 --cupti " LANESCOPE_BINARY_DIR
                                                      "/lib/standin/libcupti.so.13 --steps 12 --kernels $(cat step)"});
        QVERIFY2(found.status == 0, found.err);
        QVERIFY2(found.out.startsWith("The first worse folder is folder ") && found.out.contains("/repo/c (probab"),
                 found.out);
    }

    void wrongArgumentsAreRefused_data() {
        const test::Rows<QStringList, int, QString> row;
        row("no program", {"HEAD~1", "HEAD"}, 2, "Name the program after --");
        row("one commit", {"HEAD", "--", "true"}, 2, "Name two commits");
        row("same", {"HEAD", "main", "--", "true"}, 2, "are one commit");
        row("unknown", {"HEAD", "nothing", "--", "true"}, 2, "nothing: no commit");
        row("reverse", {"main", "main~1", "--", "true"}, 2, "is no ancestor of");
        row("verdict", {"--fail-if", "slower", "main~1", "main", "--", "true"}, 2, "needs one quantity");
        row("no place", {"--versions", "pip", "1", "2", "--", "true"}, 2, "has no {}");
        row("no folder", {"--folders", "1", "2", "--", "true"}, 2, "1: no folder");
    }
    void wrongArgumentsAreRefused() {
        const auto [words, status, sentence] = test::row<QStringList, int, QString>();
        makeRepository({4, 4});
        const Ended ended = run(words);
        QVERIFY2(ended.status == status, ended.err);
        QVERIFY2(ended.err.contains(sentence.toUtf8()), ended.err);
        QVERIFY(!QDir(in("repo-bisect")).exists());
    }

    void endThatDoesNotBuildEndsTheSearch() {
        makeRepository({4, 0});
        const Ended ended = run({before(1), "main", "--build", "./build", "--", "./train"});
        QVERIFY2(ended.status == 3 && ended.err.contains(": exit status 1."), ended.err);
        QVERIFY2(ended.err.contains("The build of "), ended.err);
        QCOMPARE(worktrees(), 1);
    }

    void goodCommitOfAMergedBranchIsRefused() {
        makeRepository({4, 4});
        const QByteArray base = git({"rev-parse", "HEAD~1"});
        const QStringList ada{"-c", "user.name=Ada", "-c", "user.email=ada@example.org"};
        git({"checkout", "-q", "-b", "side", "HEAD~1"});
        git(ada + QStringList{"commit", "-q", "--allow-empty", "-m", "Beside"});
        git({"checkout", "-q", "main"});
        git(ada + QStringList{"merge", "-q", "--no-ff", "-m", "Merge", "side"});
        const Ended ended = run({"side", "main", "--", "./train"});
        QVERIFY2(ended.status == 2 && ended.err.contains("a merge brought it in. Use " + base.left(12)), ended.err);
    }

    void runsAreLimited() {
        makeRepository({4, 8, 8});
        const Ended ended = run({before(2), "main", "--build", "./build", "--runs", "9", "--", "./train"});
        QVERIFY2(textOf("runs").count('\n') <= 9, ended.err);
    }
};

LANESCOPE_TEST(tst_Bisect, QCoreApplication)
#include "tst_Bisect.moc"
