// SPDX-License-Identifier: Apache-2.0
#include "model/reports/describeTrace.h"
#include "model/trace/healthNotes.h"
#include "tests/capture/CollectorFixture.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;
using namespace lanescope::log;
using namespace lanescope::test;

/// Tests of recording problems, from the log through the collector and the file to the marks on the
/// timeline, by codes: no sentence is typed here, and sentences are compared only as a whole.
class tst_HealthFacts : public QObject {
    Q_OBJECT

    /// A record whose kind should be longer.
    struct OversizedRecord {
        RecordHeader header;
    };

    /// A log of a process with NVTX and CUDA, not ended.
    static TestLog logOf(uint32_t pid) {
        TestLog log(pid);
        log.property("program", "/usr/bin/python3");
        log.add(kernel(100, log.string("gemm")));
        log.add(nvtx(NvtxEvent::Push, 200, 0, log.string("step")));
        log.add(nvtx(NvtxEvent::Pop, 900, 0, 0));
        return log;
    }
    static void addLoss(TestLog& log, Loss what, uint64_t count, int64_t atNs) {
        log.add(DroppedRecord{.timestampNs = startNs + atNs, .count = count, .what = what});
    }
    void add(TestLog& log, uint32_t pid) const {
        log.flush(startNs, startNs + 1000);
        log.writeTo(fixture_->logPath("box.-." + std::to_string(pid) + ".log"));
    }
    TracePtr load() const {
        fixture_->collect();
        return test::orFail(loadTrace(fixture_->in("out.sqlite")));
    }
    static std::vector<HealthNote> notesOfCode(const Trace& trace, HealthCode code) {
        std::vector<HealthNote> notes;
        std::copy_if(trace.health.begin(), trace.health.end(), std::back_inserter(notes),
                     [code](const HealthNote& note) { return note.code == code; });
        return notes;
    }
    static const Process* processOf(const Trace& trace, uint32_t pid) {
        for (const Process& process : trace.processes)
            if (process.pid == pid) return &process;
        return nullptr;
    }
    static bool isLossyAnywhere(const Trace& trace, TrackKind kind) {
        return std::any_of(trace.tracks.begin(), trace.tracks.end(),
                           [kind](const Track& track) { return track.kind == kind && !track.lossy->empty(); });
    }

  private slots:
    void init() { fixture_ = std::make_unique<CollectorFixture>(); }

    void abnormalEndIsOneNoteAndOnePlace() {
        TestLog log = logOf(4242);
        add(log, 4242);
        const TracePtr trace = load();
        const auto notes = notesOfCode(*trace, HealthCode::ProcessEndedAbnormally);
        QCOMPARE(notes.size(), size_t{1});
        QVERIFY(processOf(*trace, 4242)->endedAbnormally);
        QCOMPARE(notes[0].globalPid, processOf(*trace, 4242)->globalPid);
        QCOMPARE(notes[0].severity, Severity::Warning);
        QVERIFY(notes[0].timeNs.has_value());
        const auto places = healthPlaces(*trace);
        QCOMPARE(places.size(), size_t{1});
        QVERIFY(places[0].isEnd);
        QCOMPARE(places[0].sentence, notes[0].sentence);
        const auto place = placeOf(*trace, places, notes[0]);
        QVERIFY(place && place->isEnd && place->range == places[0].range);
    }

    /// PIDs where one is a prefix of the other.
    void eachProcessHasItsOwnEnd() {
        for (const uint32_t pid : {424, 4242}) {
            TestLog log = logOf(pid);
            add(log, pid);
        }
        const TracePtr trace = load();
        const auto notes = notesOfCode(*trace, HealthCode::ProcessEndedAbnormally);
        const auto places = healthPlaces(*trace);
        QCOMPARE(test::listed(notes.size(), places.size()), "2 | 2");
        for (const HealthNote& note : notes) {
            const auto place = test::orFail(placeOf(*trace, places, note));
            QCOMPARE(trace->processes[place.process].globalPid, *note.globalPid);
        }
    }

    void endBySignalHasAPlace() {
        TestLog log = logOf(7);
        log.add(EndRecord{.timestampNs = startNs + 950, .reason = EndReason::Signal, .signal = 15});
        add(log, 7);
        const TracePtr trace = load();
        QVERIFY(!processOf(*trace, 7)->endedAbnormally);
        QCOMPARE(processOf(*trace, 7)->facts->endSignal, int64_t{15});
        const auto places = healthPlaces(*trace);
        QCOMPARE(places.size(), size_t{1});
        QVERIFY(places[0].isEnd);
    }

    void everyLossIsLoadedAndDrawn_data() {
        const test::Rows<Loss, bool, bool> add;
        add("NVTX", Loss::NvtxCalls, true, false);
        add("CUDA", Loss::CudaActivity, false, true);
        add("blocks", Loss::LogBlocks, true, true);
        add("NCCL", Loss::NcclEvents, true, false);
        add("nested", Loss::NestedCalls, true, true);
        add("no memory", Loss::CallsWithoutMemory, true, true);
        add("of a newer recorder", static_cast<Loss>(77), true, true);
    }
    void everyLossIsLoadedAndDrawn() {
        const auto [loss, isOfNvtx, isOfStream] = test::row<Loss, bool, bool>();
        TestLog log = logOf(4242);
        addLoss(log, loss, 12, 950);
        log.end(startNs + 1000);
        add(log, 4242);
        const TracePtr trace = load();
        const auto& gaps = processOf(*trace, 4242)->gaps;
        QCOMPARE(gaps.size(), size_t{1});
        QCOMPARE(test::listed(gaps[0].what, gaps[0].count), test::listed(loss, 12));
        QCOMPARE(isLossyAnywhere(*trace, TrackKind::ThreadNvtx), isOfNvtx);
        QCOMPARE(isLossyAnywhere(*trace, TrackKind::Stream), isOfStream);
        const auto notes = notesOfCode(*trace, HealthCode::EventsDropped);
        QCOMPARE(notes.size(), size_t{1});
        QCOMPARE(notes[0].count, int64_t{12});
        QVERIFY(notes[0].sentence.find(nameOf(loss).cause) != std::string::npos);
        const auto place = placeOf(*trace, healthPlaces(*trace), notes[0]);
        QVERIFY(place && !place->isEnd);
        QCOMPARE(place->range, gaps[0].range);
        const DescribedTrace description = describeTrace(*trace);
        const auto& facts = description.processes[0].facts;
        QVERIFY(std::any_of(facts.begin(), facts.end(), [](const Property& fact) {
            return fact.name == "Lost" && fact.value.find("12") != std::string::npos;
        }));
    }

    /// A sampler's log is read like any other, and its losses are reported alike.
    void lossesOfASamplerLogAreReported() {
        TestLog log(77);
        addLoss(log, Loss::LogBlocks, 3, 100);
        log.flush(startNs, startNs + 1000);
        log.loseBlock();
        log.add(RecordKind::Kernel, OversizedRecord{});  // Too short for a kernel.
        log.end(startNs + 1000);
        log.flush(startNs, startNs + 1000);
        log.writeTo(fixture_->logPath("box.sampler.77.log"));
        const TracePtr trace = load();
        const auto dropped = notesOfCode(*trace, HealthCode::SamplesDropped);
        QCOMPARE(dropped.size(), size_t{1});
        QCOMPARE(dropped[0].count, int64_t{3});
        QVERIFY(dropped[0].sentence.find(nameOf(Loss::LogBlocks).cause) != std::string::npos);
        QCOMPARE(notesOfCode(*trace, HealthCode::LogGap).size(), size_t{1});
        QCOMPARE(notesOfCode(*trace, HealthCode::LogOddRecords).size(), size_t{1});
    }

    /// A corrupt log may contain them; earlier records stay, and the time after them is unknown.
    void untimedSamplesAreSkipped() {
        constexpr int64_t latest = std::numeric_limits<int64_t>::max();
        {
            std::string path = fixture_->logPath("box.sampler.77.log");
            path.resize(path.size() - std::string_view(".log").size());
            capture::SampleLog written = test::sampleLogAt(path, 1 << 20);
            const uint32_t power = written.addCounter({"nvml", "power", "Power", "W", log::CounterMeaning::Gauge});
            capture::SampleBatch batch;
            for (const int64_t timeNs : {startNs + 100, latest, -latest, startNs + 200}) {
                batch.clear();
                batch.add(power, static_cast<double>(timeNs % 7));
                written.write(timeNs, batch);
            }
            written.end();
        }
        const TracePtr trace = load();
        const auto said = notesOfCode(*trace, HealthCode::SamplesOutOfOrder);
        QCOMPARE(said.size(), size_t{1});
        QCOMPARE(said[0].count, int64_t{2});
        QCOMPARE(fixture_->rows("SELECT timestamp FROM LANESCOPE_COUNTER_SAMPLES WHERE value IS NOT NULL ORDER BY 1"),
                 "100, 200");
    }

    /// From 0.03 of a core on; less does not make the run doubtful.
    void stolenTimeIsReported() {
        for (const auto& [seconds, isReported] : {std::pair(0.5, true), std::pair(0.05, false)}) {
            init();
            {
                std::string path = fixture_->logPath("box.sampler.77.log");
                path.resize(path.size() - std::string_view(".log").size());
                capture::SampleLog written = test::sampleLogAt(path, 1 << 20);
                const uint32_t stolen =
                    written.addCounter({"host", "cpu.steal", "Stolen", "s", log::CounterMeaning::Cumulative});
                capture::SampleBatch batch;
                for (const auto& [atNs, value] :
                     {std::pair<int64_t, double>(0, 7.0), {1'000'000'000, 7.0}, {2'000'000'000, 7.0 + seconds}}) {
                    batch.clear();
                    batch.add(stolen, value);
                    written.write(startNs + atNs, batch);
                }
                written.end();
            }
            const TracePtr trace = load();
            const auto said = std::ranges::find_if(trace->health, [](const HealthNote& note) {
                return note.sentence.find("cpu.steal") != std::string::npos;
            });
            QCOMPARE(said != trace->health.end(), isReported);
            if (!isReported) continue;
            QCOMPARE(said->severity, Severity::Warning);
            QCOMPARE(said->code, HealthCode::CpuStolen);
            HAS(said->sentence, "took 0.25 of a core");
        }
    }

    /// CUPTI gives some kernels no times: the collector has the process, the loader only the number of such rows.
    void lossKnownToCollectorAndLoaderIsReportedOnce() {
        TestLog log = logOf(4242);
        log.add(kernel(0, log.string("gemm")));
        log.end(startNs + 1000);
        add(log, 4242);
        const TracePtr trace = load();
        const auto notes = notesOfCode(*trace, HealthCode::Untimed);
        QCOMPARE(notes.size(), size_t{1});
        QCOMPARE(notes[0].globalPid, processOf(*trace, 4242)->globalPid);
        QCOMPARE(notes[0].count, int64_t{1});
    }

    void equalNotesOfSeveralProcessesAreShownOnce() {
        for (const uint32_t pid : {11, 12}) {
            TestLog log = logOf(pid);
            log.add(NoteRecord{.timestampNs = startNs + 10,
                               .severity = Severity::Warning,
                               .code = log.string(identifier(HealthCode::Cupti1300)),
                               .sentence = log.string("The same for both.")});
            log.end(startNs + 1000);
            add(log, pid);
        }
        const TracePtr trace = load();
        QCOMPARE(notesOfCode(*trace, HealthCode::Cupti1300).size(), size_t{2});
        QCOMPARE(healthNotesOf(*trace).size(), size_t{1});
    }

    void codeOfANewerAgentIsKeptAndShown() {
        TestLog log = logOf(4242);
        log.add(NoteRecord{.timestampNs = startNs + 10,
                           .severity = Severity::Warning,
                           .code = log.string("brand-new"),
                           .sentence = log.string("Something new happened.")});
        log.end(startNs + 1000);
        add(log, 4242);
        const TracePtr trace = load();
        const auto notes = healthNotesOf(*trace);
        QCOMPARE(notes.size(), size_t{1});
        QCOMPARE(test::listed(notes[0].code, codeOf(notes[0])), test::listed(HealthCode::Unknown, "brand-new"));
        QCOMPARE(notes[0].timeNs, int64_t{10});
        const std::string shown = shownText(notes[0]);
        QVERIFY(shown.find(notes[0].sentence) != std::string::npos);
        QVERIFY(shown.find("brand-new") != std::string::npos);
    }

    void factsBelongToTheirSubject() {
        TestLog log = logOf(4242);
        for (const auto& [name, value] :
             {std::pair("rank", "1"), std::pair("localRank", "1"), std::pair("worldSize", "2"),
              std::pair("cuptiVersion", "130001"), std::pair("cuptiPath", "/usr/lib/libcupti.so"),
              std::pair("nvtx", "off"), std::pair("brandNew", "yes")})
            log.property(name, value);
        log.end(startNs + 1000);
        add(log, 4242);
        const TracePtr trace = load();
        QCOMPARE(test::listed(trace->facts.commandLine, trace->facts.host), "python train.py | box");
        QCOMPARE(trace->facts.driverVersion, std::string("580.1"));
        QVERIFY(trace->facts.others.empty());
        const Process& process = *processOf(*trace, 4242);
        QCOMPARE(test::listed(process.worldSize, process.facts->cuptiVersion), "2 | 130001");
        QCOMPARE(process.facts->cuptiPath, std::string("/usr/lib/libcupti.so"));
        QVERIFY(process.facts->isNvtxOff && !process.facts->isCudaOff);
        QCOMPARE(process.facts->others.size(), size_t{1});
        QCOMPARE(test::listed(process.facts->others[0].name, process.facts->others[0].value), "brandNew | yes");
    }

  private:
    std::unique_ptr<CollectorFixture> fixture_;
};

LANESCOPE_TEST(tst_HealthFacts, QCoreApplication)
#include "tst_HealthFacts.moc"
