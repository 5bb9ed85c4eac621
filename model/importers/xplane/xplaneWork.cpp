// SPDX-License-Identifier: Apache-2.0
#include "model/importers/xplane/xplaneWork.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <utility>

#include "model/format/text.h"

namespace lanescope {

namespace {

template <class Number>
Number numberIn(std::string_view text) {
    Number number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// Calls `visit(key, value)` for each "key:value" of a text.
template <class Visitor>
void forEachDetail(std::string_view details, Visitor visit) {
    while (!details.empty()) {
        const size_t end = std::min(details.find(' '), details.size());
        const std::string_view word = details.substr(0, end);
        const size_t colon = word.find(':');
        if (colon != std::string_view::npos) visit(word.substr(0, colon), word.substr(colon + 1));
        details.remove_prefix(std::min(end + 1, details.size()));
    }
}

std::array<uint32_t, 3> sizesIn(std::string_view text) {
    std::array<uint32_t, 3> sizes{};
    for (uint32_t& size : sizes) {
        size = numberIn<uint32_t>(text);
        const size_t comma = text.find(',');
        if (comma == std::string_view::npos) break;
        text.remove_prefix(comma + 1);
    }
    return sizes;
}

std::string plain(std::string_view text) {
    std::string word;
    for (const char c : text)
        if (isLetter(c) || isDigit(c)) word += lowerCase(c);
    return word;
}

MemoryKind memoryIn(std::string_view word) {
    constexpr std::array<std::pair<std::string_view, MemoryKind>, 8> kinds{{
        {"pageable", MemoryKind::Pageable},
        {"pinned", MemoryKind::Pinned},
        {"device", MemoryKind::Device},
        {"array", MemoryKind::Array},
        {"managed", MemoryKind::Managed},
        {"unified", MemoryKind::Managed},
        {"devicestatic", MemoryKind::DeviceStatic},
        {"managedstatic", MemoryKind::ManagedStatic},
    }};
    const std::string wanted = plain(word);
    for (const auto& [name, kind] : kinds)
        if (wanted == name) return kind;
    return MemoryKind::Unknown;
}

MemcpyKind directionIn(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, MemcpyKind>, 10> kinds{{
        {"memcpyh2d", MemcpyKind::HtoD},
        {"memcpyd2h", MemcpyKind::DtoH},
        {"memcpyd2d", MemcpyKind::DtoD},
        {"memcpyp2p", MemcpyKind::PtoP},
        {"memcpyh2h", MemcpyKind::HtoH},
        {"memcpyhtod", MemcpyKind::HtoD},
        {"memcpydtoh", MemcpyKind::DtoH},
        {"memcpydtod", MemcpyKind::DtoD},
        {"memcpyptop", MemcpyKind::PtoP},
        {"memcpyhtoh", MemcpyKind::HtoH},
    }};
    const std::string wanted = plain(name);
    for (const auto& [word, kind] : kinds)
        if (wanted.starts_with(word)) return kind;
    return MemcpyKind::Unknown;
}

bool beginsWith(std::string_view name, std::string_view lower) { return plain(name.substr(0, lower.size())) == lower; }

}  // namespace

XplaneLaunch launchOf(std::string_view details) {
    XplaneLaunch launch;
    forEachDetail(details, [&](std::string_view key, std::string_view value) {
        if (key == "grid") launch.grid = sizesIn(value);
        if (key == "block") launch.block = sizesIn(value);
        if (key == "regs") launch.registers = numberIn<uint32_t>(value);
        if (key == "static_shared" || key == "dynamic_shared" || key == "group_mem")
            launch.sharedBytes += numberIn<uint32_t>(value);
    });
    return launch;
}

XplaneCopy copyOf(std::string_view name, std::string_view details) {
    XplaneCopy copy;
    copy.kind = directionIn(name);
    forEachDetail(details, [&](std::string_view key, std::string_view value) {
        if (key == "size" || key == "num_bytes") copy.bytes = std::max<int64_t>(0, numberIn<int64_t>(value));
        if (key == "kind_src") copy.source = memoryIn(value);
        if (key == "kind_dst" || key == "kind") copy.destination = memoryIn(value);
    });
    return copy;
}

bool isCopyName(std::string_view name) { return beginsWith(name, "memcpy"); }

bool isMemsetName(std::string_view name) { return beginsWith(name, "memset"); }

bool isDriverName(std::string_view name) {
    return name.starts_with("cu") && name.size() > 2 && std::isupper(static_cast<unsigned char>(name[2])) != 0;
}

bool isApiName(std::string_view name) {
    const auto isOf = [name](std::string_view family) {
        return name.starts_with(family) && name.size() > family.size() &&
               std::isupper(static_cast<unsigned char>(name[family.size()])) != 0;
    };
    return isOf("cu") || isOf("cuda") || isOf("hip") || name.starts_with("hsa_");
}

int64_t numberAfter(std::string_view text, std::string_view word) {
    const size_t found = text.find(word);
    if (found == std::string_view::npos) return -1;
    const std::string_view digits = text.substr(found + word.size());
    int64_t number = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc{} && end != digits.data() && number >= 0 ? number : -1;
}

}  // namespace lanescope
