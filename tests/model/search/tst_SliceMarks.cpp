// SPDX-License-Identifier: Apache-2.0
#include "model/search/SearchHits.h"
#include "tests/support/runTest.h"

using namespace lanescope;

class tst_SliceMarks : public QObject {
    Q_OBJECT

  private slots:
    void marksMatchPlainLoop() {
        std::mt19937 random(4);
        for (const uint32_t size : {1u, 63u, 64u, 65u, 4096u, 4097u, 100'000u}) {
            for (const uint32_t every : {1u, 7u, 5'000u, 1'000'000u}) {
                SliceMarks marks(size);
                std::vector<bool> plain(size);
                for (uint32_t slice = random() % every; slice < size; slice += 1 + random() % every)
                    marks.set(slice), plain[slice] = true;
                for (int round = 0; round < 200; ++round) {
                    const uint32_t first = random() % (size + 1);
                    const uint32_t end = first + random() % (round % 2 == 0 ? 200 : size);
                    const auto from = plain.begin() + first;
                    const auto to = plain.begin() + std::min(size, end);
                    QCOMPARE(marks.any(first, end), std::find(from, to, true) != to);
                    if (first < size) QCOMPARE(marks.contains(first), bool(plain[first]));
                }
            }
        }
    }

    void noSlicesGiveNoMarks() {
        const SliceMarks marks;
        QVERIFY(marks.isEmpty());
        QVERIFY(!marks.any(0, 100));
        QVERIFY(!marks.contains(3));
    }
};

LANESCOPE_TEST(tst_SliceMarks, NoApplication)
#include "tst_SliceMarks.moc"
