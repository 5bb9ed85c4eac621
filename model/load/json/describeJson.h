// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/load/json/TopLevel.h"
#include "model/load/json/giveEvents.h"
#include "model/load/json/readJsonEvents.h"

namespace lanescope {

/// The rank that the file says it is of, or else its name does ("rank3_trace.json"); -1 if neither.
int rankOf(const TopLevelFacts& facts, const std::filesystem::path& path);

/// Gives what stands beside the events: who recorded them and when, GPUs, ranks. GPUs and processes
/// must be known.
void describeJson(const JsonFile& file, JsonGiving& giving);

/// Says what could not be read, what does not fit together, and what is not shown. `damage` is what
/// programs call damage of such a file.
void noteJson(const JsonFile& file, const JsonFindings& findings, JsonGiving& giving,
              HealthCode damage = HealthCode::JsonDamaged);

/// Notes that so many parts of a file, `what` in the plural, are damaged and were passed over.
void noteDamagedParts(std::string_view what, int64_t count, TraceBuilder& builder);

}  // namespace lanescope
