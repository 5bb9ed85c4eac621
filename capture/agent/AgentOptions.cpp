#include "capture/agent/AgentOptions.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "capture/agent/matchesPattern.h"

namespace lanescope::agent {

namespace {

constexpr int64_t nsPerMs = 1'000'000;
constexpr int64_t longestMs = int64_t{1'000'000} * 3600 * 1000;  // so that nanoseconds fit
constexpr uint64_t bytesPerMb = 1u << 20;
constexpr int64_t mostMb = int64_t{1} << 40;

std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// A whole number from 0 to `most`.
std::optional<int64_t> number(std::string_view text, int64_t most) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > most)
        return std::nullopt;
    return value;
}

std::string withoutPercents(std::string_view text) {
    std::string plain;
    for (size_t i = 0; i < text.size(); ++i) {
        unsigned char byte = 0;
        if (text[i] == '%' && i + 2 < text.size() &&
            std::from_chars(&text[i + 1], &text[i + 1] + 2, byte, 16).ptr == &text[i + 1] + 2) {
            plain += static_cast<char>(byte);
            i += 2;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

/// "NAME" or "NAME@DOMAIN"; an '@' that belongs to the name comes as %40.
void readRange(std::string_view text, WindowOptions& windows) {
    const size_t at = text.rfind('@');
    windows.rangeName = withoutPercents(text.substr(0, at));
    windows.anyDomain = at == std::string_view::npos;
    if (!windows.anyDomain) windows.rangeDomain = withoutPercents(text.substr(at + 1));
}

void readSteps(std::string_view text, WindowOptions& windows) {
    const size_t dash = text.find('-');
    const auto first = number(text.substr(0, dash), INT64_MAX);
    const auto last =
        dash == std::string_view::npos ? first : number(text.substr(dash + 1), INT64_MAX);
    if (!first || !last || *first < 1 || *last < *first) return;
    windows.trigger = WindowTrigger::Steps;
    windows.firstStep = *first;
    windows.lastStep = *last;
}

void readWindowOption(std::string_view name, std::string_view value, WindowOptions& windows) {
    constexpr std::string_view nvtxPrefix = "nvtx:";
    const auto beginsByTime = [&] {
        if (windows.trigger == WindowTrigger::None) windows.trigger = WindowTrigger::Time;
    };
    if (name == "delay-ms" || name == "duration-ms") {
        if (const auto ms = number(value, longestMs)) {
            (name == "delay-ms" ? windows.delayNs : windows.durationNs) = *ms * nsPerMs;
            if (*ms > 0) beginsByTime();
        }
    } else if (name == "base-ns") {
        windows.baseNs = number(value, INT64_MAX).value_or(0);
    } else if (name == "repeat") {
        windows.repeat = number(value, INT64_MAX).value_or(windows.repeat);
    } else if (name == "range" && value == "cudaProfilerApi") {
        windows.trigger = WindowTrigger::CudaProfilerCalls;
    } else if (name == "range" && value.substr(0, nvtxPrefix.size()) == nvtxPrefix &&
               value.size() > nvtxPrefix.size()) {
        windows.trigger = WindowTrigger::NvtxRange;
        readRange(value.substr(nvtxPrefix.size()), windows);
    } else if (name == "step-range") {
        readRange(value, windows);
    } else if (name == "steps") {
        readSteps(value, windows);
    }
}

std::vector<std::string> readPatterns(std::string_view text) {
    std::vector<std::string> patterns;
    while (!text.empty()) {
        const std::string_view one = text.substr(0, text.find(':'));
        text.remove_prefix(std::min(text.size(), one.size() + 1));
        if (!one.empty()) patterns.push_back(withoutPercents(one));
    }
    return patterns;
}

void readOption(std::string_view name, std::string_view value, AgentOptions& options) {
    const bool isOn = value == "1";
    if (name == "cuda" && value == "0") options.recordCuda = false;
    if (name == "nvtx" && value == "0") options.recordNvtx = false;
    if (name == "yield") options.yieldCupti = isOn;
    if (name == "memset" && value == "0") options.recordMemsets = false;
    if (name == "memory") options.recordMemory = isOn;
    if (name == "um") options.recordUnifiedMemory = isOn;
    if (name == "api" && value == "all") options.apiCalls = ApiCalls::All;
    if (name == "api" && value == "launch") options.apiCalls = ApiCalls::Launch;
    if (name == "api" && value == "none") options.apiCalls = ApiCalls::None;
    if (name == "graphs" && value == "whole") options.graphs = GraphDetail::Whole;
    if (name == "only") options.only = readPatterns(value);
    if (name == "sample-at") options.sampleAt = withoutPercents(value);
    if (name == "max-log-mb") {
        const auto mb = number(value, mostMb);
        if (mb) options.maximumLogBytes = static_cast<uint64_t>(*mb) * bytesPerMb;
    }
    if (name == "part-mb") {
        const auto mb = number(value, mostMb);
        if (mb && *mb > 0) options.maximumPartBytes = static_cast<uint64_t>(*mb) * bytesPerMb;
    }
    readWindowOption(name, value, options.windows);
}

std::string_view baseName(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

}  // namespace

void readOptionText(std::string_view text, AgentOptions& options) {
    while (!text.empty()) {
        const std::string_view option = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), option.size() + 1));
        const size_t equals = option.find('=');
        if (equals == std::string_view::npos) continue;
        readOption(option.substr(0, equals), option.substr(equals + 1), options);
    }
}

AgentOptions readAgentOptions() {
    AgentOptions options;
    options.directory = environment("LANESCOPE_AGENT_DIR");
    options.cuptiPath = environment("LANESCOPE_CUPTI");
    readOptionText(environment("LANESCOPE_AGENT_OPTIONS"), options);
    return options;
}

bool suitsProgram(const std::vector<std::string>& patterns, std::string_view executable,
                  std::string_view calledAs) {
    if (patterns.empty()) return true;
    for (const std::string& pattern : patterns) {
        for (const std::string_view name :
             {executable, baseName(executable), calledAs, baseName(calledAs)}) {
            if (matchesPattern(pattern, name)) return true;
        }
    }
    return false;
}

}  // namespace lanescope::agent
