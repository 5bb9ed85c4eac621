// SPDX-License-Identifier: Apache-2.0
#include "model/compare/Condition.h"
#include "model/compare/evaluateCondition.h"
#include "tests/fuzz/targets/targets.h"

namespace lanescope::fuzz {

/// Parses a `--fail-if` condition.
void readCondition(Bytes bytes) {
    const auto condition = compare::parseCondition(textOf(bytes));
    if (!condition) return require(!condition.error().sentence.empty(), "It was refused without a word.");
    require(!condition->tests.empty(), "A condition without a test.");
    for (const compare::ConditionTest& test : condition->tests) {
        require(compare::hasName(test.subject) != test.name.empty() || test.name.empty(), "A name for what has none.");
        (void)compare::namesKernel("void ns::gemm<float, 128>(float*, int)", test.name);
        (void)compare::liesInRange("step #/backward/layer #", test.name);
    }
    // The same text gives the same condition.
    const auto again = compare::parseCondition(condition->text);
    require(again.has_value() && again->tests.size() == condition->tests.size(),
            "A condition cannot be read from its own text.");
}

}  // namespace lanescope::fuzz
