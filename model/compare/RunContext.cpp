// SPDX-License-Identifier: Apache-2.0
#include "model/compare/RunContext.h"

#include "model/compare/summaryFacts.h"

namespace lanescope::compare {

RunContext::RunContext(const Trace& ofTrace, const RunSteps& steps)
    : trace(ofTrace),
      calls(trace),
      paths(trace, steps.source == StepSource::NvtxRange ? std::string_view(steps.pattern)
                                                         : std::string_view()),
      waits(trace),
      collectives(trace, worldSizeOf(trace)),
      rows(trace),
      states(trace),
      stepKind(steps.kind) {}

}  // namespace lanescope::compare
