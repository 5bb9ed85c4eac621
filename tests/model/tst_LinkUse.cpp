// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/NvlinkVerdict.h"
#include "model/bandwidth/LinkUse.h"
#include "model/bandwidth/counterIntegral.h"
#include "model/importers/loadTrace.h"
#include "model/trace/buildLinkCounters.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr int64_t ms = 1'000'000;

TracePtr twoGpus(std::vector<GpuConnection> connections, int64_t bytes, int64_t ns) {
    SimulatedTrace builder;
    builder.addGpu();
    builder.addGpu();
    const uint32_t stream = builder.addStream(0, 0, 7);
    builder.addPeerCopy(stream, 0, 1, bytes, 0, ns);
    builder.addPeerCopy(stream, 0, 1, bytes, ns / 2, ns + ns / 2);
    builder.description().interconnect.connections = std::move(connections);
    LinkPeak pcie;
    pcie.gpu = 0;
    pcie.bytesPerSecond = 63'000'000'000;
    builder.description().interconnect.peaks = {pcie};
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
    void overlappingCopiesCountAsBusyOnce() {
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

    void largestAndSlowestCopyOfAPairAreFound() {
        SimulatedTrace builder;
        builder.addGpu();
        builder.addGpu();
        const uint32_t stream = builder.addStream(0, 0, 7);
        builder.addPeerCopy(stream, 0, 1, 5 * ms, 0, 100'000);
        const EventRef slow = builder.addPeerCopy(stream, 0, 1, 2 * ms, ms, 2 * ms);
        const EventRef large = builder.addPeerCopy(stream, 0, 1, 90 * ms, 2 * ms, 3 * ms);
        builder.addPeerCopy(stream, 0, 1, 90 * ms, 4 * ms, 5 * ms);
        builder.addPeerCopy(stream, 0, 1, 10, 6 * ms, 7 * ms);  // too small for a rate
        const TracePtr trace = builder.finish();
        QCOMPARE(linkUse(*trace)[0].largest, large);
        QCOMPARE(linkUse(*trace)[0].slowest, slow);
        const LinkUse part = linkUse(*trace, TimeRange{6 * ms, 7 * ms})[0];
        QVERIFY(part.largest.isValid());
        QVERIFY(!part.slowest.isValid());
        QCOMPARE(part.bestCopyGBps, 0.0);
    }

    void copiesWithoutBytesOrTimeHaveNoRate() {
        SimulatedTrace builder;
        builder.addGpu();
        builder.addGpu();
        const uint32_t stream = builder.addStream(0, 0, 7);
        builder.addPeerCopy(stream, 0, 1, 5 * ms, ms, ms);
        builder.addPeerCopy(stream, 0, 1, 0, 2 * ms, 3 * ms);
        const TracePtr trace = builder.finish();
        const LinkUse use = linkUse(*trace)[0];
        QCOMPARE(use.copyCount, int64_t{2});
        QCOMPARE(use.bestCopyGBps, 0.0);
        QVERIFY(!use.slowest.isValid());
        QVERIFY(!use.peakPercent());
        const NvlinkVerdict verdict = judgeNvlink(*trace);
        QCOMPARE(verdict.use, NvlinkVerdict::Use::Unknown);
        QCOMPARE(verdict.bestGBps, 0.0);
        // Neither yields a rate from the computed counters.
        for (const CounterSeries& series : trace->counters)
            QVERIFY(series.maximum() == 0 || !series.key.starts_with("computed."));
    }

    void pairsWithoutCopiesHaveNoRate() {
        const TracePtr trace = twoGpus({{0, 1, 0, "system", "SYS"}, {1, 0, 0, "system", "SYS"}}, 10 * ms, ms);
        const std::vector<LinkUse> uses = linkUse(*trace);
        QCOMPARE(uses.size(), size_t{2});
        QVERIFY(uses[0].meanGBps());
        QVERIFY(!uses[1].meanGBps());
        QVERIFY(!uses[1].peakPercent());
    }

    void ratesAbovePcieImplyNvlink() {
        const NvlinkVerdict fast = judgeNvlink(*twoGpus({{0, 1, 18, "NVLink", "NV18"}}, 300 * ms, ms));
        QCOMPARE(fast.use, NvlinkVerdict::Use::Used);
        QCOMPARE(fast.evidence, LinkEvidence::Copies);
        QCOMPARE(fast.bytes, 600 * ms);
        const NvlinkVerdict slow = judgeNvlink(*twoGpus({{0, 1, 18, "NVLink", "NV18"}}, 20 * ms, ms));
        QCOMPARE(slow.use, NvlinkVerdict::Use::NotSeen);
        const NvlinkVerdict absent = judgeNvlink(*twoGpus({{0, 1, 0, "system", "SYS"}}, 20 * ms, ms));
        QCOMPARE(absent.use, NvlinkVerdict::Use::Absent);
    }

    void computedPeerCopiesAreDistinguishedByDirection() {
        SimulatedTrace builder;
        builder.addGpu();
        builder.addGpu();
        const uint32_t stream = builder.addStream(0, 0, 7);
        builder.addPeerCopy(stream, 0, 1, 100 * ms, 0, ms);
        builder.addPeerCopy(stream, 0, 1, 100 * ms, 0, ms);
        builder.addPeerCopy(stream, 1, 0, 30 * ms, 0, ms);
        const TracePtr trace = builder.finish();
        const auto amount = [&](std::string_view key, uint32_t gpu) {
            for (const CounterSeries& series : trace->counters)
                if (series.key == key && series.gpu == gpu) return integralOf(series, trace->range).amount;
            return -1.0;
        };
        QCOMPARE(amount(peerCopiesSentKey, 0), 200e6);
        QCOMPARE(amount(peerCopiesReceivedKey, 0), 30e6);
        QCOMPARE(amount(peerCopiesSentKey, 1), 30e6);
        QCOMPARE(amount(peerCopiesReceivedKey, 1), 200e6);
        // Both directions share a track, as for the link counters.
        int tracks = 0;
        for (const Track& track : trace->tracks) {
            if (track.title != "Peer copies (computed)") continue;
            ++tracks;
            QCOMPARE(track.lanes.size(), size_t{2});
        }
        QCOMPARE(tracks, 2);
    }

    void samplesReportWhichRunUsedNvlink() {
        const NvlinkVerdict with = judgeNvlink(*sample("resnet152-nvlink.sqlite.gz"));
        QCOMPARE(with.use, NvlinkVerdict::Use::Used);
        QCOMPARE(with.evidence, LinkEvidence::Counters);
        const NvlinkVerdict without = judgeNvlink(*sample("resnet152-no-p2p.sqlite.gz"));
        QCOMPARE(without.use, NvlinkVerdict::Use::NotSeen);
        QCOMPARE(without.evidence, LinkEvidence::Counters);
        QVERIFY(with.bytesPerStep && without.bytesPerStep);
        QCOMPARE(*without.bytesPerStep, int64_t{0});
        // The gradients: 58 million parameters of 4 bytes.
        QVERIFY(*with.bytesPerStep > 230e6 && *with.bytesPerStep < 236e6);
    }
};

LANESCOPE_TEST(TestLinkUse, NoApplication)
#include "tst_LinkUse.moc"
