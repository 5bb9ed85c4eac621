// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/RunInfo.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "model/format/text.h"

namespace lanescope::capture {

namespace {

using nlohmann::json;

/// Maximum size of the file. The facts of any run need less, so a longer file is corrupt.
constexpr size_t maxFileBytes = 16 << 20;

/// Calls `use(key, member)` for each field of a struct, in the order of the file.
template <class Object, class Use>
void forEachField(Object& object, const Use& use) {
    using Type = std::remove_const_t<Object>;
    if constexpr (std::is_same_v<Type, MachineGpu>) {
        use("index", object.index);
        use("name", object.name);
        use("uuid", object.uuid);
        use("busLocation", object.busLocation);
        use("memoryBytes", object.memoryBytes);
        use("computeMajor", object.computeMajor);
        use("computeMinor", object.computeMinor);
        use("pcieGeneration", object.pcieGeneration);
        use("pcieWidth", object.pcieWidth);
        use("nvlinkCount", object.nvlinkCount);
        use("nvlinkBytesPerSecond", object.nvlinkBytesPerSecond);
        use("memoryClockMhz", object.memoryClockMhz);
        use("memoryBusBits", object.memoryBusBits);
        use("cpus", object.cpus);
        use("numaNode", object.numaNode);
    } else if constexpr (std::is_same_v<Type, MachineLink>) {
        use("gpu", object.gpu);
        use("peer", object.peer);
        use("nvlinkCount", object.nvlinkCount);
        use("connection", object.connection);
        use("abbreviation", object.abbreviation);
    } else if constexpr (std::is_same_v<Type, Machine>) {
        use("driverVersion", object.driverVersion);
        use("cudaVersion", object.cudaVersion);
        use("gpus", object.gpus);
        use("links", object.links);
    } else if constexpr (std::is_same_v<Type, HostFacts>) {
        use("operatingSystem", object.operatingSystem);
        use("kernel", object.kernel);
        use("cpu", object.cpu);
        use("cpuCount", object.cpuCount);
        use("memoryBytes", object.memoryBytes);
    } else {
        static_assert(std::is_same_v<Type, RunInfo>);
        use("startRealtimeNs", object.startRealtimeNs);
        use("startMonotonicNs", object.startMonotonicNs);
        use("commandLine", object.commandLine);
        use("workingDirectory", object.workingDirectory);
        use("homeDirectory", object.homeDirectory);
        use("roofsFile", object.roofsFile);
        use("host", object.host);
        use("version", object.version);
        use("options", object.options);
        use("goesOn", object.goesOn);
        use("recordsCuda", object.recordsCuda);
        use("rank", object.rank);
        use("worldSize", object.worldSize);
        use("hostFacts", object.hostFacts);
        use("machine", object.machine);
    }
}

template <class T>
constexpr bool isList = false;
template <class T>
constexpr bool isList<std::vector<T>> = true;

/// Appends a value as JSON. A tree of values would allocate even to be destroyed, and this must survive running out of
/// memory. Bytes that are not UTF-8 become U+FFFD.
template <class T>
void write(std::string& text, const T& value, size_t depth = 0) {
    if constexpr (std::is_same_v<T, std::string>) {
        text += jsonQuoted(value);
    } else if constexpr (std::is_integral_v<T>) {
        text += fmt::format("{}", value);
    } else {
        bool isFirst = true;
        const auto add = [&](const char* key, const auto& each) {
            if (!std::exchange(isFirst, false)) text += ',';
            text.append(1, '\n').append(2 * depth + 2, ' ');
            if (key != nullptr) text += jsonQuoted(key) + ": ";
            write(text, each, depth + 1);
        };
        text += isList<T> ? '[' : '{';
        if constexpr (isList<T>)
            for (const auto& each : value) add(nullptr, each);
        else
            forEachField(value, add);
        if (!isFirst) text.append(1, '\n').append(2 * depth, ' ');
        text += isList<T> ? ']' : '}';
    }
}

/// Reads a value of the expected type into `value`; keeps it as it is for another type.
template <class T>
void read(const json& from, T& value) {
    if constexpr (isList<T>) {
        if (!from.is_array()) return;
        for (const json& each : from) {
            typename T::value_type item;
            constexpr bool isText = std::is_same_v<decltype(item), std::string>;
            if (isText ? !each.is_string() : !each.is_object()) continue;
            read(each, item);
            value.push_back(std::move(item));
        }
    } else if constexpr (std::is_same_v<T, std::string>) {
        if (from.is_string()) value = from.get<std::string>();
    } else if constexpr (std::is_same_v<T, bool>) {
        if (from.is_boolean()) value = from.get<bool>();
    } else if constexpr (std::is_integral_v<T>) {
        if (from.is_number_integer()) value = from.get<T>();
    } else {
        if (!from.is_object()) return;
        forEachField(value, [&](const char* key, auto& field) {
            if (const auto found = from.find(key); found != from.end()) read(*found, field);
        });
    }
}

}  // namespace

Result<void> RunInfo::save(const Folder& folder, const std::string& name) const {
    std::string all;
    write(all, *this);
    all += '\n';
    const UniqueFd file = folder.createFile(name);
    if (file >= 0 && writeAll(file, all.data(), all.size())) return {};
    return fail("Cannot write {}: {}.", (folder.path() / name).string(), std::strerror(errno));
}

Result<RunInfo> RunInfo::load(const Folder& folder, const std::string& name) {
    const std::string shown = (folder.path() / name).string();
    const UniqueFd file = folder.openFile(name);
    std::string text;
    if (file < 0 && errno == EINVAL) return fail("{}: not a regular file.", shown);
    if (file < 0 || !readToEnd(file, text, maxFileBytes))
        return fail("Cannot read {}: {}.", shown, std::strerror(errno));
    if (text.size() > maxFileBytes) return fail("{}: too long.", shown);
    const json object = json::parse(text, nullptr, false);
    if (!object.is_object()) return fail("{}: corrupt, not a JSON object.", shown);
    RunInfo info;
    read(object, info);
    return info;
}

}  // namespace lanescope::capture
