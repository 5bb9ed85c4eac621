// SPDX-License-Identifier: Apache-2.0
#include "model/format/Subprocess.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>

#include "tests/support/TemporaryFolder.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

bool isOpen(int descriptor) { return ::fcntl(descriptor, F_GETFD) >= 0; }

std::array<UniqueFd, 2> openPipe() {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) qFatal("no pipe");
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

/// Descriptors and child processes, and who closes and reaps them.
class tst_Subprocess : public QObject {
    Q_OBJECT

  private slots:
    void aDescriptorIsClosedOnceByItsLastOwner() {
        UniqueFd first(::open("/dev/null", O_RDONLY));
        const int number = first;
        UniqueFd second = std::move(first);
        QVERIFY(first < 0 && second == number && isOpen(number));
        second = UniqueFd(::open("/dev/null", O_RDONLY));
        QVERIFY(!isOpen(number) || second == number);
        const int released = second.release();
        QVERIFY(second < 0 && isOpen(released));
        errno = ENOENT;
        second.reset(released);
        second.reset();
        QCOMPARE(errno, ENOENT);
        QVERIFY(!isOpen(released));
    }

    void transfersAreWholeOrReportTheError() {
        const TemporaryFolder folder;
        const std::string text(100'000, 'x');
        {
            const UniqueFd file(::open((folder / "file").c_str(), O_CREAT | O_RDWR, 0600));
            QVERIFY(writeAll(file, text.data(), text.size()));
            QVERIFY(writeAllAt(file, "ab", 2, 1));
            QVERIFY(writeAll(file, nullptr, 0));
        }
        QCOMPARE(contentOf(folder / "file"), "xab" + text.substr(3));
        const UniqueFd file(::open((folder / "file").c_str(), O_RDONLY));
        std::string part(10, ' ');
        QCOMPARE(readAllAt(file, part.data(), 3, 0), size_t{3});
        QCOMPARE(part.substr(0, 3), std::string("xab"));
        QCOMPARE(readAllAt(file, part.data(), 10, text.size() - 4), size_t{4});
        QCOMPARE(errno, 0);
        std::string whole = "before ";
        QVERIFY(readToEnd(file, whole));
        QCOMPARE(whole.size(), text.size() + 7);
        QVERIFY(!writeAll(file, "a", 1));
        QCOMPARE(errno, EBADF);
        QVERIFY(!readToEnd(-1, whole));
        QCOMPARE(errno, EBADF);
    }

    void readingEndsSoonAfterTheLimit() {
        const UniqueFd zeros(::open("/dev/zero", O_RDONLY));
        std::string text;
        QVERIFY(readToEnd(zeros, text, 100'000));
        QVERIFY(text.size() > 100'000 && text.size() < 200'000);
    }

    void aForkedChildReturnsItsOutputAndStatus() {
        Subprocess child = Subprocess::fork([](int output) {
            const std::string text(300'000, 'y');
            if (!writeAll(output, text.data(), text.size())) ::_exit(2);
        });
        QVERIFY(child.pid() > 0);
        QCOMPARE(child.output().size(), size_t{300'000});
        QCOMPARE(child.wait(), 0);
        QVERIFY(child.pid() < 0);
        QCOMPARE(::waitpid(-1, nullptr, WNOHANG), -1);
    }

    void aChildThatStillRunsIsKilledAndReaped() {
        {
            const Subprocess child = Subprocess::fork([](int) {
                for (;;) ::pause();
            });
            QVERIFY(::kill(child.pid(), 0) == 0);
        }
        QCOMPARE(::waitpid(-1, nullptr, WNOHANG), -1);
    }

    void aProgramGetsItsInputEnvironmentAndGroup() {
        auto [reading, writing] = openPipe();
        const TemporaryFolder folder;
        const std::string file = folder / "out";
        std::vector<std::string> variables{"FILE=" + file};
        Subprocess shell = Subprocess::spawn("/bin/sh", {"sh", "-c", "read word; echo $word >$FILE; exit 5"},
                                             {.environment = pointersTo(variables).data(),
                                              .input = reading,
                                              .hasOwnGroup = true,
                                              .hasDefaultSignals = true});
        QVERIFY(shell.pid() > 0);
        QCOMPARE(::getpgid(shell.pid()), shell.pid());
        QVERIFY(!shell.poll());
        QVERIFY(writeAll(writing, "hello\n", 6));
        const int status = shell.wait();
        QVERIFY(WIFEXITED(status) && WEXITSTATUS(status) == 5);
        QCOMPARE(contentOf(file), std::string("hello\n"));
    }

    void aMissingProgramIsAnErrno() {
        const Subprocess none = Subprocess::spawn("/no/such/program", {"program"}, {});
        QCOMPARE(errno, ENOENT);
        QVERIFY(none.pid() < 0);
    }

    void aGroupIsKilledWithItsChildren() {
        const TemporaryFolder folder;
        const std::string file = folder / "pid";
        pid_t grandchild = 0;
        {
            const Subprocess shell = Subprocess::spawn(
                "/bin/sh",
                {"sh", "-c", "sleep 100 & echo $! >" + file + ".new; mv " + file + ".new " + file + "; wait"},
                {.hasOwnGroup = true});
            QTRY_VERIFY(std::filesystem::exists(file));
            grandchild = std::stoi(contentOf(file));
            QCOMPARE(::kill(grandchild, 0), 0);
        }
        // Reaped by init, or a zombie where there is none.
        QTRY_VERIFY(::kill(grandchild, 0) != 0 ||
                    contentOf("/proc/" + std::to_string(grandchild) + "/stat").find(") Z") != std::string::npos);
    }
};

LANESCOPE_TEST(tst_Subprocess, NoApplication)
#include "tst_Subprocess.moc"
