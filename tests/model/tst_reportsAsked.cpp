// SPDX-License-Identifier: Apache-2.0
#include "model/reports/reportsAsked.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

class TestReportsAsked : public QObject {
    Q_OBJECT

  private slots:
    /// A range counts where its work runs on the GPU, which may be after its end on the CPU.
    void timeRangeIsRefusedOnlyIfNoWorkOfTheRangeRuns() {
        SimulatedTrace builder;
        const uint32_t gpu = builder.addGpu();
        const uint32_t thread = builder.addThread(0, 4242, "python3");
        const uint32_t stream = builder.addStream(0, gpu, 7, true);
        builder.addNvtx(thread, "first", 0, 20'000);
        builder.addApi(thread, "cudaLaunchKernel", 1'000, 5'000, 1);
        builder.addKernel(stream, "late", 50'000, 90'000, 1);
        builder.addNvtx(thread, "other", 500'000, 520'000);
        builder.addApi(thread, "cudaLaunchKernel", 501'000, 505'000, 2);
        builder.addKernel(stream, "late", 510'000, 900'000, 2);
        const TracePtr trace = builder.finish();
        const std::vector<std::string> reports{"memcpy_bandwidth:range"};
        QVERIFY(checkSelection(*trace, reports, TimeRange{60'000, 80'000}, "first"));
        const Result<void> refused = checkSelection(*trace, reports, TimeRange{600'000, 800'000}, "first");
        QVERIFY(!refused);
        const std::string& sentence = refused.error().sentence;
        QVERIFY2(sentence.find("No NVTX range \"first\" has GPU work in that time range") != std::string::npos,
                 sentence.c_str());
    }
};

LANESCOPE_TEST(TestReportsAsked, NoApplication)
#include "tst_reportsAsked.moc"
