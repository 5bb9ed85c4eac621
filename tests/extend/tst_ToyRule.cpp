// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "model/explain/RunFindings.h"
#include "model/pages/ExplanationReport.h"
#include "tests/model/madeSteps.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::explain;

namespace {

bool isToy(const Contributor& each) { return each.kind == ContributorKind::Kernel && each.name == "toy"; }

/// Kernels named "toy".
const Rule toyRule{
    .id = "toy_kernels",
    .finds = "Kernels named \"toy\" take at least 3 % of the step.",
    .advice = "Play less.",
    .find = [](RunFindings& run) { run.add(run.exposedNs(isToy), minShare, run.greatest(isToy)); },
    .say = [](const FindingText& text) { return fmt::format("Toys take {}, {}.", text.time(), text.times()); },
};

/// A run in which toys take a fifth of each step.
RunSummary runWithToys() {
    MadeRun made;
    made.add(StepPart::Compute, ContributorKind::Kernel, "toy", 25 * ms);
    return made.run();
}

}  // namespace

/// A rule that is added outside of the product.
class tst_ToyRule : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        rules_.assign(allRules().begin(), allRules().end());
        rules_.push_back(&toyRule);
    }

    void addedRuleIsFoundAndReported() {
        const RunSummary run = runWithToys();
        const Explanation made = explain::explain(run, {}, rules_);
        QCOMPARE(rulesOf(made), std::vector{&toyRule});
        QCOMPARE(made.findings.front().maxGainNs, 25 * ms);
        QCOMPARE(made.findings.front().sentence, std::string("Toys take 25.00 ms of a step (20.0 %), 2 per step."));
        const std::string text = explanationAsText(report::ExplanationReport{run, made});
        HAS(text, "1. toy_kernels, costs 25.000 ms per step");
        HAS(text, "Try: Play less.");
    }

    void mutedRuleHasNoFinding() { QVERIFY(explain::explain(runWithToys(), {&toyRule}, rules_).findings.empty()); }

    void conditionNamesTheAddedRule() {
        const Explanation made = explain::explain(runWithToys(), {}, rules_);
        const auto isMet = [&](std::string_view text) {
            const Result<RuleCondition> condition = parseRuleCondition(text, rules_);
            return condition && condition->isMetBy(made.findings.front());
        };
        QVERIFY(isMet("toy_kernels"));
        QVERIFY(isMet("toy_kernels > 19%"));
        QVERIFY(!isMet("toy_kernels > 30ms"));
        QVERIFY(isMet("any > 10ms"));
        QVERIFY(!isMet("launch_bound"));
    }

    void productDoesNotKnowTheRule() {
        QVERIFY(explain::explain(runWithToys()).findings.empty());
        QVERIFY(ruleCalled("toy_kernels") == nullptr);
        QVERIFY(!parseRuleCondition("toy_kernels"));
    }

  private:
    std::vector<const Rule*> rules_;
};

LANESCOPE_TEST(tst_ToyRule, NoApplication)
#include "tst_ToyRule.moc"
