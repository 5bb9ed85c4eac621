// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <iterator>

namespace lanescope {

/// Walks over whatever has an `operator[]` that returns by value.
template <class Container>
class IndexIterator {
  public:
    using value_type = typename Container::value_type;
    using reference = value_type;
    using pointer = void;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::random_access_iterator_tag;

    IndexIterator() = default;
    IndexIterator(const Container* container, size_t index)
        : container_(container), index_(static_cast<difference_type>(index)) {}

    value_type operator*() const { return (*container_)[static_cast<size_t>(index_)]; }
    value_type operator[](difference_type n) const { return *(*this + n); }
    IndexIterator& operator++() { return *this += 1; }
    IndexIterator& operator--() { return *this -= 1; }
    IndexIterator operator++(int) {
        IndexIterator old = *this;
        ++index_;
        return old;
    }
    IndexIterator operator--(int) {
        IndexIterator old = *this;
        --index_;
        return old;
    }
    IndexIterator& operator+=(difference_type n) {
        index_ += n;
        return *this;
    }
    IndexIterator& operator-=(difference_type n) { return *this += -n; }
    friend IndexIterator operator+(IndexIterator it, difference_type n) { return it += n; }
    friend IndexIterator operator+(difference_type n, IndexIterator it) { return it += n; }
    friend IndexIterator operator-(IndexIterator it, difference_type n) { return it -= n; }
    friend difference_type operator-(const IndexIterator& a, const IndexIterator& b) {
        return a.index_ - b.index_;
    }
    bool operator==(const IndexIterator& other) const { return index_ == other.index_; }
    auto operator<=>(const IndexIterator& other) const { return index_ <=> other.index_; }

  private:
    const Container* container_ = nullptr;
    difference_type index_ = 0;
};

}  // namespace lanescope
