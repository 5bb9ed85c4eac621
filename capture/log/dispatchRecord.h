// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "capture/log/Records.h"

namespace lanescope::log {

// Variable part of a record: what its struct states of the bytes after it. Returns nullopt if they are fewer.

inline std::optional<std::string_view> tailOf(const StringRecord& record, std::span<const std::byte> rest) {
    if (record.length > rest.size()) return std::nullopt;
    return std::string_view(reinterpret_cast<const char*>(rest.data()), record.length);
}

inline std::optional<std::span<const std::byte>> tailOf(const NvtxRecord& record, std::span<const std::byte> rest) {
    if (record.extendedBytes > rest.size()) return std::nullopt;
    return rest.first(record.extendedBytes);
}

inline std::optional<std::span<const SampleValue>> tailOf(const SamplesRecord& record,
                                                          std::span<const std::byte> rest) {
    if (record.count > rest.size() / sizeof(SampleValue)) return std::nullopt;
    return std::span(reinterpret_cast<const SampleValue*>(rest.data()), record.count);
}

/// The samples as stored in the log: `1 + metricCount` words each.
inline std::optional<std::span<const uint64_t>> tailOf(const GpuMetricSamplesRecord& record,
                                                       std::span<const std::byte> rest) {
    const uint64_t words = record.count * (uint64_t{record.metricCount} + 1);
    if (words > rest.size() / sizeof(uint64_t)) return std::nullopt;
    return std::span(reinterpret_cast<const uint64_t*>(rest.data()), words);
}

/// Calls `receive(record)`, or `receive(record, tail)` for a record with a variable part, if
/// `receive` accepts it. Returns false if `bytes` are too few for the record.
template <class Record, class Receiver>
bool deliver(std::span<const std::byte> bytes, Receiver& receive) {
    if (bytes.size() < sizeof(Record)) return false;
    const auto& record = *reinterpret_cast<const Record*>(bytes.data());
    if constexpr (requires { tailOf(record, bytes); }) {
        const auto tail = tailOf(record, bytes.subspan(sizeof(Record)));
        if (!tail) return false;
        if constexpr (std::is_invocable_v<Receiver&, const Record&, decltype(*tail)>) receive(record, *tail);
    } else if constexpr (std::is_invocable_v<Receiver&, const Record&>) {
        receive(record);
    }
    return true;
}

/// Passes the record in `bytes`, aligned to 8, to `receive` by `deliver`. Returns nullopt if its
/// kind is not in the list.
template <class Receiver, class... Records>
std::optional<bool> dispatchRecord(RecordKind kind, std::span<const std::byte> bytes, Receiver& receive,
                                   RecordList<Records...>) {
    std::optional<bool> delivered;
    const auto tryOne = [&]<class Record>(const Record*) {
        if (kind != Record::kind) return false;
        delivered = deliver<Record>(bytes, receive);
        return true;
    };
    static_cast<void>((tryOne(static_cast<const Records*>(nullptr)) || ...));
    return delivered;
}

}  // namespace lanescope::log
