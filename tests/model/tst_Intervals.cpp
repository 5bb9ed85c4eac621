// SPDX-License-Identifier: Apache-2.0

#include "model/analysis/Intervals.h"
#include "model/numbers/LargeMemory.h"
#include "model/trace/Column.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;

namespace {

constexpr int64_t lengthNs = 20'000;
constexpr int64_t noLabel = -1;

/// One label for each nanosecond.
using Plain = std::vector<int64_t>;

Plain plainOf(const Intervals& intervals) {
    Plain plain(lengthNs, noLabel);
    for (const LabelledInterval& each : intervals)
        for (int64_t ns = each.startNs; ns < each.endNs; ++ns)
            if (plain[static_cast<size_t>(ns)] == noLabel) plain[static_cast<size_t>(ns)] = each.label;
    return plain;
}

/// Sorted, not empty, not overlapping, of any number: none, less than a block, many blocks.
Intervals randomIntervals(std::mt19937& random, LargeMemory* memory) {
    constexpr std::array<int64_t, 5> longestNs{1, 3, 20, 400, 30'000};
    const int64_t mostNs = longestNs[random() % longestNs.size()];
    Intervals made(memory);
    for (int64_t ns = static_cast<int64_t>(random() % 50); ns < lengthNs;) {
        const int64_t endNs =
            std::min(lengthNs, ns + 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(mostNs)));
        if (random() % 4 != 0) made.push_back({ns, endNs, static_cast<uint32_t>(random() % 5)});
        ns = endNs + (random() % 2 == 0 ? 0 : static_cast<int64_t>(random() % static_cast<uint64_t>(mostNs)));
    }
    return made;
}

bool areFlat(const Intervals& intervals) {
    int64_t untilNs = INT64_MIN;
    for (const LabelledInterval& each : intervals) {
        if (each.startNs < untilNs || each.endNs <= each.startNs) return false;
        untilNs = each.endNs;
    }
    return true;
}

}  // namespace

class tst_Intervals : public QObject {
    Q_OBJECT

  private slots:
    void listKeepsRecordsOfAnyValue() {
        std::mt19937_64 random(1);
        Intervals list(&memory_);
        std::vector<LabelledInterval> expected;
        for (int count = 0; count < 1'500; ++count) {
            QCOMPARE(list.size(), expected.size());
            const auto wide = [&] { return static_cast<int64_t>(random()) >> random() % 64; };
            expected.push_back({wide(), wide(), static_cast<uint32_t>(random())});
            list.push_back(expected.back());
        }
        const Intervals copy = list, moved = std::move(list);
        for (const Intervals* each : {&copy, &moved}) {
            QVERIFY(std::equal(each->begin(), each->end(), expected.begin(), expected.end()));
            for (const size_t first : {0, 1, 255, 256, 700, 1'279, 1'280, 1'499, 1'500}) {
                size_t index = first;
                for (Intervals::Reader reader(*each, first); !reader.isAtEnd(); reader.next(), ++index) {
                    QCOMPARE(reader.index(), index);
                    QVERIFY(*reader == expected[index]);
                }
                QCOMPARE(index, expected.size());
            }
        }
        QCOMPARE(copy.valueOf<0>(900), expected[900].startNs);
        QCOMPARE(copy.valueOf<0>(1'490), expected[1'490].startNs);
    }

    void columnReaderReadsAnyRow() {
        std::mt19937 random(2);
        Column<uint32_t> column(&memory_);
        for (int row = 0; row < 1'000; ++row) column.push_back(random() % 1'000);
        ColumnReader reader(column);
        for (int time = 0; time < 3'000; ++time) {
            const size_t row = random() % 1'100;
            QCOMPARE(reader[row], column[row]);
        }
        const Column<uint32_t> none;
        QCOMPARE(ColumnReader(none)[3], 0u);
    }

    void setOperationsMatchEachNanosecond() {
        std::mt19937 random(3);
        for (int round = 0; round < 60; ++round) {
            const Intervals a = randomIntervals(random, &memory_), b = randomIntervals(random, &memory_);
            const Plain ofA = plainOf(a), ofB = plainOf(b);
            const Intervals rest = without(a, b);
            QVERIFY(areFlat(rest));
            Plain expected = ofA, both(lengthNs, noLabel), found(lengthNs, noLabel);
            for (size_t ns = 0; ns < ofA.size(); ++ns) {
                if (ofB[ns] != noLabel) expected[ns] = noLabel;
                if (ofA[ns] != noLabel && ofB[ns] != noLabel) both[ns] = 10 * ofA[ns] + ofB[ns];
            }
            QVERIFY(plainOf(rest) == expected);
            int64_t untilNs = INT64_MIN;
            forEachOverlap(a, b, [&](int64_t startNs, int64_t endNs, uint32_t label, uint32_t other) {
                QVERIFY(startNs >= untilNs && endNs > startNs);
                untilNs = endNs;
                std::fill(found.begin() + startNs, found.begin() + endNs, int64_t{10} * label + other);
            });
            QVERIFY(found == both);
        }
    }

    void firstOfOverlappingIntervalsKeepsTheTime() {
        std::mt19937 random(4);
        for (const size_t count : {0u, 1u, 20u, 255u, 256u, 3'000u}) {
            Intervals any(&memory_);
            std::vector<LabelledInterval> sorted;
            for (size_t each = 0; each < count; ++each) {
                const auto startNs = static_cast<int64_t>(random() % (lengthNs - 100));
                sorted.push_back(
                    {startNs, startNs + static_cast<int64_t>(random() % 40), static_cast<uint32_t>(random() % 5)});
                any.push_back(sorted.back());
            }
            std::ranges::stable_sort(sorted, {}, &LabelledInterval::startNs);
            Intervals inOrder(&memory_);
            for (const LabelledInterval& each : sorted) inOrder.push_back(each);
            const Plain expected = plainOf(inOrder);
            for (const Intervals* each : {&any, &inOrder}) {
                const Intervals flat = withoutOverlaps(*each);
                QVERIFY(areFlat(flat));
                QVERIFY(plainOf(flat) == expected);
            }
        }
    }

    void unassignedTimeIsTakenOnce() {
        std::mt19937 random(5);
        for (int round = 0; round < 40; ++round) {
            std::vector<TimeRange> windows;
            for (int64_t ns = 10; ns < lengthNs - 2'000; ns += static_cast<int64_t>(random() % 2'000))
                windows.push_back({ns, ns += static_cast<int64_t>(random() % 1'500)});
            Plain window(lengthNs, noLabel), expected(lengthNs, noLabel), found(lengthNs, noLabel);
            for (size_t index = 0; index < windows.size(); ++index)
                std::fill(window.begin() + windows[index].startNs, window.begin() + windows[index].endNs,
                          static_cast<int64_t>(index));
            UnassignedTime time(windows, &memory_);
            for (int64_t part = 1; part <= 3; ++part) {
                const Intervals claims = randomIntervals(random, &memory_);
                const Plain ofClaims = plainOf(claims);
                for (size_t ns = 0; ns < expected.size(); ++ns)
                    if (window[ns] != noLabel && expected[ns] == noLabel && ofClaims[ns] != noLabel)
                        expected[ns] = 100 * part + ofClaims[ns];
                time.take(claims, [&](uint32_t number, int64_t startNs, int64_t endNs, uint32_t label) {
                    for (int64_t ns = startNs; ns < endNs; ++ns) {
                        QCOMPARE(window[static_cast<size_t>(ns)], int64_t{number});
                        QCOMPARE(found[static_cast<size_t>(ns)], noLabel);
                        found[static_cast<size_t>(ns)] = 100 * part + label;
                    }
                });
            }
            QVERIFY(found == expected);
            const Plain left = plainOf(time.left());
            for (size_t ns = 0; ns < left.size(); ++ns) QCOMPARE(left[ns], found[ns] == noLabel ? window[ns] : noLabel);
        }
    }

    void listTakesAFifthOfTheMemory() {
        Intervals list(&memory_);
        const size_t before = memory_.ownBytes();
        constexpr size_t count = 200'000;
        for (size_t each = 0; each < count; ++each) {
            const auto startNs = static_cast<int64_t>(each * 7'000 + each * each % 900);
            list.push_back(
                {startNs, startNs + 3'000 + static_cast<int64_t>(each % 50), static_cast<uint32_t>(each % 90)});
        }
        QVERIFY(memory_.ownBytes() - before < count * sizeof(LabelledInterval) / 4);
    }

  private:
    LargeMemory memory_;
};

LANESCOPE_TEST(tst_Intervals, NoApplication)
#include "tst_Intervals.moc"
