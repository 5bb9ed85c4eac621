// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/NvtxRecorder.h"
#include "capture/agent/NvtxRegistry.h"
#include "capture/log/LogFile.h"
#include "capture/log/LogReader.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::agent;
using namespace lanescope::log;

namespace {

struct Events {
    std::vector<log::NvtxRecord> events;
    std::vector<size_t> extendedBytes;
    std::map<uint32_t, size_t> textBytes;
    uint64_t dropped = 0;
    int domains = 0;
    void operator()(const log::StringRecord& r, std::string_view text) { textBytes[r.id] = text.size(); }
    void operator()(const log::NvtxRecord& r, std::span<const std::byte> extended) {
        events.push_back(r);
        extendedBytes.push_back(extended.size());
    }
    void operator()(const log::NvtxDomainRecord&) { ++domains; }
    void operator()(const log::DroppedRecord& r) { dropped += r.count; }
};

NvtxCall call(log::NvtxEvent event, std::string_view text, uint64_t payload = 0, uint32_t domain = 0) {
    NvtxCall c;
    c.event = event;
    c.text = text;
    c.payloadBits = payload;
    c.domain = domain;
    return c;
}

/// Never destroyed, as in an agent: threads keep references to it.
NvtxRecorder& makeRecorder(std::function<void()> wake = [] {}) {
    return *new NvtxRecorder(*new Windows({}, 0), *new CallStacks(false), std::move(wake));
}

void drain(NvtxRecorder& recorder, RecordWriter& writer) {
    static CycleClock clock;
    recorder.mark();
    clock.calibrate();
    recorder.drain(writer, clock);
}

}  // namespace

class tst_NvtxRecorder : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    int files_ = 0;

    struct Log {
        explicit Log(const std::string& base) : file(base), writer(file), path(base + ".log") {}
        LogFile file;
        RecordWriter writer;
        std::string path;
        Events read() {
            file.flush();
            Events events;
            auto reader = log::LogReader::open(path);
            if (reader && !reader->poll(events)) qFatal("A log could not be read to its end.");
            return events;
        }
    };
    std::string next() { return folder_.filePath(QString::number(++files_)).toStdString(); }

  private slots:
    void registryReturnsStableHandles() {
        NvtxRegistry registry;
        const NvtxDomain* first = registry.domain("one", 10, 1);
        const std::string* text = registry.registerString("text");
        std::vector<const NvtxDomain*> domains;
        for (int i = 0; i < 3000; ++i) {
            domains.push_back(registry.domain("domain " + std::to_string(i), i, 2));
            registry.registerString("string " + std::to_string(i));
        }
        QCOMPARE(registry.domain("one", 99, 9), first);
        QCOMPARE(first->name, std::string("one"));
        QCOMPARE(registry.registerString("text"), text);
        QCOMPARE(*text, std::string("text"));
        std::set<uint32_t> ids{first->id};
        for (const NvtxDomain* domain : domains) QVERIFY(ids.insert(domain->id).second);
        QVERIFY(!ids.count(0));  // the default domain
        QCOMPARE(registry.announcementCount(), size_t{3001});
        QCOMPARE(std::get<NvtxDomain>(registry.announcement(2)).name, std::string("domain 1"));
    }

    void registryAssignsEachSchemaAnId() {
        NvtxRegistry registry;
        NvtxSchema own;
        own.schemaId = 77;
        QCOMPARE(registry.add(own), 77u);
        const uint64_t first = registry.add(NvtxSchema{});
        const uint64_t second = registry.add(NvtxSchema{});
        QVERIFY(first != second && first >= uint64_t{1} << 32);
    }

    void registryServesManyThreads() {
        NvtxRegistry registry;
        std::vector<std::thread> threads;
        std::atomic<int> wrong{0};
        for (int t = 0; t < 8; ++t) {
            threads.emplace_back([&, t] {
                for (int i = 0; i < 500; ++i) {
                    const std::string name = "shared " + std::to_string(i);
                    if (registry.domain(name, 1, 1)->name != name) ++wrong;
                    if (*registry.registerString(name) != name) ++wrong;
                    registry.add(NvtxThreadName{uint32_t(t), name});
                }
            });
        }
        size_t seen = 0;
        while (seen < 500 + 8 * 500) {
            const size_t count = registry.announcementCount();
            for (; seen < count; ++seen) (void)registry.announcement(seen);
        }
        for (std::thread& thread : threads) thread.join();
        QCOMPARE(wrong.load(), 0);
        QCOMPARE(registry.announcementCount(), size_t{4500});
    }

    void countsLevelsByDomain() {
        NvtxRecorder& recorder = makeRecorder();
        QCOMPARE(recorder.record(call(log::NvtxEvent::Pop, "")), -1);
        QCOMPARE(recorder.record(call(log::NvtxEvent::Push, "a")), 0);
        QCOMPARE(recorder.record(call(log::NvtxEvent::Push, "b")), 1);
        QCOMPARE(recorder.record(call(log::NvtxEvent::Push, "c", 0, 900)), 0);
        QCOMPARE(recorder.record(call(log::NvtxEvent::Pop, "")), 1);
        QCOMPARE(recorder.record(call(log::NvtxEvent::Pop, "", 0, 900)), 0);
        QCOMPARE(recorder.record(call(log::NvtxEvent::Pop, "", 0, 900)), -1);
        QCOMPARE(recorder.record(call(log::NvtxEvent::Pop, "")), 0);
        Log log(next());
        drain(recorder, log.writer);
        QCOMPARE(log.read().events.size(), size_t{6});
    }

    void truncatesLongTexts() {
        NvtxRecorder& recorder = makeRecorder();
        NvtxCall big = call(log::NvtxEvent::Mark, std::string_view());
        const std::string text(20'000, 't'), payload(9'000, 'p');
        big.text = text;
        big.extended = payload;
        recorder.record(big);
        Log log(next());
        drain(recorder, log.writer);
        Events events = log.read();
        QCOMPARE(events.extendedBytes.at(0), size_t{4096});
        QCOMPARE(events.events[0].header.flags, uint16_t{1});
        QCOMPARE(events.textBytes[events.events[0].text], size_t{8192});
    }

    void countsDroppedEvents() {
        NvtxRecorder& recorder = makeRecorder();
        for (int i = 0; i < 100'000; ++i) recorder.record(call(log::NvtxEvent::Mark, "mark", uint64_t(i)));
        Log log(next());
        drain(recorder, log.writer);
        const Events events = log.read();
        QVERIFY(events.dropped > 0 && events.events.size() > 5000);
        QCOMPARE(events.dropped + events.events.size(), uint64_t{100'000});
        for (size_t i = 0; i < events.events.size(); ++i) QCOMPARE(events.events[i].payloadBits, uint64_t(i));
    }

    void repeatsDefinitionsAfterALoss() {
        nvtxRegistry().domain("announced", 1, 1);
        NvtxRecorder& recorder = makeRecorder();
        Log log(next());
        recorder.record(call(log::NvtxEvent::Mark, "one"));
        drain(recorder, log.writer);
        recorder.record(call(log::NvtxEvent::Mark, "two"));
        drain(recorder, log.writer);
        const int before = log.read().domains;
        QVERIFY(before >= 1);
        log.writer.startAgain();
        recorder.record(call(log::NvtxEvent::Mark, "three"));
        drain(recorder, log.writer);
        QCOMPARE(log.read().domains, 2 * before);
    }

    void drainsWhileThreadsStartAndEnd() {
        std::atomic<int> woken{0};
        NvtxRecorder& recorder = makeRecorder([&] { ++woken; });
        Log log(next());
        std::atomic<bool> done{false};
        std::thread makers([&] {
            for (int round = 0; round < 60; ++round) {
                std::vector<std::thread> threads;
                for (int t = 0; t < 4; ++t) {
                    threads.emplace_back([&, number = round * 4 + t] {
                        for (int i = 0; i < 50; ++i) {
                            recorder.record(call(log::NvtxEvent::Push, "range", uint64_t(number)));
                            recorder.record(call(log::NvtxEvent::Pop, "", uint64_t(number)));
                        }
                    });
                }
                for (std::thread& thread : threads) thread.join();
            }
            done.store(true);
        });
        while (!done.load()) drain(recorder, log.writer);
        makers.join();
        drain(recorder, log.writer);
        const Events events = log.read();
        // On a busy machine a ring may overflow; then the loss must be counted.
        QCOMPARE(events.dropped + events.events.size(), uint64_t{60 * 4 * 100});
        QVERIFY(events.events.size() > 1000);
        std::map<uint64_t, std::set<uint32_t>> threadsOf;
        for (const log::NvtxRecord& event : events.events) {
            QVERIFY(event.level == 0);
            threadsOf[event.payloadBits].insert(event.threadId);
        }
        for (const auto& [number, threads] : threadsOf) QCOMPARE(threads.size(), size_t{1});
        QVERIFY(woken.load() >= 240);
    }
};

LANESCOPE_TEST(tst_NvtxRecorder, QCoreApplication)
#include "tst_NvtxRecorder.moc"
