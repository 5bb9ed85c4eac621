// SPDX-License-Identifier: Apache-2.0
// The activity source of an agent that was built without CUPTI's headers.

#include "capture/agent/Agent.h"

namespace lanescope::agent {

std::unique_ptr<ActivitySource> makeActivitySource(const AgentOptions&, Agent& agent) {
    return std::make_unique<NoSource>(agent, Severity::Warning, HealthCode::NoCupti,
                                      "This agent was built without CUPTI; no CUDA activity was recorded. Build it "
                                      "with the CUPTI headers to record kernels and copies.");
}

}  // namespace lanescope::agent
