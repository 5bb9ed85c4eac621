// SPDX-License-Identifier: Apache-2.0
#include "model/search/NamePattern.h"
#include "tests/support/runTest.h"

using namespace lanescope;

class tst_NamePattern : public QObject {
    Q_OBJECT

  private slots:
    void substringMatchesAnywhereInAnyCase() {
        const auto pattern = NamePattern::compile("GeMm_", PatternKind::Substring);
        QVERIFY(pattern.has_value());
        QVERIFY(pattern->matches("sm90_xmma_GEMM_bf16"));
        QVERIFY(!pattern->matches("sm90_xmma_gem_m"));
        QVERIFY(!pattern->matches(""));
    }

    void substringIsTakenLiterally() {
        const auto pattern = NamePattern::compile("<float>(float*", PatternKind::Substring);
        QVERIFY(pattern->matches("void add<float>(float*, int)"));
        QVERIFY(!pattern->matches("void add<double>(double*)"));
    }

    void expressionMatchesAnywhereInAnyCase() {
        const auto pattern = NamePattern::compile("^nccl(All|Reduce).*_ring$", PatternKind::Expression);
        QVERIFY(pattern.has_value());
        QVERIFY(pattern->matches("ncclAllReduce_RING"));
        QVERIFY(pattern->matches("NCCLReduceScatter_ring"));
        QVERIFY(!pattern->matches("my ncclAllReduce_RING"));
    }

    void wrongExpressionIsExplainedInASentence() {
        for (const char* text : {"(", "a**", "[z-a]", "(?P<n", "\\"}) {
            const auto pattern = NamePattern::compile(text, PatternKind::Expression);
            QVERIFY(!pattern.has_value());
            const std::string& sentence = pattern.error().sentence;
            QVERIFY(sentence.starts_with("Not a regular expression: "));
            QVERIFY(sentence.ends_with("."));
        }
    }

    void catastrophicExpressionsTakeLinearTime() {
        const std::string name(20'000, 'a');
        for (const char* text : {"(a+)+$", "(a|aa)+b", "(.*)*x", "(a?){50}a{50}b"}) {
            const auto pattern = NamePattern::compile(text, PatternKind::Expression);
            QVERIFY(pattern.has_value());
            pattern->matches(name);
        }
    }

    void hugeExpressionIsRefused() {
        const auto pattern = NamePattern::compile("((a{1000}){1000}){1000}", PatternKind::Expression);
        QVERIFY(!pattern.has_value());
    }

    void invalidUtf8IsMatched() {
        const auto pattern = NamePattern::compile("k.nel", PatternKind::Expression);
        QVERIFY(pattern->matches("\xff\xfe k\xe9nel"));
        QVERIFY(pattern->matches(std::string_view("\0kernel? kxnel", 14)));
    }
};

LANESCOPE_TEST(tst_NamePattern, NoApplication)
#include "tst_NamePattern.moc"
