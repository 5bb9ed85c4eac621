#pragma once

#include <string>

#include "capture/collector/Collector.h"

namespace lanescope {

/// "1,234 kernels, 56 memcpys": the kinds of which there are any; "no event" if there are none.
std::string countsSentence(const ImportCounts& counts);

/// Prints on stderr where the trace is, what is in it and what is doubtful about it.
void printRun(const CollectedRun& run);

}  // namespace lanescope
