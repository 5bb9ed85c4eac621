// SPDX-License-Identifier: Apache-2.0
#include "model/reports/reports.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/listed.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

ReportTable report(const Trace& trace, std::string_view name, std::optional<TimeRange> range = std::nullopt) {
    const Result<ReportTable> table = makeReport(trace, name, range);
    return table ? *table : ReportTable{};
}

std::vector<std::string> columnNames(const ReportTable& table) {
    std::vector<std::string> names;
    for (const ReportColumn& column : table.columns) names.push_back(column.name);
    return names;
}

int64_t whole(const Cell& cell) {
    const auto* value = std::get_if<int64_t>(&cell);
    return value ? *value : -999;
}

double real(const Cell& cell) {
    const auto* value = std::get_if<double>(&cell);
    return value ? *value : std::nan("");
}

std::string text(const Cell& cell) {
    const auto* value = std::get_if<std::string>(&cell);
    return value ? *value : "(no text)";
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
        const std::vector<Cell>& gemm = table.rows[0];
        QCOMPARE(real(gemm[0]), 80.0);
        QCOMPARE(test::listed(whole(gemm[1]), whole(gemm[2])), "400 | 2");
        QCOMPARE(test::listed(real(gemm[3]), real(gemm[4])), "200 | 200");
        QCOMPARE(test::listed(whole(gemm[5]), whole(gemm[6])), "100 | 300");
        QCOMPARE(real(gemm[7]), std::sqrt(20000.0));
        QCOMPARE(text(gemm[8]), std::string("void gemm<float>(float*, int)"));
        QCOMPARE(real(table.rows[1][0]), 20.0);
        QCOMPARE(text(report(*trace, "cuda_gpu_kern_sum:base").rows[1][8]), std::string("relu"));
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
        QCOMPARE(time.rows.size(), size_t{3});
        QCOMPARE(text(time.rows[0][8]), std::string("[CUDA memcpy Host-to-Device]"));
        QCOMPARE(real(time.rows[0][0]), 80.0);
        QCOMPARE(text(time.rows[1][8]), std::string("[CUDA memset]"));
        QCOMPARE(whole(time.rows[1][1]), int64_t{90});
        QCOMPARE(text(time.rows[2][8]), std::string("[CUDA memcpy Peer-to-Peer]"));

        const ReportTable size = report(*trace, "cuda_gpu_mem_size_sum");
        QCOMPARE(columnNames(size), (Names{"Total", "Count", "Avg", "Med", "Min", "Max", "StdDev", "Operation"}));
        QCOMPARE(size.columns[0].unit, Unit::Bytes);
        QCOMPARE(whole(size.rows[0][0]), int64_t{4000});
        QCOMPARE(real(size.rows[0][2]), 2000.0);
        QCOMPARE(whole(size.rows[1][0]), int64_t{64});
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
        QCOMPARE(size.rows.size(), size_t{2});
        QCOMPARE(test::listed(whole(size.rows[0][0]), whole(size.rows[0][1])), "4000 | 3");
        QCOMPARE(test::listed(real(size.rows[0][2]), real(size.rows[0][3])), "2000 | 2000");
        QCOMPARE(test::listed(whole(size.rows[0][4]), whole(size.rows[1][1])), "1000 | 1");
        for (const size_t column : {0, 2, 3, 4, 5, 6})
            QVERIFY(std::holds_alternative<std::monostate>(size.rows[1][column]));
        QCOMPARE(size.notes, Names{"2 without bytes are counted but have no size."});
        QVERIFY(report(*trace, "cuda_gpu_mem_time_sum").notes.empty());
        const ReportTable bandwidth = report(*trace, "memcpy_bandwidth");
        const auto total = [&bandwidth](size_t row) {
            for (size_t column = 0; column < bandwidth.columns.size(); ++column)
                if (bandwidth.columns[column].name == "Bytes") return bandwidth.rows[row][column];
            return Cell(int64_t{-1});
        };
        QCOMPARE(whole(total(0)), int64_t{4000});
        QVERIFY(std::holds_alternative<std::monostate>(total(1)));

        for (const auto& [name, bytes] :
             {std::pair{"cuda_gpu_trace", size_t{12}}, std::pair{"nvprof_gpu_trace", size_t{7}}}) {
            const ReportTable list = report(*trace, name);
            QCOMPARE(whole(list.rows[1][bytes]), int64_t{3000});
            QCOMPARE(real(list.rows[1][bytes + 1]), 10.0);
            for (const size_t row : {0, 3})
                for (const size_t column : {bytes, bytes + 1})
                    QVERIFY(std::holds_alternative<std::monostate>(list.rows[row][column]));
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
        QCOMPARE(text(table.rows[0][8]), std::string("cudaMalloc"));
        QCOMPARE(whole(table.rows[0][2]), int64_t{2});
        QCOMPARE(real(table.rows[0][0]), 80.0);
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
        QCOMPARE(whole(table.rows[0][1]), int64_t{54 * 900});
        QCOMPARE(whole(table.rows[0][2]), int64_t{54});
        QCOMPARE(test::listed(text(table.rows[0][8]), text(table.rows[0][9])), "54 | step #");
        QCOMPARE(table.searches[0], std::string("step "));
        // A single range keeps its number.
        QCOMPARE(test::listed(text(table.rows[1][9]), text(table.rows[2][10])), "layer 7 | Other");
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
        QCOMPARE(all.rows.size(), size_t{3});
        QCOMPARE(all.columns[8].name, std::string("Style"));
        QCOMPARE(test::listed(text(all.rows[0][9]), text(all.rows[1][9])), ":step | Other:step");
        QCOMPARE(test::listed(text(all.rows[2][9]), text(all.rows[2][8])), ":load | StartEnd");
        const ReportTable families = report(*trace, "nvtx_sum:family");
        QCOMPARE(families.rows.size(), size_t{3});
        QCOMPARE(text(families.rows[0][8]), std::string("1"));
        const ReportTable pushed = report(*trace, "nvtx_pushpop_sum");
        QCOMPARE(pushed.rows.size(), size_t{2});
        QCOMPARE(pushed.columns[8].name, std::string("Range"));
        QCOMPARE(whole(pushed.rows[0][1]), int64_t{300});
        const ReportTable started = report(*trace, "nvtx_startend_sum");
        QCOMPARE(started.rows.size(), size_t{1});
        QCOMPARE(text(started.rows[0][8]), std::string(":load"));
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
        const std::vector<Cell>& step = table.rows[0];
        QCOMPARE(text(step[0]), std::string(":step"));
        QCOMPARE(test::listed(whole(step[2]), whole(step[3]), whole(step[10])), "140000 | 100000 | 3");
        QCOMPARE(real(step[12]), 0.0);
        QCOMPARE(real(step[13]), 1.0);  // "inner"; "idle" launched nothing
        const std::vector<Cell>& inner = table.rows[1];
        QCOMPARE(test::listed(whole(inner[2]), whole(inner[10])), "30000 | 2");
        QCOMPARE(real(inner[12]), 1.0);
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
        QCOMPARE(table.rows.size(), size_t{2});
        QCOMPARE(test::listed(text(table.rows[0][0]), text(table.rows[1][0])), "CCCL:sort | step #");
        QCOMPARE(whole(table.rows[1][2]), int64_t{5 * 20'000});
        QCOMPARE(whole(table.rows[1][4]), int64_t{5});
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
        const std::vector<Cell>& copy = table.rows[0];
        QCOMPARE(real(copy[13]), 40.0);  // bytes per nanosecond are GB/s
        QCOMPARE(test::listed(text(copy[14]), text(copy[15])), "Pageable | Device");
        QVERIFY(std::holds_alternative<std::monostate>(copy[3]));
        const std::vector<Cell>& kernel = table.rows[1];
        QCOMPARE(test::listed(whole(kernel[0]), whole(kernel[2]), whole(kernel[3])), "200 | 5 | 256");
        QCOMPARE(whole(kernel[6]), int64_t{128});
        QCOMPARE(text(kernel[16]), std::string("Simulated H200 (0)"));
        QVERIFY(std::holds_alternative<std::monostate>(kernel[12]));
        QCOMPARE(text(table.rows[2][20]), std::string("[CUDA memset]"));
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
        const std::vector<Cell>& small = table.rows[0];
        QCOMPARE(test::listed(text(small[0]), text(small[1])), "AllReduce | 0x0000000000000abc");
        QCOMPARE(whole(small[2]), int64_t{1'000'000});
        QCOMPARE(text(small[4]), std::string("NVLS"));
        QCOMPARE(test::listed(whole(small[6]), whole(small[10]), whole(small[11])), "2 | 2000000 | 20000");
        QCOMPARE(whole(small[12]), int64_t{40'000});
        QCOMPARE(test::listed(real(small[9]), real(small[7]), real(small[8])), "50 | 87.5 | 175");
        QCOMPARE(whole(table.rows[1][2]), int64_t{3'000'000});
        const std::vector<Cell>& send = table.rows[2];
        for (const size_t column : {1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 16})
            QVERIFY(std::holds_alternative<std::monostate>(send[column]));
    }

    void ncclTraceHasARowForEachCall() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
        NcclFacts facts{.datatype = builder.intern("bfloat16"),
                        .count = 500,
                        .sequence = 12,
                        .rank = 3,
                        .rankCount = 4,
                        .channels = 16};
        builder.addNccl(thread, "AllGather", 1'000, 0, 10'000, 0xabc, facts);
        builder.launch(thread, stream, "ncclDevKernel_AllGather", 1'000, 20'000, 21'000);
        builder.addNccl(thread, "Recv", -1, 30'000, 31'000, 0);
        const TracePtr trace = builder.finish();
        const ReportTable table = report(*trace, "nccl_trace");
        QCOMPARE(table.rows.size(), size_t{2});
        const std::vector<Cell>& gather = table.rows[0];
        QCOMPARE(test::listed(text(gather[2]), text(gather[4])), "AllGather | bfloat16");
        QCOMPARE(test::listed(whole(gather[5]), whole(gather[6]), whole(gather[9])), "500 | 12 | 16");
        QCOMPARE(test::listed(whole(gather[13]), whole(gather[15])), "3 | 20000");
        QCOMPARE(test::listed(real(gather[19]), real(gather[20])), "4 | 3");
        for (const size_t column : {3, 4, 5, 6, 7, 8, 15, 16, 17, 18, 19, 20, 23})
            QVERIFY(std::holds_alternative<std::monostate>(table.rows[1][column]));
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
            QCOMPARE(whole(table.rows[0][sum.total]), sum.withinNs);
            QCOMPARE(whole(table.rows[0][sum.count]), int64_t{1});
            QCOMPARE(whole(table.rows[0][sum.longest]), sum.wholeNs);
            QCOMPARE(table.notes.size(), size_t{1});
            QVERIFY2(table.notes[0].find(" beyond the range: ") != std::string::npos, sum.name);
            QVERIFY(report(*trace, sum.name).notes.empty());
        }
        QCOMPARE(report(*trace, "nvtx_sum", range).notes[0],
                 std::string("1 event reaches beyond the range: Total Time counts the part inside, "
                             "Avg to StdDev count whole events."));
        // Complete events need no remark; shares refer to the range.
        const ReportTable both = report(*trace, "nvtx_sum", TimeRange{12'000, 12'600});
        QCOMPARE(test::listed(whole(both.rows[0][1]), whole(both.rows[1][1])), "600 | 300");
        QCOMPARE(real(both.rows[0][0]), 100.0 * 600 / 900);
    }

    void workOfAnEarlierRangeCountsWhereItRuns() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        builder.addNvtx(thread, "forward", 0, 1'000);
        builder.launch(thread, builder.defaultStream(), "gemm", 100, 5'000, 7'000);
        const ReportTable table = report(*builder.finish(), "nvtx_gpu_proj_sum", TimeRange{6'000, 8'000});
        QCOMPARE(table.rows.size(), size_t{1});
        QCOMPARE(test::listed(whole(table.rows[0][2]), whole(table.rows[0][3])), "1000 | 0");
    }

    void eventsEndingInARangeAreComplete() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addKernel(stream, "before", 0, 100);
        builder.addKernel(stream, "into", 150, 250);
        builder.addKernel(stream, "after", 300, 400);
        const ReportTable table = report(*builder.finish(), "cuda_gpu_kern_sum:base", TimeRange{100, 300});
        QCOMPARE(table.rows.size(), size_t{1});
        QCOMPARE(text(table.rows[0][8]), std::string("into"));
        QCOMPARE(whole(table.rows[0][1]), int64_t{100});
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
            QVERIFY(none.has_value());
            QVERIFY(none->rows.empty());
            QVERIFY(!none->columns.empty());
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
        QVERIFY(sentence.contains("\"kernels\""));
        QVERIFY(sentence.contains("cuda_gpu_kern_sum"));
        QVERIFY(!findReport("").has_value());
        QVERIFY(findReport("nccl_sum").has_value());
    }
};

LANESCOPE_TEST(TestReports, NoApplication)
#include "tst_Reports.moc"
