// SPDX-License-Identifier: Apache-2.0
#include "model/importers/inspector/InspectorRecords.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "model/format/checksums.h"
#include "model/format/ncclFunctions.h"
#include "model/importers/events/JsonCursor.h"

namespace lanescope {

namespace {

/// The year 2000. An earlier time is from another clock.
constexpr int64_t minTimeNs = int64_t{946'684'800} * 1'000'000'000;
constexpr int64_t maxTimeNs = maxTimestampNs;
/// Maximum duration of an operation; a longer one is invalid.
constexpr int64_t maxOperationNs = int64_t{366} * 86'400 * 1'000'000'000;
constexpr int32_t maxRank = 1 << 24;
constexpr size_t maxVersions = 4, maxVersionBytes = 32;

/// Returns a number, which may also be written as text.
std::optional<int64_t> numberOf(const JsonValue& value, int places = 0) {
    if (value.kind == JsonValue::Kind::Nested) return std::nullopt;
    return decimalOf(value.text, places);
}

/// Returns microseconds since 1970 in nanoseconds. Returns nullopt if invalid or 0.
std::optional<int64_t> timeOf(const JsonValue& value) {
    const std::optional<int64_t> ns = numberOf(value, 3);
    return ns && *ns >= minTimeNs && *ns < maxTimeNs ? ns : std::nullopt;
}

int32_t rankOf(const JsonValue& value, int32_t minRank) {
    const std::optional<int64_t> number = numberOf(value);
    return number && *number >= minRank && *number <= maxRank ? static_cast<int32_t>(*number) : -1;
}

/// Returns NCCL's hash of the communicator, or a hash of the text if it is not a number.
uint64_t communicatorOf(std::string_view id) {
    std::string_view digits = id;
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    uint64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value, 16);
    if (error == std::errc() && stop == end && !digits.empty()) return value;
    Fnv1a hash;
    hash.add(id);
    return id.empty() ? 0 : hash.value();
}

std::string_view operationOf(std::string_view name) { return name == "All2All" ? "AlltoAll" : ncclOperationName(name); }

InspectorTiming timingOf(std::string_view text) {
    for (const InspectorTiming each :
         {InspectorTiming::KernelGpu, InspectorTiming::KernelCpu, InspectorTiming::CollectiveCpu})
        if (identifier(each) == text) return each;
    return InspectorTiming::Unknown;
}

template <class Visitor>
void members(std::string_view text, Visitor visit) {
    JsonCursor cursor(text);
    (void)cursor.object(visit);
}

template <class Visitor>
void objectsOf(std::string_view list, Visitor visit) {
    JsonCursor cursor(list);
    if (!cursor.takes('[')) return;
    while (true) {
        while (cursor.takes(',')) {
        }
        JsonValue each;
        if (cursor.takes(']') || cursor.value(each) != JsonStatus::Complete || each.text.empty()) return;
        if (each.kind == JsonValue::Kind::Nested) visit(each.text);
    }
}

struct Channels {
    int64_t count = 0;
    std::optional<int64_t> firstNs;

    void add(std::string_view channel) {
        ++count;
        members(channel, [this](std::string_view key, const JsonValue& value) {
            if (key == "kernel_start_ts") begin(timeOf(value));
            if (key == "event_trace_ts" && value.kind == JsonValue::Kind::Nested)
                members(value.text, [this](std::string_view inner, const JsonValue& time) {
                    if (inner == "kernel_start_ts") begin(timeOf(time));
                });
        });
    }
    void begin(std::optional<int64_t> ns) {
        if (ns && (!firstNs || *ns < *firstNs)) firstNs = ns;
    }
};

/// Returns true if the event is a channel, as RCCL lists it among the events of an operation.
bool isChannel(std::string_view event) {
    bool is = false;
    members(event, [&is](std::string_view key, const JsonValue& value) {
        is |= key == "event_type" && value.text == "KernelCh";
    });
    return is;
}

}  // namespace

std::string_view identifier(InspectorTiming timing) {
    switch (timing) {
        case InspectorTiming::KernelGpu: return "kernel_gpu";
        case InspectorTiming::KernelCpu: return "kernel_cpu";
        case InspectorTiming::CollectiveCpu: return "collective_cpu";
        case InspectorTiming::Unknown: break;
    }
    return "not said";
}

struct InspectorRecords::Parts {
    std::string_view header, metadata, collective, message, stats;
    bool isOther = false;  ///< The record has members of another kind.
};

InspectorContext InspectorRecords::contextOf(const Parts& parts) {
    InspectorContext context;
    const auto text = [this](const JsonValue& value) {
        if (!value.isString() || value.text == "unknown") return StringIndex{0};
        return builder_.intern(value.isEscaped ? unescaped(value.text) : std::string(value.text));
    };
    members(parts.header, [&](std::string_view key, const JsonValue& value) {
        if (key == "id" && value.kind != JsonValue::Kind::Nested) context.communicator = communicatorOf(value.text);
        if (key == "comm_name") context.communicatorName = text(value);
        if (key == "rank") context.rank = rankOf(value, 0);
        if (key == "n_ranks") context.rankCount = rankOf(value, 1);
    });
    members(parts.metadata, [&](std::string_view key, const JsonValue& value) {
        if (key == "dump_timestamp_us") context.writtenNs = timeOf(value).value_or(0);
        if (key == "hostname") context.host = text(value);
        if (key == "pid") {
            const std::optional<int64_t> pid = numberOf(value);
            if (pid && *pid >= 0 && *pid <= 0xffffff) context.pid = static_cast<uint32_t>(*pid);
        }
        if (key == "inspector_output_format_version" && value.isString() && file_.versions.size() < maxVersions)
            file_.versions.emplace(value.text.substr(0, maxVersionBytes));
    });
    return context;
}

void InspectorRecords::take(std::string_view object, int64_t line) {
    Parts parts;
    bool isEmpty = true;
    members(object, [&](std::string_view key, const JsonValue& value) {
        isEmpty = false;
        const bool isNested = value.kind == JsonValue::Kind::Nested;
        if (key == "header" && isNested)
            parts.header = value.text;
        else if (key == "metadata" && isNested)
            parts.metadata = value.text;
        else if (key == "coll_perf" && isNested)
            parts.collective = value.text;
        else if (key == "p2p_perf" && isNested)
            parts.message = value.text;
        else if (key == "dump_stats" && isNested)
            parts.stats = value.text;
        else
            parts.isOther = true;
    });
    const bool isOperation = !parts.collective.empty() || !parts.message.empty();
    const bool hasOwner = !parts.header.empty() && !parts.metadata.empty();
    if (!isOperation && parts.stats.empty()) {
        const bool isProxyRecord = hasOwner || object.substr(0, 32).find("\"proxy_trace\"") != object.npos;
        if (!isEmpty) (isProxyRecord ? file_.kinds : file_.others).add(line);
        if (!hasOwner && isProxyRecord) --droppedOfBatch_;
        return;
    }
    if (!parts.stats.empty()) {
        batch_.reset();
        if (hasOwner) takeStats(parts.stats, contextOf(parts));
        return;
    }
    std::optional<InspectorContext> of;
    if (hasOwner)
        of = contextOf(parts);
    else if (parts.header.empty() && parts.metadata.empty() && droppedOfBatch_-- > 0)
        of = batch_;
    if (!of) return file_.ownerless.add(line);
    if (!parts.collective.empty()) takeOperation(parts.collective, *of, false, line);
    if (!parts.message.empty()) takeOperation(parts.message, *of, true, line);
}

void InspectorRecords::pass(std::string_view damaged) {
    // Later records may belong to another batch.
    if (damaged.find("\"dump_stats\"") != std::string_view::npos) batch_.reset();
}

void InspectorRecords::takeStats(std::string_view text, const InspectorContext& of) {
    batch_ = of;
    droppedOfBatch_ = 0;
    members(text, [this](std::string_view key, const JsonValue& value) {
        constexpr int64_t maxDropped = int64_t{1} << 60;
        const int64_t number = std::clamp<int64_t>(numberOf(value).value_or(0), 0, maxDropped);
        if (key == "coll_records" || key == "p2p_records" || key == "proxy_records")
            droppedOfBatch_ = std::min(droppedOfBatch_ + number, maxDropped);
        if (key == "coll_dropped_since_last_dump")
            file_.droppedCollectives = std::min(file_.droppedCollectives + number, maxDropped);
        if (key == "p2p_dropped_since_last_dump")
            file_.droppedMessages = std::min(file_.droppedMessages + number, maxDropped);
    });
}

void InspectorRecords::takeOperation(std::string_view text, const InspectorContext& of, bool isMessage, int64_t line) {
    InspectorOperation found;
    found.of = of;
    Channels channels;
    std::optional<int64_t> callNs, callEndNs, durationNs;
    const auto word = [this](const JsonValue& value) {
        if (!value.isString() || value.text == "unknown") return StringIndex{0};
        return builder_.intern(value.text);
    };
    const auto takeTimes = [&](std::string_view key, const JsonValue& value) {
        if (key == "coll_start_ts" || key == "p2p_start_ts") callNs = timeOf(value);
        if (key == "coll_stop_ts" || key == "p2p_stop_ts") callEndNs = timeOf(value);
        if (key == "kernel_events") objectsOf(value.text, [&](std::string_view each) { channels.add(each); });
    };
    const std::string_view prefix = isMessage ? "p2p" : "coll";
    members(text, [&](std::string_view key, const JsonValue& value) {
        const bool isNested = value.kind == JsonValue::Kind::Nested;
        if (key == "event_trace_ts" && isNested) return members(value.text, takeTimes);
        if (key == "events" && isNested)
            return objectsOf(value.text, [&](std::string_view each) {
                if (isChannel(each)) channels.add(each);
            });
        if (!key.starts_with(prefix)) return;
        key.remove_prefix(prefix.size());
        if (key.empty() && value.isString()) found.operation = builder_.intern(operationOf(value.text));
        if (key == "_algo") found.algorithm = word(value);
        if (key == "_proto") found.protocol = word(value);
        if (key == "_sn") found.sequence = std::max<int64_t>(-1, numberOf(value).value_or(-1));
        if (key == "_msg_size_bytes") found.bytes = std::max<int64_t>(-1, numberOf(value).value_or(-1));
        if (key == "_exec_time_us") durationNs = numberOf(value, 3);
        if (key == "_timing_source") found.timing = timingOf(value.text);
        if (key == "_peer") found.peer = rankOf(value, 0);
    });
    const bool isTimed = of.writtenNs > 0 || channels.firstNs || callNs;
    if (!isTimed || !durationNs || *durationNs < 0 || *durationNs > maxOperationNs || found.operation == 0)
        return file_.untimed.add(line);
    found.durationNs = *durationNs;
    if (channels.count > 0 && channels.count <= std::numeric_limits<uint8_t>::max())
        found.channels = static_cast<int16_t>(channels.count);
    found.kernelNs = channels.firstNs;
    if (callNs) found.call = TimeRange{*callNs, std::max(*callNs, callEndNs.value_or(*callNs))};
    ++file_.timings[static_cast<size_t>(found.timing)];
    file_.operations.push_back(found);
}

}  // namespace lanescope
