// SPDX-License-Identifier: Apache-2.0
#include "model/summary/GroupedValues.h"

namespace lanescope {

void GroupedValues::add(uint64_t key, int64_t value) {
    if (groups_.empty() || groups_[last_].key != key) {
        const auto [place, isNew] = groupOf_.try_emplace(key, groups_.size());
        if (isNew) groups_.push_back({key, {}});
        last_ = place->second;
    }
    groups_[last_].values.push_back(value);
}

}  // namespace lanescope
