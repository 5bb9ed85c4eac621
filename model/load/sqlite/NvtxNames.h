// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "model/load/sqlite/FileStrings.h"

namespace lanescope {

/// Names of NVTX domains and categories. A file may name them after the ranges that use them, so
/// ranges are given a provisional number while reading and the name at the end.
class NvtxNames {
  public:
    explicit NvtxNames(FileStrings& strings) : strings_(strings) {}

    void nameDomain(int64_t globalPid, int64_t domain, StringIndex name);
    void nameCategory(int64_t globalPid, int64_t domain, int64_t category, StringIndex name);

    /// Provisional number of a domain or (with a category) of a category of it. O(log n).
    uint32_t domainNumber(int64_t globalPid, int64_t domain);
    uint32_t categoryNumber(int64_t globalPid, int64_t domain, int64_t category);
    /// Names by provisional number; the default domain, and no category, have an empty name.
    std::vector<StringIndex> domainNames() const;
    std::vector<StringIndex> categoryNames() const;

  private:
    using DomainKey = std::pair<int64_t, int64_t>;
    using CategoryKey = std::tuple<int64_t, int64_t, int64_t>;

    FileStrings& strings_;
    std::map<DomainKey, StringIndex> namedDomains_;
    std::map<CategoryKey, StringIndex> namedCategories_;
    std::map<DomainKey, uint32_t> domains_;
    std::map<CategoryKey, uint32_t> categories_;
    std::pair<DomainKey, uint32_t> lastDomain_{{}, 0xffffffff};
};

}  // namespace lanescope
