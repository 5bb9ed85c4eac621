// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/perf/PerfEvents.h"
#include "tests/support/runTest.h"

using namespace lanescope::capture;
using namespace std::chrono_literals;

namespace {

/// A child that waits to be ended.
class Child {
  public:
    Child() : pid_(::fork()) {
        while (pid_ == 0) ::pause();
    }
    ~Child() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    pid_t pid() const { return pid_; }

  private:
    pid_t pid_;
};

}  // namespace

class tst_PerfDrain : public QObject {
    Q_OBJECT

  private slots:
    /// A pipe without a reader simulates a disk that does not respond.
    void doesNotWaitForADiskForever() {
        if (const auto allowed = tryPerfEvents(); !allowed) QSKIP(allowed.error().sentence.c_str());
        std::array<int, 2> pipe{};
        QCOMPARE(::pipe2(pipe.data(), O_CLOEXEC), 0);
        auto log = PerfLog::into(pipe[1], {}, 1 << 20);
        QVERIFY(log);
        // Full.
        QCOMPARE(::fcntl(pipe[1], F_SETFL, O_NONBLOCK), 0);
        const std::array<char, 4096> some{};
        while (::write(pipe[1], some.data(), some.size()) > 0) {
        }
        QCOMPARE(::fcntl(pipe[1], F_SETFL, 0), 0);
        const Child child;
        auto events = PerfEvents::open(child.pid(), {});
        QVERIFY2(events, events ? "" : events.error().sentence.c_str());
        PerfDrain drain(std::move(*events), std::move(*log));
        QVERIFY(drain.start());
        QElapsedTimer clock;
        clock.start();
        QVERIFY(!drain.end(100ms));
        QVERIFY(clock.elapsed() < 5'000);
        QVERIFY(drain.end(100ms));  // nothing more to wait for
        // The thread ends when it can.
        ::close(pipe[0]);
    }

    void endsAtOnceOtherwise() {
        if (const auto allowed = tryPerfEvents(); !allowed) QSKIP(allowed.error().sentence.c_str());
        const Child child;
        auto events = PerfEvents::open(child.pid(), {});
        QVERIFY2(events, events ? "" : events.error().sentence.c_str());
        auto log = PerfLog::into(::open("/dev/null", O_WRONLY | O_CLOEXEC), {}, 1 << 20);
        QVERIFY(log);
        PerfDrain drain(std::move(*events), std::move(*log));
        QVERIFY(drain.start());
        QVERIFY(drain.end());
    }

    void initTestCase() { ::signal(SIGPIPE, SIG_IGN); }
};

LANESCOPE_TEST(tst_PerfDrain, NoApplication)
#include "tst_PerfDrain.moc"
