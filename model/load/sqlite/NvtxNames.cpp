// SPDX-License-Identifier: Apache-2.0
#include "model/load/sqlite/NvtxNames.h"

#include <fmt/format.h>

namespace lanescope {

void NvtxNames::nameDomain(int64_t globalPid, int64_t domain, StringIndex name) {
    namedDomains_[{globalPid, domain}] = name;
}

void NvtxNames::nameCategory(int64_t globalPid, int64_t domain, int64_t category,
                             StringIndex name) {
    namedCategories_[{globalPid, domain, category}] = name;
}

uint32_t NvtxNames::domainNumber(int64_t globalPid, int64_t domain) {
    const DomainKey key{globalPid, domain};
    if (lastDomain_.first == key && lastDomain_.second != 0xffffffff) return lastDomain_.second;
    const uint32_t number =
        domains_.try_emplace(key, static_cast<uint32_t>(domains_.size())).first->second;
    lastDomain_ = {key, number};
    return number;
}

uint32_t NvtxNames::categoryNumber(int64_t globalPid, int64_t domain, int64_t category) {
    return categories_
        .try_emplace({globalPid, domain, category}, static_cast<uint32_t>(categories_.size()))
        .first->second;
}

std::vector<StringIndex> NvtxNames::domainNames() const {
    std::vector<StringIndex> names(domains_.size());
    for (const auto& [key, number] : domains_) {
        const auto found = namedDomains_.find(key);
        if (found != namedDomains_.end())
            names[number] = found->second;
        else if (key.second != 0)
            names[number] = strings_.intern(fmt::format("Domain {}", key.second));
    }
    return names;
}

std::vector<StringIndex> NvtxNames::categoryNames() const {
    std::vector<StringIndex> names(categories_.size());
    for (const auto& [key, number] : categories_) {
        const auto found = namedCategories_.find(key);
        if (found != namedCategories_.end())
            names[number] = found->second;
        else if (std::get<2>(key) != 0)
            names[number] = strings_.intern(fmt::format("Category {}", std::get<2>(key)));
    }
    return names;
}

}  // namespace lanescope
