// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/compare/RunSummary.h"

namespace lanescope::compare {

/// Whether two traces are of one recording, as copies, excerpts and exports of it are: they hold a
/// process with the same id that did its steps at the same time of day on the same host. No machine
/// has two such. Exports know no host, which fits any then. Where it is not known when they were
/// recorded, equal content tells (`SummaryFacts::contentHash`). Of several runs together never.
/// O(workers of one * workers of the other); any thread.
bool isSameRecording(const RunSummary& one, const RunSummary& other);

}  // namespace lanescope::compare
