// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/NvlinkVerdict.h"
#include "model/bandwidth/CopyIndex.h"
#include "model/bandwidth/CopyStatistics.h"
#include "model/bandwidth/LinkUse.h"
#include "model/explain/Explanation.h"
#include "model/explain/rules.h"
#include "model/importers/TraceFormat.h"
#include "model/trace/counterReadings.h"
#include "model/trace/kinds/Api.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr int64_t ms = 1'000'000;

constexpr int copyCount = 3000;

/// Simulated copies with sizes and rates over many powers of ten; some have no bytes, some no duration.
TracePtr simulatedCopies(double slowest, double fastest) {
    SimulatedTrace builder;
    std::mt19937_64 random(7);
    const uint32_t stream = builder.defaultStream();
    std::uniform_real_distribution<double> share(0, 1);
    int64_t atNs = 0;
    for (int copy = 0; copy < copyCount; ++copy) {
        const auto bytes = static_cast<int64_t>(std::pow(10, 2 + 6 * share(random)));
        const double rate = slowest * std::pow(fastest / slowest, share(random));
        const auto durationNs = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(bytes) / rate));
        const bool isPageable = share(random) < 0.3;
        builder.addMemcpy(stream, copy % 3 == 0 ? MemcpyKind::DtoH : MemcpyKind::HtoD, copy % 97 == 0 ? 0 : bytes, atNs,
                          copy % 89 == 0 ? atNs : atNs + durationNs, 0,
                          isPageable ? MemoryKind::Pageable : MemoryKind::Pinned);
        atNs += durationNs / 2 + 10;
    }
    return builder.finish();
}

/// The copies that a chart of `range` shows, by the plain loop.
std::vector<uint32_t> ratedCopies(const Trace& trace, std::optional<TimeRange> range) {
    std::vector<uint32_t> rows;
    const MemcpyTable& copies = trace.memcpys;
    for (uint32_t row = 0; row < copies.size(); ++row) {
        if (copies.bytes[row] <= 0 || copies.endNs[row] <= copies.startNs[row]) continue;
        if (range && (copies.endNs[row] <= range->startNs || copies.startNs[row] >= range->endNs)) continue;
        rows.push_back(row);
    }
    return rows;
}

double rateOf(const Trace& trace, uint32_t row) {
    const MemcpyTable& copies = trace.memcpys;
    return double(copies.bytes[row]) / double(copies.endNs[row] - copies.startNs[row]);
}

TracePtr twoGpus(std::vector<GpuConnection> connections, int64_t bytes, int64_t ns) {
    SimulatedTrace builder;
    builder.addGpu();
    builder.addGpu();
    const uint32_t stream = builder.addStream(0, 0, 7);
    builder.addPeerCopy(stream, 0, 1, bytes, 0, ns);
    builder.addPeerCopy(stream, 0, 1, bytes, ns / 2, ns + ns / 2);
    builder.description().interconnect.connections = std::move(connections);
    LinkPeak pcie{.gpu = 0, .bytesPerSecond = 63'000'000'000};
    builder.description().interconnect.peaks = {pcie};
    return builder.finish();
}

TracePtr sample(const char* name) { return test::orFail(loadTrace(std::filesystem::path(LANESCOPE_SAMPLES) / name)); }

}  // namespace

class tst_Copies : public QObject {
    Q_OBJECT

  private slots:
    void adviceReportsThePinningGain() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addMemcpy(stream, MemcpyKind::HtoD, 1'000 * ms, 0, 100 * ms, 0, MemoryKind::Pageable);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 250 * ms, 100 * ms, 105 * ms);
        builder.addKernel(stream, "k", 105 * ms, 1'000 * ms);
        const CopyIndex index(builder.finish());
        const std::vector<BandwidthAdvice> all = index.advice();
        const auto pinning = std::find_if(all.begin(), all.end(),
                                          [](const auto& each) { return each.kind == AdviceKind::PageableMemory; });
        QVERIFY(pinning != all.end());
        QCOMPARE(pinning->gainNs, 80 * ms);  // 10 instead of 50 GB/s
        QCOMPARE(QString::fromStdString(pinning->sentence),
                 QString("80 % of HtoD bytes were pageable at 10 GB/s; pinned copies of this run "
                         "reach 50 GB/s. Pinning could save about 80.00 ms of 1.000 s of the run."));
        QCOMPARE(pinning->example, EventRef(EventKind::Memcpy, 0));
    }

    void adviceOmitsGoodCopies() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addMemcpy(stream, MemcpyKind::HtoD, 55 * ms, 0, ms);
        builder.addKernel(builder.addStream(0, 0, 9), "k", 0, 100 * ms);
        QVERIFY(CopyIndex(builder.finish()).advice().empty());
    }

    void adviceNamesTinyCopiesAndCopiesOverPcie() {
        SimulatedTrace builder;
        builder.addGpu();
        builder.addGpu();
        const uint32_t stream = builder.addStream(0, 0, 7);
        int64_t timeNs = 0;
        for (int count = 0; count < 2'000; ++count, timeNs += 10'000)
            builder.addMemcpy(stream, MemcpyKind::HtoD, 8, timeNs, timeNs + 1'500);
        builder.addPeerCopy(stream, 0, 1, 100 * ms, timeNs, timeNs + 10 * ms);
        builder.description().interconnect.connections = {{0, 1, 0, "host bridge", "PHB"}};
        std::set<AdviceKind> kinds;
        for (const BandwidthAdvice& each : CopyIndex(builder.finish()).advice()) {
            kinds.insert(each.kind);
            if (each.kind == AdviceKind::PeerOverPcie) QVERIFY(each.sentence.find("(PHB)") != std::string::npos);
            if (each.kind == AdviceKind::TinyCopies)
                QVERIFY(each.sentence.starts_with("2,000 HtoD copies under 4 KiB"));
        }
        QVERIFY(kinds.contains(AdviceKind::TinyCopies) && kinds.contains(AdviceKind::PeerOverPcie));
    }

    void copyThatWaitsForComputeIsReported_data() {
        const test::Rows<bool, bool> row;
        row("wait for this step", true, true);
        row("wait for the step before", false, false);
    }

    /// A step copies the next batch on a stream of its own, which waits for an event after or before its kernel.
    void copyThatWaitsForComputeIsReported() {
        const auto [isAfter, isReported] = test::row<bool, bool>();
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), gpu = builder.addGpu();
        const uint32_t compute = builder.addStream(0, gpu, 7), copy = builder.addStream(0, gpu, 13);
        uint32_t correlation = 0;
        for (int64_t step = 0; step < 20; ++step) {
            const int64_t at = (step + 1) * 10 * ms;
            int64_t callNs = at - 50'000;
            const auto call = [&](const char* name) {
                callNs += 5'000;
                const uint32_t stack = builder.frame("issue", "/src/data.py", 92);
                builder.addApi(thread, name, callNs, callNs + 2'000, ++correlation, stack);
            };
            builder.addNvtx(thread, "step " + std::to_string(step), at - 60'000, at + 9 * ms);
            if (!isAfter) builder.eventRecord({compute, 3, noIndex, ++correlation});
            call("cuLaunchKernel");
            builder.addKernel(compute, "gemm", at, at + 6 * ms, correlation);
            if (isAfter) builder.eventRecord({compute, 3, noIndex, ++correlation});
            call("cuStreamWaitEvent");
            builder.eventWait({copy, 3, noIndex, correlation});
            call("cuMemcpyHtoDAsync_v2");
            builder.addMemcpy(copy, MemcpyKind::HtoD, 1'000'000, at + 6 * ms + 5'000, at + 9 * ms, correlation);
        }
        const Result<analysis::RunSummary> run = analysis::summarizeRun(*builder.finish());
        QVERIFY(run.has_value());
        const explain::Explanation explanation = explain::explain(*run);
        QVERIFY(!explanation.findings.empty());
        const explain::Finding& finding = explanation.findings.front();
        QCOMPARE(finding.rule, &explain::exposedCopiesRule);
        QCOMPARE(finding.sentence.find("but wait for stream 7: cuStreamWaitEvent at data.py:92 in issue.") !=
                     std::string::npos,
                 isReported);
        QCOMPARE(finding.advice.starts_with("Wait only for the last work"), isReported);
    }

    void bytesThatComeBackAreReported_data() {
        const test::Rows<int64_t, bool, int64_t> row;
        row("all", int64_t{4'000'000}, true, int64_t{4'000'000});
        row("another size", int64_t{4'000'001}, true, int64_t{0});
        row("to the GPU first", int64_t{4'000'000}, false, int64_t{0});
        row("small", int64_t{4'000}, true, int64_t{0});
    }
    void bytesThatComeBackAreReported() {
        const auto [bytes, isToHostFirst, returned] = test::row<int64_t, bool, int64_t>();
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
        uint32_t correlation = 0;
        for (int64_t step = 0; step < 20; ++step) {
            const int64_t at = (step + 1) * 10 * ms;
            builder.addNvtx(thread, "step " + std::to_string(step), at - 60'000, at + 9 * ms);
            builder.launch(thread, stream, "gemm", at - 50'000, at, at + 3 * ms);
            for (int64_t place = 0; place < 2; ++place) {
                const int64_t startNs = at + (3 + 3 * place) * ms;
                builder.addApi(thread, "cuMemcpyAsync", at - 40'000 + 5'000 * place, at - 38'000 + 5'000 * place,
                               ++correlation);
                const bool isToHost = (place == 0) == isToHostFirst;
                builder.addMemcpy(stream, isToHost ? MemcpyKind::DtoH : MemcpyKind::HtoD,
                                  isToHost ? std::min(bytes, int64_t{4'000'000}) : bytes, startNs, startNs + 3 * ms,
                                  correlation, isToHost ? MemoryKind::Device : MemoryKind::Pinned,
                                  isToHost ? MemoryKind::Pinned : MemoryKind::Device);
            }
        }
        const Result<analysis::RunSummary> run = analysis::summarizeRun(*builder.finish());
        QVERIFY(run.has_value());
        const auto steps = static_cast<int64_t>(run->workers.front().steps.size());
        QCOMPARE(run->workers.front().hostCopies.returnedBytes, returned * steps);
        const explain::Explanation explanation = explain::explain(*run);
        QVERIFY(!explanation.findings.empty());
        const explain::Finding& finding = explanation.findings.front();
        QCOMPARE(finding.rule, &explain::exposedCopiesRule);
        const bool isReported = finding.sentence.find(" per step go to the host") != std::string::npos;
        QVERIFY2(isReported == (returned > 0), finding.sentence.c_str());
        QCOMPARE(finding.advice.starts_with("If the host does not change this data"), returned > 0);
    }

    void copiesWithoutKernelsAreNotOverlapped() {
        const auto overlapAdvice = [](int64_t kernelNs) {
            SimulatedTrace builder;
            const uint32_t stream = builder.defaultStream();
            for (int copy = 0; copy < 10; ++copy)
                builder.addMemcpy(stream, MemcpyKind::HtoD, 500 * ms, copy * 20 * ms, (copy * 20 + 10) * ms);
            if (kernelNs > 0) builder.addKernel(stream, "k", 195 * ms, 195 * ms + kernelNs);
            for (const BandwidthAdvice& each : CopyIndex(builder.finish()).advice())
                if (each.kind == AdviceKind::NotOverlapped) return each;
            return BandwidthAdvice{};
        };
        QVERIFY(overlapAdvice(0).sentence.empty() && overlapAdvice(1'000).sentence.empty());
        const BandwidthAdvice some = overlapAdvice(30 * ms);
        QCOMPARE(some.gainNs, 30 * ms);  // of 100 ms of copies
        QVERIFY(some.sentence.ends_with("up to 30.00 ms could be overlapped."));
    }

    void copyWaitExcludesTheCopyItself() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        for (int copy = 0; copy < 10; ++copy) {
            const int64_t at = copy * 10 * ms;
            const auto correlation = static_cast<uint32_t>(copy + 1);
            builder.addApi(builder.defaultThread(), "cuMemcpyDtoH_v2", at, at + 9 * ms + 1'000, correlation);
            builder.addMemcpy(stream, MemcpyKind::DtoH, 50 * ms, at + 500, at + 9 * ms, correlation, MemoryKind::Device,
                              MemoryKind::Pinned);
        }
        for (const BandwidthAdvice& each : CopyIndex(builder.finish()).advice())
            QVERIFY2(each.kind != AdviceKind::BlockingCopies, each.sentence.c_str());
    }

    void everyRatedCopyIsInOneCell_data() {
        const test::Rows<bool, bool> row;
        row("time, whole trace", true, true);
        row("time, a range", true, false);
        row("size, whole trace", false, true);
        row("size, a range", false, false);
    }
    void everyRatedCopyIsInOneCell() {
        const auto [isTime, isWhole] = test::row<bool, bool>();
        const TracePtr trace = simulatedCopies(0.01, 60);
        const CopyIndex index(trace);
        CopyIndex::Query query;
        if (!isWhole) {
            const int64_t thirdNs = trace->range.durationNs() / 3;
            query.range = TimeRange{trace->range.startNs + thirdNs, trace->range.startNs + 2 * thirdNs};
        }
        const CopyGrid grid{isTime ? CopyAxis::Time : CopyAxis::Size, 40, 20};
        const CopyCells cells = copyCells(index, query, grid);
        const std::vector<uint32_t> expected = ratedCopies(*trace, query.range);
        QVERIFY(!expected.empty());
        QCOMPARE(cells.copyCount, int64_t(expected.size()));
        double least = 1e300, most = 0;
        std::set<uint32_t> shown(expected.begin(), expected.end());
        for (const uint32_t row : expected) {
            least = std::min(least, rateOf(*trace, row));
            most = std::max(most, rateOf(*trace, row));
        }
        QCOMPARE(test::listed(cells.rates.minGBps, cells.rates.maxGBps), test::listed(least, most));
        int64_t sum = 0;
        std::map<uint32_t, size_t> cellsOfGroup;
        for (const CopyCell& cell : cells.cells) {
            QVERIFY(cell.count > 0);
            sum += cell.count;
            ++cellsOfGroup[cell.largest.group];
            const uint32_t row = cell.largest.event.row();
            QVERIFY(shown.count(row) == 1);
            QCOMPARE(cell.largest.bytes, trace->memcpys.bytes[row]);
            QCOMPARE(cells.groups[cell.largest.group].source, trace->memcpys.sourceMemory[row]);
            QCOMPARE(cells.groups[cell.largest.group].kind, trace->memcpys.kind[row]);
        }
        QCOMPARE(sum, int64_t(expected.size()));
        for (const auto& [group, count] : cellsOfGroup) QVERIFY(count <= 40u * 20u);
        QVERIFY(cells.cells.size() < expected.size());
    }

    void largestCopyIsInSomeCell() {
        const TracePtr trace = simulatedCopies(0.01, 60);
        const CopyCells cells = copyCells(CopyIndex(trace), {}, {CopyAxis::Time, 3, 3});
        int64_t greatest = 0;
        for (const CopyCell& cell : cells.cells) greatest = std::max(greatest, cell.largest.bytes);
        int64_t expected = 0;
        for (const uint32_t row : ratedCopies(*trace, {})) expected = std::max(expected, trace->memcpys.bytes[row]);
        QCOMPARE(test::listed(greatest, cells.maxBytes), test::listed(expected, expected));
    }

    void closeRatesUseALinearScale() {
        const CopyIndex narrow(simulatedCopies(10, 50));
        const CopyIndex wide(simulatedCopies(0.1, 50));
        QVERIFY(!copyCells(narrow, {}, {}).rates.isLogarithmic());
        QVERIFY(copyCells(wide, {}, {}).rates.isLogarithmic());
    }

    void histogramCountsEachCopyAtItsRate_data() {
        test::rows<double>("slowest", {{"linear", 10.0}, {"logarithmic", 0.01}});
    }
    void histogramCountsEachCopyAtItsRate() {
        QFETCH(double, slowest);
        const TracePtr trace = simulatedCopies(slowest, 60);
        const RateHistogram histogram = rateHistogram(CopyIndex(trace), {}, 24);
        QCOMPARE(histogram.binCount, 24);
        std::map<int, int64_t> counts, bytes;
        for (const RateBin& bin : histogram.bins) {
            QVERIFY(bin.bin >= 0 && bin.bin < 24);
            counts[bin.bin] += bin.count;
            bytes[bin.bin] += bin.bytes;
            const double rate = bin.largest.gigabytesPerSecond;
            QVERIFY(rate >= histogram.binStart(bin.bin) * 0.999999);
            QVERIFY(rate <= histogram.binStart(bin.bin + 1) * 1.000001);
        }
        int64_t inBins = 0, bytesInBins = 0, bytesExpected = 0;
        for (const auto& [bin, count] : counts) inBins += count;
        for (const auto& [bin, sum] : bytes) bytesInBins += sum;
        const std::vector<uint32_t> expected = ratedCopies(*trace, {});
        for (const uint32_t row : expected) bytesExpected += trace->memcpys.bytes[row];
        QCOMPARE(test::listed(inBins, bytesInBins), test::listed(int64_t(expected.size()), bytesExpected));
    }

    void chartsWithoutCopiesAreEmpty() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 10);
        const CopyIndex index(builder.finish());
        QVERIFY(copyCells(index, {}, {}).cells.empty());
        const RateHistogram histogram = rateHistogram(index, {}, 10);
        QVERIFY(histogram.bins.empty() && histogram.rates.isEmpty());
        QCOMPARE(histogram.binStart(3), 0.0);
    }

    void overlappingCopiesCountAsBusyOnce() {
        const TracePtr trace = twoGpus({{0, 1, 18, "NVLink", "NV18"}}, 100 * ms, ms);
        const std::vector<LinkUse> uses = linkUse(*trace);
        QCOMPARE(uses.size(), size_t{1});
        QCOMPARE(test::listed(uses[0].copyCount, uses[0].copyBytes), test::listed(2, 200 * ms));
        QCOMPARE(uses[0].copyBusyNs, ms + ms / 2);
        const std::vector<LinkUse> part = linkUse(*trace, TimeRange{0, ms / 2});
        QCOMPARE(test::listed(part[0].copyBytes, part[0].copyBusyNs), test::listed(50 * ms, ms / 2));
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
        QCOMPARE(test::listed(linkUse(*trace)[0].largest, linkUse(*trace)[0].slowest), test::listed(large, slow));
        const LinkUse part = linkUse(*trace, TimeRange{6 * ms, 7 * ms})[0];
        QVERIFY(part.largest.isValid() && !part.slowest.isValid());
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
        QCOMPARE(test::listed(use.copyCount, use.bestCopyGBps), "2 | 0");
        QVERIFY(!use.slowest.isValid() && !use.peakPercent());
        const NvlinkVerdict verdict = judgeNvlink(*trace);
        QCOMPARE(test::listed(verdict.use, verdict.bestGBps), test::listed(NvlinkVerdict::Use::Unknown, 0.0));
        // Neither yields a rate from the computed counters.
        for (const CounterSeries& series : trace->counters)
            QVERIFY(series.maximum() == 0 || !series.key.starts_with("computed."));
    }

    void pairsWithoutCopiesHaveNoRate() {
        const TracePtr trace = twoGpus({{0, 1, 0, "system", "SYS"}, {1, 0, 0, "system", "SYS"}}, 10 * ms, ms);
        const std::vector<LinkUse> uses = linkUse(*trace);
        QCOMPARE(uses.size(), size_t{2});
        QVERIFY(uses[0].meanGBps() && !uses[1].meanGBps() && !uses[1].peakPercent());
    }

    void ratesAbovePcieImplyNvlink() {
        const NvlinkVerdict fast = judgeNvlink(*twoGpus({{0, 1, 18, "NVLink", "NV18"}}, 300 * ms, ms));
        QCOMPARE(test::listed(fast.use, fast.evidence), test::listed(NvlinkVerdict::Use::Used, LinkEvidence::Copies));
        QCOMPARE(fast.bytes, 600 * ms);
        QCOMPARE(judgeNvlink(*twoGpus({{0, 1, 18, "NVLink", "NV18"}}, 20 * ms, ms)).use, NvlinkVerdict::Use::NotSeen);
        QCOMPARE(judgeNvlink(*twoGpus({{0, 1, 0, "system", "SYS"}}, 20 * ms, ms)).use, NvlinkVerdict::Use::Absent);
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
        QCOMPARE(test::listed(amount(peerCopiesSentKey, 0), amount(peerCopiesReceivedKey, 0)), "200000000 | 30000000");
        QCOMPARE(test::listed(amount(peerCopiesSentKey, 1), amount(peerCopiesReceivedKey, 1)), "30000000 | 200000000");
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

LANESCOPE_TEST(tst_Copies, NoApplication)
#include "tst_Copies.moc"
