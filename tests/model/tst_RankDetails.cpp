// SPDX-License-Identifier: Apache-2.0
#include "model/fleet/RankDetails.h"

#include "model/analysis/storedSummary.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Stored.h"
#include "model/importers/loadTrace.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::analysis;

using namespace lanescope::fleet;

namespace {

int64_t numberIn(const Database& database, const char* sql) {
    auto statement = database.prepare(sql);
    const auto row = statement ? statement->step() : Result<bool>(false);
    return row && *row ? statement->integer(0) : -1;
}

}  // namespace

class tst_RankDetails : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        trace_ = simulatedTraining({.steps = 12, .ncclPlugin = true});
        Result<RunSummary> run = summarizeRun(*trace_);
        QVERIFY(run.has_value());
        run_ = std::move(*run);
        Result<RankDetails> details = rankDetails(*trace_, run_);
        QVERIFY(details.has_value());
        details_ = std::move(*details);
    }

    void kernelSumsMatchPlainLoop() {
        const Result<RunSteps> steps = findSteps(*trace_);
        QVERIFY(steps.has_value());
        std::map<std::tuple<uint32_t, std::string, uint32_t>, std::pair<int64_t, int64_t>> loop;
        for (uint32_t row = 0; row < trace_->kernels.size(); ++row) {
            const Stream& stream = trace_->streams[trace_->kernels.stream[row]];
            for (const WorkerSteps& worker : steps->workers) {
                if (worker.process != stream.process || worker.gpu != stream.gpu) continue;
                const EventRef call = trace_->launchingCall({EventKind::Kernel, row});
                QVERIFY(call.isValid());
                const uint32_t step = worker.stepOf(trace_->kernels.startNs[row], trace_->apiCalls.startNs[call.row()]);
                if (step == noIndex) continue;
                const StringIndex name = trace_->launchConfigs[trace_->kernels.config[row]].shortName;
                auto& [count, totalNs] = loop[{workerOf(run_, *trace_, worker.process, worker.gpu),
                                               std::string(trace_->strings.at(name)), step}];
                ++count;
                totalNs += trace_->kernels.endNs[row] - trace_->kernels.startNs[row];
            }
        }
        QVERIFY(loop.size() > 20);
        QCOMPARE(details_.kernels.size(), loop.size());
        for (const StepKernels& each : details_.kernels) {
            QCOMPARE(each.steps, 1u);
            const auto [count, totalNs] = loop.at({each.worker, each.name, each.step});
            QCOMPARE(each.count, count);
            QCOMPARE(each.totalNs, totalNs);
            QVERIFY(each.maxNs * each.count >= each.totalNs);
        }
    }

    void ncclCallsAreNumberedAsInAllRanks() {
        QVERIFY(trace_->nccl.size() > 0);
        QCOMPARE(details_.collectives.size(), size_t{trace_->nccl.size()});
        std::map<std::pair<uint64_t, int64_t>, std::set<uint32_t>> workers;
        std::map<std::pair<uint32_t, uint64_t>, int64_t> places;
        for (const RankCollective& each : details_.collectives) {
            QCOMPARE(each.place, (places[{each.worker, each.communicator}]++));
            QVERIFY(each.gpu.has_value() && each.gpu->endNs >= each.gpu->startNs);
            workers[{each.communicator, each.place}].insert(each.worker);
        }
        for (const auto& [collective, who] : workers) QCOMPARE(who.size(), run_.workers.size());
        for (const RankCommunicator& each : details_.communicators)
            QCOMPARE(each.calls, (places[{each.worker, each.id}]));
    }

    void everyWorkerHasItsPlace() {
        QCOMPARE(details_.places.size(), run_.workers.size());
        for (uint32_t worker = 0; worker < details_.places.size(); ++worker) {
            QCOMPARE(details_.places[worker].worker, worker);
            QVERIFY(!details_.places[worker].range.isEmpty());
        }
    }

    void storedDetailsAreCompleteAndNoTrace() {
        const TemporaryFolder folder;
        const std::filesystem::path path = folder / "a.lanescope-summary";
        QVERIFY(writeSummaryFile(path, *trace_, run_, details_, false).has_value());
        // Again, over the existing file.
        QVERIFY(writeSummaryFile(path, *trace_, run_, details_, true).has_value());
        const Result<Database> database = Database::openReadOnly(path);
        QVERIFY(database.has_value());
        const std::optional<RunSummary> stored = readRunSummary(*database);
        QVERIFY(stored.has_value());
        QVERIFY(stored->workers == run_.workers);
        QCOMPARE(database->rowCount(tables::storedCollectives.tableName()),
                 static_cast<int64_t>(details_.collectives.size()));
        QCOMPARE(database->rowCount(tables::storedKernels.tableName()), static_cast<int64_t>(details_.kernels.size()));
        int64_t totalNs = 0;
        for (const StepKernels& each : details_.kernels) totalNs += each.totalNs;
        QCOMPARE(numberIn(*database, "SELECT sum(totalNs) FROM LANESCOPE_STORED_KERNELS"), totalNs);
        QCOMPARE(numberIn(*database, "SELECT count(*) FROM LANESCOPE_STORED_PLACES"),
                 static_cast<int64_t>(run_.workers.size()));
        QVERIFY(!loadTrace(path).has_value());
        QCOMPARE(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
    }

    void storedFileIsNamedAfterItsTrace() {
        QCOMPARE(summaryName("/x/run.0.sqlite"), std::filesystem::path("run.0.lanescope-summary"));
        QCOMPARE(summaryName("run.sqlite.gz"), std::filesystem::path("run.lanescope-summary"));
    }

  private:
    TracePtr trace_;
    RunSummary run_;
    RankDetails details_;
};

LANESCOPE_TEST(tst_RankDetails, NoApplication)
#include "tst_RankDetails.moc"
