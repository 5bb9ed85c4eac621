// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "capture/collector/NcclPluginImporter.h"
#include "capture/collector/NvtxImporter.h"
#include "capture/collector/PayloadDecoder.h"
#include "tests/capture/TestLog.h"
#include "tests/capture/byPath.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::log;
using namespace lanescope::capture;

using lanescope::test::TestLog;
using log::NcclEvent;
using log::NvtxEvent;
using log::NvtxRecord;

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
    KernelRecord record{.startNs = startNs, .endNs = startNs + 10, .name = name};
    return record;
}

/// Three blocks with five, three and one records.
TestLog sampleLog() {
    TestLog log;
    const uint32_t name = log.string("_Z3foov");
    for (int64_t time = 100; time < 104; ++time) log.add(kernel(time, name));
    log.flush(100, 113);
    log.add(NvtxRecord{.timestampNs = 200, .text = log.string("step"), .extendedBytes = 11}, "hello world", 11);
    log.add(kernel(300, name));
    log.flush(200, 310);
    log.end(400);
    log.flush(400, 400);
    return log;
}

log::NcclOperationRecord start(NcclEvent event, uint64_t id, int64_t timeNs, uint64_t parent = 0, uint32_t thread = 1,
                               uint64_t communicator = 0xabc) {
    return {.timestampNs = timeNs,
            .id = id,
            .parent = parent,
            .communicator = communicator,
            .threadId = thread,
            .event = event};
}

log::NcclStopRecord stop(uint64_t id, int64_t timeNs) {
    log::NcclStopRecord record{.timestampNs = timeNs, .id = id};
    return record;
}

struct Assembly {
    std::vector<NcclOperation> operations;
    NcclAssembler assembler{[this](const NcclOperation& one) { operations.push_back(one); }};
};

/// begin, end (-1 for open), text
using Line = std::tuple<int64_t, int64_t, uint32_t>;

NvtxRecord call(NvtxEvent event, int64_t timeNs, uint32_t thread, int32_t level, uint32_t text = 0,
                uint32_t domain = 0) {
    NvtxRecord record{
        .timestampNs = timeNs, .threadId = thread, .domain = domain, .text = text, .level = level, .event = event};
    return record;
}

NvtxRecord rangeCall(NvtxEvent event, int64_t timeNs, uint64_t rangeId, uint32_t text = 0) {
    NvtxRecord record = call(event, timeNs, 1, 0, text);
    record.rangeId = rangeId;
    return record;
}

struct Assembled {
    std::vector<Line> lines;
    uint64_t guessed = 0, lost = 0;
};

Assembled assemble(const std::vector<NvtxRecord>& calls) {
    Assembled result;
    NvtxAssembler assembler([&](const NvtxInterval& interval) {
        result.lines.emplace_back(interval.begin.timestampNs, interval.endNs.value_or(-1), interval.begin.text);
    });
    for (const NvtxRecord& record : calls) assembler.add(record, {});
    assembler.finish();
    std::sort(result.lines.begin(), result.lines.end());
    result.guessed = assembler.guessedEnds();
    result.lost = assembler.lostBeginnings();
    return result;
}

/// The plain way: for each push, the first later pop of its thread and domain that leaves its level.
std::vector<Line> assembleByPlainLoop(const std::vector<NvtxRecord>& calls) {
    std::vector<Line> lines;
    for (size_t at = 0; at < calls.size(); ++at) {
        const NvtxRecord& begin = calls[at];
        if (begin.event == NvtxEvent::Mark) lines.emplace_back(begin.timestampNs, -1, begin.text);
        if (begin.event != NvtxEvent::Push) continue;
        int64_t endNs = -1;
        for (size_t later = at + 1; later < calls.size() && endNs < 0; ++later) {
            const NvtxRecord& end = calls[later];
            if (end.event == NvtxEvent::Pop && end.threadId == begin.threadId && end.domain == begin.domain &&
                end.level == begin.level)
                endNs = end.timestampNs;
        }
        lines.emplace_back(begin.timestampNs, endNs, begin.text);
    }
    std::sort(lines.begin(), lines.end());
    return lines;
}

/// A well-formed sequence of calls on some threads and domains.
std::vector<NvtxRecord> randomCalls(std::mt19937& random, int count) {
    std::vector<NvtxRecord> calls;
    std::map<std::pair<uint32_t, uint32_t>, int32_t> open;
    for (int at = 0; at < count; ++at) {
        const uint32_t thread = 1 + random() % 3, domain = random() % 2;
        int32_t& level = open[{thread, domain}];
        const uint32_t dice = random() % 10;
        if (dice == 0)
            calls.push_back(call(NvtxEvent::Mark, at, thread, 0, at, domain));
        else if (dice < 6 || level == 0)
            calls.push_back(call(NvtxEvent::Push, at, thread, level++, at, domain));
        else
            calls.push_back(call(NvtxEvent::Pop, at, thread, --level, 0, domain));
    }
    return calls;
}

constexpr uint64_t int32Type = 15, uint64Type = 18, doubleType = 20, charType = 1, cStringType = 75;
constexpr uint64_t fixedArray = 1 << 4, pointerFlag = 1 << 1;
constexpr uint64_t schemaId = 1 << 24;

template <class T>
std::span<const std::byte> bytesOf(const T& value) {
    return {reinterpret_cast<const std::byte*>(&value), sizeof(value)};
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
        auto reader = test::openLog(path("any.log"));
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
            QVERIFY(cut.opened && !cut.damaged && cut.lines.size() >= before);
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
            QCOMPARE(read.lines, readAll(std::string_view(bytes).substr(0, keep)).lines);
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
        auto reader = test::openLog(path("grow.log"));
        QVERIFY(reader.has_value());
        Notebook notebook;
        for (size_t length = 0; length <= bytes.size(); length += 7) {
            TestLog::write(path("grow.log"), std::string_view(bytes).substr(0, length));
            QVERIFY(reader->poll(notebook).has_value() && !reader->isCorrupt());
        }
        TestLog::write(path("grow.log"), bytes);
        QVERIFY(reader->poll(notebook).has_value());
        QCOMPARE(notebook.lines, readAll(bytes).lines);
        QCOMPARE(test::listed(reader->progress().blocks, reader->progress().latestTimeNs), "3 | 400");
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
        QCOMPARE(test::listed(read.lines.size(), read.lost), "2 | 2");
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
        auto reader = test::openLog(path("odd.log"));
        Notebook notebook;
        QVERIFY(reader->poll(notebook).has_value());
        QCOMPARE(notebook.lines, std::vector<std::string>{"end 77"});
        QCOMPARE(test::listed(reader->progress().oddRecords, reader->progress().unknownRecords), "2 | 1");
    }

    void refusesOtherFiles() {
        QVERIFY(!readAll("This is a text and quite certainly not a log of anything.").opened);
        QVERIFY(!test::openLog(path("missing.log")).has_value());
        QVERIFY(!test::openLog(folder_.path().toStdString()).has_value());
        std::filesystem::create_symlink(path("any.log"), path("link.log"));
        QVERIFY(!test::openLog(path("link.log")).has_value());
    }

    void joinsCallLaunchAndTask() {
        Assembly a;
        a.assembler.add(start(NcclEvent::Call, 1, 10));
        a.assembler.add(stop(1, 12));
        a.assembler.add(start(NcclEvent::Launch, 2, 13));
        a.assembler.add(stop(2, 16));
        a.assembler.add(start(NcclEvent::Task, 3, 17, 1));
        QVERIFY(a.operations.empty());
        a.assembler.add(stop(3, 19));
        QCOMPARE(a.operations.size(), size_t{1});
        const NcclOperation& one = a.operations[0];
        QCOMPARE(test::listed(one.call->begin.id, one.call->endNs), test::listed(1, std::optional<int64_t>(12)));
        QCOMPARE(one.launch->begin.timestampNs, int64_t{13});
        QCOMPARE(one.launch->endNs, std::optional<int64_t>(16));
        QCOMPARE(one.task->endNs, std::optional<int64_t>(19));
        a.assembler.finish();
        QCOMPARE(a.operations.size(), size_t{1});
    }

    void launchIsSharedOnlyWithinItsPlan() {
        Assembly a;
        a.assembler.add(start(NcclEvent::Launch, 1, 10));
        a.assembler.add(stop(1, 11));
        a.assembler.add(start(NcclEvent::Task, 2, 12));
        a.assembler.add(start(NcclEvent::Task, 3, 13));
        a.assembler.add(stop(3, 14));  // in any order
        a.assembler.add(stop(2, 15));
        a.assembler.add(start(NcclEvent::Task, 4, 16));  // of a plan without a launch
        a.assembler.add(stop(4, 17));
        a.assembler.add(start(NcclEvent::Launch, 5, 18));
        a.assembler.add(start(NcclEvent::Task, 6, 19, 0, 2));       // of another thread
        a.assembler.add(start(NcclEvent::Task, 7, 20, 0, 1, 0x1));  // of another communicator
        a.assembler.add(start(NcclEvent::CopyEngine, 8, 21));
        for (uint64_t id : {6, 7, 8}) a.assembler.add(stop(id, 22));
        QCOMPARE(a.operations.size(), size_t{6});
        QCOMPARE(test::listed(a.operations[0].launch->begin.id, a.operations[1].launch->begin.id), "1 | 1");
        for (size_t index = 2; index < 6; ++index) QVERIFY(!a.operations[index].launch);
    }

    void waitsForACallOfAnotherThread() {
        Assembly a;
        a.assembler.add(stop(2, 30));
        a.assembler.add(start(NcclEvent::Task, 2, 20, 1, 7));
        QVERIFY(a.operations.empty());
        a.assembler.add(start(NcclEvent::Call, 1, 10));
        a.assembler.add(stop(1, 11));
        QCOMPARE(a.operations.size(), size_t{1});
        QCOMPARE(a.operations[0].call->begin.id, uint64_t{1});
        QCOMPARE(a.operations[0].task->endNs, std::optional<int64_t>(30));
    }

    void callWithoutTaskIsEmittedAtTheEnd() {
        Assembly a;
        a.assembler.add(start(NcclEvent::Call, 1, 10));
        a.assembler.add(stop(1, 11));
        a.assembler.add(start(NcclEvent::Task, 2, 20));
        QVERIFY(a.operations.empty());
        a.assembler.finish();
        QCOMPARE(a.operations.size(), size_t{2});
        QVERIFY(!a.operations[0].call && !a.operations[0].task->endNs);
        QVERIFY(a.operations[1].call && !a.operations[1].task);
    }

    void everyTaskOfAReplayedCallIsEmitted() {
        Assembly a;
        a.assembler.add(start(NcclEvent::Call, 1, 10));
        a.assembler.add(stop(1, 11));
        for (uint64_t replay = 2; replay < 5; ++replay) {
            a.assembler.add(start(NcclEvent::Task, replay, 20, 1, 9));
            a.assembler.add(stop(replay, 21));
        }
        a.assembler.finish();
        QCOMPARE(a.operations.size(), size_t{3});
        for (const NcclOperation& one : a.operations) QCOMPARE(one.call->begin.id, uint64_t{1});
    }

    void ignoresASecondStop() {
        Assembly a;
        a.assembler.add(start(NcclEvent::Call, 1, 10));
        a.assembler.add(stop(1, 11));
        a.assembler.add(stop(1, 99));
        a.assembler.finish();
        QCOMPARE(a.operations[0].call->endNs, std::optional<int64_t>(11));
    }

    void everyOperationOfARandomLogIsEmittedOnce() {
        std::mt19937 random(7);
        const auto under = [&](uint32_t bound) { return random() % bound; };
        for (int round = 0; round < 50; ++round) {
            Assembly a;
            size_t tasks = 0;
            uint64_t next = 1;
            for (int step = 0; step < 2000; ++step) {
                const auto event = static_cast<NcclEvent>(under(6));
                if (under(2) != 0) {
                    a.assembler.add(stop(under(static_cast<uint32_t>(next) + 3), step));
                    continue;
                }
                if (event == NcclEvent::Task || event == NcclEvent::CopyEngine) ++tasks;
                const uint64_t id = next++;
                a.assembler.add(start(event, id, step, under(static_cast<uint32_t>(id) + 2), under(3), under(3)));
            }
            a.assembler.finish();
            size_t given = 0;
            for (const NcclOperation& one : a.operations) {
                QVERIFY(one.call || one.task);
                if (one.task) ++given;
            }
            QCOMPARE(given, tasks);
        }
    }

    void boundsItsMemory() {
        Assembly a;
        for (uint64_t id = 1; id <= 5 * NcclAssembler::maxKept; ++id)
            a.assembler.add(start(id % 2 != 0 ? NcclEvent::Task : NcclEvent::Call, id, 10, id + 1));
        QVERIFY(a.operations.size() >= NcclAssembler::maxKept);
        a.assembler.finish();
        QVERIFY(a.operations.size() >= 5 * NcclAssembler::maxKept / 2);
    }

    void matchesPlainLoop() {
        std::mt19937 random(11);
        for (int round = 0; round < 50; ++round) {
            const auto calls = randomCalls(random, 200);
            const Assembled fast = assemble(calls);
            QCOMPARE(fast.lines, assembleByPlainLoop(calls));
            QCOMPARE(test::listed(fast.guessed, fast.lost), "0 | 0");
        }
    }

    void lostCallAffectsNoOtherRange() {
        std::mt19937 random(12);
        for (int round = 0; round < 100; ++round) {
            std::vector<NvtxRecord> calls = randomCalls(random, 120);
            const std::vector<Line> whole = assembleByPlainLoop(calls);
            calls.erase(calls.begin() + static_cast<long>(random() % calls.size()));
            const std::vector<Line> rest = assemble(calls).lines;
            std::vector<Line> spoiled;
            std::set_difference(whole.begin(), whole.end(), rest.begin(), rest.end(), std::back_inserter(spoiled));
            QVERIFY(spoiled.size() <= 1);
        }
    }

    void lostPopEndsAtTheNextCall() {
        const Assembled result = assemble({call(NvtxEvent::Push, 10, 1, 0, 100), call(NvtxEvent::Push, 20, 1, 1, 101),
                                           // The pop of 101 is lost.
                                           call(NvtxEvent::Push, 40, 1, 1, 102), call(NvtxEvent::Pop, 50, 1, 1),
                                           call(NvtxEvent::Pop, 60, 1, 0)});
        const std::vector<Line> expected{{10, 60, 100}, {20, 40, 101}, {40, 50, 102}};
        QCOMPARE(result.lines, expected);
        QCOMPARE(result.guessed, 1u);
    }

    void countsAPopWithoutPush() {
        const Assembled result = assemble({call(NvtxEvent::Pop, 5, 1, 0), call(NvtxEvent::Pop, 6, 1, -1),
                                           call(NvtxEvent::Push, 10, 1, 0, 7), call(NvtxEvent::Pop, 11, 1, 0)});
        QCOMPARE(result.lines, (std::vector<Line>{{10, 11, 7}}));
        QCOMPARE(result.lost, 2u);
    }

    void openRangesStayOpen() {
        const Assembled result = assemble({call(NvtxEvent::Push, 10, 1, 0, 7), rangeCall(NvtxEvent::Start, 12, 99, 8)});
        QCOMPARE(result.lines, (std::vector<Line>{{10, -1, 7}, {12, -1, 8}}));
    }

    void matchesStartsAndEndsInAnyOrder() {
        const Assembled result = assemble({rangeCall(NvtxEvent::Start, 10, 1, 5), rangeCall(NvtxEvent::End, 40, 2),
                                           rangeCall(NvtxEvent::End, 30, 1), rangeCall(NvtxEvent::Start, 20, 2, 6),
                                           rangeCall(NvtxEvent::End, 50, 3)});
        QCOMPARE(result.lines, (std::vector<Line>{{10, 30, 5}, {20, 40, 6}}));
        QCOMPARE(result.lost, 1u);
    }

    void survivesNonsense() {
        std::mt19937 random(13);
        std::vector<NvtxRecord> calls;
        for (int at = 0; at < 20000; ++at) {
            NvtxRecord record = call(static_cast<NvtxEvent>(random() % 8), random(), random() % 4,
                                     static_cast<int32_t>(random()), random());
            if (random() % 50 == 0) record.level = INT32_MIN;
            record.rangeId = random() % 10;
            calls.push_back(record);
        }
        const Assembled result = assemble(calls);
        // Whatever the calls, each yields at most one range or mark, and each end at most one count.
        const auto beginnings = std::count_if(calls.begin(), calls.end(), [](const NvtxRecord& record) {
            return record.event == NvtxEvent::Push || record.event == NvtxEvent::Start ||
                   record.event == NvtxEvent::Mark;
        });
        const auto ends = std::count_if(calls.begin(), calls.end(), [](const NvtxRecord& record) {
            return record.event == NvtxEvent::Pop || record.event == NvtxEvent::End;
        });
        QCOMPARE(qint64(result.lines.size()), qint64(beginnings));
        QVERIFY(result.guessed <= uint64_t(beginnings) && result.lost <= uint64_t(ends));
    }

    void decodesPlainFields() {
        struct {
            uint64_t big;
            int32_t number;
            char text[4];
            double real;
        } payload{~0ull, -5, {'a', 'b', 0, 'x'}, 2.5};
        PayloadDecoder decoder;
        decoder.addSchema(1, schemaId, sizeof(payload));
        decoder.addEntry(1, schemaId, 0, {0, uint64Type, 0, 0, "big"});
        decoder.addEntry(1, schemaId, 1, {0, int32Type, 0, 8, "number"});
        decoder.addEntry(1, schemaId, 2, {0, cStringType, 4, 12, "text"});
        decoder.addEntry(1, schemaId, 3, {0, doubleType, 0, 16, "real"});
        const auto decoded = decoder.decode(1, schemaId, bytesOf(payload));
        QVERIFY(decoded.has_value());
        QCOMPARE(decoded->dump(), R"({"big":18446744073709551615,"number":-5,"text":"ab","real":2.5})");
        QVERIFY(!decoder.decode(2, schemaId, bytesOf(payload)).has_value());
    }

    void computesOmittedOffsets() {
        struct {
            int32_t first;
            uint64_t second;
            int32_t third[2];
        } payload{1, 2, {3, 4}};
        PayloadDecoder decoder;
        decoder.addSchema(0, 9, sizeof(payload));
        decoder.addEntry(0, 9, 0, {0, int32Type, 0, 0, "first"});
        decoder.addEntry(0, 9, 1, {0, uint64Type, 0, 0, "second"});
        decoder.addEntry(0, 9, 2, {fixedArray, int32Type, 2, 0, "third"});
        QCOMPARE(decoder.decode(0, 9, bytesOf(payload))->dump(), R"({"first":1,"second":2,"third":[3,4]})");
    }

    void skipsFieldsOutOfBounds() {
        const uint32_t payload = 7;
        PayloadDecoder decoder;
        decoder.addSchema(0, 9, 400);
        decoder.addEntry(0, 9, 0, {0, int32Type, 0, 0, "fits"});
        decoder.addEntry(0, 9, 1, {0, uint64Type, 0, 4, "behind"});
        decoder.addEntry(0, 9, 2, {0, uint64Type, 0, ~0ull, "far"});
        decoder.addEntry(0, 9, 3, {fixedArray, uint64Type, ~0ull, 0, "long"});
        decoder.addEntry(0, 9, 4, {pointerFlag, charType, 0, 0, "address"});
        decoder.addEntry(0, 9, ~0u, {0, int32Type, 0, 0, "index"});
        QCOMPARE(decoder.decode(0, 9, bytesOf(payload))->dump(), R"({"fits":7})");
        QCOMPARE(decoder.decode(0, 9, {})->dump(), "{}");
    }

    void recursiveLayoutsEnd() {
        PayloadDecoder decoder;
        const uint64_t payload[8] = {};
        decoder.addSchema(0, 7000, sizeof(payload));
        for (uint32_t index = 0; index < 500; ++index)
            decoder.addEntry(0, 7000, index, {0, 7000, 0, 0, std::to_string(index)});
        QVERIFY(decoder.decode(0, 7000, bytesOf(payload)).has_value());
    }

    void randomLayoutsAreSafe() {
        std::mt19937_64 random(3);
        for (int round = 0; round < 500; ++round) {
            PayloadDecoder decoder;
            for (uint64_t id = 200; id < 203; ++id) {
                decoder.addSchema(0, id, random() % 64);
                for (uint32_t index = 0; index < 6; ++index) {
                    const uint64_t type = random() % 4 == 0 ? 200 + random() % 3 : random() % 101;
                    const uint64_t detail = random() % 3 == 0 ? random() : random() % 9;
                    const uint64_t offset = random() % 5 == 0 ? random() : random() % 70;
                    decoder.addEntry(0, id, index, {random() % 1024, type, detail, offset, "x"});
                }
            }
            std::vector<std::byte> payload(random() % 80);
            for (auto& byte : payload) byte = static_cast<std::byte>(random());
            const auto decoded = decoder.decode(0, 200, payload);
            QVERIFY(decoded.has_value());
            decoded->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        }
    }

    void readsNcclFieldsByName() {
        struct {
            uint64_t communicator, bytes;
            uint32_t operation;
        } payload{0xfeedfacecafebeef, 4096, 2};
        PayloadDecoder decoder;
        decoder.addSchema(3, schemaId + 5, sizeof(payload));
        decoder.addEntry(3, schemaId + 5, 0, {0, uint64Type, 0, 0, "NCCL communicator ID"});
        decoder.addEntry(3, schemaId + 5, 1, {0, uint64Type, 0, 8, "Message size [bytes]"});
        // An enumeration with an unknown layout.
        decoder.addEntry(3, schemaId + 5, 2, {0, schemaId + 11, 0, 16, "Reduction operation"});
        const auto bytes = bytesOf(payload).first(20);
        const NcclCall call =
            decodeNcclCall("ncclAllReduce", schemaId + 5, bytes, decoder.decode(3, schemaId + 5, bytes));
        QCOMPARE(call.operation, "AllReduce");
        QCOMPARE(call.communicator, std::optional<uint64_t>(0xfeedfacecafebeef));
        QCOMPARE(call.bytes, std::optional<int64_t>(4096));
        QCOMPARE(call.reduction, std::optional<int64_t>(2));
        QVERIFY(!call.describesCommunicator());
    }

    void typeWithoutLayoutIsAnEnumerationWithoutPadding() {
        struct {
            uint64_t communicator, bytes;
            uint32_t operation, padding;
        } payload{77, 8, 3, 0x7fca};
        PayloadDecoder decoder;
        decoder.addSchema(3, schemaId + 5, sizeof(payload));
        decoder.addEntry(3, schemaId + 5, 0, {0, uint64Type, 0, 0, "NCCL communicator ID"});
        decoder.addEntry(3, schemaId + 5, 1, {0, uint64Type, 0, 8, "Message size [bytes]"});
        decoder.addEntry(3, schemaId + 5, 2, {0, schemaId + 11, 0, 16, "Reduction operation"});
        const auto decoded = decoder.decode(3, schemaId + 5, bytesOf(payload));
        QCOMPARE((*decoded)["Reduction operation"].dump(), "3");
        const NcclCall call = decodeNcclCall("ncclAllReduce", schemaId + 5, bytesOf(payload), decoded);
        QCOMPARE(call.reduction, std::optional<int64_t>(3));
        // The same without any layout.
        QCOMPARE(decodeNcclCall("ncclAllReduce", schemaId + 5, bytesOf(payload), std::nullopt).reduction,
                 std::optional<int64_t>(3));
        // An id assigned by NVTX itself, and an array of such.
        struct {
            uint32_t one, more[2], padding;
        } several{1, {2, 3}, 0x7fca};
        decoder.addSchema(3, 9, sizeof(several));
        decoder.addEntry(3, 9, 0, {0, 1ull << 32, 0, 0, "one"});
        decoder.addEntry(3, 9, 1, {fixedArray, 1ull << 32, 2, 4, "more"});
        QCOMPARE(decoder.decode(3, 9, bytesOf(several))->dump(), R"({"one":1,"more":[2,3]})");
    }

    void enumerationValuesAreNamed() {
        constexpr uint64_t small = schemaId + 20, access = schemaId + 21, other = schemaId + 22;
        struct {
            uint32_t reduction, unknown;
            uint8_t level, negative;
            uint16_t padding;
            uint32_t access[4];
        } payload{2, 9, 1, 0xff, 0, {3, 4, 0, 11}};
        PayloadDecoder decoder;
        const auto names = [&](uint64_t id, uint64_t bytes) {
            decoder.addEnumeration(1, id, bytes);
            decoder.addEnumerator(1, id, 0, false, "None");
        };
        names(other, 0);
        decoder.addEnumerator(1, other, 2, false, "Max");
        names(small, 1);
        decoder.addEnumerator(1, small, 1, false, "Low");
        decoder.addEnumerator(1, small, ~0ull, false, "Negative");
        names(access, 4);
        for (int again = 0; again < 2; ++again) {
            decoder.addEnumerator(1, access, 1, true, "Read");
            decoder.addEnumerator(1, access, 2, true, "Write");
            decoder.addEnumerator(1, access, 4, true, "Execute");
        }
        decoder.addEnumerator(1, schemaId + 23, 4, true, "of none");
        decoder.addSchema(1, schemaId, sizeof(payload));
        decoder.addEntry(1, schemaId, 0, {0, other, 0, 0, "reduction"});
        decoder.addEntry(1, schemaId, 1, {0, other, 0, 0, "unknown"});
        decoder.addEntry(1, schemaId, 2, {0, small, 0, 0, "level"});
        decoder.addEntry(1, schemaId, 3, {0, small, 0, 0, "negative"});
        decoder.addEntry(1, schemaId, 4, {fixedArray, access, 4, 0, "access"});
        QCOMPARE(decoder.decode(1, schemaId, bytesOf(payload))->dump(),
                 R"({"reduction":"Max","unknown":9,"level":"Low","negative":"Negative",)"
                 R"("access":["Read|Write","Execute","None",11]})");
        QCOMPARE(decoder.decode(1, schemaId, bytesOf(payload), PayloadDecoder::Enumerators::Numbered)->dump(),
                 R"({"reduction":2,"unknown":9,"level":1,"negative":255,"access":[3,4,0,11]})");
    }

    void manyLongEnumerationNamesStaySmall() {
        const std::string longName(100'000, 'x');
        PayloadDecoder decoder;
        decoder.addEnumeration(0, 300, 8);
        for (uint64_t bit = 0; bit < 64; ++bit) decoder.addEnumerator(0, 300, uint64_t{1} << bit, true, longName);
        decoder.addSchema(0, 200, 16);
        for (uint32_t index = 0; index < 4000; ++index) decoder.addEntry(0, 200, index, {0, 300, 0, 8, ""});
        const uint64_t payload[2] = {~0ull, ~0ull};
        const auto decoded = decoder.decode(0, 200, bytesOf(payload));
        QVERIFY(decoded && decoded->dump().size() < 40'000'000);
    }

    void readsNcclFieldsByLayout() {
        struct {
            uint64_t communicator;
            int32_t ranks, rank, device;
        } made{77, 8, 3, 1};
        const NcclCall init = decodeNcclCall("ncclCommInitRank", schemaId, bytesOf(made).first(20), std::nullopt);
        QVERIFY(init.describesCommunicator());
        QCOMPARE(init.rank, std::optional<int64_t>(3));
        QCOMPARE(init.rankCount, std::optional<int64_t>(8));
        struct {
            uint64_t communicator, bytes;
            int32_t peer;
        } sent{77, 100, 4};
        const NcclCall send = decodeNcclCall("ncclSend", schemaId + 9, bytesOf(sent).first(20), std::nullopt);
        QCOMPARE(send.peer, std::optional<int64_t>(4));
        const NcclCall cut = decodeNcclCall("ncclSend", schemaId + 9, bytesOf(sent).first(10), std::nullopt);
        QCOMPARE(cut.communicator, std::optional<uint64_t>(77));
        QVERIFY(!cut.bytes.has_value());
    }
};

LANESCOPE_TEST(tst_LogReader, QCoreApplication)
#include "tst_LogReader.moc"
