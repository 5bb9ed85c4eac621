// SPDX-License-Identifier: Apache-2.0
#include "model/format/factNames.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "model/format/parseNumber.h"

namespace lanescope {

namespace {

/// Returns the part of a path after a folder and its slash; empty if the path is not below the folder.
std::string_view below(std::string_view path, std::string_view folder) {
    while (folder.ends_with('/')) folder.remove_suffix(1);
    if (!folder.starts_with('/') || path.size() <= folder.size() + 1 || !path.starts_with(folder) ||
        path[folder.size()] != '/')
        return {};
    return path.substr(folder.size() + 1);
}

/// Returns true if a path within a folder is unambiguous.
bool isPlain(std::string_view rest) {
    return !rest.empty() && !rest.starts_with('~') && !rest.starts_with('<') && !rest.starts_with('/');
}

/// Limit of a mangled name in bytes, because the demangler's time can be quadratic.
constexpr size_t maxMangledBytes = 32 * 1024;

constexpr std::string_view gpuPrefix = "gpu";
constexpr size_t maxDigits = 9;

/// Parses a number without sign or leading zeros.
std::optional<int64_t> plainNumber(std::string_view text) {
    const bool isPadded = text.size() > 1 && text.front() == '0';
    if (text.empty() || text.size() > maxDigits || isPadded || text.front() == '-') return std::nullopt;
    return parseNumber<int64_t>(text);
}

constexpr int maxLanes = 32;

/// Bytes per second per lane, by generation from 1 on: 8b/10b encoding, 128b/130b from the third,
/// 242 of 256 bytes of a flit in the sixth.
constexpr std::array<double, 6> bytesPerLane{2.5e9 * 8 / 10 / 8,   5e9 * 8 / 10 / 8,     8e9 * 128 / 130 / 8,
                                             16e9 * 128 / 130 / 8, 32e9 * 128 / 130 / 8, 64e9 * 242 / 256 / 8};

}  // namespace

std::string shortSourcePath(std::string_view path, const SourceFolders& folders) {
    std::string_view given = path;
    while (given.starts_with("./") && isPlain(given.substr(2))) given.remove_prefix(2);
    // A folder named "~" is not the home folder.
    std::string brief = given.starts_with('~') ? "./" + std::string(given) : std::string(given);
    if (const std::string_view rest = below(given, folders.working); isPlain(rest))
        brief = rest;
    else if (const std::string_view inHome = below(given, folders.home); isPlain(inHome))
        brief = "~/" + std::string(inHome);
    return isLibraryFile(brief) == isLibraryFile(path) ? brief : std::string(path);
}

/// A back reference "S_", "S3_" or "T_" expands to at most all that precedes it, so each one at
/// most doubles the length.
bool mayDemangleLong(std::string_view mangled) {
    constexpr size_t maxDemangledBytes = size_t{1} << 20;
    size_t bytes = mangled.size();
    for (size_t at = 2; at < mangled.size() && bytes <= maxDemangledBytes; ++at) {
        if (mangled[at] != 'S' && mangled[at] != 'T') continue;
        size_t end = at + 1;
        while (end < mangled.size() && std::isalnum(static_cast<unsigned char>(mangled[end]))) ++end;
        if (end < mangled.size() && mangled[end] == '_') bytes *= 2;
    }
    return bytes > maxDemangledBytes;
}

std::optional<std::string> demangledName(const std::string& mangled) {
    if (!mangled.starts_with("_Z") || mangled.size() > maxMangledBytes) return mangled;
    if (mayDemangleLong(mangled)) return std::nullopt;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text != nullptr ? std::string(text.get()) : mangled;
}

std::string_view identifier(ProducerKind kind) {
    static constexpr std::array<std::string_view, 3> all{"other", "lanescope", "nccl_inspector"};
    return all[static_cast<size_t>(kind)];
}

ProducerKind producerKindOf(std::string_view producer) {
    if (producer == inspectorProducer) return ProducerKind::NcclInspector;
    // Merged traces name the producers of all parts.
    const bool isMerged = contains(producer, " and ");
    return producer.starts_with("Lanescope ") && !isMerged ? ProducerKind::Lanescope : ProducerKind::Other;
}

GpuVendor gpuVendorOf(std::string_view gpuName) {
    constexpr std::array<std::string_view, 4> ofAmd{"AMD", "Instinct", "Radeon", "gfx"};
    return containsAny(gpuName, ofAmd) ? GpuVendor::Amd : GpuVendor::Nvidia;
}

std::string gpuFactName(int64_t gpu, std::string_view name) { return fmt::format("{}{}.{}", gpuPrefix, gpu, name); }

std::optional<FactOf<int64_t>> splitGpuFact(std::string_view text) {
    const size_t dot = text.find('.');
    if (!text.starts_with(gpuPrefix) || dot == std::string_view::npos) return std::nullopt;
    const auto gpu = plainNumber(text.substr(gpuPrefix.size(), dot - gpuPrefix.size()));
    if (!gpu) return std::nullopt;
    return FactOf<int64_t>{*gpu, text.substr(dot + 1)};
}

std::string hostFactName(std::string_view host, std::string_view name) {
    return host.empty() ? std::string(name) : fmt::format("{} {}", host, name);
}

std::optional<FactOf<std::string_view>> splitHostFact(std::string_view text) {
    const size_t space = text.rfind(' ');
    if (space == std::string_view::npos || space == 0) return std::nullopt;
    return FactOf<std::string_view>{text.substr(0, space), text.substr(space + 1)};
}

std::string numberedFactName(std::string_view name, int64_t number) { return fmt::format("{}{}", name, number); }

std::optional<FactOf<int64_t>> splitNumberedFact(std::string_view text) {
    const size_t last = text.find_last_not_of("0123456789");
    if (last == std::string_view::npos) return std::nullopt;
    const auto number = plainNumber(text.substr(last + 1));
    if (!number) return std::nullopt;
    return FactOf<int64_t>{*number, text.substr(0, last + 1)};
}

int64_t pcieBytesPerSecond(int generation, int lanes) {
    if (generation < 1 || generation > static_cast<int>(bytesPerLane.size()) || lanes < 1 || lanes > maxLanes) return 0;
    return std::llround(bytesPerLane[static_cast<size_t>(generation) - 1] * lanes);
}

}  // namespace lanescope
