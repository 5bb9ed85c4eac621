// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/stepRanges.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

class TestMainRanges : public QObject {
    Q_OBJECT
  private slots:
    void requestsThatDifferInNumbersAreGroupedWithNestedRanges() {
        SimulatedTrace trace;
        const uint32_t thread = trace.defaultThread();
        const int64_t lengths[] = {300, 100, 200};
        for (int64_t each = 0; each < 3; ++each) {
            const int64_t start = 1'000 + each * 1'000;
            trace.addNvtx(thread, "request " + std::to_string(each), start, start + lengths[each]);
            trace.addNvtx(thread, "decode", start + 10, start + lengths[each] - 10);
        }
        const auto found = mainRanges(*trace.finish());
        QVERIFY(found);
        QCOMPARE(found->name, std::string("request #"));
        QCOMPARE(found->count, int64_t(3));
        QCOMPARE(found->medianNs, int64_t(200));
        QCOMPARE(found->longestNs, int64_t(300));
        QCOMPARE(found->paceNs, int64_t(1'000));
        QCOMPARE(found->span.startNs, int64_t(1'000));
        QCOMPARE(found->span.endNs, int64_t(3'200));
    }

    void commonNameOfRangesIsTheirGroupName() {
        SimulatedTrace trace;
        for (int64_t each = 0; each < 4; ++each)
            trace.addNvtx(trace.defaultThread(), "layer 3", each * 100, each * 100 + 10);
        QCOMPARE(mainRanges(*trace.finish())->name, std::string("layer 3"));
    }

    void enclosingOpenAndMarkRangesDoNotCount() {
        SimulatedTrace trace;
        const uint32_t thread = trace.defaultThread();
        const uint32_t other = trace.addThread(0, 99);
        trace.addNvtx(thread, "main", 0, 100'000);
        trace.addNvtx(thread, "worker 1", 10, 90'000, NvtxStyle::StartEnd);
        trace.addNvtx(other, "worker 2", 20, 90'000, NvtxStyle::StartEnd);
        trace.addNvtx(thread, "mark", 50, 50, NvtxStyle::Mark);
        for (int64_t each = 1; each < 3; ++each) trace.addNvtx(other, "load", each * 1'000, each * 1'000 + 100);
        trace.addOpenNvtx(other, "load", 5'000);
        const auto found = mainRanges(*trace.finish());
        QVERIFY(found);
        QCOMPARE(found->name, std::string("load"));
        QCOMPARE(found->count, int64_t(2));
        SimulatedTrace once;
        once.addNvtx(once.defaultThread(), "main", 0, 100);
        QVERIFY(!mainRanges(*once.finish()));
    }

    void rangesOfOnePatternAreSummed() {
        SimulatedTrace trace;
        for (int64_t each = 0; each < 3; ++each)
            trace.addNvtx(trace.defaultThread(), "request " + std::to_string(each), each * 1'000,
                          each * 1'000 + 100 * (each + 1));
        const TracePtr finished = trace.finish();
        const auto found = rangesOf(*finished, "request #");
        QVERIFY(found && found->count == 3 && found->medianNs == 200 && found->longestNs == 300);
        QVERIFY(!rangesOf(*finished, "step #"));
    }

    void gpuWorkSpansKernelsCopiesAndMemsets() {
        SimulatedTrace trace;
        const uint32_t stream = trace.defaultStream();
        trace.addMemcpy(stream, MemcpyKind::HtoD, 1'000, 100, 200);
        trace.addKernel(stream, "gemm", 300, 400);
        trace.addMemset(stream, 1'000, 500, 600);
        const auto span = gpuWorkSpan(*trace.finish());
        QVERIFY(span);
        QCOMPARE(span->startNs, int64_t(100));
        QCOMPARE(span->endNs, int64_t(600));
        SimulatedTrace idle;
        idle.addNvtx(idle.defaultThread(), "main", 0, 100);
        QVERIFY(!gpuWorkSpan(*idle.finish()));
    }
};

LANESCOPE_TEST(TestMainRanges, NoApplication)
#include "tst_mainRanges.moc"
