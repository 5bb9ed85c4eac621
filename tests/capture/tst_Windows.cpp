// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/NvtxRecorder.h"
#include "capture/agent/NvtxRegistry.h"
#include "capture/agent/NvtxTrigger.h"
#include "capture/agent/Windows.h"
#include "capture/cupti/LaunchWindows.h"
#include "capture/log/clocks.h"
#include "tests/capture/byPath.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::agent;
using namespace lanescope::log;

namespace {

WindowOptions byCalls(int64_t repeat = 0) {
    WindowOptions options{.trigger = WindowTrigger::CudaProfilerCalls, .repeat = repeat};
    return options;
}

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
    NvtxCall c{.event = event, .domain = domain, .payloadBits = payload, .text = text};
    return c;
}

/// Never destroyed, as in an agent: threads keep references to it.
NvtxRecorder& makeRecorder(std::function<void()> wake = [] {}) {
    return *new NvtxRecorder(*new Windows({}, 0), *new CallStacks(false), *new BurstMemory(0), std::move(wake));
}

void drain(NvtxRecorder& recorder, RecordWriter& writer) {
    static CycleClock clock;
    recorder.mark();
    clock.calibrate();
    recorder.drain(writer, clock);
}

}  // namespace

class tst_Windows : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    LogFile file_ = test::logFileAt(folder_.filePath("log").toStdString());
    RecordWriter writer_{file_};
    int files_ = 0;

    struct Log {
        explicit Log(const std::string& base) : file(test::logFileAt(base)), writer(file), path(base + ".log") {}
        LogFile file;
        RecordWriter writer;
        std::string path;
        Events read() {
            file.flush();
            Events events;
            auto reader = test::openLog(path);
            if (reader && !reader->poll(events)) qFatal("A log could not be read to its end.");
            return events;
        }
    };
    std::string next() { return folder_.filePath(QString::number(++files_)).toStdString(); }

  private slots:
    void stepNamesAreRecognized_data() {
        QTest::addColumn<bool>("isStep");
        for (const char* name : {"step", "step 12", "Step#3", "STEP_4", "iteration", "Iter 5", "iter:7",
                                 "ProfilerStep#12", "train_step", "training step 3", "train iteration 9", "Train Step"})
            QTest::newRow(name) << true;
        for (const char* name : {"", "stepping", "forward", "optimizer step", "my step", "iterator", "training loop",
                                 "train", "ProfilerSteps", "st"})
            QTest::newRow(name) << false;
    }
    void stepNamesAreRecognized() {
        QFETCH(bool, isStep);
        QCOMPARE(isStepName(QTest::currentDataTag()), isStep);
    }

    void windowsOpenAndClose() {
        Windows windows(byCalls(2), 0);
        QVERIFY(!windows.close().hasChanged);
        const auto opened = windows.open();
        QVERIFY(opened.hasChanged && !windows.open().hasChanged);
        const auto closed = windows.close();
        QVERIFY(closed.hasChanged && !windows.close().hasChanged);
        QVERIFY(windows.open().hasChanged && windows.close().hasChanged && !windows.open().hasChanged);
        windows.refresh(writer_);
        QVERIFY(windows.isOpenAt(opened.ns) && !windows.isOpenAt(opened.ns - 1));
        QVERIFY(!windows.isOpenAt(closed.ns));
        QCOMPARE(windows.windows().size(), size_t{2});
    }

    void onlyTheLatestIsRemembered() {
        Windows windows(byCalls(), 0);
        for (int i = 0; i < 10'000; ++i) {
            windows.open();
            windows.close();
            if (i % 7 == 0) windows.refresh(writer_);
        }
        windows.refresh(writer_);
        QVERIFY(windows.windows().size() <= Windows::maxRememberedWindows);
        QCOMPARE(windows.windows().back().index, 9'999u);
    }

    void windowsMissedDuringSleepAreSkipped() {
        WindowOptions options{.trigger = WindowTrigger::Time,
                              .baseNs = realtimeNs() - int64_t{24} * 3600 * 1'000'000'000,
                              .delayNs = 1'000'000,
                              .durationNs = 1'000'000,
                              .repeat = 0};
        Windows windows(options, 0);
        windows.refresh(writer_);
        QVERIFY(windows.windows().size() <= Windows::maxRememberedWindows + 1);
        QVERIFY(windows.windows().back().beginNs > realtimeNs() - 1'000'000'000);
    }

    /// The basic property: an event published before a refresh, with a time inside a window, is found in that window.
    void earlierEventsFindTheirWindow() {
        Windows windows(byCalls(), 0);
        std::atomic<bool> done{false};
        std::atomic<int64_t> published{0};
        std::thread opener([&] {
            while (!done.load()) {
                windows.open();
                published.store(realtimeNs());
                std::this_thread::yield();
                windows.close();
            }
        });
        int wrong = 0;
        for (int i = 0; i < 20'000; ++i) {
            const int64_t eventNs = published.load();
            windows.refresh(writer_);
            if (windows.windows().empty() || eventNs < windows.windows().front().beginNs) continue;
            bool isKnown = false;
            for (const auto& window : windows.windows())
                isKnown = isKnown || (eventNs >= window.beginNs && eventNs <= window.endNs);
            wrong += !isKnown;
        }
        done.store(true);
        opener.join();
        QCOMPARE(wrong, 0);
    }

    /// Compared with a plain list of all calls: calls overtake each other, work precedes its call,
    /// and numbers wrap around.
    void launchesInAWindowMatchPlainLoop() {
        std::mt19937 random(7);
        for (int round = 0; round < 40; ++round) {
            Windows windows(byCalls(), 0);
            LaunchWindows launches(windows, true);
            uint32_t number = round % 2 ? 0xffffff00u : 1u;
            std::map<uint32_t, bool> isInside;
            std::vector<std::pair<uint32_t, int64_t>> calls;
            bool isOpen = false;
            for (int i = 0; i < 600; ++i) {
                if (random() % 60 == 0) {
                    isOpen ? windows.close() : windows.open();
                    isOpen = !isOpen;
                }
                calls.emplace_back(number++, realtimeNs());
                isInside[calls.back().first] = isOpen;
                // Two threads: the numbers of two calls are assigned in the other order.
                if (calls.size() > 1 && random() % 5 == 0) std::swap(calls.back().first, calls[calls.size() - 2].first);
            }
            windows.refresh(writer_);
            for (const auto& [call, startNs] : calls) isInside[call] = windows.isOpenAt(startNs);
            // Threads deliver their calls in batches, so that these arrive in any order.
            std::vector<std::pair<uint32_t, int64_t>> early(calls.begin(), calls.begin() + 300);
            std::shuffle(early.begin(), early.end(), random);
            for (const auto& [call, startNs] : early) launches.addCall(call, startNs);
            for (size_t i = 300; i < calls.size(); ++i) launches.addCall(calls[i].first, calls[i].second);
            for (const auto& [call, inside] : isInside) {
                const auto expected = inside ? LaunchWindows::Answer::Inside : LaunchWindows::Answer::Outside;
                QCOMPARE(launches.find(call, 0), expected);
                QCOMPARE(launches.guess(call, 0), expected);
            }
        }
    }

    void hundredsOfWindowsBetweenTwoReadsAreKept() {
        constexpr uint32_t count = 400;
        Windows windows(byCalls(), 0);
        LaunchWindows launches(windows, true);
        std::vector<int64_t> inside, outside;
        for (uint32_t i = 0; i < count; ++i) {
            inside.push_back(windows.open().ns);
            while (realtimeNs() <= inside.back()) {
            }
            outside.push_back(windows.close().ns);
            while (realtimeNs() <= outside.back()) {
            }
        }
        windows.refresh(writer_);
        for (uint32_t i = 0; i < count; ++i) {
            QVERIFY(windows.isOpenAt(inside[i]) && !windows.isOpenAt(outside[i]));
            launches.addCall(2 * i, inside[i]);
            launches.addCall(2 * i + 1, outside[i]);
        }
        for (uint32_t i = 0; i < count; ++i) {
            QCOMPARE(launches.find(2 * i, 0), LaunchWindows::Answer::Inside);
            QCOMPARE(launches.find(2 * i + 1, 0), LaunchWindows::Answer::Outside);
        }
    }

    void windowIsReadInTwoParts() {
        Windows windows(byCalls(), 0);
        LaunchWindows launches(windows, true);
        for (uint32_t i = 0; i < 1500; ++i) {
            const int64_t insideNs = windows.open().ns;
            windows.refresh(writer_);
            launches.addCall(2 * i, insideNs);
            while (realtimeNs() <= insideNs) {
            }
            const int64_t outsideNs = windows.close().ns;
            windows.refresh(writer_);
            launches.addCall(2 * i + 1, outsideNs);
            QCOMPARE(launches.find(2 * i, 0), LaunchWindows::Answer::Inside);
            QCOMPARE(launches.find(2 * i + 1, 0), LaunchWindows::Answer::Outside);
        }
    }

    /// A thread that loses the CPU after it received its number begins its call long after those
    /// with higher numbers; any number of other calls overtake it.
    void callsOvertakingADelayedThreadAreDistinguished() {
        constexpr uint32_t others = 10'000, heldUp = 1'000;
        constexpr int64_t betweenNs = 10'000;
        Windows windows(byCalls(), 0);
        LaunchWindows launches(windows, true);
        const int64_t beginNs = windows.open().ns;
        windows.refresh(writer_);
        const auto verify = [&] {
            for (uint32_t i = 1; i <= others; ++i) {
                if (i == heldUp) continue;
                QCOMPARE(launches.find(i, beginNs + 1), LaunchWindows::Answer::Outside);
                QCOMPARE(launches.guess(i, beginNs + 1), LaunchWindows::Answer::Outside);
            }
            QCOMPARE(launches.find(heldUp, 0), LaunchWindows::Answer::Inside);
            QCOMPARE(launches.find(others + 1, 0), LaunchWindows::Answer::Inside);
        };
        for (uint32_t i = 1; i <= others; ++i)
            if (i != heldUp) launches.addCall(i, beginNs - (others + 1 - i) * betweenNs);
        launches.addCall(heldUp, beginNs + 20'000'000);
        launches.addCall(others + 1, beginNs + 20'000'001);
        verify();
        QVERIFY(launches.runs() <= 4);

        // Its calls may also be read before those of the others.
        LaunchWindows first(windows, true);
        first.addCall(heldUp, beginNs + 20'000'000);
        for (uint32_t i = others; i >= 1; --i)
            if (i != heldUp) first.addCall(i, beginNs - (others + 1 - i) * betweenNs);
        for (uint32_t i = 1; i <= others; ++i)
            QCOMPARE(first.find(i, 0), i == heldUp ? LaunchWindows::Answer::Inside : LaunchWindows::Answer::Outside);
        QVERIFY(first.runs() <= 3);
    }

    /// Threads deliver their calls in any order and are delayed; the GPU is early or late at will.
    /// While only some calls have arrived, no answer is wrong, and finally all are known.
    void answersAreCorrectBeforeAllCallsArrive() {
        struct Call {
            uint32_t number;
            int64_t startNs, ranNs;
        };
        std::mt19937 random(17);
        for (int round = 0; round < 60; ++round) {
            Windows windows(byCalls(), 0);
            LaunchWindows launches(windows, true);
            uint32_t number = round % 2 ? 0xfffffe00u : 1u;
            std::vector<Call> calls;
            std::vector<int64_t> edges;
            for (int i = 0; i < 5; ++i) {
                edges.push_back((i % 2 ? windows.close() : windows.open()).ns);
                while (realtimeNs() <= edges.back() + 20'000) {
                }
            }
            windows.refresh(writer_);
            const int64_t firstNs = edges.front() - 10'000, lastNs = edges.back() + 10'000;
            constexpr int count = 400;
            for (int i = 0; i < count; ++i) {
                const int64_t givenNs = firstNs + (lastNs - firstNs) * i / count;
                const bool isHeldUp = random() % 10 == 0;
                const auto upTo = [&random](int64_t most) { return static_cast<int64_t>(random()) % most; };
                const int64_t startNs = givenNs + (isHeldUp ? upTo(60'000) : 0);
                calls.push_back({number++, startNs, startNs + 1 + upTo(100'000)});
            }
            std::shuffle(calls.begin(), calls.end(), random);
            for (size_t came = 0; came < calls.size(); ++came) {
                for (int asked = 0; asked < 20; ++asked) {
                    const size_t at = random() % calls.size();
                    const Call& call = calls[at];
                    const auto right =
                        windows.isOpenAt(call.startNs) ? LaunchWindows::Answer::Inside : LaunchWindows::Answer::Outside;
                    const auto said = launches.find(call.number, call.ranNs);
                    if (at < came || said != LaunchWindows::Answer::NotYetKnown) QCOMPARE(said, right);
                }
                const bool isInside = windows.isOpenAt(calls[came].startNs);
                QCOMPARE(launches.addCall(calls[came].number, calls[came].startNs), isInside);
            }
        }
    }

    /// Far from every edge there is no waiting, even for work whose call is not recorded.
    void workFarFromEveryEdgeIsKnownAtOnce() {
        Windows windows(byCalls(), 0);
        LaunchWindows launches(windows, true);
        const int64_t beginNs = windows.open().ns;
        windows.refresh(writer_);
        for (uint32_t i = 1; i <= 200'000; ++i)
            if (i % 3 == 0) launches.addCall(i, i < 100'000 ? beginNs - 1 : beginNs + 1);
        QCOMPARE(launches.runs(), size_t{2});
        QCOMPARE(launches.find(50'000, 0), LaunchWindows::Answer::Outside);
        QCOMPARE(launches.find(150'001, 0), LaunchWindows::Answer::Inside);
        QCOMPARE(launches.find(100'000, 0), LaunchWindows::Answer::NotYetKnown);
        QCOMPARE(launches.guess(99'997, beginNs - 5), LaunchWindows::Answer::Outside);
        // Its run is known, but not that its call began inside.
        QCOMPARE(launches.find(99'998, 0), LaunchWindows::Answer::NotYetKnown);
        QCOMPARE(launches.find(99'999, 0), LaunchWindows::Answer::Outside);
    }

    void runsStayOrderedWhenWindowsAreForgotten() {
        Windows windows(byCalls(), 0);
        std::vector<int64_t> begins;
        uint64_t last = 0;
        for (size_t i = 0; i < 3 * Windows::maxRememberedWindows; ++i) {
            const int64_t beginNs = windows.open().ns;
            windows.refresh(writer_);
            const uint64_t inside = windows.intervalAt(beginNs);
            QVERIFY(Windows::isWindow(inside) && inside == windows.latestInterval());
            QVERIFY(inside > last || i == 0);
            while (realtimeNs() <= beginNs) {
            }
            const int64_t endNs = windows.close().ns;
            windows.refresh(writer_);
            last = windows.intervalAt(endNs);
            QCOMPARE(last, inside + 1);
            QVERIFY(last == windows.latestInterval() && !windows.isOpenAt(endNs));
            begins.push_back(beginNs);
        }
        QVERIFY(!windows.isOpenAt(begins.front()) && windows.isOpenAt(begins.back()));
        for (size_t i = 1; i < begins.size(); ++i)
            QVERIFY(windows.intervalAt(begins[i - 1]) <= windows.intervalAt(begins[i]));
    }

    void memoryDoesNotGrowWithTheCalls() {
        Windows windows(byCalls(), 0);
        LaunchWindows launches(windows, true);
        uint32_t number = 0;
        for (int round = 0; round < 1'000; ++round) {
            const int64_t nowNs = round % 2 ? windows.close().ns : windows.open().ns;
            windows.refresh(writer_);
            // Every other call is on the other side of the edge: the worst case.
            for (uint32_t i = 0; i < 100; ++i) launches.addCall(++number, nowNs - (i % 2));
            QVERIFY(launches.runs() <= LaunchWindows::maxRuns);
        }
        QCOMPARE(launches.runs(), size_t{LaunchWindows::maxRuns});
        QCOMPARE(launches.find(number, 0), LaunchWindows::Answer::Inside);
    }

    void unrecordedCallsAreEstimated() {
        Windows windows(byCalls(), 0);
        LaunchWindows launches(windows, true);
        const int64_t beforeNs = realtimeNs() - 1'000'000'000;
        const auto opened = windows.open();
        windows.refresh(writer_);
        QCOMPARE(launches.find(5, 0), LaunchWindows::Answer::NotYetKnown);
        QCOMPARE(launches.find(5, beforeNs), LaunchWindows::Answer::Outside);
        launches.addCall(4, beforeNs);
        launches.addCall(9, opened.ns + 1'000'000'000);
        QCOMPARE(launches.guess(3, 0), LaunchWindows::Answer::Outside);
        QCOMPARE(launches.find(9, 0), LaunchWindows::Answer::Inside);
        QCOMPARE(launches.guess(12, opened.ns + 5), LaunchWindows::Answer::Inside);
        // Their calls may still arrive, and nearby calls began on both sides of the edge.
        for (const uint32_t near : {3, 6, 12}) QCOMPARE(launches.find(near, 0), LaunchWindows::Answer::NotYetKnown);
        QCOMPARE(launches.find(6, opened.ns + 5), LaunchWindows::Answer::NotYetKnown);
        QCOMPARE(launches.guess(6, opened.ns + 5), LaunchWindows::Answer::Inside);
        LaunchWindows byTime(windows, false);
        QCOMPARE(byTime.find(6, opened.ns + 5), LaunchWindows::Answer::Inside);
        QCOMPARE(byTime.find(6, opened.ns - 5), LaunchWindows::Answer::Outside);
    }

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
        std::set<uint32_t> ids{first->record.domain};
        for (const NvtxDomain* domain : domains) QVERIFY(ids.insert(domain->record.domain).second);
        QVERIFY(!ids.count(0));  // the default domain
        QCOMPARE(registry.announcementCount(), size_t{3001});
        QCOMPARE(std::get<NvtxDomain>(registry.announcement(2)).name, std::string("domain 1"));
    }

    void registryAssignsEachSchemaAnId() {
        NvtxRegistry registry;
        NvtxSchema own;
        own.record.schemaId = 77;
        QCOMPARE(registry.add(own), 77u);
        const uint64_t first = registry.add(NvtxSchema{}), second = registry.add(NvtxSchema{});
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
                    registry.add(NvtxThreadName{{}, name});
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
        QCOMPARE(test::listed(events.extendedBytes.at(0), events.events[0].header.flags), "4096 | 1");
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

LANESCOPE_TEST(tst_Windows, QCoreApplication)
#include "tst_Windows.moc"
