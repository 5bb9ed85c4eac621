// SPDX-License-Identifier: Apache-2.0
#include <new>

#include "capture/collector/Collector.h"
#include "capture/log/clocks.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/SamplerThread.h"
#include "capture/sample/sampleTime.h"
#include "model/format/Sqlite.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;

namespace {

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

class tst_SamplerThread : public QObject {
    Q_OBJECT

  private slots:
    /// A sampler may be a thread of the recorder, which continues.
    void samplerWithoutMemoryEndsAlone_data() {
        QTest::addColumn<bool>("atOnce");
        QTest::newRow("when it begins") << true;
        QTest::newRow("when it reads") << false;
    }

    void samplerWithoutMemoryEndsAlone() {
        QFETCH(bool, atOnce);
        const QTemporaryDir folder;
        QVERIFY(QDir(folder.path()).mkdir("run"));
        SampleLog log(folder.filePath("run/host.sampler.77").toStdString(), 1 << 20);
        const uint32_t power = log.addCounter({"nvml", "power", "Power", "W", log::CounterMeaning::Gauge});
        SampleBatch batch;
        batch.add(power, 50.0);
        log.write(sampleTimeNs(), batch);
        SamplerThread thread(std::make_unique<WithoutMemory>(atOnce), 100'000'000, log, nullptr);
        QVERIFY(thread.waitUntil(log::monotonicNs() + 10'000'000'000));
        QVERIFY(!thread.isSampling());
        log.end();
        const std::string trace = folder.filePath("trace.sqlite").toStdString();
        auto collector = Collector::begin(folder.filePath("run").toStdString(), trace, RunInfo());
        QVERIFY(collector && (*collector)->finish(std::nullopt, false));
        const auto database = Database::openReadOnly(trace);
        auto said = database->prepare("SELECT sentence FROM LANESCOPE_HEALTH WHERE code = 'sampler-ended'");
        QVERIFY(said && *said->step());
        QCOMPARE(QString::fromStdString(std::string(said->text(0))),
                 QString("Reading NVML ended early (out of memory); later values are unknown."));
        auto last = database->prepare("SELECT value FROM LANESCOPE_COUNTER_SAMPLES ORDER BY timestamp DESC");
        QVERIFY(last && *last->step());
        QVERIFY(last->isNull(0));
    }
};

LANESCOPE_TEST(tst_SamplerThread, QCoreApplication)
#include "tst_SamplerThread.moc"
