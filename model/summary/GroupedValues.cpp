// SPDX-License-Identifier: Apache-2.0
#include "model/summary/GroupedValues.h"

#include "model/values/Statistics.h"

namespace lanescope {

void GroupedValues::addTime(uint64_t key, const ReportQuery& query, int64_t startNs,
                            int64_t endNs) {
    if (query.includes(startNs, endNs)) add(key, endNs - startNs, query.timeWithin(startNs, endNs));
}

GroupedValues::Group& GroupedValues::groupOf(uint64_t key) {
    if (groups_.empty() || groups_[last_].key != key) {
        const auto [place, isNew] = places_.try_emplace(key, groups_.size());
        if (isNew) groups_.push_back({key});
        last_ = place->second;
    }
    return groups_[last_];
}

void GroupedValues::add(uint64_t key, int64_t value, int64_t counted) {
    Group& group = groupOf(key);
    group.values.push_back(value);
    group.total = saturatingSum(group.total, counted);
    if (counted != value) ++group.cut;
}

}  // namespace lanescope
