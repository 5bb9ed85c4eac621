// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <random>
#include <thread>

#include "capture/record/RunFolder.h"
#include "capture/watch/Watcher.h"
#include "model/format/Sqlite.h"
#include "tests/capture/byPath.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/fileBytes.h"
#include "tests/support/orFail.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;

namespace {

constexpr int64_t ms = 1'000'000, s = 1000 * ms;
constexpr int rankCount = 64, stepsPerRank = 15'625, slowCount = 32, hangCount = 8;
constexpr int64_t stepNs = 80 * ms, ringNs = 16 * s, hangNs = 30 * s, hangLimitNs = 20 * s;

using Place = std::pair<int, int>;  // rank, step

/// Injected events. A hang stops all ranks: before an even step, in an odd one.
struct Plan {
    std::set<Place> slow;
    std::set<int> hangs;  // steps
};

/// A rank whose log grows with the test's time.
class Rank {
  public:
    Rank(const std::filesystem::path& folder, int number, int64_t beginNs, const Plan& plan)
        : file_(test::logFileAt((folder / fmt::format("box.{}", number)).string())),
          number_(number),
          plan_(plan),
          random_(static_cast<uint64_t>(number) + 1),
          atNs_(beginNs) {
        file_.keepRing(ringNs, uint64_t{64} << 20);
        writer_.property("rank", std::to_string(number));
        writer_.property("worldSize", std::to_string(rankCount));
    }
    /// Writes a GPU and its use.
    void useGpu(const std::array<uint8_t, 16>& uuid) {
        log::DeviceRecord device{.deviceId = 2, .name = writer_.string("NVIDIA H200"), .smCount = 132};
        std::ranges::copy(uuid, device.uuid);
        writer_.write(device);
        // No work runs in the other context.
        for (const uint32_t gpu : {2u, 0u}) {
            log::ContextRecord context{.contextId = 1 + gpu, .deviceId = gpu};
            writer_.write(context);
        }
    }
    /// Writes the events up to that time. Returns false after the last step.
    bool write(int64_t untilNs) {
        while (step_ < stepsPerRank) {
            if (!isOpen_) {
                if (plan_.hangs.contains(step_) && step_ % 2 == 0 && !std::exchange(hasHung_, true)) atNs_ += hangNs;
                if (atNs_ > untilNs) break;
                writer_.beginPartIfDue();
                range(log::NvtxEvent::Push, writer_.string("step"));
                graph(atNs_ + 2 * ms, atNs_ + stepNs / 2);
                double length = static_cast<double>(stepNs) * (1 + noise_(random_));
                if (plan_.slow.contains({number_, step_})) length *= 1.25;
                if (plan_.hangs.contains(step_) && step_ % 2 == 1) length += static_cast<double>(hangNs);
                atNs_ += static_cast<int64_t>(length);
                isOpen_ = true;
            }
            if (atNs_ > untilNs) break;
            range(log::NvtxEvent::Pop, 0);
            isOpen_ = hasHung_ = false;
            ++step_;
        }
        file_.flush();
        return step_ < stepsPerRank;
    }

  private:
    void range(log::NvtxEvent event, uint32_t text) {
        log::NvtxRecord record{};
        record.timestampNs = atNs_;
        record.event = event;
        record.text = text;
        record.threadId = 1;
        writer_.write(record, atNs_);
    }
    void graph(int64_t startNs, int64_t endNs) {
        log::GraphRecord record{.startNs = startNs, .endNs = endNs, .graphId = 3};
        record.deviceId = 2;
        writer_.write(record, startNs);
    }

    log::LogFile file_;
    log::RecordWriter writer_{file_};
    const int number_;
    const Plan& plan_;
    std::mt19937_64 random_;
    std::normal_distribution<double> noise_{0, 0.01};
    int64_t atNs_;
    int step_ = 0;
    bool isOpen_ = false, hasHung_ = false;
};

Plan makePlan() {
    // The time between injected events is longer than a ring.
    constexpr int first = 300, distance = (stepsPerRank - first) / (slowCount + hangCount);
    std::mt19937_64 random(11);
    Plan plan;
    for (int number = 0; number < slowCount + hangCount; ++number) {
        const int step = first + number * distance;
        if (number % 5 == 4)
            plan.hangs.insert(step - step % 2 + number % 2);
        else
            plan.slow.emplace(random() % rankCount, step);
    }
    return plan;
}

int64_t number(const std::filesystem::path& trace, const char* sql) {
    const auto database = Database::openReadOnly(trace.string());
    auto statement = test::orFail(database->prepare(sql));
    return statement.step() ? statement.integer(0) : -1;
}

}  // namespace

/// A watch of a whole job, at scaled time.
class tst_WatchJob : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        // The ring of a watch is in memory, too; a busy disk takes minutes.
        if (::access("/dev/shm", W_OK) == 0) qputenv("TMPDIR", "/dev/shm");
    }

    /// 64 ranks and 10^6 steps with a deviation of 1 %. Each of 40 slow steps and hangs gets its trace, and no other.
    void injectedEventsGetTheirTracesAndNoOthers() {
        const TemporaryFolder folder;
        const std::filesystem::path runFolder = folder / "job.run";
        const Plan plan = makePlan();
        QCOMPARE(plan.slow.size() + plan.hangs.size(), size_t{slowCount + hangCount});

        // A ring ignores times in the future.
        int64_t clockNs = s;
        const int64_t beginNs = log::eventTimeNs() - 3600 * s;
        std::set<Place> slow;
        std::vector<std::pair<Place, std::filesystem::path>> traces;
        size_t reports = 0;
        int hangs = 0;
        QStringList others;
        WatchOptions options;
        options.ringNs = ringNs;
        options.hangSeconds = static_cast<double>(hangLimitNs / s);
        options.maxTracesPerHour = options.maxTraces = 1000;
        options.isStep = [](std::string_view name) { return name == "step"; };
        options.isCollective = [](std::string_view) { return false; };
        options.recoverProgram = LANESCOPE_BINARY_DIR "/bin/lanescope";
        options.monotonicNs = [&clockNs] { return clockNs; };
        options.eventNs = [&clockNs, beginNs] { return beginNs + clockNs; };
        options.report = [&](std::string_view sentence) {
            ++reports;
            const QString text = QString::fromUtf8(sentence.data(), static_cast<qsizetype>(sentence.size()));
            static const QRegularExpression slowStep(
                "^Step (\\d+) \\(step\\) of rank (\\d+) took [^;]*; the median is [^;]* ms\\. Trace: (.*)$");
            if (const auto match = slowStep.match(text); match.hasMatch()) {
                const Place place{match.captured(2).toInt(), match.captured(1).toInt()};
                slow.insert(place);
                traces.emplace_back(place, match.captured(3).toStdString());
            } else if (text.contains(". Trace: ") && text.contains("/hang-")) {
                ++hangs;
            } else {
                others.append(text);
            }
        };

        RunInfo info;
        info.host = "box";
        info.startRealtimeNs = beginNs;
        auto logs = test::orFail(RunFolder::create(runFolder, info));
        auto output = test::orFail(WatchFolder::claim((folder / "out").string(), 1));
        const std::filesystem::path written = output.path();
        Watcher watcher(logs.folder(), info, std::move(output), std::move(options), nullptr);
        std::vector<std::unique_ptr<Rank>> ranks;
        for (int rank = 0; rank < rankCount; ++rank)
            ranks.push_back(std::make_unique<Rank>(runFolder, rank, beginNs, plan));

        const auto makesTrace = [&] {
            for (const auto& each : std::filesystem::directory_iterator(folder.path()))
                if (each.path().filename().string().find(linksMark) != std::string::npos) return true;
            return false;
        };
        // The time stands still while another program makes a trace.
        constexpr int64_t pollNs = s;
        int polls = 0;
        for (bool isRunning = true; isRunning;) {
            clockNs += pollNs;
            isRunning = false;
            for (const auto& rank : ranks) isRunning |= rank->write(beginNs + clockNs);
            watcher.poll();
            polls = makesTrace() ? polls + 1 : 0;
            if (polls <= 2) continue;
            for (const size_t before = reports; reports == before; watcher.poll())
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
            polls = 0;
        }
        ranks.clear();
        test::orFail(watcher.finish(std::nullopt, false, {}));

        QCOMPARE(others, QStringList());
        QCOMPARE(hangs, hangCount);
        // A step in which the job hung is slow, too. One trace has it for all ranks.
        std::set<int> hungSteps;
        for (const Place& each : std::set<Place>(slow))
            if (plan.hangs.contains(each.second) && each.second % 2 == 1 && hungSteps.insert(each.second).second)
                slow.erase(each);
        QCOMPARE(hungSteps.size(), size_t{hangCount / 2});
        QCOMPARE(slow, plan.slow);
        for (const auto& [place, trace] : traces)
            if (plan.slow.contains(place))
                QCOMPARE(number(trace, "SELECT COUNT(*) FROM NVTX_EVENTS WHERE \"end\" - start > 92000000"), 1);
        int files = 0;
        for (const auto& each : std::filesystem::directory_iterator(written))
            files += each.path().extension() == ".sqlite";
        QCOMPARE(files, slowCount + hangCount + hangCount / 2);
        const QByteArray metrics = test::fileBytes(QString::fromStdString((written / "metrics.prom").string()));
        for (int rank = 0; rank < rankCount; ++rank)
            QVERIFY(metrics.contains("lanescope_step_seconds_count{rank=\"" + QByteArray::number(rank) + "\"} " +
                                     QByteArray::number(stepsPerRank) + "\n"));
    }

    /// GPM reads each 100 ms, steps take 80 ms. From 3 to 4 s nothing is read.
    void stepsHaveTheReadingsThatCoverThem() {
        const TemporaryFolder folder;
        int64_t clockNs = s;
        const int64_t beginNs = log::eventTimeNs() - 60 * s;
        RunInfo info;
        info.startRealtimeNs = beginNs;
        auto logs = test::orFail(RunFolder::create(folder / "job.run", info));
        auto output = test::orFail(WatchFolder::claim((folder / "out").string(), 1));
        const std::filesystem::path written = output.path();
        WatchOptions options;
        options.isStep = options.isCollective = [](std::string_view name) { return name == "step"; };
        options.monotonicNs = [&clockNs] { return clockNs; };
        options.eventNs = [&clockNs, beginNs] { return beginNs + clockNs; };
        options.report = [](std::string_view) {};
        options.peakActiveHz = [](std::string_view name, const log::DeviceRecord& gpu) {
            return name == "NVIDIA H200" && gpu.smCount == 132 ? 1.8e9 : 0;
        };
        Watcher watcher(logs.folder(), info, std::move(output), std::move(options), nullptr);
        const Plan plan;
        Rank rank(folder / "job.run", 0, beginNs, plan);
        const std::array<uint8_t, 16> uuid{1, 2, 3};
        rank.useGpu(uuid);
        SampleLog samples = test::sampleLogAt((folder / "job.run" / "box.sampler.77").string(), uint64_t{1} << 20);
        samples.addGpu(0, formatGpuUuid(uuid), "NVIDIA H200");
        samples.addGpu(1, "GPU-other", "NVIDIA H200");
        std::array<uint32_t, 2> activity{}, clock{};
        for (int gpu = 0; gpu < 2; ++gpu) {
            activity[gpu] = samples.addCounter({"gpm", "tensor.activity", "", "%", log::CounterMeaning::Average, gpu});
            clock[gpu] = samples.addCounter({"nvml", "clock.sm", "", "Hz", log::CounterMeaning::Gauge, gpu});
        }
        for (int64_t at = 0; at <= 6 * s; at += 100 * ms) {
            clockNs += 100 * ms;
            rank.write(beginNs + at);
            SampleBatch batch;
            for (int gpu = 0; gpu < 2; ++gpu) {
                batch.add(clock[gpu], int64_t{1'500'000'000});
                const bool isRead = at < 3 * s || at >= 4 * s;
                batch.add(activity[gpu], isRead ? std::optional(gpu == 1     ? 90.
                                                                : at < 2 * s ? 60.
                                                                             : 30.)
                                                : std::nullopt);
            }
            samples.write(beginNs + at, batch);
            samples.flush();
            watcher.poll();
        }
        int read = 0, unread = 0;
        for (const QByteArray& each :
             test::fileBytes(QString::fromStdString((written / "steps.jsonl").string())).trimmed().split('\n')) {
            const QJsonObject line = QJsonDocument::fromJson(each).object();
            const auto fromNs = static_cast<int64_t>(line["time"].toDouble() * 1e9) - beginNs;
            const auto toNs = fromNs + static_cast<int64_t>(line["ms"].toDouble() * 1e6);
            const bool isKnown = toNs < 29 * s / 10 || fromNs > 4 * s;
            if (toNs < 19 * s / 10) {
                QCOMPARE(line["tensor_activity"].toDouble(), 0.6);
                QCOMPARE(line["mfu"].toDouble(), 0.5);
                QVERIFY(line["mfu_steps"].toInt() == 1 || line["mfu_steps"].toInt() == 3 ||
                        line["mfu_steps"].toInt() == 2);
            } else if (isKnown && fromNs > 2 * s) {
                QCOMPARE(line["mfu"].toDouble(), 0.25);
            } else if (toNs > 3 * s && fromNs < 39 * s / 10) {
                QVERIFY(!line.contains("mfu") && !line.contains("tensor_activity") && !line.contains("mfu_steps"));
                ++unread;
            }
            read += line.contains("mfu");
        }
        QVERIFY2(read > 25 && unread > 8, qPrintable(QString("%1 %2").arg(read).arg(unread)));
        const auto ended = test::orFail(watcher.finish(std::nullopt, false, {}));
        QVERIFY(test::fileBytes(QString::fromStdString((ended.trace / "metrics.prom").string()))
                    .contains("lanescope_mfu{rank=\"0\"} 0.250\n"));
    }
};

LANESCOPE_TEST(tst_WatchJob, QCoreApplication)
#include "tst_WatchJob.moc"
