// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

namespace lanescope {

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
