// SPDX-License-Identifier: Apache-2.0
#include "model/trace/kinds/rangeDetails.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr int64_t us = 1000;

}  // namespace

class TestLaunchesDuring : public QObject {
    Q_OBJECT

  private slots:
    void launchesOfOtherThreadsForARangeAreReported() {
        SimulatedTrace builder;
        const uint32_t main = builder.defaultThread();
        const uint32_t autograd = builder.addThread(0, 526, "pt_autograd_0");
        const uint32_t stream = builder.defaultStream();
        const uint32_t other = builder.addStream(0, 0, 20);
        const uint32_t stranger = builder.addThread(builder.addProcess(77, "other"), 77);
        for (int64_t index = 0; index < 3; ++index)
            builder.launch(main, stream, "gemm", index * 10 * us, 100 * us + index * us, 100 * us + (index + 1) * us);
        for (int64_t index = 0; index < 5; ++index)
            builder.launch(autograd, index < 4 ? stream : other, "gemm", (40 + index * 10) * us, 200 * us + index * us,
                           200 * us + (index + 1) * us);
        builder.launch(main, stream, "gemm", 150 * us, 300 * us, 310 * us);  // later
        builder.addApi(stranger, "cudaLaunchKernel", 20 * us, 25 * us, 1);
        const TracePtr trace = builder.finish();
        const TimeRange range{0, 100 * us};
        QCOMPARE(launchesDuring(*trace, main, range), (std::vector<ThreadLaunches>{{main, 3}, {autograd, 5}}));
        QCOMPARE(launchesDuring(*trace, main, range, other), (std::vector<ThreadLaunches>{{autograd, 1}}));
        QCOMPARE(launchesText(*trace, main, launchesDuring(*trace, main, range)),
                 std::string("3 by this thread, 5 by thread 526 (pt_autograd_0) meanwhile"));
        QCOMPARE(launchesText(*trace, main, launchesDuring(*trace, main, range, other)),
                 std::string("0 by this thread, 1 by thread 526 (pt_autograd_0) meanwhile"));
        QVERIFY(launchesText(*trace, main, launchesDuring(*trace, main, {500, 600})).empty());
    }
};

LANESCOPE_TEST(TestLaunchesDuring, NoApplication)
#include "tst_launchesDuring.moc"
