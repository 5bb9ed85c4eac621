#include "capture/record/AgentRequest.h"

#include <fmt/format.h>

#include <string_view>

namespace lanescope::capture {

namespace {

bool isPlain(char character) {
    static constexpr std::string_view others = "._-+/@*?[]";
    return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'z') ||
           (character >= 'A' && character <= 'Z') || others.find(character) != others.npos;
}

/// As in a URL, so that no value holds a comma or anything else that the list needs.
std::string encoded(std::string_view value) {
    std::string text;
    for (const char character : value) {
        if (isPlain(character))
            text += character;
        else
            text += fmt::format("%{:02X}", static_cast<unsigned char>(character));
    }
    return text;
}

}  // namespace

std::optional<uint32_t> CaptureWindows::count() const {
    if (!range.empty()) return repeat > 0 ? std::optional(repeat) : std::nullopt;
    if (steps || durationMs > 0) return 1;
    return std::nullopt;
}

std::string agentOptions(const AgentRequest& request, int64_t baseRealtimeNs) {
    std::string text = fmt::format("cuda={},nvtx={}", request.cuda ? 1 : 0, request.nvtx ? 1 : 0);
    const auto add = [&](std::string_view name, std::string_view value) {
        text += fmt::format(",{}={}", name, encoded(value));
    };
    const auto addNumber = [&](std::string_view name, auto value) {
        add(name, std::to_string(value));
    };
    if (request.api != "filtered") add("api", request.api);
    if (request.wholeGraphs) add("graphs", "whole");
    if (!request.memsets) add("memset", "0");
    if (request.memory) add("memory", "1");
    if (request.unifiedMemory) add("um", "1");
    if (request.yieldsCupti) add("yield", "1");
    if (!request.only.empty()) {
        text += ",only=";
        for (size_t index = 0; index < request.only.size(); ++index)
            text += (index > 0 ? ":" : "") + encoded(request.only[index]);
    }
    if (request.maximumLogMb > 0) addNumber("max-log-mb", request.maximumLogMb);
    if (!request.sampleAt.empty()) add("sample-at", request.sampleAt);

    const CaptureWindows& windows = request.windows;
    if (windows.isEverything()) return text;
    if (windows.delayMs > 0) addNumber("delay-ms", windows.delayMs);
    if (windows.durationMs > 0) addNumber("duration-ms", windows.durationMs);
    const bool hasTimes = windows.delayMs > 0 || windows.durationMs > 0;
    if (hasTimes && baseRealtimeNs > 0) addNumber("base-ns", baseRealtimeNs);
    if (!windows.range.empty()) {
        static constexpr std::string_view nvtx = "nvtx:";
        const bool isNvtx = windows.range.starts_with(nvtx);
        text += fmt::format(",range={}{}", isNvtx ? nvtx : "",
                            encoded(windows.range.substr(isNvtx ? nvtx.size() : 0)));
        addNumber("repeat", windows.repeat);
    }
    if (windows.steps) {
        // The agent counts from 1.
        add("steps", fmt::format("{}-{}", windows.steps->first + 1, windows.steps->last + 1));
        if (!windows.steps->range.empty()) add("step-range", windows.steps->range);
    }
    return text;
}

}  // namespace lanescope::capture
