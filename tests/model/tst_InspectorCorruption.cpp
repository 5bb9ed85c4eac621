// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include "model/importers/loadTrace.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/inspectorLog.h"
#include "tests/support/notes.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::inspectorLog;
namespace fs = std::filesystem;

class tst_InspectorCorruption : public QObject {
    Q_OBJECT

  private:
    TracePtr load(const std::string& text) {
        const fs::path path = folder_ / fmt::format("node-pid{}.log", ++files_).c_str();
        std::ofstream(path, std::ios::binary) << text;
        const Result<TracePtr> trace = loadTrace(path);
        return trace ? *trace : nullptr;
    }

    TemporaryFolder folder_;
    int files_ = 0;

  private slots:
    void corruptionCostsOnlyTheCorruptLines() {
        const Rank rank;
        std::vector<std::string> lines;
        for (int64_t number = 0; number < 6; ++number)
            lines.push_back(lineOf(rank, {.number = number, .kernelUs = dayUs + number * 1000}));
        const auto numbersIn = [](const Trace& trace) {
            std::vector<int64_t> numbers;
            for (uint32_t row = 0; row < trace.nccl.size(); ++row) numbers.push_back(trace.nccl.facts[row].sequence);
            return numbers;
        };
        const auto joined = [](const std::vector<std::string>& all) {
            std::string text;
            for (const std::string& each : all) text += each;
            return text;
        };
        // Truncates the third line at several lengths.
        for (const size_t length : {1u, 10u, 40u, 200u, 300u, 500u, 650u}) {
            std::vector<std::string> damaged = lines;
            QVERIFY(length < damaged[2].size());
            damaged[2] = damaged[2].substr(0, length) + "\n";
            const TracePtr trace = load(joined(damaged));
            QVERIFY(trace);
            QCOMPARE(numbersIn(*trace), (std::vector<int64_t>{0, 1, 3, 4, 5}));
            QVERIFY(hasNote(*trace, HealthCode::FileDamaged, "the first in line 3"));
            // Also without the line break.
            damaged[2].pop_back();
            const TracePtr close = load(joined(damaged));
            QVERIFY(close);
            QCOMPARE(numbersIn(*close), (std::vector<int64_t>{0, 1, 3, 4, 5}));
        }
        std::vector<std::string> mixed = lines;
        mixed.insert(mixed.begin() + 1, "node:1:2 NCCL INFO {started} \"now\n");
        mixed.insert(mixed.begin() + 3, "{\"level\":\"info\",\"msg\":\"step 3\"}\n");
        const TracePtr trace = load(joined(mixed));
        QVERIFY(trace);
        QCOMPARE(numbersIn(*trace), (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
        QVERIFY(hasNote(*trace, HealthCode::NotShown, "1 lines of text, the first in line 2"));
        QVERIFY(hasNote(*trace, HealthCode::NotShown, "1 JSON objects of other programs"));
        QVERIFY(!hasNote(*trace, HealthCode::FileDamaged, ""));
        const auto skipped = [&](const std::string& from, const std::string& to) {
            std::vector<std::string> odd = lines;
            odd[1].replace(odd[1].find(from), from.size(), to);
            const TracePtr loaded = load(joined(odd));
            return loaded && numbersIn(*loaded) == std::vector<int64_t>{0, 2, 3, 4, 5} &&
                   hasNote(*loaded, HealthCode::RowsLeftOut, "the first in line 2,");
        };
        QVERIFY(skipped("\"coll_exec_time_us\":50", "\"coll_exec_time_us\":-50"));
        QVERIFY(skipped("\"coll_exec_time_us\":50", "\"coll_exec_time_us\":NaN"));
        QVERIFY(skipped("\"coll_exec_time_us\":50", "\"coll_exec_time_us\":1e300"));
        QVERIFY(skipped("\"coll\":\"AllReduce\"", "\"coll\":7"));
        QVERIFY(skipped("\"header\":", "\"other\":"));
    }

    void truncatedLastLineIsReported() {
        const std::string text = lineOf({}, {.number = 0}) + lineOf({}, {.number = 1});
        const TracePtr trace = load(text.substr(0, text.size() - 40));
        QVERIFY(trace);
        QCOMPARE(trace->nccl.size(), 1u);
        QVERIFY(hasNote(*trace, HealthCode::FileCut, "The file is truncated"));
        QVERIFY(!hasNote(*trace, HealthCode::FileDamaged, ""));
    }

    void compressedLogReadsTheSame() {
        std::string text;
        for (int64_t number = 0; number < 500; ++number)
            text += lineOf({}, {.number = number, .kernelUs = dayUs + number * 100});
        const fs::path path = folder_ / "node-pid100.log.gz";
        const gzFile packed = gzopen(path.c_str(), "wb");
        gzwrite(packed, text.data(), static_cast<unsigned>(text.size()));
        gzclose(packed);
        const Result<TracePtr> whole_ = loadTrace(path);
        QVERIFY(whole_);
        QCOMPARE((*whole_)->nccl.size(), 500u);
        fs::resize_file(path, fs::file_size(path) / 2);
        const Result<TracePtr> half = loadTrace(path);
        QVERIFY(half);
        QVERIFY((*half)->nccl.size() > 100 && (*half)->nccl.size() < 400);
        QVERIFY(hasNote(**half, HealthCode::FileCut, ""));
    }

    void hostileLogsAreHarmless_data() {
        QTest::addColumn<QByteArray>("text");
        const std::string good = lineOf({}, {.number = 1});
        const auto row = [&good](const char* name, const std::string& text) {
            QTest::newRow(name) << QByteArray::fromStdString(good + text);
        };
        const auto repeated = [](const std::string& part, size_t bytes) {
            std::string text;
            while (text.size() < bytes) text += part;
            return text;
        };
        row("deep", repeated("{\"a\":", 3'000'000));
        row("deep by lines", repeated("{\"a\":\n", 3'000'000));
        row("lists by lines", repeated("{\"a\":[1,\n", 3'000'000));
        row("braces", repeated("{", 3'000'000));
        row("beginnings", repeated("{\"p2p_perf\"", 3'000'000));
        row("an endless text", "{\"header\":\"" + repeated("x\\\"", 9'000'000));
        row("an endless line", repeated("x", 9'000'000));
        row("records in a line of text", repeated("x {\"", 3'000'000));
        std::string odd = good;
        odd.replace(odd.find("\"pid\":100"), 9, "\"pid\":1e99");
        row("numbers that are none",
            odd + line(context({.rank = -5, .ranks = 0, .id = ""}, -1), collective({.number = -1})) +
                line(context({.rank = 1 << 30, .pid = -7, .id = "0xfffffffffffffffffffff"}, int64_t{1} << 62),
                     collective({.bytes = -(int64_t{1} << 62), .tookUs = int64_t{1} << 62})) +
                line(context({}, dayUs), collective({.bytes = INT64_MAX, .kernelUs = 1})));
    }
    void hostileLogsAreHarmless() {
        QFETCH(QByteArray, text);
        QElapsedTimer clock;
        clock.start();
        const TracePtr trace = load(text.toStdString());
        QVERIFY(trace);
        QVERIFY(trace->nccl.size() >= 1);
        QVERIFY2(clock.elapsed() < 60'000, qPrintable(QString::number(clock.elapsed())));
    }

    void millionCommunicatorsAreBounded() {
        std::string text;
        for (int each = 0; each < 1'000'000; ++each)
            text +=
                fmt::format(R"({{"header":{{"id":"{:x}","rank":0,"n_ranks":2}},"metadata":{{"dump_timestamp_us":{},)"
                            R"("hostname":"h","pid":1}},"coll_perf":{{"coll":"AllReduce","coll_exec_time_us":1}}}})"
                            "\n",
                            each + 1, dayUs + each);
        const TracePtr trace = load(text);
        QVERIFY(trace);
        QVERIFY(trace->nccl.size() > 10'000);
        // Each takes a thread and a stream; the size of a file bounds their number.
        QVERIFY(trace->threads.size() < 500'000);
        QVERIFY(hasNote(*trace, HealthCode::RowsLeftOut, "NCCL operations"));
    }

    void hugeDurationsStayOnTheAxis() {
        // A year each, one before the other: more than 64 bits of nanoseconds.
        constexpr int64_t yearUs = int64_t{365} * 86'400 * 1'000'000;
        std::string text;
        for (int64_t number = 0; number < 500; ++number) text += lineOf({}, {.number = number, .tookUs = yearUs});
        const TracePtr trace = load(text);
        QVERIFY(trace);
        QCOMPARE(trace->nccl.size(), 500u);
        for (uint32_t row = 0; row < trace->nvtx.size(); ++row)
            QVERIFY(trace->nvtx.startNs[row] >= 0 && trace->nvtx.endNs[row] <= (dayUs + 500) * 1000);
    }
};

LANESCOPE_TEST(tst_InspectorCorruption, NoApplication)
#include "tst_InspectorCorruption.moc"
