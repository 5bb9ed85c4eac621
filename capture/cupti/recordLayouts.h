// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>

namespace lanescope::agent {

/// How many bytes a record of `kind` has, at least, in the CUPTI of `version`, as far as we know
/// how to read them. The layout is that of the loaded library, not that of the headers; records
/// only ever grow at their end, so what is missing from an older one are the last fields of a
/// newer. 0 for kinds that we do not read.
size_t knownRecordBytes(CUpti_ActivityKind kind, uint32_t version);

}  // namespace lanescope::agent
