// SPDX-License-Identifier: Apache-2.0
#include "model/compare/RunComparison.h"
#include "model/importers/loadTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;

/// Tests on the two sample recordings of the project: the same training over NVLink and, with peer
/// access disabled, through host memory.
class TestCompareSamples : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        const std::filesystem::path folder = LANESCOPE_SAMPLES;
        for (auto& [name, summary] :
             {std::pair("resnet152-nvlink.sqlite.gz", &nvlink_), std::pair("resnet152-no-p2p.sqlite.gz", &noPeers_)}) {
            const Result<TracePtr> trace = loadTrace(folder / name);
            QVERIFY2(trace.has_value(), trace ? "" : trace.error().sentence.c_str());
            const Result<RunSummary> made = summarizeRun(**trace);
            QVERIFY(made.has_value());
            *summary = *made;
        }
    }

    void stepsAndWarmUpAreFound() {
        for (const RunSummary* run : {&nvlink_, &noPeers_}) {
            QCOMPARE(run->pattern, std::string("step #"));
            QCOMPARE(run->workers.size(), size_t{2});
            for (const WorkerSummary& worker : run->workers) {
                QCOMPARE(worker.foundSteps, int64_t{10});
                QCOMPARE(worker.warmUpSteps, int64_t{1});
                QCOMPARE(worker.steps.size(), size_t{9});
            }
        }
    }

    void partsAndContributorsSumToTheSteps() {
        for (const RunSummary* run : {&nvlink_, &noPeers_}) {
            for (const WorkerSummary& worker : run->workers) {
                for (const StepSummary& step : worker.steps) QCOMPARE(step.parts.sum(), step.wallNs);
                StepParts sums;
                for (const Contributor& each : worker.contributors) sums[each.part] += each.exposedNs;
                QCOMPARE(sums, worker.totalParts());
            }
        }
    }

    void lossIsExposedCommunication() {
        const RunComparison comparison = compareRuns(BaselineRun{nvlink_}, CandidateRun{noPeers_});
        const Answer& answer = comparison.answer;
        QCOMPARE(answer.outcome, Outcome::Longer);
        QVERIFY(answer.cautions.empty());
        QCOMPARE(answer.causes.size(), size_t{2});
        QCOMPARE(answer.causes[0].part, StepPart::ExposedCommunication);
        // The collectives are slower, and the ranks wait less for each other before them.
        QCOMPARE(answer.causes[1].part, StepPart::WaitingForRanks);
        QVERIFY(answer.causes[1].lostNs < 0);
        QVERIFY(answer.causes[0].main);
        const ContributorDifference& main = *answer.causes[0].main;
        QCOMPARE(main.name().text(), std::string("AllReduce"));
        QCOMPARE(main.path, std::string("backward"));
        // Without the time that one rank waited for the other.
        QCOMPARE(qRound(main.baseline.gigabytesPerSecond * 10), 2243);
        QCOMPARE(qRound(main.candidate.gigabytesPerSecond * 10), 278);
        const QString sentence = QString::fromStdString(answer.sentence);
        QVERIFY2(sentence.startsWith("In these two runs the candidate's median step is 9.9 % longer: +"),
                 qPrintable(sentence));
        QVERIFY2(sentence.endsWith("One run per side: run-to-run spread unknown."), qPrintable(sentence));
        QVERIFY(
            sentence.contains("+7.074 ms exposed communication in the mean step, +7.053 ms in NCCL AllReduce, bus "
                              "bandwidth 224.3 → 27.8 GB/s"));
        QVERIFY(sentence.contains("no longer over the NVLink that connects these GPUs"));
        QVERIFY2(sentence.contains("; offset by -2.871 ms waiting for ranks in the mean step, -2.871 "
                                   "ms in NCCL AllReduce. "),
                 qPrintable(sentence));
    }

    void answerReportsNvlinkUseOfBothRuns() {
        QCOMPARE(nvlink_.nvlink.use, NvlinkVerdict::Use::Used);
        QCOMPARE(noPeers_.nvlink.use, NvlinkVerdict::Use::NotSeen);
        for (const RunSummary* run : {&nvlink_, &noPeers_}) QCOMPARE(run->nvlink.evidence, LinkEvidence::Counters);
        const RunComparison comparison = compareRuns(BaselineRun{nvlink_}, CandidateRun{noPeers_});
        // The fact comes first, because the rest may be truncated.
        const QString sentence = QString::fromStdString(comparison.answer.details.front());
        QCOMPARE(sentence, QString("NVLink, from each GPU in a step: baseline 222.46 MiB (used; by its "
                                   "counters); candidate 0 B (not used; by its counters)."));
    }

    void deltasSumToTheDifferenceOfTheMeans() {
        const RunComparison comparison = compareRuns(BaselineRun{nvlink_}, CandidateRun{noPeers_});
        QCOMPARE(comparison.workers.size(), size_t{2});
        for (const WorkerComparison& pair : comparison.workers) {
            int64_t parts = 0, contributors = 0, ranges = 0;
            for (const PartDifference& part : pair.parts) parts += part.lostNs();
            for (const ContributorDifference& each : pair.contributors) contributors += each.lostNs();
            for (const RangeDifference& range : pair.ranges) ranges += range.lostNs();
            QCOMPARE(parts, pair.lostNs());
            QCOMPARE(contributors, pair.lostNs());
            QCOMPARE(ranges, pair.lostNs());
            QVERIFY(pair.parts[1].lostNs() > pair.lostNs() * 8 / 10);
        }
    }

    void identicalFilesAreWithinNoise() {
        for (const RunSummary* run : {&nvlink_, &noPeers_}) {
            const RunComparison comparison = compareRuns(BaselineRun{*run}, CandidateRun{*run});
            QCOMPARE(comparison.answer.outcome, Outcome::Alike);
            QCOMPARE(comparison.answer.cautions, std::vector<std::string>{"Both sides are the same recording."});
            for (const WorkerComparison& pair : comparison.workers)
                for (const ContributorDifference& each : pair.contributors)
                    QVERIFY(each.lostNs() == 0 && each.match == MatchKind::SameName);
        }
    }

    void swappedRunsAreFaster() {
        const RunComparison comparison = compareRuns(BaselineRun{noPeers_}, CandidateRun{nvlink_});
        QCOMPARE(comparison.answer.outcome, Outcome::Shorter);
        QCOMPARE(comparison.answer.causes.at(0).part, StepPart::ExposedCommunication);
        QVERIFY(comparison.answer.causes[0].lostNs < 0);
    }

  private:
    RunSummary nvlink_, noPeers_;
};

LANESCOPE_TEST(TestCompareSamples, NoApplication)
#include "tst_CompareSamples.moc"
