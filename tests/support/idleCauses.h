// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/analysis/IdleCause.h"

namespace lanescope::analysis {

/// Time in a call.
inline IdleCause idleIn(std::string call) { return {CauseKind::InCall, GpuApi::Cuda, std::move(call)}; }

/// Time of a kind, in which the thread was seen in a state.
inline IdleCause idle(CauseKind kind, ThreadState state = ThreadState::Unknown,
                      Observation observation = Observation::State) {
    IdleCause cause{kind};
    if (state != ThreadState::Unknown) cause.activity.observation = observation;
    cause.activity.state = state;
    return cause;
}

/// The same on the main thread, at a place if `frame` is one.
inline IdleCause onMain(IdleCause cause, FrameRef frame = {}) {
    cause.thread.role = ThreadRole::Main;
    cause.activity.frame = std::move(frame);
    return cause;
}

}  // namespace lanescope::analysis
