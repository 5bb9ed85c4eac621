// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <ctime>

#include "capture/collector/Collector.h"
#include "capture/log/LogFormat.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/SamplerThread.h"
#include "capture/sample/sampleTime.h"
#include "model/format/Sqlite.h"
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
        const int64_t beforeNs = sampleTimeNs();
        const int64_t realNs = realtimeNs();
        const int64_t afterNs = sampleTimeNs();
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
            MomentMessage message{};
            message.timestampNs = eventTimeNs();
            message.processId = 4242;
            message.nameBytes = 4;
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
            SampleLog log(run.toStdString() + "/host.sampler.77", 1 << 20);
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
        auto collector = Collector::begin(run.toStdString(), trace, RunInfo());
        QVERIFY(collector && (*collector)->finish(std::nullopt, false));
        const auto database = Database::openReadOnly(trace);
        QVERIFY(database.has_value());
        auto rows = database->prepare(
            "SELECT min(timestamp), min(readStart), max(readStart) FROM LANESCOPE_SAMPLING_MOMENTS"
            " GROUP BY occurrence ORDER BY occurrence");
        QVERIFY(rows.has_value());
        int64_t readNs = 0;
        for (const MomentMessage& moment : told) {
            QVERIFY(*rows->step());
            QCOMPARE(rows->integer(0), moment.timestampNs);
            // Readings are ordered, whatever the clock shows.
            QVERIFY(rows->integer(1) >= readNs && rows->integer(1) == rows->integer(2));
            readNs = rows->integer(1);
        }
        QVERIFY(!*rows->step());
    }
};

LANESCOPE_TEST(tst_SampleTime, QCoreApplication)
#include "tst_SampleTime.moc"
