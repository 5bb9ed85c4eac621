// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

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

/// A member that few of many objects have: takes the room of a pointer until it is edited, and
/// reads as a value that was made without arguments. Copied with what it holds. Reading is for any
/// thread.
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

    /// Whether it was given or edited.
    bool isThere() const { return value_ != nullptr; }
    const T& operator*() const {
        static const T none{};
        return value_ ? *value_ : none;
    }
    const T* operator->() const { return &**this; }
    operator const T&() const { return **this; }
    /// Makes it, if it is not there.
    T& edit() {
        if (!value_) value_ = std::make_unique<T>();
        return *value_;
    }

  private:
    std::unique_ptr<T> value_;
};

}  // namespace lanescope
