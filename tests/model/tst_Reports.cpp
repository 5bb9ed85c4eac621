// SPDX-License-Identifier: Apache-2.0
#include "tests/support/SimulatedTrace.h"
#include "tests/support/reportCells.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

std::vector<std::string> columnNames(const ReportTable& table) {
    std::vector<std::string> names;
    for (const ReportColumn& column : table.columns) names.push_back(column.name);
    return names;
}

using Names = std::vector<std::string>;

}  // namespace

class TestReports : public QObject {
    Q_OBJECT

  private slots:
    void kernelSummaryMatchesNsight() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addKernel(stream, "gemm", 0, 100);
        builder.addKernel(stream, "gemm", 200, 500);
        builder.addKernel(stream, "relu", 600, 700);
        const TracePtr trace = builder.finish();
        const ReportTable table = report(*trace, "cuda_gpu_kern_sum");
        QCOMPARE(columnNames(table),
                 (Names{"Time", "Total Time", "Instances", "Avg", "Med", "Min", "Max", "StdDev", "Name"}));
        QCOMPARE(table.rows.size(), size_t{2});
        QCOMPARE(cells(table.rows[0]), "80.0 400 2 200.0 200.0 100 300 141.421356237 'void gemm<float>(float*, int)'");
        QCOMPARE(real(table.rows[1][0]), 20.0);
        QCOMPARE(text(report(*trace, "cuda_gpu_kern_sum:base").rows[1][8]), "relu");
    }

    void kernelSummaryOmitsMemoryOperations() {
        SimulatedTrace builder;
        builder.addMemcpy(builder.defaultStream(), MemcpyKind::HtoD, 10, 0, 10);
        QVERIFY(report(*builder.finish(), "cuda_gpu_kern_sum").rows.empty());
    }

    void memorySummariesCountCopiesAndMemsets() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addMemcpy(stream, MemcpyKind::HtoD, 1000, 0, 100);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 3000, 100, 400);
        builder.addMemcpy(stream, MemcpyKind::PtoP, 50, 500, 510);
        builder.addMemset(stream, 64, 600, 690);
        const TracePtr trace = builder.finish();
        const ReportTable time = report(*trace, "cuda_gpu_mem_time_sum");
        QCOMPARE(columnNames(time),
                 (Names{"Time", "Total Time", "Count", "Avg", "Med", "Min", "Max", "StdDev", "Operation"}));
        QCOMPARE(cells(time, {8}), "'[CUDA memcpy Host-to-Device]'; '[CUDA memset]'; '[CUDA memcpy Peer-to-Peer]'");
        QCOMPARE(listed(real(time.rows[0][0]), whole(time.rows[1][1])), "80 | 90");
        const ReportTable size = report(*trace, "cuda_gpu_mem_size_sum");
        QCOMPARE(columnNames(size), (Names{"Total", "Count", "Avg", "Med", "Min", "Max", "StdDev", "Operation"}));
        QCOMPARE(size.columns[0].unit, Unit::Bytes);
        QCOMPARE(cells(size, {0}), "4000; 64; 50");
        QCOMPARE(real(size.rows[0][2]), 2000.0);
    }

    void operationsWithoutBytesHaveNoSize() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addMemcpy(stream, MemcpyKind::HtoD, 0, 0, 100);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 3000, 100, 400);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 1000, 400, 500);
        builder.addMemset(stream, 0, 600, 690);
        const TracePtr trace = builder.finish();
        const ReportTable size = report(*trace, "cuda_gpu_mem_size_sum");
        QCOMPARE(test::listed(cells(size, {1}), cells(size.rows[0], {0, 2, 3, 4})), "3; 1 | 4000 2000.0 2000.0 1000");
        QCOMPARE(cells(size.rows[1], {0, 2, 3, 4, 5, 6}), "- - - - - -");
        QCOMPARE(size.notes, Names{"2 without bytes are counted but have no size."});
        QVERIFY(report(*trace, "cuda_gpu_mem_time_sum").notes.empty());
        const ReportTable bandwidth = report(*trace, "memcpy_bandwidth");
        QCOMPARE(cells(bandwidth, {columnOf(bandwidth, "Bytes")}), "4000; -");
        for (const auto& [name, bytes] :
             {std::pair{"cuda_gpu_trace", size_t{12}}, std::pair{"nvprof_gpu_trace", size_t{7}}}) {
            const ReportTable list = report(*trace, name);
            QCOMPARE(cells(list.rows[1], {bytes, bytes + 1}), "3000 10.0");
            for (const size_t row : {0, 3}) QCOMPARE(cells(list.rows[row], {bytes, bytes + 1}), "- -");
        }
    }

    void apiSummaryCountsCalls() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        builder.addApi(thread, "cudaMalloc", 0, 30);
        builder.addApi(thread, "cudaFree", 40, 50);
        builder.addApi(thread, "cudaMalloc", 60, 70);
        const ReportTable table = report(*builder.finish(), "cuda_api_sum");
        QCOMPARE(table.columns[2].name, std::string("Num Calls"));
        QCOMPARE(cells(table.rows[0], {8, 2, 0}), "'cudaMalloc' 2 80.0");
    }

    void rangesThatDifferInNumbersAreOneFamily() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        builder.addSteps(thread, 54, 1'000, 900,
                         [&](int64_t startNs) { builder.addNvtx(thread, "layer 7", startNs, startNs + 100); });
        builder.addNvtx(thread, "step 3", 90'000, 90'500, NvtxStyle::PushPop, "Other");
        const TracePtr trace = builder.finish();
        QCOMPARE(report(*trace, "nvtx_sum").rows.size(), size_t{56});
        const ReportTable table = report(*trace, "nvtx_sum:family");
        QCOMPARE(table.rows.size(), size_t{3});
        QCOMPARE(cells(table.rows[0], {1, 2, 8, 9}), "48600 54 '54' 'step #'");
        QCOMPARE(table.searches[0], std::string("step "));
        // A single range keeps its number.
        QCOMPARE(listed(text(table.rows[1][9]), text(table.rows[2][10])), "layer 7 | Other");
    }

    void rangeSummariesDistinguishStylesAndDomains() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        builder.addNvtx(thread, "step", 0, 100);
        builder.addNvtx(thread, "step", 100, 300);
        builder.addNvtx(thread, "step", 300, 350, NvtxStyle::PushPop, "Other");
        builder.addNvtx(thread, "load", 310, 340, NvtxStyle::StartEnd);
        builder.addNvtx(thread, "here", 320, 320, NvtxStyle::Mark);
        const TracePtr trace = builder.finish();
        const ReportTable all = report(*trace, "nvtx_sum");
        QCOMPARE(cells(all, {9}), "':step'; 'Other:step'; ':load'");
        QCOMPARE(listed(all.columns[8].name, text(all.rows[2][8])), "Style | StartEnd");
        const ReportTable families = report(*trace, "nvtx_sum:family");
        QCOMPARE(families.rows.size(), size_t{3});
        QCOMPARE(text(families.rows[0][8]), std::string("1"));
        const ReportTable pushed = report(*trace, "nvtx_pushpop_sum");
        QCOMPARE(pushed.rows.size(), size_t{2});
        QCOMPARE(test::listed(pushed.columns[8].name, whole(pushed.rows[0][1])), "Range | 300");
        const ReportTable started = report(*trace, "nvtx_startend_sum");
        QCOMPARE(cells(started, {8}), "':load'");
    }

    void projectionSpansTheWorkOfAllStreamsLaunchedInARange() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), other = builder.addThread(0, 4300);
        const uint32_t first = builder.defaultStream(), second = builder.addStream(0, 0, 8);
        builder.addNvtx(thread, "step", 0, 100'000);
        builder.addNvtx(thread, "inner", 10'000, 50'000);
        builder.launch(thread, first, "a", 11'000, 60'000, 70'000);
        builder.launch(thread, second, "b", 20'000, 65'000, 90'000);
        builder.launch(thread, first, "c", 60'000, 100'000, 200'000);
        builder.launch(other, first, "d", 30'000, 300'000, 400'000);  // another thread: not in it
        builder.addNvtx(thread, "idle", 95'000, 99'000);              // launches nothing
        const ReportTable table = report(*builder.finish(), "nvtx_gpu_proj_sum");
        QCOMPARE(columnNames(table), (Names{"Range", "Style", "Total Proj Time", "Total Range Time", "Range Instances",
                                            "Proj Avg", "Proj Med", "Proj Min", "Proj Max", "Proj StdDev",
                                            "Total GPU Ops", "Avg GPU Ops", "Avg Range Lvl", "Avg Num Child"}));
        QCOMPARE(table.rows.size(), size_t{2});
        QCOMPARE(cells(table.rows[0], {0, 2, 3, 10, 12}), "':step' 140000 100000 3 0.0");
        QCOMPARE(real(table.rows[0][13]), 1.0);  // "inner"; "idle" launched nothing
        QCOMPARE(cells(table.rows[1], {2, 10, 12}), "30000 2 1.0");
    }

    void projectionsOfOneFamilyAreOneRow() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        builder.addSteps(thread, 5, 100'000, 50'000, [&](int64_t startNs) {
            builder.addNvtx(thread, "sort", startNs, startNs + 9'000, NvtxStyle::PushPop, "CCCL");
            builder.launch(thread, builder.defaultStream(), "gemm", startNs + 1'000, startNs + 10'000,
                           startNs + 30'000);
        });
        const TracePtr trace = builder.finish();
        QCOMPARE(report(*trace, "nvtx_gpu_proj_sum").rows.size(), size_t{6});
        const ReportTable table = report(*trace, "nvtx_gpu_proj_sum:family");
        QCOMPARE(test::listed(cells(table, {0}), cells(table.rows[1], {2, 4})), "'CCCL:sort'; 'step #' | 100000 5");
        QCOMPARE(table.searches[1], std::string("step "));
    }

    void gpuTraceListsEverythingByStart() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addKernel(stream, "gemm", 200, 300, 5);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 4000, 0, 100, 3, MemoryKind::Pageable);
        builder.addMemset(stream, 64, 400, 410);
        const ReportTable table = report(*builder.finish(), "cuda_gpu_trace");
        QCOMPARE(columnNames(table),
                 (Names{"Start",    "Duration", "CorrId",  "GrdX",    "GrdY",     "GrdZ",  "BlkX",
                        "BlkY",     "BlkZ",     "Reg/Trd", "StcSMem", "DymSMem",  "Bytes", "Throughput",
                        "SrcMemKd", "DstMemKd", "Device",  "Ctx",     "GreenCtx", "Strm",  "Name"}));
        QCOMPARE(table.rows.size(), size_t{3});
        QCOMPARE(cells(table.rows[0], {3, 13, 14, 15}), "- 40.0 'Pageable' 'Device'");  // bytes per nanosecond are GB/s
        QCOMPARE(cells(table.rows[1], {0, 2, 3, 6, 12, 16}), "200 5 256 128 - 'Simulated H200 (0)'");
        QCOMPARE(text(table.rows[2][20]), "[CUDA memset]");
    }

    void gpuTraceInPartsEqualsTheWhole() {
        SimulatedTrace builder;
        for (int64_t event = 0; event < 20'000; ++event)
            builder.addKernel(builder.defaultStream(), "k", event * 10, event * 10 + 5);
        const TracePtr trace = builder.finish();
        size_t parts = 0;
        std::vector<std::vector<Cell>> rows;
        const auto collect = [&](const ReportTable& part) {
            ++parts;
            rows.insert(rows.end(), part.rows.begin(), part.rows.end());
            return part.name == "cuda_gpu_trace";
        };
        QVERIFY(makeReportInParts(*trace, "cuda_gpu_trace", std::nullopt, collect).has_value());
        QVERIFY(parts > 1);
        QCOMPARE(rows, report(*trace, "cuda_gpu_trace").rows);
        parts = 0;
        const auto stop = [&](const ReportTable&) { return ++parts > 1; };
        QVERIFY(makeReportInParts(*trace, "cuda_gpu_trace", std::nullopt, stop).has_value());
        QCOMPARE(parts, size_t{1});
        QVERIFY(!makeReportInParts(*trace, "nothing", std::nullopt, stop).has_value());
    }

    void ncclSummarySplitsByCommunicatorAndSizeAndLeavesUnknownsEmpty() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
        const auto reduce = [&](int64_t bytes, int64_t callNs, int64_t startNs, int64_t endNs) {
            NcclFacts facts{.algorithm = builder.intern("NVLS"), .rankCount = 8};
            builder.addNccl(thread, "AllReduce", bytes, callNs, callNs + 10'000, 0xabc, facts);
            builder.launch(thread, stream, "ncclDevKernel_AllReduce", callNs + 1'000, startNs, endNs);
        };
        reduce(1'000'000, 0, 20'000, 30'000);
        reduce(1'000'000, 40'000, 70'000, 100'000);
        reduce(3'000'000, 110'000, 120'000, 125'000);
        builder.addNccl(thread, "Send", -1, 200'000, 210'000, 0);
        const ReportTable table = report(*builder.finish(), "nccl_sum");
        QCOMPARE(table.rows.size(), size_t{3});
        QCOMPARE(cells(table, {2}), "1000000; 3000000; -");
        QCOMPARE(cells(table.rows[0], {0, 1, 4, 6, 7, 8, 9, 10, 11, 12}),
                 "'AllReduce' '0x0000000000000abc' 'NVLS' 2 87.5 175.0 50.0 2000000 20000 40000");
        QCOMPARE(cells(table.rows[2], {1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 16}), "- - - - - - - - - - -");
    }

    void ncclTraceHasARowForEachCall() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
        NcclFacts facts{.count = 500, .sequence = 12, .rank = 3, .rankCount = 4, .channels = 16};
        facts.datatype = builder.intern("bfloat16");
        builder.addNccl(thread, "AllGather", 1'000, 0, 10'000, 0xabc, facts);
        builder.launch(thread, stream, "ncclDevKernel_AllGather", 1'000, 20'000, 21'000);
        builder.addNccl(thread, "Recv", -1, 30'000, 31'000, 0);
        const TracePtr trace = builder.finish();
        const ReportTable table = report(*trace, "nccl_trace");
        QCOMPARE(table.rows.size(), size_t{2});
        QCOMPARE(cells(table.rows[0], {2, 4, 5, 6, 9, 13, 15, 19, 20}),
                 "'AllGather' 'bfloat16' 500 12 16 3 20000 4.0 3.0");
        QCOMPARE(cells(table.rows[1], {3, 4, 5, 6, 7, 8, 15, 16, 17, 18, 19, 20, 23}), "- - - - - - - - - - - - -");
        QCOMPARE(report(*trace, "nccl_trace", TimeRange{0, 5'000}).rows.size(), size_t{1});
    }

    void rangeCountsItsPartAndShowsTheWholeDuration() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        builder.addNvtx(thread, "it 25", 0, 22'550);
        builder.addNvtx(thread, "fetch", 12'000, 12'300);
        builder.launch(thread, builder.defaultStream(), "gemm", 100, 9'000, 11'000);
        builder.addMemcpy(0, MemcpyKind::HtoD, 1024, 9'500, 10'400);
        const TracePtr trace = builder.finish();
        const TimeRange range{10'000, 11'700};
        struct Sum {
            const char* name;
            size_t total, count, longest;
            int64_t withinNs, wholeNs;
        };
        for (const Sum& sum : {Sum{"nvtx_sum", 1, 2, 6, 1'700, 22'550},
                               {"nvtx_sum:family", 1, 2, 6, 1'700, 22'550},
                               {"nvtx_pushpop_sum", 1, 2, 6, 1'700, 22'550},
                               {"nvtx_gpu_proj_sum", 2, 4, 8, 1'000, 2'000},
                               {"nvtx_gpu_proj_sum:family", 2, 4, 8, 1'000, 2'000},
                               {"cuda_gpu_kern_sum", 1, 2, 6, 1'000, 2'000},
                               {"cuda_gpu_mem_time_sum", 1, 2, 6, 400, 900},
                               {"nvprof_summary", 2, 3, 6, 1'000, 2'000}}) {
            const ReportTable table = report(*trace, sum.name, range);
            QVERIFY2(!table.rows.empty(), sum.name);
            QCOMPARE(cells(table.rows[0], {sum.total, sum.count, sum.longest}),
                     fmt::format("{} 1 {}", sum.withinNs, sum.wholeNs));
            QCOMPARE(table.notes.size(), size_t{1});
            QVERIFY2(table.notes[0].find(" beyond the range: ") != std::string::npos, sum.name);
            QVERIFY(report(*trace, sum.name).notes.empty());
        }
        QCOMPARE(report(*trace, "nvtx_sum", range).notes[0],
                 std::string("1 event reaches beyond the range: Total Time counts the part inside, "
                             "Avg to StdDev count whole events."));
        // Complete events need no remark; shares refer to the range.
        const ReportTable both = report(*trace, "nvtx_sum", TimeRange{12'000, 12'600});
        QCOMPARE(listed(whole(both.rows[0][1]), whole(both.rows[1][1])), "600 | 300");
        QCOMPARE(real(both.rows[0][0]), 100.0 * 600 / 900);
    }

    void workOfAnEarlierRangeCountsWhereItRuns() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        builder.addNvtx(thread, "forward", 0, 1'000);
        builder.launch(thread, builder.defaultStream(), "gemm", 100, 5'000, 7'000);
        const ReportTable table = report(*builder.finish(), "nvtx_gpu_proj_sum", TimeRange{6'000, 8'000});
        QCOMPARE(cells(table, {2, 3}), "1000 0");
    }

    void eventsEndingInARangeAreComplete() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addKernel(stream, "before", 0, 100);
        builder.addKernel(stream, "into", 150, 250);
        builder.addKernel(stream, "after", 300, 400);
        const ReportTable table = report(*builder.finish(), "cuda_gpu_kern_sum:base", TimeRange{100, 300});
        QCOMPARE(cells(table, {8, 1}), "'into' 100");
    }

    void everyReportAcceptsAnEmptyTrace() {
        const TracePtr empty = SimulatedTrace().finish();
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        builder.addNvtx(thread, "step", 0, 100'000);
        builder.addNccl(thread, "Send", 10, 1'000, 90'000);
        builder.launch(thread, builder.defaultStream(), "a", 2'000, 10'000, 20'000);
        builder.addMemcpy(0, MemcpyKind::DtoH, 1, 0, 0);
        const TracePtr full = builder.finish();
        for (const Report* each : allReports()) {
            const ReportInfo& info = each->info;
            const Result<ReportTable> none = makeReport(*empty, info.name);
            QVERIFY(none.has_value() && none->rows.empty() && !none->columns.empty());
            const ReportTable some = report(*full, info.name);
            QCOMPARE(some.name, std::string(info.name));
            QCOMPARE(some.title, std::string(info.title));
            for (const std::vector<Cell>& row : some.rows) QCOMPARE(row.size(), some.columns.size());
        }
    }

    void unknownReportIsRefusedWithTheAvailableNames() {
        const Result<ReportTable> table = makeReport(*SimulatedTrace().finish(), "kernels");
        QVERIFY(!table.has_value());
        const QString sentence = QString::fromStdString(table.error().sentence);
        for (const char* part : {"\"kernels\"", "cuda_gpu_kern_sum"}) QVERIFY2(sentence.contains(part), part);
        QVERIFY(!findReport("").has_value() && findReport("nccl_sum").has_value());
    }
};

LANESCOPE_TEST(TestReports, NoApplication)
#include "tst_Reports.moc"
