// SPDX-License-Identifier: Apache-2.0
#include "model/load/proto/xplaneAsJson.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/export/jsonText.h"
#include "model/format/TimeRange.h"
#include "model/format/protoFields.h"

namespace lanescope {

namespace {

/// Numbers of the fields of the messages.
namespace space {
constexpr uint32_t plane = 1, host = 4;
}
namespace plane {
constexpr uint32_t name = 2, line = 3, eventNames = 4, statNames = 5, stat = 6;
}
namespace entry {
constexpr uint32_t key = 1, value = 2;
}
namespace metadata {
constexpr uint32_t name = 2, displayName = 4;
}
namespace line {
constexpr uint32_t name = 2, timestampNs = 3, event = 4, displayName = 11;
}
namespace event {
constexpr uint32_t name = 1, offsetPs = 2, durationPs = 3, stat = 4;
}
namespace stat {
constexpr uint32_t name = 1, number = 3, integer = 4, text = 5, bytes = 6, reference = 7;
}

/// Longer names are cut here: short events may all name the same long one.
constexpr size_t longestName = 4096;
/// Bytes of JSON for each of the profile, at most; more is no profile but an attack.
constexpr size_t mostTextPerByte = 256, textForAll = size_t{64} << 20;

std::string_view nameIn(const std::unordered_map<uint64_t, std::string_view>& names, uint64_t id) {
    const auto found = names.find(id);
    return found != names.end() ? found->second.substr(0, longestName) : std::string_view();
}

/// The number behind a word and a colon, as "regs:32" has it.
std::optional<int64_t> numberBehind(std::string_view details, std::string_view word) {
    const std::string key = std::string(word) + ":";
    const size_t found = details.find(key);
    if (found == std::string_view::npos) return std::nullopt;
    const std::string_view rest = details.substr(found + key.size());
    int64_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    return error == std::errc() && end != rest.data() ? std::optional(number) : std::nullopt;
}

/// The word behind a word and a colon.
std::string_view wordBehind(std::string_view details, std::string_view word) {
    const std::string key = std::string(word) + ":";
    const size_t found = details.find(key);
    if (found == std::string_view::npos) return {};
    const std::string_view rest = details.substr(found + key.size());
    return rest.substr(0, rest.find(' '));
}

/// "HtoD" of what profilers of JAX call a copy.
std::string_view directionOf(std::string_view kind, std::string_view name) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 9> words{
        {{"H2D", "HtoD"},
         {"HtoD", "HtoD"},
         {"HostToDevice", "HtoD"},
         {"D2H", "DtoH"},
         {"DtoH", "DtoH"},
         {"DeviceToHost", "DtoH"},
         {"P2P", "PtoP"},
         {"D2D", "DtoD"},
         {"DtoD", "DtoD"}}};
    for (const std::string_view text : {kind, name})
        for (const auto& [word, direction] : words)
            if (text.find(word) != std::string_view::npos) return direction;
    return "Unknown";
}

/// The number of the device that a plane of a GPU is of.
std::optional<int64_t> gpuOf(std::string_view planeName) {
    const size_t found = planeName.find("GPU:");
    if (!planeName.starts_with("/device:") || found == std::string_view::npos) return std::nullopt;
    return numberBehind(planeName.substr(found), "GPU");
}

/// The number of the stream that a line is of: 17 of "Stream #17(Kernel,Memcpy)".
std::optional<int64_t> streamOf(std::string_view lineName) {
    constexpr std::string_view word = "Stream #";
    if (!lineName.starts_with(word)) return std::nullopt;
    lineName.remove_prefix(word.size());
    int64_t number = 0;
    const auto [end, error] =
        std::from_chars(lineName.data(), lineName.data() + lineName.size(), number);
    return error == std::errc() && end != lineName.data() ? std::optional(number) : std::nullopt;
}

}  // namespace

XplaneAsJson::XplaneAsJson(std::string_view space) : space_(space), planes_(space) {
    std::string host;
    for (ProtoFields fields(space_); fields.next();) {
        if (fields.number() == space::host) host = fields.bytes().substr(0, longestName);
        if (fields.number() == space::plane) findStart(fields.bytes());
    }
    text_ = "{";
    if (!host.empty()) text_ += fmt::format("\"host_name\": {}, ", jsonString(host));
    text_ += "\"traceEvents\": [";
}

size_t XplaneAsJson::read(std::span<char> bytes) {
    text_.erase(0, at_);
    at_ = 0;
    while (text_.size() < bytes.size() && !isEnded_) step();
    const size_t count = std::min(bytes.size(), text_.size() - at_);
    std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(at_), count, bytes.begin());
    at_ += count;
    return count;
}

/// Goes on with the next event, line or plane.
void XplaneAsJson::step() {
    if (written_ > textForAll + mostTextPerByte * space_.size())
        events_ = lines_ = planes_ = ProtoFields({});
    if (events_.next()) {
        if (events_.number() == line::event) writeEvent(events_.bytes());
        taken_ += events_.bytes().size();
    } else if (lines_.next()) {
        if (lines_.number() == plane::line) beginLine(lines_.bytes());
    } else if (planes_.next()) {
        if (planes_.number() == space::plane) beginPlane(planes_.bytes());
    } else {
        isEnded_ = true;
        text_ += fmt::format(
            "\n], \"deviceProperties\": [{}], \"baseTimeNanoseconds\": {}, "
            "\"traceName\": \"\"}}",
            devices_, startNs_);
    }
}

void XplaneAsJson::put(const std::string& event) {
    text_ += isFirst_ ? "\n" : ",\n";
    text_ += event;
    written_ += event.size();
    isFirst_ = false;
}

void XplaneAsJson::readNames(std::string_view message) {
    eventNames_.clear();
    statNames_.clear();
    for (ProtoFields fields(message); fields.next();) {
        if (fields.number() != plane::eventNames && fields.number() != plane::statNames) continue;
        uint64_t key = 0;
        std::string_view name, displayed;
        for (ProtoFields of(fields.bytes()); of.next();) {
            if (of.number() == entry::key) key = of.value();
            if (of.number() != entry::value) continue;
            for (ProtoFields about(of.bytes()); about.next();) {
                if (about.number() == metadata::name) name = about.bytes();
                if (about.number() == metadata::displayName) displayed = about.bytes();
            }
        }
        const bool isEvent = fields.number() == plane::eventNames;
        (isEvent ? eventNames_ : statNames_)[key] =
            isEvent && !displayed.empty() ? displayed : name;
    }
}

XplaneAsJson::Stat XplaneAsJson::statOf(std::string_view message) const {
    Stat found;
    for (ProtoFields fields(message); fields.next();) switch (fields.number()) {
            case stat::name:
                found.name = nameIn(statNames_, fields.value());
                break;
            case stat::number:
            case stat::integer:
                found.number = fields.integer();
                found.isNumber = true;
                break;
            case stat::text:
            case stat::bytes:
                found.text = fields.bytes().substr(0, longestName);
                break;
            case stat::reference:
                found.text = nameIn(statNames_, fields.value());
                break;
            default:
                break;
        }
    return found;
}

/// When the profile began, since 1970: times of lines are from then on.
void XplaneAsJson::findStart(std::string_view message) {
    readNames(message);
    for (ProtoFields fields(message); fields.next();) {
        if (fields.number() != plane::stat) continue;
        const Stat found = statOf(fields.bytes());
        if (found.name == "profile_start_time") startNs_ = found.number;
    }
}

void XplaneAsJson::beginPlane(std::string_view message) {
    readNames(message);
    planeName_ = {};
    for (ProtoFields fields(message); fields.next();)
        if (fields.number() == plane::name) planeName_ = fields.bytes().substr(0, longestName);
    place_.gpu = gpuOf(planeName_);
    if (place_.gpu) describeGpu(message, *place_.gpu);
    lines_ = ProtoFields(message);
}

void XplaneAsJson::describeGpu(std::string_view message, int64_t gpu) {
    int64_t memory = 0, cores = 0, major = 0, minor = 0;
    std::string name;
    for (ProtoFields fields(message); fields.next();) {
        if (fields.number() != plane::stat) continue;
        const Stat found = statOf(fields.bytes());
        if (found.name == "memory_size") memory = found.number;
        if (found.name == "core_count") cores = found.number;
        if (found.name == "compute_cap_major") major = found.number;
        if (found.name == "compute_cap_minor") minor = found.number;
        if (found.name == "device_vendor" && name.empty()) name = found.text;
        if (found.name == "device_type_string") name = found.text;
    }
    devices_ += fmt::format(R"({}{{"id": {}, "name": {}, "totalGlobalMem": {}, "numSms": {}, )"
                            R"("computeMajor": {}, "computeMinor": {}}})",
                            devices_.empty() ? "" : ", ", gpu, jsonString(name), memory, cores,
                            major, minor);
}

void XplaneAsJson::beginLine(std::string_view message) {
    zeroNs_ = 0;
    std::string_view name;
    for (ProtoFields fields(message); fields.next();) {
        if (fields.number() == line::timestampNs)
            zeroNs_ = std::clamp(fields.integer(), -greatestTimeNs, greatestTimeNs);
        if (fields.number() == line::displayName && !fields.bytes().empty()) name = fields.bytes();
        if (fields.number() == line::name && name.empty()) name = fields.bytes();
    }
    place_.line = name.substr(0, longestName);
    place_.stream = place_.gpu ? streamOf(name) : std::nullopt;
    place_.pid = place_.stream ? fmt::format("{}", *place_.gpu) : jsonString(planeName_);
    place_.tid = place_.stream ? fmt::format("{}", *place_.stream) : jsonString(place_.line);
    events_ = ProtoFields(message);
}

void XplaneAsJson::writeEvent(std::string_view message) {
    constexpr int64_t psPerNs = 1000;
    std::string_view name;
    int64_t offsetPs = 0, durationPs = 0;
    Details details;
    for (ProtoFields fields(message); fields.next();) {
        if (fields.number() == event::name) name = nameIn(eventNames_, fields.value());
        if (fields.number() == event::offsetPs) offsetPs = fields.integer();
        if (fields.number() == event::durationPs) durationPs = fields.integer();
        if (fields.number() != event::stat) continue;
        const Stat found = statOf(fields.bytes());
        if (found.name == "correlation_id" && found.isNumber) details.correlation = found.number;
        if (found.name == "kernel_details") details.kernel = found.text;
        if (found.name == "memcpy_details") details.copy = found.text;
        if (found.name == "memset_details") details.memset = found.text;
    }
    // Ends are rounded, and not durations, so that neighbours do not overlap.
    const int64_t startNs = zeroNs_ + offsetPs / psPerNs;
    const int64_t endNs =
        zeroNs_ + (offsetPs + std::clamp<int64_t>(durationPs, 0, greatestTimeNs)) / psPerNs;
    const TimeRange range{startNs, std::max(startNs, endNs)};
    if (place_.stream)
        writeWork(name, details, range);
    else
        writeSlice(name, details, range);
}

void XplaneAsJson::give(std::string_view category, std::string_view name, TimeRange range,
                        const std::string& arguments) {
    put(fmt::format(R"({{"ph": "X", "cat": {}, "name": {}, "pid": {}, "tid": {}, )"
                    R"("ts": {}, "dur": {}, "args": {{{}}}}})",
                    jsonString(category), jsonString(name), place_.pid, place_.tid,
                    microseconds(range.startNs), microseconds(range.durationNs()), arguments));
}

void XplaneAsJson::writeWork(std::string_view name, const Details& details, TimeRange range) {
    std::string arguments =
        fmt::format(R"("device": {}, "stream": {}, "correlation": {})", *place_.gpu, *place_.stream,
                    details.correlation.value_or(0));
    const auto add = [&arguments](std::string_view key, std::string_view value) {
        arguments += fmt::format(", \"{}\": {}", key, value);
    };
    const auto sizes = [&](std::string_view key) {
        const std::string_view list = wordBehind(details.kernel, key);
        if (!list.empty() && list.find_first_not_of("0123456789,") == std::string_view::npos)
            add(key, fmt::format("[{}]", list));
    };
    const auto startsLike = [name](std::string_view word) {
        return name.size() >= word.size() &&
               std::equal(word.begin(), word.end(), name.begin(), [](char a, char b) {
                   return a == std::tolower(static_cast<unsigned char>(b));
               });
    };
    if (!details.copy.empty() || startsLike("memcpy")) {
        const std::string_view kind = wordBehind(details.copy, "kind");
        if (const auto bytes = numberBehind(details.copy, "size"))
            add("bytes", fmt::format("{}", *bytes));
        give("gpu_memcpy", fmt::format("Memcpy {}", directionOf(kind, name)), range, arguments);
    } else if (!details.memset.empty() || startsLike("memset")) {
        if (const auto bytes = numberBehind(details.memset, "num_bytes"))
            add("bytes", fmt::format("{}", *bytes));
        give("gpu_memset", "Memset", range, arguments);
    } else {
        sizes("grid");
        sizes("block");
        if (const auto registers = numberBehind(details.kernel, "regs"))
            add("registers per thread", fmt::format("{}", *registers));
        const int64_t shared = numberBehind(details.kernel, "static_shared").value_or(0) +
                               numberBehind(details.kernel, "dynamic_shared").value_or(0);
        if (shared > 0) add("shared memory", fmt::format("{}", shared));
        give("kernel", name, range, arguments);
    }
}

void XplaneAsJson::writeSlice(std::string_view name, const Details& details, TimeRange range) {
    const bool isCall =
        !place_.gpu && details.correlation && (name.starts_with("cu") || name.starts_with("hip"));
    if (isCall) {
        const bool isDriver = name.starts_with("cu") && !name.starts_with("cuda");
        return give(isDriver ? "cuda_driver" : "cuda_runtime", name, range,
                    fmt::format("\"correlation\": {}", *details.correlation));
    }
    // Python's functions carry a mark.
    if (name.starts_with('$')) return give("python_function", name.substr(1), range, "");
    give(place_.gpu ? std::string_view(place_.line) : std::string_view(), name, range, "");
}

}  // namespace lanescope
