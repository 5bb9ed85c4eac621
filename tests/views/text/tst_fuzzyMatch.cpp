// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/format/text.h"
#include "tests/support/runTest.h"
#include "views/text/typedText.h"

using namespace lanescope;
using namespace lanescope::views;

class TestFuzzyMatch : public QObject {
    Q_OBJECT
  private slots:
    void findsWordsPiecesAndInitials() {
        QVERIFY(score("kern", "ncclDevKernel_AllReduce") > 0);
        QVERIFY(score("all nccl", "ncclDevKernel_AllReduce") > 0);
        QVERIFY(score("zts", "Zoom to the selection") > 0);
        QVERIFY(score("ptt", "Pin to the top") > 0);
        QCOMPARE(score("gemm", "softmax"), 0);
        QCOMPARE(score("stream 99", "Stream 7"), 0);
        QCOMPARE(score("ab", "a------------------------------b"), 0);
    }

    void betterMatchesComeFirst() {
        QVERIFY(score("stream", "Stream 7") > score("stream", "Upstream 7"));
        QVERIFY(score("gpu", "GPU 0") > score("gpu", "Time on the GPU"));
        QVERIFY(score("fold", "Fold all tracks") > score("fold", "Unfold all tracks"));
        QVERIFY(score("gemm", "gemm") > score("gemm", "gemm_with_a_very_long_name_after_it"));
        QVERIFY(score("zoom", "Zoom in") > score("zoom", "z_o_o_m"));
    }

    void emptyTextIsEmpty() {
        QVERIFY(FuzzyPattern("").isEmpty());
        QVERIFY(FuzzyPattern("  \t ").isEmpty());
        QVERIFY(!FuzzyPattern(" a ").isEmpty());
    }

    void anyBytesAreHarmless() {
        std::mt19937 random(3);
        for (int round = 0; round < 5000; ++round) {
            std::string typed, text;
            for (unsigned i = random() % 12; i > 0; --i) typed += static_cast<char>(random());
            for (unsigned i = random() % 60; i > 0; --i) text += static_cast<char>(random());
            const std::string lowered = lowerCase(text);
            QVERIFY(FuzzyPattern(typed).score(lowered) >= 0);
            // A name without blanks always matches itself.
            const FuzzyPattern itself(text.substr(0, text.find_first_of(" \t")));
            if (!itself.isEmpty()) QVERIFY(itself.score(lowered) > 0);
        }
    }

  private:
    static int score(std::string_view typed, std::string_view name) {
        return FuzzyPattern(typed).score(lowerCase(std::string(name)));
    }
};

LANESCOPE_TEST(TestFuzzyMatch, NoApplication)
#include "tst_fuzzyMatch.moc"
