// SPDX-License-Identifier: Apache-2.0
#include "model/reports/reports.h"
#include "model/text/formatTable.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

TracePtr vectorAdd(bool hasPeer = false) {
    SimulatedTrace builder;
    builder.addGpu("Tesla T4");
    builder.addGpu("Tesla T4");
    const uint32_t stream = builder.addStream(0, 0, 7, true);
    builder.addApi(builder.defaultThread(), "cudaMalloc", 0, 126'780'000);
    builder.addMemcpy(stream, MemcpyKind::HtoD, 256 << 10, 465'870'000, 465'896'016, 1, MemoryKind::Pageable);
    builder.addKernel(stream, "vectorAdd", 466'210'000, 466'214'992, 130);
    builder.addMemset(stream, 1, 467'000'000, 467'000'640);
    if (hasPeer) builder.addPeerCopy(stream, 0, 1, 1 << 20, 468'000'000, 468'010'000);
    return builder.finish();
}

QStringList linesOf(const Trace& trace, const char* report) {
    const Result<ReportTable> table = makeReport(trace, report);
    return QString::fromStdString(formatTable(*table, TableFormat::Text)).split('\n');
}

}  // namespace

class TestNvprofReports : public QObject {
    Q_OBJECT

  private slots:
    void numbersAreFormattedLikeNvprof() {
        QCOMPARE(nvprofTime(640), std::string("640ns"));
        QCOMPARE(nvprofTime(1'280), std::string("1.2800us"));
        QCOMPARE(nvprofTime(26'016), std::string("26.016us"));
        QCOMPARE(nvprofTime(335'240'000), std::string("335.24ms"));
        QCOMPARE(nvprofTime(3'168'100'000.0), std::string("3.16810s"));
        QCOMPARE(nvprofTime(13'069'600'000.0), std::string("13.0696s"));
        QCOMPARE(nvprofSize(0), std::string("0B"));
        QCOMPARE(nvprofSize(4), std::string("4B"));
        QCOMPARE(nvprofSize(1'142), std::string("1.1152KB"));
        QCOMPARE(nvprofSize(256 << 10), std::string("256.00KB"));
        QCOMPARE(nvprofSize(201'326'592), std::string("192.00MB"));
        QCOMPARE(nvprofThroughput(262'144.0 / 26'016), std::string("9.3842GB/s"));
        QCOMPARE(nvprofThroughput(1.0 / 1'280), std::string("762.94KB/s"));
    }

    void traceReportHasNvprofColumns() {
        const QStringList lines = linesOf(*vectorAdd(), "nvprof_gpu_trace");
        QCOMPARE(lines[0], QString("   Start  Duration            Grid Size      Block Size"
                                   "     Regs*    SSMem*    DSMem*      Size  Throughput"
                                   "  SrcMemType  DstMemType           Device   Context    Stream"
                                   "  Name"));
        QCOMPARE(lines[1], QString("465.87ms  26.016us                    -               -"
                                   "         -         -         -  256.00KB  9.3842GB/s"
                                   "    Pageable      Device     Tesla T4 (0)         1         7"
                                   "  [CUDA memcpy HtoD]"));
        QVERIFY(lines[2].startsWith("466.21ms  4.9920us"));
        QVERIFY(lines[2].endsWith("void vectorAdd<float>(float*, int) [130]"));
        QVERIFY(lines[3].endsWith("[CUDA memset]"));
    }

    void copiesBetweenGpusAddColumns() {
        QVERIFY(!linesOf(*vectorAdd(), "nvprof_gpu_trace")[0].contains("Src Dev"));
        const QStringList lines = linesOf(*vectorAdd(true), "nvprof_gpu_trace");
        QVERIFY(lines[0].contains("Src Dev   Src Ctx"));
        QVERIFY(lines[4].contains("Tesla T4 (1)"));
        QVERIFY(lines[4].endsWith("[CUDA memcpy PtoP]"));
    }

    void summaryHasTwoSections() {
        const QStringList lines = linesOf(*vectorAdd(), "nvprof_summary");
        QCOMPARE(lines[0], QString("            Type  Time(%)      Time     Calls       Avg"
                                   "       Min       Max  Name"));
        QVERIFY(lines[1].startsWith(" GPU activities:   82.20%  26.016us         1  26.016us"));
        QVERIFY(lines[2].startsWith("                   15.77%  4.9920us         1"));
        QVERIFY(lines[4].startsWith("      API calls:  100.00%  126.78ms         1  126.78ms"));
        QVERIFY(lines[4].endsWith("cudaMalloc"));
    }

    void copiesWithoutDurationHaveNoThroughput() {
        SimulatedTrace builder;
        builder.addMemcpy(builder.defaultStream(), MemcpyKind::HtoD, 8, 5, 5);
        builder.addMemcpy(builder.defaultStream(), MemcpyKind::HtoD, 0, 6, 8);
        const QStringList lines = linesOf(*builder.finish(), "nvprof_gpu_trace");
        QVERIFY(!lines[1].contains("/s"));
        QVERIFY(!lines[2].contains("/s"));
    }
};

LANESCOPE_TEST(TestNvprofReports, NoApplication)
#include "tst_NvprofReports.moc"
