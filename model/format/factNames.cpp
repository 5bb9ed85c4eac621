// SPDX-License-Identifier: Apache-2.0
#include "model/format/factNames.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace lanescope {

namespace {

constexpr std::string_view gpuPrefix = "gpu";
constexpr size_t maxDigits = 9;

/// Parses a number without sign or leading zeros.
std::optional<int64_t> plainNumber(std::string_view text) {
    const bool isPadded = text.size() > 1 && text.front() == '0';
    if (text.empty() || text.size() > maxDigits || isPadded || text.front() == '-') return std::nullopt;
    int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end) return std::nullopt;
    return number;
}

}  // namespace

std::string_view identifier(ProducerKind kind) {
    static constexpr std::array<std::string_view, 3> all{"other", "lanescope", "nccl_inspector"};
    return all[static_cast<size_t>(kind)];
}

ProducerKind producerKindOf(std::string_view producer) {
    if (producer == inspectorProducer) return ProducerKind::NcclInspector;
    // Merged traces name the producers of all parts.
    const bool isMerged = producer.find(" and ") != std::string_view::npos;
    return producer.starts_with("Lanescope ") && !isMerged ? ProducerKind::Lanescope : ProducerKind::Other;
}

GpuVendor gpuVendorOf(std::string_view gpuName) {
    constexpr std::array<std::string_view, 4> ofAmd{"AMD", "Instinct", "Radeon", "gfx"};
    for (const std::string_view word : ofAmd)
        if (gpuName.find(word) != std::string_view::npos) return GpuVendor::Amd;
    return GpuVendor::Nvidia;
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

namespace {

constexpr int maxLanes = 32;

/// Bytes per second per lane, by generation from 1 on: 8b/10b encoding, 128b/130b from the third,
/// 242 of 256 bytes of a flit in the sixth.
constexpr std::array<double, 6> bytesPerLane{2.5e9 * 8 / 10 / 8,   5e9 * 8 / 10 / 8,     8e9 * 128 / 130 / 8,
                                             16e9 * 128 / 130 / 8, 32e9 * 128 / 130 / 8, 64e9 * 242 / 256 / 8};

}  // namespace

int64_t pcieBytesPerSecond(int generation, int lanes) {
    if (generation < 1 || generation > static_cast<int>(bytesPerLane.size()) || lanes < 1 || lanes > maxLanes) return 0;
    return std::llround(bytesPerLane[static_cast<size_t>(generation) - 1] * lanes);
}

}  // namespace lanescope
