// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace lanescope {

/// `number` mixed with one that this run of the program drew, so that no file can be made of
/// numbers that fall together in a table. Any thread.
uint64_t mixed(uint64_t number);

/// The same of a text. About a byte a third of a nanosecond.
uint64_t mixed(std::string_view text);

struct MixedHash {
    size_t operator()(uint64_t number) const { return static_cast<size_t>(mixed(number)); }
};

/// A map by numbers that stand in a file. Its order is another in each run.
template <class Key, class Value>
using MixedMap = std::unordered_map<Key, Value, MixedHash>;

}  // namespace lanescope
