// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <ctime>
#include <new>

#include "capture/collector/TraceWriter.h"
#include "capture/collector/trimToWindows.h"
#include "capture/log/LogFormat.h"
#include "capture/log/clocks.h"
#include "capture/sample/SamplerThread.h"
#include "capture/sample/sampleTime.h"
#include "model/format/GlobalId.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Threads.h"
#include "model/importers/TraceFormat.h"
#include "tests/capture/byPath.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;
using namespace lanescope::log;

namespace {

std::atomic<time_t> clockAheadSeconds{0};

}  // namespace

/// SIMULATED: replaces the kernel's function, so that tests can set the clock of this process.
static int readSetClock(clockid_t clock, timespec* time) {
    const long result = ::syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += clockAheadSeconds.load();
    return static_cast<int>(result);
}

namespace {

constexpr int64_t ms = 1'000'000;
constexpr int64_t inWindows = globalTid(7, 7), always = globalTid(8, 8);

struct Piece {
    int64_t startMs, endMs;
    ThreadState state;
    int64_t cpuMs;
    bool operator==(const Piece&) const = default;
};

/// Sampler that runs out of memory where requested.
class WithoutMemory : public Sampler {
  public:
    explicit WithoutMemory(bool atOnce) : isAtOnce_(atOnce) {}
    const char* source() const override { return "nvml"; }
    const char* title() const override { return "NVML"; }
    bool begin() override {
        if (isAtOnce_) throw std::bad_alloc();
        return true;
    }
    bool sample() override { throw std::bad_alloc(); }

  private:
    const bool isAtOnce_;
};

}  // namespace

class tst_SampleTime : public QObject {
    Q_OBJECT

    static constexpr int64_t second = 1'000'000'000;

    /// Sampler that counts its readings at moments.
    class CountedSampler : public Sampler {
      public:
        explicit CountedSampler(std::atomic<int>& readings) : readings_(readings) {}
        const char* source() const override { return "simulated"; }
        const char* title() const override { return "Simulated"; }
        bool begin() override { return true; }
        bool sample() override { return true; }
        int64_t sampleTime(const std::function<bool()>&) override {
            ++readings_;
            return 0;
        }

      private:
        std::atomic<int>& readings_;
    };

    static std::vector<Piece> pieces(const Trace& trace, int64_t tid, StateSource source) {
        std::vector<Piece> found;
        const CpuStateTable& states = trace.cpuStates;
        for (uint32_t row = 0; row < states.size(); ++row)
            if (states.source[row] == source &&
                trace.threads[states.thread[row]].tid == static_cast<uint32_t>(tid & 0xffffff))
                found.push_back(
                    {states.startNs[row] / ms, states.endNs[row] / ms, states.state[row], states.cpuNs[row] / ms});
        std::ranges::sort(found, {}, &Piece::startMs);
        return found;
    }

  private slots:
    void initTestCase() { lanescope::log::detail::clockReader = &readSetClock; }

    void cleanup() { clockAheadSeconds = 0; }

    void convertedTimesSurviveAClockChange_data() {
        QTest::addColumn<int>("seconds");
        for (const int seconds : {-3600, -3, 0, 3, 3600}) QTest::addRow("%d s", seconds) << seconds;
    }
    void convertedTimesSurviveAClockChange() {
        QFETCH(int, seconds);
        const int64_t firstNs = sampleTimeNs();
        clockAheadSeconds = seconds;
        const int64_t beforeNs = sampleTimeNs(), realNs = realtimeNs(), afterNs = sampleTimeNs();
        QVERIFY(firstNs <= beforeNs && beforeNs <= afterNs);
        QVERIFY(afterNs < firstNs + 600 * second);
        // Machine time converted to sample time, as exactly as two clocks can be read one after the
        // other on a busy machine.
        const int64_t convertedNs = realNs - realtimeAheadNs();
        QVERIFY(convertedNs > beforeNs - second && convertedNs < afterNs + second);
    }

    void slowReadingHasTheTimeOfItsAnswer() {
        const int64_t nowNs = sampleTimeNs();
        QVERIFY(answerTimeNs(nowNs - 6 * second) >= nowNs);
        QCOMPARE(answerTimeNs(nowNs + second), nowNs + second);
    }

    /// After a clock change, each moment still has its own reading, or shares a close one, and
    /// keeps the program's time.
    void timesAreReadAfterAClockChange() {
        QTemporaryDir folder;
        const QString run = folder.filePath("run");
        QDir().mkpath(run);
        const std::string pipe = run.toStdString() + "/" + momentPipeName;
        QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
        TimePipe moments(run.toStdString());
        const int writing = ::open(pipe.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        QVERIFY(writing >= 0);
        std::vector<MomentMessage> told;
        const auto tell = [&](int count) {
            MomentMessage message{.timestampNs = eventTimeNs(), .processId = 4242, .nameBytes = 4};
            std::memcpy(message.name, "step", 4);
            std::vector<MomentMessage> messages;
            for (; count > 0; --count) {
                message.occurrence = static_cast<uint32_t>(told.size());
                told.push_back(message);
                messages.push_back(message);
            }
            const size_t bytes = messages.size() * sizeof message;
            return ::write(writing, messages.data(), bytes) == static_cast<ssize_t>(bytes);
        };
        std::atomic<int> readings{0};
        {
            SampleLog log = test::sampleLogAt(run.toStdString() + "/host.sampler.77", 1 << 20);
            SamplerThread thread(std::make_unique<CountedSampler>(readings), second / 10, log, &moments);
            QVERIFY(tell(1));
            QTRY_COMPARE_WITH_TIMEOUT(readings.load(), 1, 60'000);
            int expected = 1;
            for (const int seconds : {-3600, -3, 3600}) {
                clockAheadSeconds = seconds;
                QTest::qWait(50);  // Longer than a shared reading.
                QVERIFY(tell(2));
                ++expected;
                QTRY_COMPARE_WITH_TIMEOUT(readings.load(), expected, 60'000);
            }
            // A late earlier moment, which the last reading serves.
            QVERIFY(::write(writing, &told.back(), sizeof told.back()) > 0);
            thread.requestStop();
            QVERIFY(thread.waitUntil(monotonicNs() + 60 * second));
            QCOMPARE(readings.load(), expected);
            log.end();
        }
        ::close(writing);
        const std::string trace = folder.filePath("trace.sqlite").toStdString();
        auto collector = test::beginCollector(run.toStdString(), trace, RunInfo());
        QVERIFY(collector && (*collector)->finish(std::nullopt, false));
        const auto database = test::orFail(Database::openReadOnly(trace));
        auto rows = test::orFail(
            database.prepare("SELECT min(timestamp), min(readStart), max(readStart) FROM LANESCOPE_SAMPLING_MOMENTS"
                             " GROUP BY occurrence ORDER BY occurrence"));
        int64_t readNs = 0;
        for (const MomentMessage& moment : told) {
            QVERIFY(*rows.step());
            QCOMPARE(rows.integer(0), moment.timestampNs);
            // Readings are ordered, whatever the clock shows.
            QVERIFY(rows.integer(1) >= readNs && rows.integer(1) == rows.integer(2));
            readNs = rows.integer(1);
        }
        QVERIFY(!*rows.step());
    }

    void statesSwitchesAndSamplesAreClippedToTheWindows() {
        const QTemporaryDir folder;
        const std::string path = folder.filePath("t.sqlite").toStdString();
        auto writer = test::orFail(TraceWriter::create(path));
        TraceWriter& trace = *writer;
        for (const int64_t thread : {inWindows, always}) {
            constexpr const auto& t = tables::threadStates;
            const auto state = [&](int64_t startMs, int64_t endMs, ThreadState what) {
                trace.add(t, t.start = startMs * ms, t.end = endMs * ms, t.globalTid = thread, t.state = what,
                          t.cpuNs = what == ThreadState::Running ? (endMs - startMs) * ms : 0, t.delayNs = 0);
            };
            state(0, 50, ThreadState::Running);    // before
            state(50, 250, ThreadState::Running);  // over both windows
            state(250, 260, ThreadState::Lock);    // within
            state(300, 400, ThreadState::Lock);    // after
        }
        // On other threads, because samples and switches of one are merged.
        constexpr const auto& s = tables::scheduleEvents;
        const auto change = [&](int64_t atMs, bool isIn) {
            trace.add(s, s.start = atMs * ms, s.cpu = 3, s.isSchedIn = isIn ? 1 : 0, s.globalTid = globalTid(7, 9),
                      s.isPreempted = std::optional<int64_t>());
        };
        change(10, true);    // continues into the first window
        change(120, false);  // and ends there
        change(170, true);   // between
        change(350, false);
        constexpr const auto& e = tables::sampleEvents;
        constexpr const auto& c = tables::samplingCallchains;
        for (const int64_t atMs : {90, 110, 199, 300}) {
            trace.add(c, c.id = atMs, c.symbol = trace.intern("f"), c.module = trace.intern("m"), c.stackDepth = 0,
                      c.line = std::optional<int64_t>());
            trace.add(e, e.id = atMs, e.start = atMs * ms, e.cpu = 0, e.globalTid = globalTid(7, 10));
        }
        QVERIFY(trace.commit());
        const std::vector<TimeRange> windows{{100 * ms, 150 * ms}, {200 * ms, 280 * ms}};
        const auto skipped =
            trimThreadsToWindows(trace.database(), [&](int64_t process) -> const std::vector<TimeRange>* {
                return process == globalPid(7) ? &windows : nullptr;
            });
        QVERIFY2(skipped, skipped ? "" : skipped.error().sentence.c_str());
        QVERIFY(trace.finish());
        writer.reset();
        const auto loaded = test::orFail(loadTrace(path, {}));
        const std::vector<Piece> cut = pieces(*loaded, inWindows, StateSource::StateSamples);
        QCOMPARE(cut.size(), size_t{3});
        QVERIFY((cut[0] == Piece{100, 150, ThreadState::Running, 50}));
        QVERIFY((cut[1] == Piece{200, 250, ThreadState::Running, 50}));
        QVERIFY((cut[2] == Piece{250, 260, ThreadState::Lock, 0}));
        QCOMPARE(pieces(*loaded, always, StateSource::StateSamples).size(), size_t{4});
        const std::vector<Piece> scheduled = pieces(*loaded, globalTid(7, 9), StateSource::Scheduler);
        QCOMPARE(scheduled.size(), size_t{3});
        QVERIFY((scheduled[0] == Piece{100, 120, ThreadState::Running, 20}));
        QVERIFY((scheduled[1] == Piece{120, 150, ThreadState::Blocked, 0}));
        QVERIFY((scheduled[2] == Piece{200, 280, ThreadState::Running, 80}));
        const std::vector<Piece> samples = pieces(*loaded, globalTid(7, 10), StateSource::Samples);
        QCOMPARE(samples.size(), size_t{1});
        QCOMPARE(samples[0].startMs, int64_t{110});
    }

    void threadEndsAfterItsLastSwitch() {
        const QTemporaryDir folder;
        const std::string path = folder.filePath("t.sqlite").toStdString();
        auto writer = test::orFail(TraceWriter::create(path));
        TraceWriter& trace = *writer;
        constexpr const auto& s = tables::scheduleEvents;
        constexpr const auto& t = tables::threadStates;
        for (const int64_t atMs : {20, 30, 40, 125, 130})
            trace.add(s, s.start = atMs * ms, s.cpu = 3, s.isSchedIn = atMs % 20 == 0 ? 1 : 0,
                      s.globalTid = globalTid(7, 9), s.isPreempted = std::optional<int64_t>());
        constexpr int64_t windowCount = 5'000;
        std::vector<TimeRange> windows;
        for (int64_t window = 1; window <= windowCount; ++window) {
            windows.push_back({window * 100 * ms, (window * 100 + 50) * ms});
            trace.add(t, t.start = (window * 100 + 40) * ms, t.end = (window * 100 + 60) * ms, t.globalTid = inWindows,
                      t.state = ThreadState::Lock, t.cpuNs = 0, t.delayNs = 0);
        }
        QVERIFY(trace.commit());
        QVERIFY(trimThreadsToWindows(trace.database(), [&](int64_t) { return &windows; }));
        QVERIFY(trace.finish());
        writer.reset();
        const auto loaded = test::orFail(loadTrace(path, {}));
        const std::vector<Piece> scheduled = pieces(*loaded, globalTid(7, 9), StateSource::Scheduler);
        QCOMPARE(scheduled.size(), size_t{1});
        QVERIFY((scheduled[0] == Piece{100, 125, ThreadState::Running, 25}));
        const std::vector<Piece> cut = pieces(*loaded, inWindows, StateSource::StateSamples);
        QCOMPARE(cut.size(), static_cast<size_t>(windowCount));
        QVERIFY((cut[0] == Piece{140, 150, ThreadState::Lock, 0}));
        QVERIFY((cut.back() == Piece{windowCount * 100 + 40, windowCount * 100 + 50, ThreadState::Lock, 0}));
    }

    void adjacentPiecesAreMerged() { QCOMPARE(joined({{5, 7}, {1, 3}, {3, 4}, {6, 9}, {9, 9}}).size(), size_t{2}); }

    /// A program without CUDA, of which only part of two seconds is requested.
    void delayAndDurationLimitSampling() {
        const QString python = QStandardPaths::findExecutable(QStringLiteral("python3"));
        if (python.isEmpty()) QSKIP("There is no Python.");
        const QTemporaryDir folder;
        const QString output = folder.filePath("run.sqlite");
        QProcess process;
        process.start(QStringLiteral(LANESCOPE_BINARY_DIR "/bin/lanescope"),
                      {"record", "--no-sample", "--delay", "0.8", "--duration", "0.5", "-o", output, "--", python, "-c",
                       "import time\nend = time.time() + 2\nwhile time.time() < end: pass"});
        QVERIFY(process.waitForFinished(60'000));
        QVERIFY2(process.exitCode() == 0, process.readAllStandardError());
        const auto trace = test::orFail(loadTrace(output.toStdString(), {}));
        const CpuStateTable& states = trace->cpuStates;
        QVERIFY(states.size() > 0);
        int64_t ranNs = 0;
        for (uint32_t row = 0; row < states.size(); ++row) {
            QVERIFY(states.startNs[row] >= 800 * ms && states.endNs[row] <= 1'300 * ms);
            ranNs += states.cpuNs[row];
        }
        QVERIFY(ranNs > 0 && ranNs <= 510 * ms);
    }

    /// A sampler may be a thread of the recorder, which continues.
    void samplerWithoutMemoryEndsAlone_data() {
        test::rows<bool>("atOnce", {{"when it begins", true}, {"when it reads", false}});
    }
    void samplerWithoutMemoryEndsAlone() {
        QFETCH(bool, atOnce);
        const QTemporaryDir folder;
        QVERIFY(QDir(folder.path()).mkdir("run"));
        SampleLog log = test::sampleLogAt(folder.filePath("run/host.sampler.77").toStdString(), 1 << 20);
        const uint32_t power = log.addCounter({"nvml", "power", "Power", "W", log::CounterMeaning::Gauge});
        SampleBatch batch;
        batch.add(power, 50.0);
        log.write(sampleTimeNs(), batch);
        SamplerThread thread(std::make_unique<WithoutMemory>(atOnce), 100'000'000, log, nullptr);
        QVERIFY(thread.waitUntil(log::monotonicNs() + 10'000'000'000) && !thread.isSampling());
        log.end();
        const std::string trace = folder.filePath("trace.sqlite").toStdString();
        auto collector = test::beginCollector(folder.filePath("run").toStdString(), trace, RunInfo());
        QVERIFY(collector && (*collector)->finish(std::nullopt, false));
        const auto database = Database::openReadOnly(trace);
        auto said = database->prepare("SELECT sentence FROM LANESCOPE_HEALTH WHERE code = 'sampler-ended'");
        QVERIFY(said && *said->step());
        QCOMPARE(QString::fromStdString(std::string(said->text(0))),
                 QString("Reading NVML ended early (out of memory); later values are unknown."));
        auto last = database->prepare("SELECT value FROM LANESCOPE_COUNTER_SAMPLES ORDER BY timestamp DESC");
        QVERIFY(last && *last->step() && last->isNull(0));
    }
};

LANESCOPE_TEST(tst_SampleTime, QCoreApplication)
#include "tst_SampleTime.moc"
