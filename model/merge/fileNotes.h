// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// What people call the file of each trace: its name, with as much of its folder as tells it from
/// the others. No two are the same.
std::vector<std::string> shortNames(std::span<const TracePtr> traces);

/// Whether a note says what is so of each file of its kind, and not what this one lost: of many it
/// is said once.
bool isOfEveryFile(const HealthNote& note);

/// The note as one of several files has it: which of them is said where it counts or warns.
HealthNote ofFile(HealthNote note, const std::string& name);

}  // namespace lanescope
