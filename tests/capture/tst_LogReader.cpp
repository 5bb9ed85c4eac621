// SPDX-License-Identifier: Apache-2.0
#include "capture/log/LogReader.h"
#include "tests/capture/TestLog.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::log;
using lanescope::test::TestLog;

namespace {

/// Visitor that stores records, one line each.
class Notebook {
  public:
    std::vector<std::string> lines;
    void operator()(const StringRecord& r, std::string_view text) {
        lines.push_back(fmt::format("string {} {}", r.id, text));
    }
    void operator()(const KernelRecord& r) { lines.push_back(fmt::format("kernel {} {}", r.startNs, r.endNs)); }
    void operator()(const NvtxRecord& r, std::span<const std::byte> payload) {
        lines.push_back(fmt::format("nvtx {} {}", r.timestampNs, payload.size()));
    }
    void operator()(const EndRecord& r) { lines.push_back(fmt::format("end {}", r.timestampNs)); }
};

KernelRecord kernel(int64_t startNs, uint32_t name) {
    KernelRecord record{};
    record.startNs = startNs;
    record.endNs = startNs + 10;
    record.name = name;
    return record;
}

/// Three blocks with five, three and one records.
TestLog sampleLog() {
    TestLog log;
    const uint32_t name = log.string("_Z3foov");
    for (int64_t time = 100; time < 104; ++time) log.add(kernel(time, name));
    log.flush(100, 113);
    NvtxRecord nvtx{};
    nvtx.timestampNs = 200;
    nvtx.extendedBytes = 11;
    nvtx.text = log.string("step");
    log.add(nvtx, "hello world", 11);
    log.add(kernel(300, name));
    log.flush(200, 310);
    log.end(400);
    log.flush(400, 400);
    return log;
}

}  // namespace

class tst_LogReader : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string path(const char* name) const { return folder_.filePath(name).toStdString(); }

    struct Reading {
        std::vector<std::string> lines;
        bool opened = false, damaged = false;
        uint64_t notUnderstood = 0, lost = 0;
    };
    Reading readAll(std::string_view bytes) const {
        TestLog::write(path("any.log"), bytes);
        Reading result;
        auto reader = LogReader::open(path("any.log"));
        if (!reader) return result;
        Notebook notebook;
        result.opened = reader->poll(notebook).has_value();
        result.lines = notebook.lines;
        result.damaged = reader->isCorrupt();
        result.notUnderstood = reader->bytesNotUnderstood();
        result.lost = reader->progress().lostBlocks;
        return result;
    }

  private slots:
    void readsRecordsInOrder() {
        const Reading all = readAll(sampleLog().bytes());
        QVERIFY(all.opened);
        const std::vector<std::string> expected{"string 1 _Z3foov", "kernel 100 110", "kernel 101 111",
                                                "kernel 102 112",   "kernel 103 113", "string 2 step",
                                                "nvtx 200 11",      "kernel 300 310", "end 400"};
        QCOMPARE(all.lines, expected);
        QCOMPARE(all.notUnderstood, 0u);
        QVERIFY(!all.damaged);
    }

    void everyPrefixIsALog() {
        const std::string bytes = sampleLog().bytes();
        const auto whole = readAll(bytes).lines;
        size_t before = 0;
        for (size_t length = 0; length <= bytes.size(); ++length) {
            const Reading cut = readAll(std::string_view(bytes).substr(0, length));
            QVERIFY(cut.opened);
            QVERIFY(!cut.damaged);
            QVERIFY(cut.lines.size() >= before);
            QVERIFY(std::equal(cut.lines.begin(), cut.lines.end(), whole.begin()));
            before = cut.lines.size();
        }
        QCOMPARE(before, whole.size());
    }

    void everyFlippedByteIsDetectedOrHarmless() {
        const std::string bytes = sampleLog().bytes();
        const auto whole = readAll(bytes).lines;
        for (size_t at = 0; at < bytes.size(); ++at) {
            std::string broken = bytes;
            broken[at] = static_cast<char>(broken[at] ^ 0x41);
            const Reading read = readAll(broken);
            QVERIFY(read.lines.size() <= whole.size());
            // All returned records are as written: a checksum covers everything.
            QVERIFY(std::equal(read.lines.begin(), read.lines.end(), whole.begin()));
            if (at >= sizeof(FileHeader)) QVERIFY(read.opened);
        }
    }

    void garbageAfterAValidStartIsSafe() {
        std::mt19937 random(7);
        const auto whole = readAll(sampleLog().bytes()).lines;
        for (int round = 0; round < 300; ++round) {
            std::string bytes = sampleLog().bytes();
            const size_t keep = random() % bytes.size();
            for (size_t at = keep; at < bytes.size(); ++at) bytes[at] = static_cast<char>(random());
            if (bytes == sampleLog().bytes()) continue;  // garbage may equal the original bytes
            const Reading read = readAll(bytes);
            // Returned records are as written, and only those of the valid start.
            const Reading start = readAll(std::string_view(bytes).substr(0, keep));
            QCOMPARE(read.lines, start.lines);
            QVERIFY(std::equal(read.lines.begin(), read.lines.end(), whole.begin()));
            QVERIFY(read.notUnderstood <= bytes.size());
        }
    }

    void reportsUnknownRecords() {
        std::string bytes = sampleLog().bytes();
        const size_t good = bytes.size();
        bytes += std::string(100, 'x');
        const Reading read = readAll(bytes);
        QCOMPARE(read.lines.size(), 9u);
        QVERIFY(read.damaged);
        QCOMPARE(read.notUnderstood, bytes.size() - good);
    }

    void continuesAfterGrowth() {
        const std::string bytes = sampleLog().bytes();
        TestLog::write(path("grow.log"), "");
        auto reader = LogReader::open(path("grow.log"));
        QVERIFY(reader.has_value());
        Notebook notebook;
        for (size_t length = 0; length <= bytes.size(); length += 7) {
            TestLog::write(path("grow.log"), std::string_view(bytes).substr(0, length));
            QVERIFY(reader->poll(notebook).has_value());
            QVERIFY(!reader->isCorrupt());
        }
        TestLog::write(path("grow.log"), bytes);
        QVERIFY(reader->poll(notebook).has_value());
        QCOMPARE(notebook.lines, readAll(bytes).lines);
        QCOMPARE(reader->progress().blocks, 3u);
        QCOMPARE(reader->progress().latestTimeNs, 400);
    }

    void countsLostBlocks() {
        TestLog log;
        log.end(1);
        log.flush();
        log.loseBlock();
        log.loseBlock();
        log.end(2);
        log.flush();
        const Reading read = readAll(log.bytes());
        QCOMPARE(read.lines.size(), 2u);
        QCOMPARE(read.lost, 2u);
    }

    void skipsUnknownAndShortRecords() {
        TestLog log;
        StringRecord shortKernel{};  // A kernel record needs far more bytes.
        log.add(RecordKind::Kernel, shortKernel);
        StringRecord longText{};
        longText.length = 5000;  // Claims more bytes than exist.
        log.add(RecordKind::String, longText);
        log.add(static_cast<RecordKind>(999), KernelRecord{});
        struct LaterEnd {
            RecordHeader header;
            int64_t timestampNs;
            uint32_t reason, signal;
            uint64_t added[4];
        };
        log.add(RecordKind::End, LaterEnd{{}, 77, 1, 0, {}});
        log.flush();
        log.writeTo(path("odd.log"));
        auto reader = LogReader::open(path("odd.log"));
        Notebook notebook;
        QVERIFY(reader->poll(notebook).has_value());
        QCOMPARE(notebook.lines, std::vector<std::string>{"end 77"});
        QCOMPARE(reader->progress().oddRecords, 2u);
        QCOMPARE(reader->progress().unknownRecords, 1u);
    }

    void refusesOtherFiles() {
        QVERIFY(!readAll("This is a text and quite certainly not a log of anything.").opened);
        QVERIFY(!LogReader::open(path("missing.log")).has_value());
        QVERIFY(!LogReader::open(folder_.path().toStdString()).has_value());
        std::filesystem::create_symlink(path("any.log"), path("link.log"));
        QVERIFY(!LogReader::open(path("link.log")).has_value());
    }
};

LANESCOPE_TEST(tst_LogReader, QCoreApplication)
#include "tst_LogReader.moc"
