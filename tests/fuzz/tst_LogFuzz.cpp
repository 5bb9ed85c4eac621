// SPDX-License-Identifier: Apache-2.0
#include "model/importers/TraceFormat.h"
#include "tests/capture/TestLog.h"
#include "tests/capture/byPath.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;
using namespace lanescope::log;
using lanescope::test::TestLog;

namespace {

/// Numbers of valid, broken and hostile programs.
class OddNumbers {
  public:
    explicit OddNumbers(uint32_t seed) : random_(seed) {}
    uint64_t operator()() {
        switch (random_() % 8) {
            case 0: return 0;
            case 1: return ~uint64_t{0};
            case 2: return uint64_t{1} << 63;
            case 3: return random_();
            case 4: return 1'000'000'000'000 + random_() % 1'000'000;
            default: return random_() % 12;
        }
    }
    bool oneIn(uint32_t n) { return random_() % n == 0; }
    uint32_t below(uint32_t n) { return random_() % n; }

  private:
    std::mt19937 random_;
};

/// Adds a record with odd numbers everywhere but in its header.
template <class Record>
void addOdd(TestLog& log, OddNumbers& odd) {
    Record record{};
    unsigned char bytes[sizeof record];
    for (size_t at = 0; at < sizeof record; at += 4) {
        const uint64_t number = odd();
        std::memcpy(bytes + at, &number, std::min<size_t>(odd.oneIn(2) ? 8 : 4, sizeof record - at));
    }
    std::memcpy(reinterpret_cast<unsigned char*>(&record) + sizeof(RecordHeader), bytes + sizeof(RecordHeader),
                sizeof record - sizeof(RecordHeader));
    constexpr bool hasTail = requires { tailOf(record, std::span<const std::byte>()); };
    std::string rest(hasTail ? odd.below(64) : 0, '\0');
    for (char& c : rest) c = static_cast<char>(odd());
    log.add(record, rest.data(), rest.size());
}

template <class... Records>
void addAny(TestLog& log, OddNumbers& odd, RecordList<Records...>) {
    constexpr std::array adders{addOdd<Records>...};
    adders[odd.below(adders.size())](log, odd);
}

}  // namespace

/// Tests that collecting corrupt or hostile logs of a traced program always ends, with a trace or
/// an error, and that loading any resulting trace ends as well.
class tst_LogFuzz : public QObject {
    Q_OBJECT

    int64_t eventsCollected_ = 0;

    void collect(const std::vector<std::string>& logs) {
        QTemporaryDir folder;
        const std::filesystem::path run = folder.filePath("run").toStdString();
        std::filesystem::create_directories(run);
        int number = 0;
        for (const std::string& bytes : logs) {
            TestLog::write((run / ("box.-." + std::to_string(++number) + ".log")).string(), bytes);
        }
        RunInfo info;
        info.startRealtimeNs = 1'000'000'000'000;
        auto collector = test::beginCollector(run, folder.filePath("out.sqlite").toStdString(), info);
        QVERIFY(collector.has_value());
        (*collector)->poll();
        const auto result = (*collector)->finish(MainProcess{1, 0}, false);
        QVERIFY(result.has_value() || !result.error().sentence.empty());
        if (!result) return;
        eventsCollected_ += result->counts.events();
        const auto trace = loadTrace(result->trace);
        QVERIFY(trace.has_value() || !trace.error().sentence.empty());
    }

  private slots:
    void collectsOddRecords() {
        for (uint32_t seed = 1; seed <= 60; ++seed) {
            OddNumbers odd(seed);
            std::vector<std::string> logs;
            for (uint32_t process = 0; process < 3; ++process) {
                TestLog log(odd.below(3), static_cast<int64_t>(odd()));
                for (int i = 0; i < 10; ++i) log.string("string " + std::to_string(i));
                for (int i = 0; i < 300; ++i) {
                    addAny(log, odd, AllRecords{});
                    if (odd.oneIn(50)) log.flush(static_cast<int64_t>(odd()), static_cast<int64_t>(odd()));
                    if (odd.oneIn(200)) log.loseBlock();
                }
                log.flush();
                logs.push_back(log.bytes());
            }
            collect(logs);
        }
        QVERIFY2(eventsCollected_ > 1000, qPrintable(QString::number(eventsCollected_)));
    }

    void collectsBrokenBytes() {
        OddNumbers odd(99);
        TestLog log;
        for (int i = 0; i < 10; ++i) log.string("string " + std::to_string(i));
        for (int i = 0; i < 400; ++i) {
            addAny(log, odd, AllRecords{});
            if (odd.oneIn(20)) log.flush();
        }
        log.flush();
        const int64_t before = eventsCollected_;
        for (int round = 0; round < 60; ++round) {
            std::string bytes = log.bytes();
            const uint32_t breaks = 1 + odd.below(8);
            for (uint32_t i = 0; i < breaks; ++i) {
                bytes[odd.below(static_cast<uint32_t>(bytes.size()))] = static_cast<char>(odd());
            }
            if (odd.oneIn(3)) bytes.resize(odd.below(static_cast<uint32_t>(bytes.size())));
            collect({bytes, bytes.substr(bytes.size() / 2)});
        }
        QVERIFY(eventsCollected_ > before);  // valid records before the corruption are kept
    }
};

LANESCOPE_TEST(tst_LogFuzz, QCoreApplication)
#include "tst_LogFuzz.moc"
