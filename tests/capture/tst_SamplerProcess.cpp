// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <cerrno>
#include <filesystem>
#include <string>

#include "capture/record/RunSamplers.h"

using namespace lanescope;
using namespace lanescope::capture;

/// Tests with a sampler process that is this program again, which then does nothing and does not end.
class tst_SamplerProcess : public QObject {
    Q_OBJECT

  private slots:
    void hangingSamplerIsKilledAndReaped() {
        auto process = SamplerProcess::start({});
        QVERIFY2(process.has_value(), process ? "" : process.error().sentence.c_str());
        const pid_t pid = process->pid();
        QCOMPARE(::waitpid(pid, nullptr, WNOHANG), 0);
        QVERIFY(!process->waitUntil(std::chrono::steady_clock::now() + std::chrono::milliseconds(300)));
        QCOMPARE(::waitpid(pid, nullptr, WNOHANG), -1);
        QCOMPARE(errno, ECHILD);
        QVERIFY(!std::filesystem::exists("/proc/" + std::to_string(pid)));
    }
};

int main(int argc, char** argv) {
    if (argc > 1 && argv[1] == samplerCommand)
        while (true) ::pause();
    tst_SamplerProcess test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_SamplerProcess.moc"
