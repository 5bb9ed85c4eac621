// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>
#include <ctime>

#include "model/importers/loadTrace.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"
#include "tests/support/torchTrace.h"

using namespace lanescope;
using namespace lanescope::torchTrace;
namespace fs = std::filesystem;

class tst_JsonCorruption : public QObject {
    Q_OBJECT

  private slots:
    void corruptionCostsOnlyTheCorruptEvents_data() {
        QTest::addColumn<QString>("corrupt");
        QTest::addColumn<int>("lost");
        QTest::addColumn<bool>("isNoted");
        const QString whole = QString::fromStdString(traceOf(smallRun(), "  \"distributedInfo\": {\"rank\": 2},\n"));
        const auto row = [&](const char* name, const QString& from, const QString& to, int lost, bool isNoted = true) {
            QString text = whole;
            const auto at = text.indexOf(from);
            QVERIFY2(at >= 0, name);
            text.replace(at, from.size(), to);
            QTest::newRow(name) << text << lost << isNoted;
        };
        row("a quote in a name", "aten::mm", "aten::\"mm\" of", 1);
        row("a path of Windows", "train.py", "C:\\Users\\x\\train.py", 0, false);
        row("a log line", "  {\n    \"ph\": \"X\", \"cat\": \"kernel\"",
            "WARNING: [x] {something} \"odd\"\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\"", 0);
        row("a value without quotes", "\"Memset (Device)\"", "Memset (Device)", 1);
        row("a word without quotes", "\"cudaLaunchKernel\"", "cudaLaunchKernel", 0, false);
        row("no closing brace", "\"cbid\": 211, \"correlation\": 77\n    }\n  }",
            "\"cbid\": 211, \"correlation\": 77\n    }", 1);
        row("a brace too many", "\"grid\": [512", "\"grid\": {[512", 1);
        row("a bracket open", "[8, 16], [16, 4]]", "[8, 16], [16, 4]", 1);
        row("the end in the middle", "    }\n  },\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\"",
            "    }\n  }]\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\"", 0);
        row("all ends in the middle", "    }\n  },\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\"",
            "    }\n  }]}\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\"", 0);
        row("the object ends before the events", "\"schemaVersion\": 1", "\"schemaVersion\": 1 }", 0);
        row("no comma between events", "  },\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\"",
            "  }\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\"", 0, false);
        row("commas too many", "  },\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\"",
            "  },,\n,  {\n    \"ph\": \"X\", \"cat\": \"kernel\"", 0, false);
        row("a key twice", "\"correlation\": 77,", "\"correlation\": 1, \"correlation\": 77,", 0, false);
        row("corruption before the events", "\"schemaVersion\": 1", "\"job\": {\"a\" 1}, \"schemaVersion\": 1", 0);
        row("any bytes", "aten::mm", QString::fromLatin1("aten\x01\n\xff"), 0, false);
    }
    void corruptionCostsOnlyTheCorruptEvents() {
        QFETCH(QString, corrupt);
        QFETCH(int, lost);
        QFETCH(bool, isNoted);
        const TracePtr trace = loaded(corrupt.toLatin1().toStdString());
        QCOMPARE(eventsIn(*trace), smallRun().size() - static_cast<size_t>(lost));
        QCOMPARE(hasNote(*trace, HealthCode::JsonDamaged), isNoted);
        QVERIFY(!hasNote(*trace, HealthCode::FileCut));
        QCOMPARE(trace->processes[0].rank, std::optional<int>(2));
    }

    void truncatedFileKeepsCompleteEvents() {
        TemporaryFolder folder;
        const std::string text = traceOf(manyOperators(3000)), half = text.substr(0, text.size() / 2);
        size_t whole = 0;
        for (size_t at = 0; (at = half.find("    }\n  },", at)) != std::string::npos; ++at) ++whole;
        const TracePtr cut = loaded(half);
        QCOMPARE(size_t{cut->nvtx.size()}, whole);
        QVERIFY(sentenceOf(*cut, HealthCode::FileCut).find("is truncated") != std::string::npos);

        const fs::path packed = folder / "run.json.gz";
        const gzFile file = gzopen(packed.c_str(), "wb6");
        gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
        gzclose(file);
        const Result<TracePtr> full = loadTrace(packed);
        QVERIFY(full);
        QCOMPARE((*full)->nvtx.size(), 3000u);
        fs::resize_file(packed, fs::file_size(packed) * 2 / 3);
        const Result<TracePtr> truncated = loadTrace(packed);
        QVERIFY(truncated);
        QVERIFY((*truncated)->nvtx.size() > 1500 && (*truncated)->nvtx.size() < 2500);
        QVERIFY(sentenceOf(**truncated, HealthCode::FileCut).find("the compressed file is truncated") !=
                std::string::npos);
    }

    void concatenatedPiecesAreOneFile() {
        TemporaryFolder folder;
        const int count = 60'000;
        const std::string text = traceOf(manyOperators(count));
        QVERIFY(text.size() > (size_t{8} << 20));
        const fs::path path = folder / "long.json";
        std::ofstream(path, std::ios::binary) << text;
        for (const unsigned threads : {1u, 4u}) {
            LoadOptions options;
            options.threads = threads;
            const Result<TracePtr> trace = loadTrace(path, {}, options);
            QVERIFY(trace);
            QCOMPARE((*trace)->nvtx.size(), static_cast<uint32_t>(count));
            for (uint32_t row = 0; row < 1000; ++row) QCOMPARE((*trace)->nvtx.startNs[row], int64_t{row} * 10'000);
            QVERIFY((*trace)->health.size() == 0);
        }
    }

    /// Simulated corruption of any kind costs only the affected and adjacent events.
    void anyCorruptionKeepsTheRest() {
        const int count = 400;
        const std::string text = traceOf(manyOperators(count));
        std::mt19937 random(20);
        const std::array<std::string, 10> junk{
            "\"", "{", "}", "]", "[", "\\", "]}", ",", "{\"ph\": \"X\"", "INFO: a line\n"};
        for (int round = 0; round < 600; ++round) {
            std::string corrupt = text;
            const size_t at = random() % text.size();
            if (round % 2 == 0)
                corrupt[at] = static_cast<char>(corrupt[at] ^ (1 << (random() % 8)));
            else
                corrupt.insert(at, junk[random() % junk.size()]);
            TraceBuilder builder;
            builder.setPath("run.json");
            QVERIFY(readKinetoTrace(std::string_view(corrupt), builder));
            const uint32_t kept = builder.trace().nvtx.size();
            const std::string what = "round " + std::to_string(round) + " at " + std::to_string(at);
            QVERIFY2(kept >= count - 2 && kept <= count + 1, what.c_str());
        }
    }

    void deepAndLongValuesAreHarmless() {
        const std::string deep = std::string(1'000'000, '['), longName(3'000'000, 'x');
        const std::string manyDigits(1'000'000, '9');
        std::vector<std::string> events = smallRun();
        events.push_back(R"({"ph": "X", "name": "deep", "ts": 1, "dur": 1, "args": {"a": )" + deep + "}}");
        events.push_back(slice("cpu_op", longName, "4000", "4001", "1000", "1"));
        events.push_back(slice("cpu_op", "far", "4000", "4001", manyDigits, "1"));
        events.push_back(slice("cpu_op", "after", "4000", "4001", "1000", "1"));
        const TracePtr trace = loaded(traceOf(events));
        QVERIFY(rangeCalled(*trace, "after") != noIndex);
        QCOMPARE(rangeCalled(*trace, "deep"), noIndex);
        QCOMPARE(rangeCalled(*trace, "far"), noIndex);
        QCOMPARE(eventsIn(*trace), smallRun().size() + 2);
        for (const char* text : {"{", "[", "[]", "{}", "[[", "{\"traceEvents\": [", "{\"traceEvents\"", "]",
                                 "[{\"ph\":\"X\"}", "[{\"ph\":\"X\",\"ts\":1e300}]"}) {
            TraceBuilder builder;
            QVERIFY(readKinetoTrace(std::string_view(text), builder));
            QVERIFY(builder.finish());
        }
    }

    /// Each case once took minutes to hours because of a repeated search for every event, bracket or array.
    void readingTimeIsLinear_data() {
        QTest::addColumn<QString>("kind");
        for (const char* kind :
             {"threads with names", "processes with names", "streams of no call", "brackets", "arrays of events"})
            QTest::newRow(kind) << kind;
    }
    void readingTimeIsLinear() {
        QFETCH(QString, kind);
        const std::string whole = traceOf({slice("cpu_op", "aten::mm", "1", "1", "1", "1")});
        std::string text = "{\"schemaVersion\": 1,";
        if (kind == "brackets") {
            text = "{\"traceEvents\": [";
            for (int number = 0; number < 300'000; ++number) text += "],\"a\":";
        } else if (kind == "arrays of events") {
            for (int number = 0; number < 100'000; ++number) text += "\"traceEvents\":[],";
            text += whole.substr(whole.find("\"traceEvents\""));
        } else {
            std::vector<std::string> events;
            for (int number = 0; number < 60'000; ++number) {
                const std::string name = std::to_string(number);
                if (kind == "threads with names")
                    events.push_back(slice("cpu_op", "a", "1", "\"t" + name + "\"", name, "1"));
                else if (kind == "processes with names")
                    events.push_back(slice("cpu_op", "a", "\"p" + name + "\"", "1", name, "1"));
                else
                    events.push_back(
                        slice("gpu_user_annotation", "a", "0", "7", name, "1", "\"device\": 0, \"stream\": " + name));
            }
            text = traceOf(events);
        }
        const std::clock_t begun = std::clock();  // time of this process only
        TraceBuilder builder;
        QVERIFY(readKinetoTrace(std::string_view(text), builder));
        const double seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
        // Sanitizers take many times as long.
        const double limit = test::hasAddressSanitizer || test::hasThreadSanitizer ? 120 : 12;
        QVERIFY2(seconds < limit, qPrintable(QString::number(seconds)));
        if (kind == "arrays of events") {
            // The rest is corrupt and reported.
            QVERIFY(builder.finish());
            const TracePtr trace = builder.take();
            QVERIFY(trace->nvtx.size() == 1 || !sentenceOf(*trace, HealthCode::JsonDamaged).empty());
        }
    }

    void corruptCompressedFileKeepsTheEventsBefore() {
        TemporaryFolder folder;
        const fs::path path = folder / "run.json.gz";
        // Smaller than any buffer, with numbers that compress badly, so that corruption is detected at once.
        std::vector<std::string> events;
        std::mt19937 random(5);
        for (int number = 0; number < 2'000; ++number)
            events.push_back(slice("cpu_op", "op" + std::to_string(random()), "1", "1",
                                   std::to_string(10 * number) + ".0", "5.0", ""));
        const std::string text = traceOf(events);
        gzFile file = gzopen(path.c_str(), "wb9");
        gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
        gzclose(file);
        // Zeros from the middle on.
        const auto bytes = fs::file_size(path);
        std::fstream corrupt(path, std::ios::in | std::ios::out | std::ios::binary);
        corrupt.seekp(static_cast<std::streamoff>(bytes / 2));
        const std::string nothing(bytes / 2, '\xff');
        corrupt.write(nothing.data(), static_cast<std::streamsize>(nothing.size()));
        corrupt.close();
        const Result<TracePtr> trace = loadTrace(path);
        QVERIFY(trace);
        QVERIFY2((*trace)->nvtx.size() > 900, qPrintable(QString::number((*trace)->nvtx.size())));
        QVERIFY(sentenceOf(**trace, HealthCode::FileCut).find("the compressed file is corrupt") != std::string::npos);
    }

    void decompressionIsBounded() {
        TemporaryFolder folder;
        const fs::path path = folder / "bomb.json.gz";
        gzFile file = gzopen(path.c_str(), "wb9");
        const std::string start = "{\"schemaVersion\": 1, \"traceEvents\": [\n";
        gzwrite(file, start.data(), static_cast<unsigned>(start.size()));
        // 600 MB of spaces, which compress to less than one.
        const std::string nothing(size_t{1} << 20, ' ');
        for (int number = 0; number < 600; ++number)
            gzwrite(file, nothing.data(), static_cast<unsigned>(nothing.size()));
        gzclose(file);
        const Result<TracePtr> trace = loadTrace(path);
        QVERIFY(trace);
        QVERIFY(sentenceOf(**trace, HealthCode::FileCut).starts_with("Only the first"));
    }
};

LANESCOPE_TEST(tst_JsonCorruption, NoApplication)
#include "tst_JsonCorruption.moc"
