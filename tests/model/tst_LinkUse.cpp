#include <QtTest>

#include "model/bandwidth/LinkUse.h"
#include "model/load/loadTrace.h"
#include "tests/support/TraceBuilder.h"

using namespace lanescope;

namespace {

constexpr int64_t ms = 1'000'000;

TracePtr twoGpus(std::vector<GpuConnection> connections, int64_t bytes, int64_t ns) {
    TraceBuilder builder;
    builder.addGpu();
    builder.addGpu();
    const uint32_t stream = builder.addStream(0, 0, 7);
    builder.addPeerCopy(stream, 0, 1, bytes, 0, ns);
    builder.addPeerCopy(stream, 0, 1, bytes, ns / 2, ns + ns / 2);
    builder.trace().interconnect.connections = std::move(connections);
    LinkPeak pcie;
    pcie.gpu = 0;
    pcie.bytesPerSecond = 63'000'000'000;
    builder.trace().interconnect.peaks = {pcie};
    return builder.finish();
}

TracePtr sample(const char* name) {
    Result<TracePtr> trace = loadTrace(std::filesystem::path(LANESCOPE_SAMPLES) / name);
    if (!trace) qFatal("%s", trace.error().sentence.c_str());
    return *trace;
}

}  // namespace

class TestLinkUse : public QObject {
    Q_OBJECT

  private slots:
    void copiesThatOverlapAreBusyOnce() {
        const TracePtr trace = twoGpus({{0, 1, 18, "NVLink", "NV18"}}, 100 * ms, ms);
        const std::vector<LinkUse> uses = linkUse(*trace);
        QCOMPARE(uses.size(), size_t{1});
        QCOMPARE(uses[0].copyCount, int64_t{2});
        QCOMPARE(uses[0].copyBytes, 200 * ms);
        QCOMPARE(uses[0].copyBusyNs, ms + ms / 2);
        const std::vector<LinkUse> part = linkUse(*trace, TimeRange{0, ms / 2});
        QCOMPARE(part[0].copyBytes, 50 * ms);
        QCOMPARE(part[0].copyBusyNs, ms / 2);
    }

    void pairsWithoutCopiesHaveNoRate() {
        const TracePtr trace =
            twoGpus({{0, 1, 0, "system", "SYS"}, {1, 0, 0, "system", "SYS"}}, 10 * ms, ms);
        const std::vector<LinkUse> uses = linkUse(*trace);
        QCOMPARE(uses.size(), size_t{2});
        QVERIFY(uses[0].meanGBps());
        QVERIFY(!uses[1].meanGBps());
        QVERIFY(!uses[1].peakPercent());
    }

    void fasterThanPcieMeansNvlink() {
        const NvlinkVerdict fast =
            judgeNvlink(*twoGpus({{0, 1, 18, "NVLink", "NV18"}}, 300 * ms, ms));
        QCOMPARE(fast.use, NvlinkVerdict::Use::Used);
        QCOMPARE(fast.evidence, LinkEvidence::Copies);
        QCOMPARE(fast.bytes, 600 * ms);
        const NvlinkVerdict slow =
            judgeNvlink(*twoGpus({{0, 1, 18, "NVLink", "NV18"}}, 20 * ms, ms));
        QCOMPARE(slow.use, NvlinkVerdict::Use::NotSeen);
        const NvlinkVerdict absent =
            judgeNvlink(*twoGpus({{0, 1, 0, "system", "SYS"}}, 20 * ms, ms));
        QCOMPARE(absent.use, NvlinkVerdict::Use::Absent);
    }

    void samplesSayWhichOneUsedNvlink() {
        const NvlinkVerdict with = judgeNvlink(*sample("resnet152-nvlink.sqlite.gz"));
        QCOMPARE(with.use, NvlinkVerdict::Use::Used);
        QCOMPARE(with.evidence, LinkEvidence::Collectives);
        QVERIFY(with.bestGBps > 100);
        const NvlinkVerdict without = judgeNvlink(*sample("resnet152-no-p2p.sqlite.gz"));
        QCOMPARE(without.use, NvlinkVerdict::Use::NotSeen);
        QVERIFY(without.bestGBps < 63);
        // The same gradients in both: 60 million parameters of 4 bytes, by 2 GPUs.
        QVERIFY(with.bytesPerStep && without.bytesPerStep);
        QCOMPARE(*with.bytesPerStep, *without.bytesPerStep);
        QVERIFY(*with.bytesPerStep > 200e6 && *with.bytesPerStep < 300e6);
    }
};

QTEST_APPLESS_MAIN(TestLinkUse)
#include "tst_LinkUse.moc"
