// SPDX-License-Identifier: Apache-2.0
#include "model/index/compareTraces.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "model/index/indexFields.h"

namespace lanescope {

namespace {

/// The members of a trace, in the order of its `forEachField`.
constexpr std::array<std::string_view, 42> partNames{
    "producer",      "producer kind", "GPU API",      "time range",      "start time",     "facts",
    "GPU facts",     "warnings",      "event counts", "names",           "GPUs",           "connections",
    "processes",     "threads",       "streams",      "launch settings", "kernels",        "copies",
    "migrations",    "memsets",       "graphs",       "memory events",   "memory pools",   "allocations",
    "memory faults", "API calls",     "call stacks",  "graph nodes",     "CPU states",     "synchronizations",
    "event marks",   "event waits",   "stream waits", "NVTX ranges",     "backward calls", "projections",
    "NCCL calls",    "counters",      "counter rows", "tracks",          "launch links",   "sums"};

template <class T>
bool areEqual(const T& one, const T& other) {
    if constexpr (std::is_floating_point_v<T>)
        return Column<T>::bitsOf(one) == Column<T>::bitsOf(other);
    else
        return one == other;
}

template <class T>
bool areEqual(const Column<T>& one, const Column<T>& other) {
    if (one.size() != other.size()) return false;
    constexpr size_t step = 1024;
    std::array<T, step> left, right;
    for (size_t first = 0; first < one.size(); first += step) {
        const size_t count = std::min(step, one.size() - first);
        one.copyTo(std::span(left).first(count), first);
        other.copyTo(std::span(right).first(count), first);
        const auto isSame = [](const T& a, const T& b) { return Column<T>::bitsOf(a) == Column<T>::bitsOf(b); };
        if (!std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(count), right.begin(), isSame))
            return false;
    }
    return true;
}

bool areEqual(const StringTable& one, const StringTable& other) {
    if (one.size() != other.size()) return false;
    for (uint32_t index = 0; index < one.size(); ++index)
        if (one.at(index) != other.at(index)) return false;
    return true;
}

/// Visits the fields of a trace and lists their places, each with the function that compares it with another.
class FieldList {
  public:
    struct Field {
        bool (*isEqual)(const void*, const void*) = nullptr;
        const void* value = nullptr;
        size_t count = 0;  ///< Of a list, whose values follow; it has no function.
        size_t part = 0;
    };

    explicit FieldList(const Trace& trace) {
        forEachField(trace, [this](const auto& field) {
            (*this)(field);
            ++part_;
        });
    }
    const std::vector<Field>& fields() const { return fields_; }

    template <class T>
    void operator()(const T& value) {
        if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
            add(value);
        else
            forEachField(value, *this);
    }
    void operator()(const std::string& text) { add(text); }
    void operator()(const StringTable& strings) { add(strings); }
    template <class T>
    void operator()(const Column<T>& column) {
        add(column);
    }
    template <class T>
    void operator()(const std::optional<T>& value) {
        addCount(value.has_value() ? 1 : 0);
        if (value) (*this)(*value);
    }
    template <class T>
    void operator()(const Rare<T>& value) {
        addCount(value.hasValue() ? 1 : 0);
        if (value.hasValue()) (*this)(*value);
    }
    template <class T, size_t size>
    void operator()(const std::array<T, size>& values) {
        for (const T& value : values) (*this)(value);
    }
    template <class T>
    void operator()(const std::vector<T>& values) {
        addCount(values.size());
        for (const T& value : values) (*this)(value);
    }
    template <class T>
    void operator()(const RecordColumn<T>& records) {
        for (const Column<int64_t>& field : records.fields()) add(field);
    }

  private:
    template <class T>
    void add(const T& value) {
        const auto isEqual = [](const void* one, const void* other) {
            return areEqual(*static_cast<const T*>(one), *static_cast<const T*>(other));
        };
        fields_.push_back({isEqual, &value, 0, part_});
    }
    void addCount(size_t count) { fields_.push_back({nullptr, nullptr, count, part_}); }

    std::vector<Field> fields_;
    size_t part_ = 0;
};

bool isSame(const FieldList::Field& one, const FieldList::Field& other) {
    if (one.isEqual != other.isEqual || one.count != other.count) return false;
    return one.isEqual == nullptr || one.isEqual(one.value, other.value);
}

}  // namespace

std::vector<std::string_view> differingParts(const Trace& one, const Trace& other) {
    const FieldList ofOne(one), ofOther(other);
    std::vector<std::string_view> names;
    auto left = ofOne.fields().begin(), right = ofOther.fields().begin();
    for (size_t part = 0; part < partNames.size(); ++part) {
        const auto isOther = [part](const FieldList::Field& field) { return field.part != part; };
        const auto leftEnd = std::find_if(left, ofOne.fields().end(), isOther);
        const auto rightEnd = std::find_if(right, ofOther.fields().end(), isOther);
        if (!std::equal(left, leftEnd, right, rightEnd, isSame)) names.push_back(partNames[part]);
        left = leftEnd;
        right = rightEnd;
    }
    if (!std::equal(left, ofOne.fields().end(), right, ofOther.fields().end(), isSame)) names.push_back("other data");
    return names;
}

}  // namespace lanescope
