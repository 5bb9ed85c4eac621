// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace lanescope {

/// Returns a hash of `number` with a random seed of this process, so that no file can force collisions. Any thread.
uint64_t mixed(uint64_t number);

/// Returns a seeded hash of a text. About a third of a nanosecond per byte.
uint64_t mixed(std::string_view text);

struct MixedHash {
    size_t operator()(uint64_t number) const { return static_cast<size_t>(mixed(number)); }
};

/// Hash map with keys from a file. Its order differs in each run.
template <class Key, class Value>
using MixedMap = std::unordered_map<Key, Value, MixedHash>;

/// Returns the value of a key in any map, or `otherwise` if it has no such key.
template <class Value>
Value valueOr(const auto& map, const auto& key, Value otherwise) {
    const auto found = map.find(key);
    return found == map.end() ? otherwise : Value(found->second);
}

/// Member that few of many objects have. It needs the size of a pointer until it is edited, and
/// reads as a default-constructed value. Copies are deep. Any thread can read.
template <class T>
class Rare {
  public:
    Rare() = default;
    Rare(T value) : value_(std::make_unique<T>(std::move(value))) {}
    Rare(const Rare& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
    Rare(Rare&&) noexcept = default;
    Rare& operator=(Rare other) noexcept {
        value_ = std::move(other.value_);
        return *this;
    }
    ~Rare() = default;

    /// Returns true if the value was set or edited.
    bool hasValue() const { return value_ != nullptr; }
    const T& operator*() const {
        static const T none{};
        return value_ ? *value_ : none;
    }
    const T* operator->() const { return &**this; }
    operator const T&() const { return **this; }
    /// Returns the value, created if necessary.
    T& edit() {
        if (!value_) value_ = std::make_unique<T>();
        return *value_;
    }

  private:
    std::unique_ptr<T> value_;
};

}  // namespace lanescope
