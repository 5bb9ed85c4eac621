// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <csignal>
#include <deque>

#include "capture/agent/CycleClock.h"
#include "capture/agent/DiskLimit.h"
#include "capture/agent/EventRing.h"
#include "capture/agent/ownThreads.h"
#include "capture/log/MonotonicCondition.h"
#include "capture/options/AgentOptions.h"
#include "tests/capture/byPath.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::log;
using namespace lanescope::agent;
using namespace std::chrono_literals;

namespace {

/// Properties by name, with every string resolved, and other relevant records.
struct Contents {
    std::map<uint32_t, std::string> strings;
    std::vector<std::pair<std::string, std::string>> properties;
    std::vector<uint64_t> lost;
    log::LogReader::Progress progress;
    uint64_t bytesNotUnderstood = 0;
    bool isCorrupt = false;
    int brokenErrno = 0;

    void operator()(const log::StringRecord& record, std::string_view text) { strings[record.id] = text; }
    void operator()(const log::PropertyRecord& record) {
        const auto text = [this](uint32_t id) { return id == 0 ? "" : strings.count(id) ? strings[id] : "(unknown)"; };
        properties.emplace_back(text(record.name), text(record.value));
    }
    void operator()(const log::DroppedRecord& record) { lost.push_back(record.count); }
};

Contents read(const QString& path) {
    Contents contents;
    auto reader = test::openLog(path.toStdString());
    if (!reader || !reader->poll(contents)) return contents;
    contents.progress = reader->progress();
    contents.bytesNotUnderstood = reader->bytesNotUnderstood();
    contents.isCorrupt = reader->isCorrupt();
    contents.brokenErrno = reader->brokenErrno();
    return contents;
}

/// Simulates a disk that is full at `bytes` during its lifetime.
class FullDisk {
  public:
    explicit FullDisk(rlim_t bytes) {
        previous_ = std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before_);
        rlimit limit = before_;
        limit.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FullDisk() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, previous_);
    }

  private:
    rlimit before_{};
    void (*previous_)(int);
};

AgentOptions read(const char* text) {
    AgentOptions options;
    readOptionText(text, options);
    return options;
}

}  // namespace

Q_DECLARE_METATYPE(lanescope::agent::AgentOptions)

namespace {

constexpr int64_t shortNs = 20'000'000;
constexpr int64_t longNs = 60'000'000'000;  // no test takes that long

/// Duration of a call.
template <typename Call>
int64_t timeOf(Call call) {
    const int64_t begunNs = log::monotonicNs();
    call();
    return log::monotonicNs() - begunNs;
}

struct ClockReading {
    int64_t beforeNs;
    uint64_t ticks;
    int64_t afterNs;
};

ClockReading now() {
    ClockReading moment{.beforeNs = log::eventTimeNs(), .ticks = CycleClock::now(), .afterNs = log::eventTimeNs()};
    return moment;
}

// Maximum distance of two clocks read one after the other, one of them slewed.
constexpr int64_t allowedNs = 20'000;

void compare(const CycleClock& clock, const std::vector<ClockReading>& moments) {
    for (const ClockReading& moment : moments) {
        const int64_t ns = clock.eventNs(moment.ticks);
        QVERIFY2(ns > moment.beforeNs - allowedNs, qPrintable(QString::number(ns - moment.beforeNs)));
        QVERIFY2(ns < moment.afterNs + allowedNs, qPrintable(QString::number(ns - moment.afterNs)));
    }
}

bool put(EventRing& ring, const std::string& text) {
    void* room = ring.reserve(text.size());
    if (!room) return false;
    std::memcpy(room, text.data(), text.size());
    ring.commit();
    return true;
}

/// Entries are padded to the ring's alignment, so the text carries its own length.
std::string entry(uint64_t number, size_t length) {
    std::string text(16 + length, static_cast<char>('a' + number % 26));
    const uint64_t head[2] = {number, length};
    std::memcpy(text.data(), head, sizeof head);
    return text;
}

std::string read(const void* memory, size_t bytes) {
    uint64_t head[2];
    std::memcpy(head, memory, sizeof head);
    if (16 + head[1] > bytes) return "entry longer than its room";
    return std::string(static_cast<const char*>(memory), 16 + head[1]);
}

}  // namespace

class tst_LogFile : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    std::string base(const char* name) const { return folder_.filePath(name).toStdString(); }
    QString path(const char* name) const { return folder_.filePath(QString(name) + ".log"); }

  private slots:
    void writesNothingUntilTheFirstRecord() {
        {
            LogFile file = test::logFileAt(base("none"));
            file.flush();
            QVERIFY(file.isEmpty());
        }
        QVERIFY(!QFile::exists(path("none")));
    }

    void logFileRoundTrips() {
        LogFile file = test::logFileAt(base("plain"));
        RecordWriter writer(file);
        for (int i = 0; i < 5000; ++i) writer.property("name" + std::to_string(i % 7), std::string(size_t(i), 'x'));
        file.flush();
        const Contents contents = read(path("plain"));
        QCOMPARE(contents.properties.size(), size_t{5000});
        for (size_t i = 0; i < 5000; ++i) {
            QCOMPARE(contents.properties[i].first, "name" + std::to_string(i % 7));
            QCOMPARE(contents.properties[i].second.size(), i);
        }
        QVERIFY(contents.progress.blocks > 10);
        QCOMPARE(contents.bytesNotUnderstood, 0u);
    }

    void truncatesLongStrings() {
        LogFile file = test::logFileAt(base("long"));
        RecordWriter writer(file);
        writer.property("long", std::string(100'000, 'y'));
        file.flush();
        QCOMPARE(read(path("long")).properties.at(0).second.size(), size_t{32u << 10});
    }

    void keepsOlderLogs() {
        for (int i = 0; i < 3; ++i) {
            LogFile file = test::logFileAt(base("twice"));
            RecordWriter writer(file);
            writer.property("turn", std::to_string(i));
            file.flush();
        }
        QCOMPARE(read(path("twice")).properties.at(0).second, std::string("0"));
        QCOMPARE(read(path("twice.2")).properties.at(0).second, std::string("1"));
        QCOMPARE(read(path("twice.3")).properties.at(0).second, std::string("2"));
    }

    void continuesAfterAFullDisk() {
        LogFile file = test::logFileAt(base("full"));
        RecordWriter writer(file);
        writer.property("before", std::string(1000, 'b'));
        file.flush();
        {
            const FullDisk disk(5000);
            for (int i = 0; i < 3; ++i) {
                writer.property("lost " + std::to_string(i), std::string(30'000, static_cast<char>('l' + i)));
                file.flush();
            }
        }
        QVERIFY(QFileInfo(path("full")).size() < 5000);
        QVERIFY(!read(path("full")).isCorrupt);
        QCOMPARE(read(path("full")).bytesNotUnderstood, 0u);
        QVERIFY(read(path("full")).brokenErrno != 0);
        QCOMPARE(file.takeLostBlocks(), 2u);  // one, and the block after it
        writer.startAgain();
        writer.dropped(Loss::LogBlocks, 2);
        writer.property("lost 1", "found");
        writer.property("before", "after");
        file.flush();
        const Contents contents = read(path("full"));
        const std::vector<std::pair<std::string, std::string>> expected = {
            {"before", std::string(1000, 'b')}, {"lost 1", "found"}, {"before", "after"}};
        QCOMPARE(test::listed(contents.properties, contents.progress.lostBlocks), test::listed(expected, 2u));
        QCOMPARE(contents.lost, std::vector<uint64_t>{2});
        QCOMPARE(contents.brokenErrno, 0);
    }

    void diskReserveGrowsWithTheRateAtWhichTheDiskFills() {
        constexpr uint64_t mib = uint64_t{1} << 20;
        agent::DiskLimit slow(agent::defaultReserve), fast(agent::defaultReserve), tiny(agent::defaultReserve);
        // 1 MiB/s needs 4 MiB and 2 s of it; 20 MiB/s needs 44 MiB.
        QVERIFY(!slow.isReached({8 * mib, 40 * mib}, 1'000'000'000) &&
                !slow.isReached({7 * mib, 40 * mib}, 2'000'000'000));
        QVERIFY(slow.isReached({5 * mib, 40 * mib}, 4'000'000'000));
        QVERIFY(!fast.isReached({100 * mib, 160 * mib}, 1'000'000'000));
        QVERIFY(!fast.isReached({80 * mib, 160 * mib}, 2'000'000'000));
        QVERIFY(fast.isReached({40 * mib, 160 * mib}, 4'000'000'000));
        QVERIFY(!tiny.isReached({2 * mib, 3 * mib}, 1'000'000'000));
        QVERIFY(tiny.isReached({mib, 3 * mib}, 2'000'000'000));
        // Half of the rest is for the log, half for its trace.
        QCOMPARE(agent::DiskLimit(40 * mib).allowedBytes(), std::numeric_limits<uint64_t>::max());
        agent::DiskLimit chosen(40 * mib);
        QVERIFY(!chosen.isReached({100 * mib, 160 * mib}, 1'000'000'000));
        QCOMPARE(chosen.allowedBytes(), 30 * mib);
        // No block fits into a quarter of a MiB.
        QVERIFY(!chosen.isReached({40 * mib + mib / 2, 160 * mib}, 2'000'000'000));
        QVERIFY(chosen.isReached({40 * mib + mib / 4, 160 * mib}, 2'000'000'000));
        QVERIFY(chosen.isReached({30 * mib, 160 * mib}, 2'000'000'000));
        QCOMPARE(chosen.allowedBytes(), uint64_t{0});
    }

    void blocksBeyondTheAllowedBytesAreLostAndCounted() {
        LogFile file = test::logFileAt(base("allowed"));
        RecordWriter writer(file);
        writer.property("first", "kept");
        file.flush();
        const auto sizeNow = [&] { return QFileInfo(path("allowed")).size(); };
        const qint64 before = sizeNow();
        file.allow(50);
        writer.property("second", "lost, because it is longer than what is allowed");
        file.flush();
        QVERIFY(file.isAtLimit());
        QCOMPARE(sizeNow(), before);
        QCOMPARE(file.takeLostBlocks(), 1u);
        writer.startAgain();
        file.allow(UINT64_MAX);
        QVERIFY(!file.isAtLimit());
        writer.property("third", "kept");
        file.flush();
        QVERIFY(sizeNow() > before);
        const Contents contents = read(path("allowed"));
        const std::vector<std::pair<std::string, std::string>> kept{{"first", "kept"}, {"third", "kept"}};
        QCOMPARE(contents.properties, kept);
    }

    void avoidsAFileThatReusedItsDescriptor() {
        LogFile file = test::logFileAt(base("taken"));
        RecordWriter writer(file);
        writer.property("a", "b");
        file.flush();
        // Closes every descriptor of the log, like a program that closes all unknown descriptors.
        const QDir descriptors("/proc/self/fd");
        for (const QString& number : descriptors.entryList(QDir::NoDotAndDotDot | QDir::AllEntries | QDir::System)) {
            if (QFile::symLinkTarget(descriptors.filePath(number)) == path("taken")) {
                QVERIFY(number.toInt() > 99);
                ::close(number.toInt());
            }
        }
        std::vector<int> victims;
        for (int i = 0; i < 600; ++i) {
            victims.push_back(::open(folder_.filePath("victim").toStdString().c_str(), O_WRONLY | O_CREAT, 0600));
        }
        writer.property("c", "d");
        file.flush();
        QCOMPARE(file.takeLostBlocks(), 0u);
        for (const int victim : victims) ::close(victim);
        QCOMPARE(QFileInfo(folder_.filePath("victim")).size(), 0);
        QCOMPARE(read(path("taken")).properties.size(), size_t{2});
        QVERIFY(!read(path("taken")).isCorrupt);
    }

    void endsTheLogWhenItsFileIsGone() {
        LogFile file = test::logFileAt(base("gone"));
        RecordWriter writer(file);
        writer.property("a", "b");
        file.flush();
        const QDir descriptors("/proc/self/fd");
        for (const QString& number : descriptors.entryList(QDir::NoDotAndDotDot | QDir::AllEntries | QDir::System)) {
            if (QFile::symLinkTarget(descriptors.filePath(number)) == path("gone")) ::close(number.toInt());
        }
        QFile::remove(path("gone"));
        QFile impostor(path("gone"));
        QVERIFY(impostor.open(QIODevice::WriteOnly));
        writer.property("c", "d");
        file.flush();
        QCOMPARE(QFileInfo(path("gone")).size(), 0);
    }

    void splitsIntoParts() {
        LogFile file = test::logFileAt(base("parts"));
        RecordWriter writer(file);
        for (int i = 0; i < 1000; ++i) {
            writer.property("number", std::to_string(i));
            if (i % 100 == 99) {
                const uint64_t before = file.totalBytes();
                QVERIFY(file.beginNextPart() && file.totalBytes() >= before && file.partBytes() < 100);
                writer.startAgain();
            }
        }
        file.flush();
        const Contents contents = read(path("parts"));
        QCOMPARE(contents.properties.size(), size_t{1000});
        for (size_t i = 0; i < 1000; ++i) QCOMPARE(contents.properties[i].second, std::to_string(i));
        QCOMPARE(test::listed(contents.progress.lostBlocks, contents.bytesNotUnderstood), "0 | 0");
        QCOMPARE(contents.progress.bytesRead, file.totalBytes());
        QVERIFY(QFile::exists(path("parts") + ".10") && !QFile::exists(path("parts") + ".11"));
    }

    void growingPartsAreFollowed() {
        LogFile file = test::logFileAt(base("grows"));
        RecordWriter writer(file);
        writer.property("number", "0");
        file.flush();
        auto reader = test::openLog(path("grows").toStdString());
        Contents contents;
        for (int i = 1; i <= 300; ++i) {
            if (i % 7 == 0 && file.beginNextPart()) writer.startAgain();
            writer.property("number", std::to_string(i));
            if (i % 3 == 0) file.flush();
            if (i % 11 == 0) QVERIFY(reader->poll(contents, 2));
        }
        file.flush();
        QVERIFY(reader->poll(contents));
        QCOMPARE(contents.properties.size(), size_t{301});
        for (size_t i = 0; i <= 300; ++i) QCOMPARE(contents.properties[i].second, std::to_string(i));
        QCOMPARE(reader->progress().lostBlocks, 0u);
    }

    void corruptionCostsOnlyItsPart() {
        LogFile file = test::logFileAt(base("broken"));
        RecordWriter writer(file);
        for (int i = 0; i < 30; ++i) {
            writer.property("number", std::to_string(i));
            file.flush();
            if (i % 10 == 9 && file.beginNextPart()) writer.startAgain();
        }
        QFile second(path("broken") + ".1");
        QVERIFY(second.open(QIODevice::ReadWrite));
        const qint64 bytes = second.size();
        QVERIFY(second.seek(bytes / 2));
        second.write("corruption");
        second.close();
        const Contents contents = read(path("broken"));
        QVERIFY(contents.properties.size() >= 20 && contents.properties.size() < 30);
        QCOMPARE(contents.properties.back().second, std::string("29"));
        for (const auto& property : contents.properties) QCOMPARE(property.first, std::string("number"));
        QVERIFY(contents.progress.lostBlocks > 0);
        QVERIFY(contents.bytesNotUnderstood > 0 && contents.bytesNotUnderstood < uint64_t(bytes));
    }

    void partOfAnotherLogIsNotFollowed() {
        LogFile file = test::logFileAt(base("own"));
        RecordWriter writer(file);
        writer.property("a", "b");
        file.flush();
        for (const char* content : {"", "no log", "LNSCLOG1 and more that is far from any header  "}) {
            QFile other(path("own") + ".1");
            QVERIFY(other.open(QIODevice::WriteOnly | QIODevice::Truncate));
            other.write(content);
            other.close();
            QCOMPARE(test::listed(read(path("own")).properties.size(), read(path("own")).bytesNotUnderstood), "1 | 0");
        }
        QFile::remove(path("own") + ".1");
        QVERIFY(QFile::copy(path("own"), path("own") + ".1"));  // claims to be the first part
        QCOMPARE(read(path("own")).properties.size(), size_t{1});
    }

    void readsRecordingOptions() {
        const AgentOptions plain = read("");
        QVERIFY(plain.recordCuda && plain.recordNvtx && !plain.recordMemory && !plain.yieldCupti);
        QCOMPARE(plain.apiCalls, ApiCalls::Filtered);
        QCOMPARE(plain.windows.trigger, WindowTrigger::None);
        const AgentOptions full =
            read("cuda=0,nvtx=0,yield=1,memory=1,um=1,api=launch,graphs=whole,max-log-mb=7,part-mb=3");
        QVERIFY(!full.recordCuda && !full.recordNvtx && full.yieldCupti);
        QVERIFY(full.recordMemory && full.recordUnifiedMemory);
        QCOMPARE(test::listed(full.apiCalls, full.graphs), test::listed(ApiCalls::Launch, GraphDetail::Whole));
        QCOMPARE(full.maxLogBytes, uint64_t{7} << 20);
        QCOMPARE(full.maxPartBytes, uint64_t{3} << 20);
        QCOMPARE(read("ring=-1,ring-mb=0,ring=x").ringBytes, defaultRingBytes);
        QCOMPARE(read("api=none").apiCalls, ApiCalls::None);
    }

    void ignoresUnknownOptions() {
        const AgentOptions o = read(
            ",,=,api,=x,fancy=1,api=quick,part-mb=0,max-log-mb=-1,max-log-mb=9999999999999999999,"
            "steps=5-3,steps=-2,steps=a,delay-ms=,duration-ms=1x,range=else,range=nvtx:,%");
        QCOMPARE(test::listed(o.apiCalls, o.windows.trigger), test::listed(ApiCalls::Filtered, WindowTrigger::None));
        QCOMPARE(o.maxLogBytes, uint64_t{0});
        QCOMPARE(o.maxPartBytes, uint64_t{1} << 30);
    }

    void readsWindows() {
        const WindowOptions time = read("delay-ms=1500,duration-ms=20,base-ns=1700000000000000000,repeat=3").windows;
        QCOMPARE(time.trigger, WindowTrigger::Time);
        QCOMPARE(test::listed(time.delayNs, time.durationNs), "1500000000 | 20000000");
        QCOMPARE(test::listed(time.baseNs, time.repeat), "1700000000000000000 | 3");
        QCOMPARE(read("range=cudaProfilerApi").windows.trigger, WindowTrigger::CudaProfilerCalls);
        const WindowOptions range = read("delay-ms=5,range=nvtx:my%2Crange%40x@dom%25ain").windows;
        QCOMPARE(range.trigger, WindowTrigger::NvtxRange);
        QCOMPARE(test::listed(range.rangeName, range.rangeDomain), "my,range@x | dom%ain");
        QVERIFY(!range.anyDomain);
        QVERIFY(read("range=nvtx:a").windows.anyDomain);
        const WindowOptions steps = read("steps=10-12,step-range=Iter*@,duration-ms=9").windows;
        QCOMPARE(steps.trigger, WindowTrigger::Steps);
        QCOMPARE(steps.steps, (StepRange{10, 12}));
        QCOMPARE(steps.rangeName, std::string("Iter*"));
        QVERIFY(!steps.anyDomain && steps.rangeDomain.empty());
        QCOMPARE(read("steps=4").windows.steps.last, 4);
    }

    /// Every option round trips, alone and with all compatible ones.
    void optionsRoundTrip_data() {
        QTest::addColumn<AgentOptions>("options");
        QTest::addColumn<QString>("text");
        const auto row = [](const char* text, const auto& change) {
            AgentOptions options;
            change(options);
            const QByteArray all = QByteArray("cuda=1,nvtx=1,") + text;
            QTest::newRow(text) << options << QString(all);
        };
        QTest::newRow("nothing") << AgentOptions() << "cuda=1,nvtx=1";
        AgentOptions none;
        none.recordCuda = none.recordNvtx = false;
        QTest::newRow("neither") << none << "cuda=0,nvtx=0";
        row("api=all", [](auto& o) { o.apiCalls = ApiCalls::All; });
        row("api=launch", [](auto& o) { o.apiCalls = ApiCalls::Launch; });
        row("api=none", [](auto& o) { o.apiCalls = ApiCalls::None; });
        row("graphs=whole", [](auto& o) { o.graphs = GraphDetail::Whole; });
        row("python=0", [](auto& o) { o.recordPython = false; });
        row("memset=0", [](auto& o) { o.recordMemsets = false; });
        row("memory=1", [](auto& o) { o.recordMemory = true; });
        row("um=1", [](auto& o) { o.recordUnifiedMemory = true; });
        row("yield=1", [](auto& o) { o.yieldCupti = true; });
        row("only=a%3Ab%2C:python*:50%25%20%C3%A4", [](auto& o) { o.only = {"a:b,", "python*", "50% \u00e4"}; });
        row("max-log-mb=7", [](auto& o) { o.maxLogBytes = uint64_t{7} << 20; });
        row("part-mb=3", [](auto& o) { o.maxPartBytes = uint64_t{3} << 20; });
        row("levels=1,asleep=1", [](auto& o) { o.followsLevel = o.beginsAsleep = true; });
        row("ring=30,ring-mb=64", [](auto& o) {
            o.ringNs = 30'000'000'000;
            o.ringBytes = uint64_t{64} << 20;
        });
        row("reserve-mb=0", [](auto& o) { o.diskReserveBytes = 0; });
        row("reserve-mb=5", [](auto& o) { o.diskReserveBytes = uint64_t{5} << 20; });
        row("keep-command-line=1", [](auto& o) { o.keepsCommandLine = true; });
        row("sample-at=epoch*%40%3D", [](auto& o) { o.sampleAt = "epoch*@="; });
        row("delay-ms=1500,base-ns=1700000000000000000", [](auto& o) {
            o.windows.trigger = WindowTrigger::Time;
            o.windows.delayNs = 1'500'000'000;
            o.windows.baseNs = 1'700'000'000'000'000'000;
        });
        row("duration-ms=20,repeat=0", [](auto& o) {
            o.windows.trigger = WindowTrigger::Time;
            o.windows.durationNs = 20'000'000;
            o.windows.repeat = 0;
        });
        row("range=cudaProfilerApi,repeat=3", [](auto& o) {
            o.windows.trigger = WindowTrigger::CudaProfilerCalls;
            o.windows.repeat = 3;
        });
        row("delay-ms=5,range=nvtx:a%40b%2C@c%40d", [](auto& o) {
            o.windows.trigger = WindowTrigger::NvtxRange;
            o.windows.delayNs = 5'000'000;
            o.windows.rangeName = "a@b,";
            o.windows.rangeDomain = "c@d";
            o.windows.anyDomain = false;
        });
        row("range=nvtx:a@", [](auto& o) {
            o.windows = {.trigger = WindowTrigger::NvtxRange, .rangeName = "a", .rangeDomain = {}, .anyDomain = false};
        });
        row("add-to-calls=20000:9:a%3A1.py%3A88:3:cuLaunchKernel:cuMemcpyAsync_ptsz", [](auto& o) {
            o.delay = {20'000, 9, "a:1.py:88", "3", {"cuLaunchKernel", "cuMemcpyAsync_ptsz"}};
        });
        row("steps=0-12", [](auto& o) {
            o.windows = {.trigger = WindowTrigger::Steps, .rangeName = {}, .rangeDomain = {}, .steps = {0, 12}};
        });
        row("duration-ms=9,steps=7-7,step-range=Iter*@ml", [](auto& o) {
            o.windows.trigger = WindowTrigger::Steps;
            o.windows.steps = {7, 7};
            o.windows.durationNs = 9'000'000;
            o.windows.rangeName = "Iter*";
            o.windows.rangeDomain = "ml";
            o.windows.anyDomain = false;
        });
    }
    void optionsRoundTrip() {
        QFETCH(AgentOptions, options);
        QFETCH(QString, text);
        const std::string written = optionText(options);
        QCOMPARE(QString::fromStdString(written), text);
        AgentOptions back;
        readOptionText(written, back);
        QVERIFY(back == options);
    }

    /// The rows above contain every option, and so does the page.
    void everyOptionIsTestedAndDescribed() {
        QFile source(LANESCOPE_SOURCE_DIR "/tests/capture/tst_LogFile.cpp");
        QFile page(LANESCOPE_SOURCE_DIR "/capture/options/README.md");
        QVERIFY(source.open(QIODevice::ReadOnly) && page.open(QIODevice::ReadOnly));
        const QByteArray rows = source.readAll(), table = page.readAll();
        for (const std::string_view name : optionNames()) {
            const QByteArray option = QByteArray(name.data(), int(name.size())) + "=";
            QVERIFY2(rows.contains("row(\"" + option) || rows.contains("," + option) || rows.contains("\"" + option),
                     option);
            QVERIFY2(table.contains("`" + option), option);
        }
    }

    void countsTheWindowsToCome() {
        WindowOptions windows;
        QVERIFY(windows.isEverything() && !windows.count());
        windows.trigger = WindowTrigger::Time;
        windows.delayNs = 5;
        QVERIFY(!windows.isEverything() && !windows.areInsideProgram() && !windows.count());
        windows.durationNs = 5;
        QCOMPARE(windows.count().value_or(0), 1);
        windows.trigger = WindowTrigger::CudaProfilerCalls;
        windows.repeat = 3;
        QCOMPARE(windows.count().value_or(0), 3);
        QVERIFY(windows.areInsideProgram());
        windows.repeat = 0;
        QVERIFY(!windows.count());
    }

    void selectsPrograms() {
        QVERIFY(matchesProgram({}, "/usr/bin/python3", "python"));
        QVERIFY(matchesProgram(read("only=bash:python*").only, "/usr/bin/python3.11", "x"));
        QVERIFY(matchesProgram({"trainer"}, "/usr/bin/python3.11", "./trainer"));
        QVERIFY(matchesProgram({"*/bin/*"}, "/usr/bin/python3.11", "x"));
        QVERIFY(!matchesProgram({"python"}, "/usr/bin/python3.11", "x"));
        QCOMPARE(read("only=a%3Ab:c%2C").only, (std::vector<std::string>{"a:b", "c,"}));
    }

    void wakesAtTheEndOfItsTime() {
        agent::WakeUp wake;
        QVERIFY(timeOf([&] { wake.waitFor(shortNs); }) >= shortNs);
    }
    void remembersAnEarlierWake() {
        agent::WakeUp wake;
        wake.request();
        wake.request();
        QVERIFY(timeOf([&] { wake.waitFor(longNs); }) < longNs);
        QVERIFY(timeOf([&] { wake.waitFor(shortNs); }) >= shortNs);  // once, not twice
    }
    void wakesOnRequest() {
        agent::WakeUp wake;
        std::thread other([&] {
            std::this_thread::sleep_for(5ms);
            wake.request();
        });
        QVERIFY(timeOf([&] { wake.waitFor(longNs); }) < longNs);
        other.join();
    }

    void endsInTimeIfNotHeld() {
        log::MonotonicCondition condition;
        std::mutex mutex;
        std::unique_lock lock(mutex);
        QVERIFY(timeOf([&] {
                    QVERIFY(!condition.wait_for(lock, std::chrono::nanoseconds(shortNs), [] { return false; }));
                }) >= shortNs);
        QVERIFY(!condition.wait_for(lock, -1s, [] { return false; }));
        QVERIFY(condition.wait_for(lock, -1s, [] { return true; }));
        QVERIFY(lock.owns_lock());
    }
    void endsWhenTheHoldIsReported() {
        log::MonotonicCondition condition;
        std::mutex mutex;
        bool holds = false;
        std::thread other([&] {
            std::this_thread::sleep_for(5ms);
            const std::lock_guard lock(mutex);
            holds = true;
            condition.notify_all();
        });
        std::unique_lock lock(mutex);
        QVERIFY(condition.wait_for(lock, 60s, [&] { return holds; }));
        lock.unlock();
        other.join();
    }

    void convertsEarlierTimes() {
        CycleClock clock;
        for (int round = 0; round < 10; ++round) {
            std::vector<ClockReading> moments;
            for (int i = 0; i < 1000; ++i) moments.push_back(now());
            std::this_thread::sleep_for(std::chrono::milliseconds(3));
            clock.calibrate();
            compare(clock, moments);
        }
    }

    void convertsBeforeTheSecondReading() {
        CycleClock clock;
        const std::vector<ClockReading> moments = {now()};
        clock.calibrate();
        compare(clock, moments);
    }

    void keepsTheOrderOfTimes() {
        CycleClock clock;
        int64_t lastNs = 0;
        for (int round = 0; round < 20; ++round) {
            std::vector<uint64_t> ticks;
            for (int i = 0; i < 100; ++i) ticks.push_back(CycleClock::now());
            clock.calibrate();
            for (size_t i = 1; i < ticks.size(); ++i) QVERIFY(clock.eventNs(ticks[i]) >= clock.eventNs(ticks[i - 1]));
            lastNs = clock.eventNs(ticks.back());
        }
        QVERIFY(lastNs > 0);
    }

    void agreesOnAllThreads() {
        CycleClock clock;
        std::vector<ClockReading> moments(8);
        std::vector<std::thread> threads;
        for (ClockReading& moment : moments) threads.emplace_back([&moment] { moment = now(); });
        for (std::thread& thread : threads) thread.join();
        clock.calibrate();
        compare(clock, moments);
    }

    void refusesEverythingWithoutMemory() {
        EventRing ring;
        QVERIFY(!put(ring, "x"));
        QCOMPARE(ring.takeRefused(), 1u);
        QCOMPARE(ring.takeRefused(), 0u);
    }

    void matchesAPlainQueue() {
        EventRing ring;
        QVERIFY(ring.create());
        std::deque<std::string> queue;
        std::mt19937 random(1);
        uint64_t number = 0, refused = 0, taken = 0;
        for (int round = 0; round < 4000; ++round) {
            const int puts = static_cast<int>(random() % 40);
            for (int i = 0; i < puts; ++i) {
                const std::string text = entry(number++, random() % (random() % 20 == 0 ? 9000 : 200));
                if (put(ring, text)) {
                    queue.push_back(text);
                } else {
                    ++refused;
                }
            }
            if (random() % 4) continue;
            ring.drain(ring.committed(), [&](const void* memory, size_t bytes) {
                QVERIFY(!queue.empty());
                QCOMPARE(read(memory, bytes), queue.front());
                QCOMPARE(reinterpret_cast<uintptr_t>(memory) % 8, uintptr_t{0});
                queue.pop_front();
                ++taken;
            });
            QVERIFY(queue.empty());
        }
        QCOMPARE(ring.takeRefused(), refused);
        QVERIFY(taken > 10'000);
    }

    void acceptsTheLongestEntryAtAnyPosition() {
        EventRing ring;
        QVERIFY(ring.create());
        for (size_t shift = 0; shift < 3000; ++shift) {
            QVERIFY(put(ring, entry(shift, shift % 97)));
            QVERIFY(put(ring, entry(shift, EventRing::maxEntryBytes - 64)));
            int count = 0;
            ring.drain(ring.committed(), [&](const void* memory, size_t bytes) {
                QVERIFY(read(memory, bytes).size() >= 16);
                ++count;
            });
            QCOMPARE(count, 2);
        }
        QCOMPARE(ring.reserve(EventRing::maxEntryBytes), nullptr);
        QCOMPARE(ring.takeRefused(), 1u);
    }

    void refusesNewEntriesWhenFull() {
        EventRing ring;
        QVERIFY(ring.create());
        uint64_t kept = 0;
        int wakes = 0;
        while (put(ring, entry(kept, 1000))) {
            ++kept;
            wakes += ring.resetFilling() ? 1 : 0;
        }
        QVERIFY(kept > 900);
        QCOMPARE(wakes, 2);
        uint64_t next = 0;
        ring.drain(ring.committed(),
                   [&](const void* memory, size_t bytes) { QCOMPARE(read(memory, bytes), entry(next++, 1000)); });
        QCOMPARE(next, kept);
        QVERIFY(put(ring, "again"));
    }

    void burstTakesSharedMemoryAndReturnsIt() {
        constexpr size_t limitBytes = 3 * EventRing::segmentBytes;
        BurstMemory memory(limitBytes);
        const auto remaining = [&memory] {
            size_t bytes = 0;
            while (memory.acquire(EventRing::segmentBytes)) bytes += EventRing::segmentBytes;
            memory.release(bytes);
            return bytes;
        };
        EventRing ring, other;
        QVERIFY(ring.create(&memory) && other.create(&memory));
        for (int round = 0; round < 3; ++round) {
            uint64_t kept = 0;
            while (put(ring, entry(kept, 1000))) ++kept;
            QVERIFY(kept > 5 * EventRing::segmentBytes / 1100);
            QCOMPARE(remaining(), size_t{0});
            // Other rings keep their own memory.
            for (uint64_t number = 0; number < 700; ++number) QVERIFY(put(other, entry(number, 1000)));
            uint64_t next = 0;
            ring.drain(ring.committed(),
                       [&](const void* memory, size_t bytes) { QCOMPARE(read(memory, bytes), entry(next++, 1000)); });
            other.drain(other.committed(), [](const void*, size_t) {});
            QCOMPARE(next, kept);
            // The last segment is released when the next one begins.
            QVERIFY(remaining() >= limitBytes - EventRing::segmentBytes);
        }
    }

    void passesEntriesBetweenThreads() {
        EventRing ring;
        QVERIFY(ring.create());
        constexpr uint64_t total = 300'000;
        std::atomic<uint64_t> refused{0};
        std::atomic<bool> done{false};
        std::thread producer([&] {
            std::mt19937 random(3);
            for (uint64_t number = 0; number < total; ++number) {
                if (!put(ring, entry(number, random() % 300))) refused.fetch_add(1);
            }
            done.store(true);
        });
        uint64_t taken = 0, last = 0;
        bool inOrder = true, whole = true;
        const auto drain = [&] {
            ring.drain(ring.committed(), [&](const void* memory, size_t bytes) {
                uint64_t number;
                std::memcpy(&number, memory, sizeof number);
                inOrder = inOrder && (taken == 0 || number > last);
                last = number;
                const std::string text = read(memory, bytes);
                whole = whole && text == entry(number, text.size() - 16);
                ++taken;
            });
        };
        while (!done.load()) drain();
        producer.join();
        drain();
        QVERIFY(inOrder);
        QVERIFY(whole);
        QCOMPARE(taken + refused.load(), total);
        QCOMPARE(ring.takeRefused(), refused.load());
    }
};

LANESCOPE_TEST(tst_LogFile, QCoreApplication)
#include "tst_LogFile.moc"
