// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/format/Sqlite.h"

namespace lanescope {

/// The tables of one process in a rocpd file. They are called like those of the format, with what
/// tells the process from others behind: "rocpd_region_00003fdc_92cb"; the plain names are views,
/// which are not asked.
struct RocpdTables {
    explicit RocpdTables(const std::string& suffix);

    std::string strings, nodes, processes, threads, agents, symbols, events, regions, kernels,
        copies, allocations, counterEvents, samples;
};

/// Those of each process in the file, by name. A name that holds more than letters, digits and '_'
/// is none of the format's and never becomes a part of a statement.
std::vector<RocpdTables> rocpdTablesIn(const Database& database);

}  // namespace lanescope
