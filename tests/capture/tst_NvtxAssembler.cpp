// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/NvtxImporter.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;
using log::NvtxEvent;
using log::NvtxRecord;

namespace {

/// begin, end (-1 for open), text
using Line = std::tuple<int64_t, int64_t, uint32_t>;

NvtxRecord call(NvtxEvent event, int64_t timeNs, uint32_t thread, int32_t level, uint32_t text = 0,
                uint32_t domain = 0) {
    NvtxRecord record{};
    record.event = event;
    record.timestampNs = timeNs;
    record.threadId = thread;
    record.level = level;
    record.text = text;
    record.domain = domain;
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

}  // namespace

class tst_NvtxAssembler : public QObject {
    Q_OBJECT

  private slots:
    void matchesPlainLoop() {
        std::mt19937 random(11);
        for (int round = 0; round < 50; ++round) {
            const auto calls = randomCalls(random, 200);
            const Assembled fast = assemble(calls);
            QCOMPARE(fast.lines, assembleByPlainLoop(calls));
            QCOMPARE(fast.guessed, 0u);
            QCOMPARE(fast.lost, 0u);
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
};

LANESCOPE_TEST(tst_NvtxAssembler, QCoreApplication)
#include "tst_NvtxAssembler.moc"
