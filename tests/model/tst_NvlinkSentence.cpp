// SPDX-License-Identifier: Apache-2.0
#include "model/compare/RunComparison.h"
#include "model/compare/cautions.h"
#include "model/pages/ComparisonReport.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;
using namespace lanescope::report;

namespace {

using Use = NvlinkVerdict::Use;

constexpr int64_t mib = 1 << 20;

RunSummary run(Use use, LinkEvidence evidence, std::optional<int64_t> bytesPerStep, int64_t bestBytesPerSecond = 0,
               size_t gpus = 2) {
    RunSummary summary;
    summary.source = StepSource::NvtxRange;
    summary.facts.gpuNames.assign(gpus, "Simulated H200");
    summary.nvlink = {use, evidence, bytesPerStep, evidence, bestBytesPerSecond};
    return summary;
}

QString sentence(const RunSummary& baseline, const RunSummary& candidate) {
    return QString::fromStdString(nvlinkSentence(baseline, candidate));
}

}  // namespace

class TestNvlinkSentence : public QObject {
    Q_OBJECT

  private slots:
    void countersDescribeBothRuns() {
        const RunSummary used = run(Use::Used, LinkEvidence::Counters, 222 * mib, 91'000'000'000);
        const RunSummary idle = run(Use::NotSeen, LinkEvidence::Counters, 0);
        QCOMPARE(sentence(used, idle),
                 "NVLink, from each GPU in a step: baseline 222.00 MiB (used; by its counters); "
                 "candidate 0 B (not used; by its counters).");
        QVERIFY(isNvlinkUseOther(used, idle));
        QVERIFY(isNvlinkUseOther(idle, used));
    }

    void computedValuesAreReportedAsComputed() {
        const RunSummary nccl = run(Use::Used, LinkEvidence::Collectives, 5 * mib);
        const RunSummary copies = run(Use::Used, LinkEvidence::Copies, 5 * mib);
        QCOMPARE(sentence(nccl, copies),
                 "NVLink, from each GPU in a step: baseline 5.00 MiB (used; computed from NCCL); "
                 "candidate 5.00 MiB (used; computed from copies).");
        QVERIFY(!isNvlinkUseOther(nccl, copies));
        QVERIFY(isNvlinkUseOther(nccl, run(Use::Used, LinkEvidence::Copies, 6 * mib)));
        QCOMPARE(sentence(nccl, run(Use::NotSeen, LinkEvidence::Collectives, 5 * mib, 21'340'000'000))
                     .section("candidate ", 1),
                 "not seen in use (5.00 MiB at up to 21.3 GB/s, as PCIe can; computed from NCCL).");
    }

    /// Counters read every few seconds show use, not the bytes of a step.
    void bytesPerStepNameTheirSource() {
        RunSummary used = run(Use::Used, LinkEvidence::Counters, 432 * mib);
        used.nvlink.stepEvidence = LinkEvidence::Collectives;
        const RunSummary idle = run(Use::NotSeen, LinkEvidence::Counters, std::nullopt);
        QCOMPARE(sentence(used, idle),
                 "NVLink, from each GPU in a step: baseline 432.00 MiB (computed from NCCL; used, "
                 "by its counters); candidate not used, by its counters.");
    }

    void unknownUseIsReportedAsUnknown() {
        const RunSummary used = run(Use::Used, LinkEvidence::Counters, std::nullopt);
        const RunSummary unknown = run(Use::Unknown, LinkEvidence::None, std::nullopt);
        QCOMPARE(sentence(used, unknown),
                 "NVLink, from each GPU in a step: baseline an unknown amount (used; by its "
                 "counters); candidate unknown (no link counters, and no transfer between GPUs that shows it).");
        QVERIFY(!isNvlinkUseOther(used, used));
        QVERIFY(sentence(used, run(Use::Absent, LinkEvidence::None, 5 * mib))
                    .endsWith("candidate none (no NVLink connects its GPUs)."));
    }

    void singleGpuRunsHaveNoNvlinkSentence() {
        const RunSummary one = run(Use::Unknown, LinkEvidence::None, std::nullopt, 0, 1);
        QVERIFY(sentence(one, one).isEmpty());
        QVERIFY(sentence(RunSummary{}, RunSummary{}).isEmpty());
        QVERIFY(!sentence(one, run(Use::Used, LinkEvidence::Counters, mib)).isEmpty());
    }

    void runWithoutStepsIsOneStep() {
        RunSummary whole = run(Use::Used, LinkEvidence::Counters, mib);
        whole.source = StepSource::WholeRun;
        QVERIFY(sentence(whole, whole).startsWith("NVLink, from each GPU: baseline 1.00 MiB"));
    }

    void jsonDistinguishesUnknownFromNone() {
        ComparisonReport report;
        report.baseline = run(Use::Used, LinkEvidence::Counters, 0, 5);
        ComparedCandidate candidate{run(Use::Unknown, LinkEvidence::None, std::nullopt), {}, {}};
        report.candidates.push_back(std::move(candidate));
        const QJsonObject json = QJsonDocument::fromJson(QByteArray::fromStdString(comparisonAsJson(report))).object();
        const QJsonObject used = json["baseline"].toObject()["nvlinkTraffic"].toObject();
        QCOMPARE(used["use"].toString(), "used");
        QCOMPARE(used["evidence"].toString(), "counters");
        QCOMPARE(used["bytesPerStep"].toInt(-1), 0);
        QCOMPARE(used["bestBytesPerSecond"].toInt(), 5);
        const QJsonObject unknown = json["candidates"][0]["run"]["nvlinkTraffic"].toObject();
        QCOMPARE(unknown["use"].toString(), "unknown");
        QVERIFY(unknown["bytesPerStep"].isNull());
        QVERIFY(unknown["bestBytesPerSecond"].isNull());
    }
};

LANESCOPE_TEST(TestNvlinkSentence, NoApplication)
#include "tst_NvlinkSentence.moc"
