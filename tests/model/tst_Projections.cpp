// SPDX-License-Identifier: Apache-2.0
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

struct Projected {
    uint32_t nvtx;
    uint32_t stream;
    TimeRange range;
    uint32_t count;
    bool operator==(const Projected&) const = default;
    bool operator<(const Projected& other) const {
        return nvtx != other.nvtx ? nvtx < other.nvtx : stream < other.stream;
    }
};

/// By the rule itself: for each range and stream, test every kernel.
std::vector<Projected> plainProjections(const Trace& trace) {
    std::vector<Projected> result;
    for (uint32_t range = 0; range < trace.nvtx.size(); ++range) {
        if (trace.nvtx.style[range] == NvtxStyle::Mark) continue;
        const TimeRange time{trace.nvtx.startNs[range], trace.nvtx.endNs[range]};
        for (uint32_t stream = 0; stream < trace.streams.size(); ++stream) {
            Projected found{range, stream, {INT64_MAX, INT64_MIN}, 0};
            for (uint32_t row = 0; row < trace.kernels.size(); ++row) {
                if (trace.kernels.stream[row] != stream) continue;
                const EventRef call = trace.launchingCall(EventRef(EventKind::Kernel, row));
                if (!call.isValid()) continue;
                if (trace.apiCalls.thread[call.row()] != trace.nvtx.thread[range]) continue;
                if (!time.contains(trace.apiCalls.startNs[call.row()])) continue;
                found.range = found.range.united(trace.rangeOf(EventRef(EventKind::Kernel, row)));
                ++found.count;
            }
            if (found.count > 0) result.push_back(found);
        }
    }
    std::sort(result.begin(), result.end());
    return result;
}

std::vector<Projected> projectionsOf(const Trace& trace) {
    std::vector<Projected> result;
    const ProjectionTable& table = trace.projections;
    for (uint32_t row = 0; row < table.size(); ++row)
        result.push_back(
            {table.nvtx[row], table.stream[row], {table.startNs[row], table.endNs[row]}, table.operationCount[row]});
    std::sort(result.begin(), result.end());
    return result;
}

}  // namespace

class tst_Projections : public QObject {
    Q_OBJECT

  private slots:
    void projectionsMatchPlainLoop_data() {
        QTest::addColumn<uint>("seed");
        for (uint seed = 1; seed <= 12; ++seed) QTest::addRow("seed %u", seed) << seed;
    }
    void projectionsMatchPlainLoop() {
        QFETCH(uint, seed);
        std::mt19937 random(seed);
        const auto upTo = [&random](int64_t most) { return std::uniform_int_distribution<int64_t>(0, most)(random); };
        SimulatedTrace builder;
        builder.addGpu();
        const uint32_t process = builder.addProcess(77, "other");
        for (uint32_t i = 0; i < 3; ++i) builder.addThread(i == 2 ? process : 0, 100 + i);
        for (uint32_t i = 0; i < 4; ++i) builder.addStream(i == 3 ? process : 0, 0, 7 + i);
        for (uint32_t i = 0; i < 150; ++i) {
            const uint32_t thread = static_cast<uint32_t>(upTo(2));
            const uint32_t stream = thread == 2 ? 3 : static_cast<uint32_t>(upTo(2));
            const int64_t callNs = upTo(10'000);
            // Several kernels may come from one call; some calls and kernels have no counterpart.
            const auto correlation = static_cast<uint32_t>(upTo(120));
            builder.addApi(thread, "cudaLaunchKernel", callNs, callNs + upTo(20), correlation);
            const int64_t startNs = callNs + upTo(3'000);
            builder.addKernel(stream, "kernel", startNs, startNs + upTo(500), static_cast<uint32_t>(upTo(120)));
        }
        for (uint32_t i = 0; i < 80; ++i) {
            const int64_t startNs = upTo(10'000);
            const NvtxStyle style = i % 3 == 0   ? NvtxStyle::StartEnd
                                    : i % 7 == 1 ? NvtxStyle::Mark
                                                 : NvtxStyle::PushPop;
            builder.addNvtx(static_cast<uint32_t>(upTo(2)), "range", startNs, startNs + upTo(4'000), style,
                            i % 5 == 0 ? "other domain" : "");
        }
        const TracePtr trace = builder.finish();
        const std::vector<Projected> expected = plainProjections(*trace);
        QVERIFY(!expected.empty());
        QVERIFY(projectionsOf(*trace) == expected);
    }

    void projectionSpansFirstStartToLastEnd() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        const uint32_t stream = builder.defaultStream();
        builder.launch(thread, stream, "before", 0, 10'000, 20'000);
        builder.launch(thread, stream, "first", 100'000, 120'000, 130'000);
        builder.launch(thread, stream, "second", 110'000, 140'000, 150'000);
        builder.addNvtx(thread, "step", 90'000, 118'000);
        const TracePtr trace = builder.finish();
        QCOMPARE(trace->projections.size(), 1u);
        QCOMPARE(trace->projections.startNs[0], int64_t{120'000});
        QCOMPARE(trace->projections.endNs[0], int64_t{150'000});
        QCOMPARE(trace->projections.operationCount[0], 2u);
        QCOMPARE(trace->nameOf(EventRef(EventKind::Projection, 0)), std::string("step"));
    }

    void projectionsBelongToTheLaunchingThread() {
        SimulatedTrace builder;
        const uint32_t main = builder.defaultThread();
        const uint32_t other = builder.addThread(0, 99);
        builder.launch(other, builder.defaultStream(), "kernel", 100, 10'000, 20'000);
        builder.addNvtx(main, "main", 0, 1'000);
        builder.addNvtx(other, "other", 0, 1'000);
        const TracePtr trace = builder.finish();
        QCOMPARE(trace->projections.size(), 1u);
        QCOMPARE(trace->nameOf(EventRef(EventKind::Projection, 0)), std::string("other"));
    }

    void projectionsAreSortedAndNested() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        const uint32_t stream = builder.defaultStream();
        builder.launch(thread, stream, "kernel", 200, 10'000, 20'000);
        builder.addNvtx(thread, "outer", 0, 1'000);
        builder.addNvtx(thread, "inner", 100, 900);
        const TracePtr trace = builder.finish();
        // Both contain the same kernel; the outer range on the CPU is shown above.
        QCOMPARE(trace->projections.size(), 2u);
        QCOMPARE(trace->nameOf(EventRef(EventKind::Projection, 0)), std::string("outer"));
        QCOMPARE(trace->projections.depth[0], uint16_t{0});
        QCOMPARE(trace->projections.depth[1], uint16_t{1});
    }
};

LANESCOPE_TEST(tst_Projections, NoApplication)
#include "tst_Projections.moc"
