// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>

#include "capture/record/ChildProcess.h"
#include "capture/record/RunFolder.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;

class tst_RunStart : public QObject {
    Q_OBJECT

  private slots:
    /// Its status is that of the signal, as for a started program.
    void signalMayComeBeforeTheProgram() {
        ::signal(SIGPIPE, SIG_IGN);
        for (const int signal : {SIGUSR1, SIGKILL}) {
            auto child = ChildProcess::fork("/bin/true", {"true"}, {});
            QVERIFY(child);
            ::kill(child->pid(), signal);
            // Its end of the gate closes when it exits.
            siginfo_t info{};
            ::waitid(P_PID, static_cast<id_t>(child->pid()), &info, WEXITED | WNOWAIT);
            const Result<void, StartProblem> begun = child->begin({"A=b"});
            QVERIFY(!begun);
            QCOMPARE(begun.error().signal, signal);
            QVERIFY(child->hasEnded());
        }
        ::signal(SIGPIPE, SIG_DFL);
    }

    /// A simultaneous second recording is refused and names the first, and no earlier recording.
    void simultaneousRecordsDetectEachOther() {
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath(".at-once.run").toStdString();
        for (int round = 0; round < 100; ++round) {
            std::optional<Result<RunFolder>> made[2];
            std::atomic<int> ready{0}, done{0};
            const auto make = [&](int number) {
                ++ready;
                while (ready < 2) {
                }
                made[number].emplace(RunFolder::create(path, RunInfo{}));
                ++done;
            };
            std::thread other([&] { make(1); });
            make(0);
            other.join();
            QVERIFY(made[0]->has_value() != made[1]->has_value());
            const int winner = made[0]->has_value() ? 0 : 1;
            const std::string& sentence = made[1 - winner]->error().sentence;
            QVERIFY2(sentence.find("being recorded by another") != std::string::npos, sentence.c_str());
            (*made[winner])->remove();
        }
        QVERIFY(!std::filesystem::exists(path));
    }
};

LANESCOPE_TEST(tst_RunStart, NoApplication)
#include "tst_RunStart.moc"
