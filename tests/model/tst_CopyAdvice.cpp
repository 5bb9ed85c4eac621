// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/CopyIndex.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr int64_t ms = 1'000'000;

}  // namespace

class TestCopyAdvice : public QObject {
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
                         "reach 50: about 80.00 ms of 1.000 s."));
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
        QVERIFY(kinds.contains(AdviceKind::TinyCopies));
        QVERIFY(kinds.contains(AdviceKind::PeerOverPcie));
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
        QVERIFY(overlapAdvice(0).sentence.empty());
        QVERIFY(overlapAdvice(1'000).sentence.empty());
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
};

LANESCOPE_TEST(TestCopyAdvice, NoApplication)
#include "tst_CopyAdvice.moc"
