// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "capture/log/clocks.h"
#include "capture/watch/StepMeter.h"
#include "capture/watch/StepTriggers.h"
#include "capture/watch/WatchFolder.h"
#include "capture/watch/watchRequests.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/fileBytes.h"
#include "tests/support/orFail.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;

namespace {

constexpr int64_t msNs = 1'000'000;
constexpr uint32_t stepName = 1, kernelName = 2, collectiveName = 3, dumpName = 4, otherName = 5, allocationName = 6;

/// Writes records of a process by hand into a meter.
struct Meter {
    StepMeter meter{[](std::string_view name) { return name.starts_with("step"); },
                    [](std::string_view name) { return name.starts_with("nccl"); }};

    Meter() {
        for (const auto& [id, text] : std::map<uint32_t, std::string>{{stepName, "step 1"},
                                                                      {kernelName, "gemm"},
                                                                      {collectiveName, "ncclDevKernel_AllReduce"},
                                                                      {dumpName, "lanescope:dump"},
                                                                      {otherName, "forward"},
                                                                      {allocationName, "cudaMalloc_v3020"}}) {
            log::StringRecord record{};
            record.id = id;
            meter(record, text);
        }
    }
    void range(log::NvtxEvent event, int64_t ns, uint32_t text, int32_t level = 0, uint32_t thread = 7) {
        log::NvtxRecord record{};
        record.event = event;
        record.timestampNs = ns;
        record.text = text;
        record.level = level;
        record.threadId = thread;
        meter(record, {});
    }
    void step(int64_t startNs, int64_t endNs) {
        range(log::NvtxEvent::Push, startNs, stepName);
        range(log::NvtxEvent::Pop, endNs, 0);
    }
    void kernel(int64_t startNs, int64_t endNs, uint32_t name = kernelName) {
        log::KernelRecord record{};
        record.startNs = startNs;
        record.endNs = endNs;
        record.name = name;
        meter(record);
    }
    void graph(int64_t startNs, int64_t endNs) {
        log::GraphRecord record{};
        record.startNs = startNs;
        record.endNs = endNs;
        meter(record);
    }
    void copy(int64_t startNs, int64_t endNs) {
        log::MemcpyRecord record{};
        record.startNs = startNs;
        record.endNs = endNs;
        meter(record);
    }
};

/// Length of the union of intervals by marking each unit of `unitNs`.
int64_t plainUnion(const std::vector<std::pair<int64_t, int64_t>>& intervals, int64_t fromNs, int64_t toNs) {
    int64_t covered = 0;
    for (int64_t at = fromNs; at < toNs; ++at)
        covered +=
            std::ranges::any_of(intervals, [at](const auto& each) { return each.first <= at && at < each.second; });
    return covered;
}

}  // namespace

class tst_Watch : public QObject {
    Q_OBJECT

  private slots:
    void stepsHaveTheirGpuTimes() {
        Meter log;
        log.kernel(1 * msNs, 5 * msNs);
        log.kernel(12 * msNs, 20 * msNs);
        log.kernel(18 * msNs, 30 * msNs, collectiveName);
        log.copy(32 * msNs, 34 * msNs);
        log.kernel(38 * msNs, 60 * msNs);
        log.step(10 * msNs, 40 * msNs);
        QVERIFY2(log.meter.take().empty(), "Work of the step may still arrive.");
        log.kernel(2000 * msNs, 2001 * msNs);
        const std::vector<MeasuredStep> steps = log.meter.take();
        QCOMPARE(steps.size(), size_t{1});
        QCOMPARE(steps[0].name, std::string("step 1"));
        QCOMPARE(steps[0].durationNs(), 30 * msNs);
        QCOMPARE(steps[0].busyNs, (18 + 2 + 2) * msNs);
        QCOMPARE(steps[0].communicationNs, 12 * msNs);
        QCOMPARE(steps[0].exposedNs, 10 * msNs);
        QCOMPARE(steps[0].copyNs, 2 * msNs);
        QCOMPARE(steps[0].kernels, int64_t{3});
    }

    /// Kinds of work inside of a whole graph are unknown.
    void wholeGraphsAreWorkOfUnknownKind() {
        Meter log;
        log.kernel(10 * msNs, 20 * msNs);
        log.kernel(18 * msNs, 25 * msNs, collectiveName);
        log.graph(24 * msNs, 34 * msNs);
        log.graph(38 * msNs, 60 * msNs);
        log.step(5 * msNs, 40 * msNs);
        log.kernel(41 * msNs, 42 * msNs);
        log.step(61 * msNs, 70 * msNs);
        const std::vector<MeasuredStep> steps = log.meter.take(true);
        QCOMPARE(steps.size(), size_t{2});
        QCOMPARE(steps[0].busyNs, (24 + 2) * msNs);
        QCOMPARE(steps[0].graphs, int64_t{2});
        QCOMPARE(steps[0].kernels, int64_t{2});
        QCOMPARE(steps[1].graphs, int64_t{0});
        QCOMPARE(log.meter.progressNs(), 70 * msNs);
        TemporaryFolder folder;
        WatchFolder output = test::orFail(WatchFolder::claim((folder.path() / "w").string(), 1));
        for (const MeasuredStep& step : steps) output.addStep(step, {-1, 42, "all", -1, 0});
        const QList<QByteArray> lines =
            test::fileBytes(QString::fromStdString((output.path() / "steps.jsonl").string())).trimmed().split('\n');
        const QJsonObject whole = QJsonDocument::fromJson(lines[0]).object(),
                          kernels = QJsonDocument::fromJson(lines[1]).object();
        QCOMPARE(whole["busy_ms"].toDouble(), 26.0);
        QCOMPARE(whole["graphs"].toInt(), 2);
        for (const char* each : {"communication_ms", "exposed_communication_ms", "copy_ms", "kernels"})
            QVERIFY(!whole.contains(QLatin1String(each)) && kernels.contains(QLatin1String(each)));
    }

    /// Random work against marking each nanosecond.
    void timesEqualThePlainOnes() {
        std::mt19937 random(4);
        for (int round = 0; round < 50; ++round) {
            Meter log;
            std::vector<std::pair<int64_t, int64_t>> all, collectives, others;
            for (int work = 0; work < 30; ++work) {
                const int64_t start = 1 + static_cast<int64_t>(random() % 300),
                              end = start + static_cast<int64_t>(random() % 60);
                const bool isCollective = random() % 3 == 0;
                log.kernel(start, end, isCollective ? collectiveName : kernelName);
                all.emplace_back(start, end);
                (isCollective ? collectives : others).emplace_back(start, end);
            }
            log.step(100, 250);
            const std::vector<MeasuredStep> steps = log.meter.take(true);
            QCOMPARE(steps.size(), size_t{1});
            QCOMPARE(steps[0].busyNs, plainUnion(all, 100, 250));
            QCOMPARE(steps[0].communicationNs, plainUnion(collectives, 100, 250));
            QCOMPARE(steps[0].exposedNs, plainUnion(all, 100, 250) - plainUnion(others, 100, 250));
        }
    }

    void nestedStepsAndOtherThreadsAreNoSteps() {
        Meter log;
        log.range(log::NvtxEvent::Push, 1, stepName, 0);
        log.range(log::NvtxEvent::Push, 2, stepName, 1);
        log.range(log::NvtxEvent::Push, 3, stepName, 0, 8);
        log.range(log::NvtxEvent::Pop, 4, 0, 0, 8);
        log.range(log::NvtxEvent::Pop, 5, 0, 1);
        log.range(log::NvtxEvent::Pop, 9, 0, 0);
        const std::vector<MeasuredStep> steps = log.meter.take(true);
        QCOMPARE(steps.size(), size_t{1});
        QCOMPARE(steps[0].durationNs(), int64_t{8});
    }

    /// A log that begins in the middle of a step has its end alone; a lost end does not swallow the following steps.
    void lostEdgesCostOneStep() {
        Meter log;
        log.range(log::NvtxEvent::Pop, 5, 0);
        log.range(log::NvtxEvent::Push, 10, stepName, 0);
        log.step(20, 30);
        log.step(40, 50);
        const std::vector<MeasuredStep> steps = log.meter.take(true);
        QCOMPARE(steps.size(), size_t{2});
        QCOMPARE(steps[0].startNs, int64_t{20});
    }

    /// Each part of a ring repeats all names under new ids, and a program may number the names of its steps.
    void namesOfALongRunAreBounded() {
        Meter log;
        constexpr uint32_t count = 300'000;
        for (uint32_t id = 10; id < count; ++id) {
            log::StringRecord record{};
            record.id = id;
            log.meter(record, "step " + std::to_string(id));
        }
        log.range(log::NvtxEvent::Push, 100, count - 1);
        log.range(log::NvtxEvent::Pop, 200, 0);
        const std::vector<MeasuredStep> steps = log.meter.take(true);
        QCOMPARE(steps.size(), size_t{1});
        QCOMPARE(steps[0].name, "step " + std::to_string(count - 1));
    }

    void impossibleTimesAreIgnored() {
        Meter log;
        log.meter.setLatest(1'000'000);
        log.kernel(INT64_MAX - 10, INT64_MAX);
        log.kernel(-5, 10);
        log.step(100, 200);
        log.step(INT64_MAX - 100, INT64_MAX);
        QCOMPARE(log.meter.take(true).size(), size_t{1});
        QCOMPARE(log.meter.progressNs(), int64_t{200});
    }

    void levelsOfStepsComeFromTheLog() {
        Meter log;
        for (const auto& [ns, level] :
             {std::pair(int64_t{10}, log::RecordingLevel::Steps), {int64_t{20}, log::RecordingLevel::All}}) {
            log::LevelRecord record{};
            record.timestampNs = ns;
            record.level = level;
            log.meter(record);
        }
        QVERIFY(log.meter.levelAt(5) == log::RecordingLevel::All &&
                log.meter.levelAt(15) == log::RecordingLevel::Steps);
        QCOMPARE(log.meter.appliedSinceNs(log::RecordingLevel::All), int64_t{20});
        QCOMPARE(log.meter.appliedSinceNs(log::RecordingLevel::Steps), INT64_MAX);
    }

    void remarkableCallsAreFound() {
        Meter log;
        log.range(log::NvtxEvent::Mark, 5, dumpName);
        log::ApiRecord call{};
        call.name = allocationName;
        call.returnValue = 2;
        log.meter(call);
        call.name = otherName;
        log.meter(call);
        const auto calls = log.meter.takeCalls();
        QCOMPARE(calls.size(), size_t{2});
        QVERIFY(calls[0] == RemarkableCall::Requested && calls[1] == RemarkableCall::OutOfMemory);
        QVERIFY(log.meter.takeCalls().empty());
    }

    /// 64 ranks and 10^6 steps with a deviation of 1 %; 40 steps are slower by 20 %. Each of these is found, and no
    /// other.
    void injectedSlowStepsAreFoundAndNoOthers() {
        constexpr int ranks = 64, stepsPerRank = 15'625, injected = 40;
        std::mt19937_64 random(11);
        std::normal_distribution<double> noise(0, 0.01);
        std::set<std::pair<int, int>> slow;
        while (slow.size() < injected) slow.emplace(random() % ranks, 300 + random() % (stepsPerRank - 300));
        std::set<std::pair<int, int>> found;
        for (int rank = 0; rank < ranks; ++rank) {
            StepTriggers triggers;
            for (int step = 0; step < stepsPerRank; ++step) {
                double ms = 80 * (1 + noise(random));
                if (slow.contains({rank, step})) ms *= 1.2;
                const auto event = triggers.add(static_cast<int64_t>(ms * 1e6));
                if (!event) continue;
                QVERIFY(event->kind == StepTriggers::Kind::SlowStep);
                found.emplace(rank, step);
            }
        }
        QCOMPARE(found, slow);
    }

    void lastingChangeIsFoundOnce() {
        std::mt19937_64 random(5);
        std::normal_distribution<double> noise(0, 0.01);
        StepTriggers triggers;
        int slow = 0, changes = 0;
        for (int step = 0; step < 2000; ++step) {
            const auto event = triggers.add(static_cast<int64_t>((step < 1000 ? 80 : 100) * (1 + noise(random)) * 1e6));
            if (!event) continue;
            ++(event->kind == StepTriggers::Kind::SlowStep ? slow : changes);
            if (event->kind == StepTriggers::Kind::LevelChange) QVERIFY(step >= 1000 && step <= 1000 + 40);
        }
        QCOMPARE(changes, 1);
        QVERIFY2(slow <= static_cast<int>(StepTriggers::newCount), "Steps of the new level are no outliers for long.");
    }

    void levelFollowsTheBudget_data() {
        QTest::addColumn<double>("costOfAll");
        QTest::addColumn<double>("costOfKernels");
        QTest::addColumn<double>("budget");
        QTest::addColumn<int>("level");
        QTest::newRow("cheap") << 0.2 << 0.1 << 1.0 << 3;
        QTest::newRow("calls are expensive") << 15.0 << 0.3 << 1.0 << 2;
        QTest::newRow("all is expensive") << 15.0 << 6.0 << 1.0 << 1;
        QTest::newRow("no budget for anything") << 15.0 << 6.0 << 0.0 << 1;
        QTest::newRow("large budget") << 15.0 << 6.0 << 20.0 << 3;
    }
    void levelFollowsTheBudget() {
        QFETCH(double, costOfAll);
        QFETCH(double, costOfKernels);
        QFETCH(double, budget);
        QFETCH(int, level);
        using Level = LevelController::Level;
        std::mt19937_64 random(3);
        std::normal_distribution<double> noise(0, 0.005);
        LevelController controller(budget);
        int64_t nowNs = 1, appliedNs = 1;
        Level applied = controller.level();
        for (int step = 0; step < 100'000 && controller.isMeasuring(); ++step) {
            const Level now = controller.level();
            const double cost = now == Level::All ? costOfAll : now == Level::Kernels ? costOfKernels : 0;
            const auto ns = static_cast<int64_t>(20e6 * (1 + cost / 100) * (1 + noise(random)));
            if (controller.level() != applied) appliedNs = nowNs, applied = controller.level();
            controller.add(nowNs, nowNs + ns, appliedNs);
            nowNs += ns;
        }
        QVERIFY(!controller.isMeasuring());
        QCOMPARE(static_cast<int>(controller.level()), level);
        QVERIFY(controller.costs().empty() || std::abs(controller.costs().front().percent - costOfAll) < 0.5);
    }
    void withoutBudgetEverythingIsRecorded() {
        LevelController controller(-1);
        QVERIFY(!controller.isMeasuring() && !controller.add(1, 2, 0) && !controller.measureAgain());
        QVERIFY(controller.level() == LevelController::Level::All);
    }

    void stepsAndMetricsAreBounded() {
        TemporaryFolder folder;
        WatchFolder output = test::orFail(WatchFolder::claim((folder.path() / "w-%n").string(), 1));
        QCOMPARE(output.path().filename().string(), std::string("w-1"));
        MeasuredStep step;
        step.name = std::string(64, 'x');
        step.endNs = 12 * msNs;
        step.busyNs = 6 * msNs;
        const size_t count = 3 * WatchFolder::maxStepBytes / 250;
        for (size_t number = 0; number < count; ++number) {
            step.number = static_cast<int64_t>(number);
            output.addStep(step, {3, 42, "all", 3, 2 * msNs});
        }
        for (const char* name : {"steps.jsonl", "steps.1.jsonl"})
            QVERIFY(std::filesystem::file_size(output.path() / name) <= WatchFolder::maxStepBytes);
        output.countTrace(WatchCause::Hang);
        output.writeMetrics("all", true);
        const QByteArray metrics = test::fileBytes(QString::fromStdString((output.path() / "metrics.prom").string()));
        QVERIFY(metrics.endsWith("# EOF\n"));
        QVERIFY(metrics.contains(QByteArray("lanescope_step_seconds_count{rank=\"3\"} ") + QByteArray::number(count) +
                                 "\n"));
        QVERIFY(metrics.contains("lanescope_step_seconds_bucket{rank=\"3\",le=\"0.008\"} 0\n"));
        QVERIFY(metrics.contains(QByteArray("lanescope_step_seconds_bucket{rank=\"3\",le=\"0.016\"} ") +
                                 QByteArray::number(count)));
        QVERIFY(metrics.contains("lanescope_traces_total{cause=\"hang\"} 1\n"));
        QVERIFY(metrics.contains("lanescope_hang 1\n"));
        const QByteArray last = test::fileBytes(QString::fromStdString((output.path() / "steps.jsonl").string()))
                                    .trimmed()
                                    .split('\n')
                                    .last();
        const QJsonObject line = QJsonDocument::fromJson(last).object();
        QCOMPARE(line["step"].toInteger(), static_cast<qint64>(count) - 1);
        QCOMPARE(line["ms"].toDouble(), 12.0);
        QCOMPARE(line["busy_ms"].toDouble(), 6.0);
        QCOMPARE(line["late_rank"].toInt(), 3);
    }

    void oldestTracesAreRemoved() {
        TemporaryFolder folder;
        WatchFolder output = test::orFail(WatchFolder::claim((folder.path() / "w").string(), 1));
        for (int number = 0; number < 4; ++number) {
            const std::filesystem::path trace = output.freeTrace("slow-step-7");
            std::ofstream(trace) << number;
            output.keepTrace(trace, 2);
        }
        QByteArray contents;
        for (const auto& each : std::filesystem::directory_iterator(output.path()))
            contents += test::fileBytes(QString::fromStdString(each.path().string()));
        QVERIFY2(contents == "23" || contents == "32", contents.constData());
        const auto again = WatchFolder::claim((folder.path() / "w").string(), 1);
        QVERIFY(!again && QString::fromStdString(again.error().sentence).contains("Choose another one with -o"));
    }

    void requestsArriveOnceAndBounded() {
        TemporaryFolder folder;
        QVERIFY(putRequest(folder.path(), {"too slow", 20, false}));
        std::ofstream(folder.path() / "request-1") << "[1, 2";
        std::ofstream(folder.path() / "request-2") << "{\"steps\": \"many\", \"past\": 3, \"reason\": 5}";
        std::ofstream(folder.path() / "request-3")
            << "{\"steps\": 99999999999999, \"reason\": \"" << std::string(5000, 'x') << "\"}";
        const Folder open = test::orFail(Folder::open(folder.path()));
        std::vector<WatchRequest> requests = takeRequests(open);
        QCOMPARE(requests.size(), size_t{3});
        std::ranges::sort(requests, {}, &WatchRequest::steps);
        QVERIFY(requests[0].steps == 0 && requests[0].hasPast && requests[0].reason.empty());
        QVERIFY(requests[1].steps == 20 && !requests[1].hasPast && requests[1].reason == "too slow");
        QVERIFY(requests[2].steps == 1'000'000 && requests[2].reason.size() == 200);
        QVERIFY(takeRequests(open).empty());
    }

    void runningWatchesAreFound() {
        TemporaryFolder cache;
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString(cache.path().string()));
        QVERIFY(!findWatch("1"));
        {
            const WatchEntry entry({::getpid(), ::getpid(), "train.py", cache.path(), cache.path() / "out"});
            const WatchEntry dead({INT_MAX, INT_MAX, "other", cache.path(), cache.path() / "out"});
            for (const std::string& wanted : {std::string("train.py"), std::to_string(::getpid()), std::string("out")})
                QCOMPARE(test::orFail(findWatch(wanted)).runFolder, cache.path());
            QVERIFY(!findWatch("other"));
        }
        QVERIFY(!findWatch("train.py"));
    }
};

LANESCOPE_TEST(tst_Watch, QCoreApplication)
#include "tst_Watch.moc"
