// SPDX-License-Identifier: Apache-2.0
#include "model/load/rocm/RocpdTables.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace lanescope {

namespace {

/// A run has one for each of its processes.
constexpr size_t mostProcesses = 4096;
constexpr size_t longestSuffix = 64;

bool isPlain(std::string_view suffix) {
    return suffix.size() <= longestSuffix && std::all_of(suffix.begin(), suffix.end(), [](char c) {
               return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
           });
}

}  // namespace

RocpdTables::RocpdTables(const std::string& suffix)
    : strings("rocpd_string" + suffix),
      nodes("rocpd_info_node" + suffix),
      processes("rocpd_info_process" + suffix),
      threads("rocpd_info_thread" + suffix),
      agents("rocpd_info_agent" + suffix),
      symbols("rocpd_info_kernel_symbol" + suffix),
      events("rocpd_event" + suffix),
      regions("rocpd_region" + suffix),
      kernels("rocpd_kernel_dispatch" + suffix),
      copies("rocpd_memory_copy" + suffix),
      allocations("rocpd_memory_allocate" + suffix),
      counterEvents("rocpd_pmc_event" + suffix),
      samples("rocpd_sample" + suffix) {}

std::vector<RocpdTables> rocpdTablesIn(const Database& database) {
    constexpr std::string_view strings = "rocpd_string";
    std::vector<RocpdTables> all;
    for (const std::string& table : database.tables()) {
        if (!table.starts_with(strings) || all.size() >= mostProcesses) continue;
        const std::string suffix = table.substr(strings.size());
        if (isPlain(suffix)) all.emplace_back(suffix);
    }
    return all;
}

}  // namespace lanescope
