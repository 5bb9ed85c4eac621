// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanescope::agent {

/// Counts forked children in memory that a process and all forked from it share, so that those
/// which leave within their first moments, without a log, are known of. Any thread; without memory
/// nothing is counted.
class SharedTally {
  public:
    /// In the process that is forked from, before any of it. Once; later calls do nothing.
    static void make();
    /// In a forked child: it has something to record.
    static void countChild();
    /// In a forked child: its log has been begun.
    static void countLog();
    /// How many children had something to record and have begun no log.
    static uint64_t childrenWithoutLog();
};

}  // namespace lanescope::agent
