// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace lanescope {

/// A query that is worth running on most traces.
struct SampleQuery {
    const char* title;
    const char* sql;
};

std::span<const SampleQuery> sampleQueries();

}  // namespace lanescope
