// SPDX-License-Identifier: Apache-2.0
#include "model/gate/Condition.h"
#include "model/gate/evaluateCondition.h"
#include "model/gate/namePattern.h"
#include "tests/fuzz/targets/targets.h"

namespace lanescope::fuzz {

/// What `--fail-if` takes.
void readCondition(Bytes bytes) {
    const auto condition = gate::parseCondition(textOf(bytes));
    if (!condition)
        return require(!condition.error().sentence.empty(), "It was refused without a word.");
    require(!condition->tests.empty(), "A condition without a test.");
    for (const gate::ConditionTest& test : condition->tests) {
        require(gate::hasName(test.subject) != test.name.empty() || test.name.empty(),
                "A name for what has none.");
        (void)gate::namesKernel("void ns::gemm<float, 128>(float*, int)", test.name);
        (void)gate::liesInRange("step #/backward/layer #", test.name);
    }
    // The same text, the same condition.
    const auto again = gate::parseCondition(condition->text);
    require(again.has_value() && again->tests.size() == condition->tests.size(),
            "A condition cannot be read from its own text.");
}

}  // namespace lanescope::fuzz
