// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/CollectorFixture.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;
using namespace lanescope::log;
using namespace lanescope::test;

class tst_CollectTrouble : public QObject {
    Q_OBJECT
    std::unique_ptr<CollectorFixture> fixture_;

    std::string in(const std::string& name) const { return fixture_->in(name); }
    std::string logPath(const std::string& name) const { return fixture_->logPath(name); }
    CollectedRun collect() const { return fixture_->collect(); }
    std::string row(const char* sql) const { return fixture_->row(sql); }

  private slots:
    void init() { fixture_ = std::make_unique<CollectorFixture>(); }

    /// Other programs' readers refuse a whole table for one such byte.
    void repairsInvalidUtf8() {
        TestLog log;
        log.property("program", "/opt/\xff/python");
        log.add(nvtx(NvtxEvent::Push, 100, 0,
                     log.string("a\xff\xfe"
                                "b")));
        log.add(nvtx(NvtxEvent::Pop, 200, 0, 0));
        log.add(nvtx(NvtxEvent::Push, 300, 0,
                     log.string("a\xfd\xfe"
                                "b")));
        log.add(nvtx(NvtxEvent::Pop, 400, 0, 0));
        log.end(startNs + 1000);
        log.flush(startNs + 100, startNs + 400);
        log.writeTo(logPath("box.-.4242.log"));
        collect();
        QCOMPARE(row("SELECT count(*) FROM StringIds WHERE value = 'a\xef\xbf\xbd\xef\xbf\xbd' || 'b'"), "1");
        QCOMPARE(row("SELECT count(DISTINCT textId) FROM NVTX_EVENTS WHERE eventType = 59"), "1");
        QCOMPARE(row("SELECT value FROM LANESCOPE_PROPERTIES WHERE name = 'program'"), "/opt/\xef\xbf\xbd/python");
    }

    void execIsNoAbnormalEnd() {
        for (const int64_t begunNs : {int64_t{0}, int64_t{5000}}) {
            TestLog log(4242, startNs + begunNs);
            log.add(nvtx(NvtxEvent::Mark, begunNs + 100, 0, log.string("here")));
            if (begunNs > 0) log.end(startNs + begunNs + 500);
            log.flush(startNs + begunNs + 100, startNs + begunNs + 100);
            log.writeTo(logPath(begunNs > 0 ? "box.-.4242.2.log" : "box.-.4242.log"));
        }
        const CollectedRun run = collect();
        QVERIFY2(run.warnings.empty(), run.warnings.empty() ? "" : run.warnings[0].c_str());
        QCOMPARE(run.processesTruncated, 0);
        QCOMPARE(row("SELECT code, severity FROM LANESCOPE_HEALTH"), "process-became-another|0");
    }

    void reportsProcessesThatCouldNotWriteALog() {
        std::filesystem::create_directories(in("run"));
        std::filesystem::create_symlink("13 /usr/bin/python3", logPath("box.-.77.lost"));
        std::filesystem::create_symlink("nonsense", logPath("box.-.78.lost"));
        const CollectedRun run = collect();
        QCOMPARE(run.processesWithoutLog, 2u);
        QCOMPARE(fixture_->rows("SELECT sentence FROM LANESCOPE_HEALTH ORDER BY sentence"),
                 "Process 77 (python3): used NVTX or CUDA, but could not write its log: Permission "
                 "denied., Process 78 (-): used NVTX or CUDA, but could not write its log: Success.");
    }

    void readsLogsOfANewerAgent() {
        TestLog log;
        log.property("agentVersion", "0.0.9");
        log.add(nvtx(NvtxEvent::Mark, 100, 0, log.string("here")));
        // Records and fields that only a newer agent writes.
        log.add(static_cast<RecordKind>(999), nvtx(NvtxEvent::Mark, 150, 0, 0));
        const uint64_t more[2] = {1, 2};
        log.add(ClockRecord{}, more, sizeof more);
        log.end(startNs + 500);
        log.flush(startNs + 100, startNs + 150);
        log.writeTo(logPath("box.-.4242.log"));
        RunInfo info = runInfo();
        info.version = "0.1.0";
        auto collector = Collector::begin(in("run"), in("out.sqlite"), info);
        QVERIFY(collector);
        const auto run = (*collector)->finish({}, false);
        QVERIFY(run && run->warnings.empty());
        QCOMPARE(row("SELECT count(*) FROM NVTX_EVENTS"), "1");
        QCOMPARE(fixture_->rows("SELECT code, severity FROM LANESCOPE_HEALTH"), "versions-differ|0");
        QVERIFY(row("SELECT sentence FROM LANESCOPE_HEALTH").starts_with("The agent has version 0.0.9, and"));
    }

    void reportsAClockChangeOnce() {
        for (const uint32_t pid : {4242u, 4243u}) {
            TestLog log(pid);
            log.add(nvtx(NvtxEvent::Mark, 100, 0, log.string("here")));
            for (int second = 1; second <= 5; ++second) {
                ClockRecord clock{};
                clock.monotonicNs = 5'000'000 + second * int64_t{1'000'000'000};
                clock.realtimeNs = startNs + second * int64_t{1'000'000'000} + 400'000 * second;
                if (second >= 4) clock.realtimeNs -= 20'000'000'000;
                log.add(clock);
            }
            log.end(startNs + 5'000'000'000);
            log.flush(startNs + 100, startNs + 100);
            log.writeTo(logPath("box.-." + std::to_string(pid) + ".log"));
        }
        collect();
        QCOMPARE(fixture_->rows("SELECT code, severity, timestamp FROM LANESCOPE_HEALTH"), "clock-set|0|4000000000");
        QCOMPARE(row("SELECT sentence FROM LANESCOPE_HEALTH"),
                 "The clock of box was set 20.000 s back at 4.0 s. Times in this trace are not "
                 "affected.");
    }
};

LANESCOPE_TEST(tst_CollectTrouble, NoApplication)
#include "tst_CollectTrouble.moc"
