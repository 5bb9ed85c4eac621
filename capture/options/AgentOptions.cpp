// SPDX-License-Identifier: Apache-2.0
#include "capture/options/AgentOptions.h"

#include <array>
#include <charconv>
#include <utility>

#include "model/format/parseNumber.h"
#include "model/format/text.h"

namespace lanescope::agent {

std::optional<int64_t> WindowOptions::count() const {
    const bool mayBeEndless = trigger == WindowTrigger::Time && durationNs == 0;
    if (isEverything() || mayBeEndless || repeat <= 0) return std::nullopt;
    return repeat;
}

void setRange(std::string_view text, WindowOptions& windows) {
    const size_t at = text.rfind('@');
    windows.rangeName = text.substr(0, at);
    windows.anyDomain = at == std::string_view::npos;
    windows.rangeDomain = windows.anyDomain ? std::string_view() : text.substr(at + 1);
}

bool setTriggerRange(std::string_view text, WindowOptions& windows) {
    static constexpr std::string_view nvtx = "nvtx:";
    if (text == "cudaProfilerApi") {
        windows.trigger = WindowTrigger::CudaProfilerCalls;
        return true;
    }
    if (!text.starts_with(nvtx)) return false;
    text.remove_prefix(nvtx.size());
    if (text.empty() || text.front() == '@') return false;
    windows.trigger = WindowTrigger::NvtxRange;
    setRange(text, windows);
    return true;
}

namespace {

/// Removes `word` from the front of `name`. Returns false if `name` does not begin with it.
bool takeWord(std::string_view& name, std::string_view word) {
    if (name.size() < word.size()) return false;
    for (size_t i = 0; i < word.size(); ++i)
        if (lowerCase(name[i]) != word[i]) return false;
    name.remove_prefix(word.size());
    return true;
}

constexpr int64_t nsPerMs = 1'000'000;
constexpr int64_t maxMs = int64_t{1'000'000} * 3600 * 1000;  // so that nanoseconds fit
constexpr uint64_t bytesPerMb = 1u << 20;
constexpr int64_t nsPerSecond = 1'000'000'000;
constexpr int64_t maxMb = int64_t{1} << 40;

std::optional<int64_t> number(std::string_view text, int64_t maxValue) {
    const auto value = parseNumber<int64_t>(text);
    return value && *value >= 0 && *value <= maxValue ? value : std::nullopt;
}

bool isPlain(char character) {
    static constexpr std::string_view others = "._-+/*?[]";
    return isDigit(character) || isLetter(character) || others.find(character) != others.npos;
}

/// Encodes a value as in a URL, so that it contains no separator of the text.
std::string encoded(std::string_view value) {
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string text;
    for (const char character : value) {
        const auto byte = static_cast<unsigned char>(character);
        if (isPlain(character))
            text += character;
        else
            text += {'%', digits[byte >> 4], digits[byte & 15]};
    }
    return text;
}

std::string decoded(std::string_view text) {
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

template <class Value, size_t count>
using Names = std::array<std::pair<Value, std::string_view>, count>;

constexpr Names<ApiCalls, 4> apiNames{
    {{ApiCalls::Filtered, "filtered"}, {ApiCalls::All, "all"}, {ApiCalls::Launch, "launch"}, {ApiCalls::None, "none"}}};
constexpr Names<GraphDetail, 2> graphNames{{{GraphDetail::Nodes, "node"}, {GraphDetail::Whole, "whole"}}};

template <class Value, size_t count>
std::string_view nameIn(const Names<Value, count>& names, Value value) {
    for (const auto& [each, name] : names)
        if (each == value) return name;
    return {};
}
template <class Value, size_t count>
std::optional<Value> namedIn(const Names<Value, count>& names, std::string_view wanted) {
    for (const auto& [value, name] : names)
        if (name == wanted) return value;
    return std::nullopt;
}

struct Option {
    std::string_view name;
    /// Returns the text after the '='.
    std::string (*write)(const AgentOptions& options);
    /// Reads that text; ignores a malformed one.
    void (*read)(std::string_view value, AgentOptions& options);
    bool isAlwaysWritten = false;
};

template <bool AgentOptions::*member>
constexpr Option flag(std::string_view name, bool isAlwaysWritten = false) {
    return {name, [](const AgentOptions& options) { return std::string(options.*member ? "1" : "0"); },
            [](std::string_view value, AgentOptions& options) {
                if (value == "0" || value == "1") options.*member = value == "1";
            },
            isAlwaysWritten};
}

template <auto member, const auto& names>
constexpr Option named(std::string_view name) {
    return {name, [](const AgentOptions& options) { return std::string(nameIn(names, options.*member)); },
            [](std::string_view value, AgentOptions& options) {
                options.*member = namedIn(names, value).value_or(options.*member);
            }};
}

template <uint64_t AgentOptions::*member, int64_t minMb>
constexpr Option megabytes(std::string_view name) {
    return {name, [](const AgentOptions& options) { return std::to_string(options.*member / bytesPerMb); },
            [](std::string_view value, AgentOptions& options) {
                const auto mb = number(value, maxMb);
                if (mb && *mb >= minMb) options.*member = static_cast<uint64_t>(*mb) * bytesPerMb;
            }};
}

template <int64_t WindowOptions::*member>
constexpr Option milliseconds(std::string_view name) {
    return {name,
            [](const AgentOptions& options) {
                const int64_t ns = options.windows.*member;
                return ns > 0 ? std::to_string(ns / nsPerMs) : std::string();
            },
            [](std::string_view value, AgentOptions& options) {
                WindowOptions& windows = options.windows;
                const auto ms = number(value, maxMs);
                if (!ms) return;
                windows.*member = *ms * nsPerMs;
                if (*ms > 0 && windows.isEverything()) windows.trigger = WindowTrigger::Time;
            }};
}

/// Returns "NAME" or "NAME@DOMAIN", with an '@' inside either part as %40.
std::string rangeText(const WindowOptions& windows) {
    const std::string name = encoded(windows.rangeName);
    return windows.anyDomain ? name : name + "@" + encoded(windows.rangeDomain);
}
void decodeRange(WindowOptions& windows) {
    windows.rangeName = decoded(windows.rangeName);
    windows.rangeDomain = decoded(windows.rangeDomain);
}

std::string writePatterns(const AgentOptions& options) {
    std::string text;
    for (const std::string& pattern : options.only) {
        if (pattern.empty()) continue;
        text += (text.empty() ? "" : ":") + encoded(pattern);
    }
    return text;
}
void readPatterns(std::string_view text, AgentOptions& options) {
    options.only.clear();
    while (!text.empty()) {
        if (const std::string_view one = takeUntil(text, ':'); !one.empty()) options.only.push_back(decoded(one));
    }
}

std::string writeDelay(const AgentOptions& options) {
    const CallDelay& delay = options.delay;
    std::string text = std::to_string(delay.ns) + ":" + std::to_string(delay.periodNs) + ":" + encoded(delay.line) +
                       ":" + encoded(delay.rank);
    for (const std::string& call : delay.calls) text += ":" + encoded(call);
    return text;
}
void readDelay(std::string_view text, AgentOptions& options) {
    const auto next = [&text] { return takeUntil(text, ':'); };
    CallDelay& delay = options.delay;
    const auto ns = number(next(), CallDelay::maxNs), periodNs = number(next(), INT64_MAX);
    delay = {};
    if (!ns || !periodNs) return;
    delay.ns = *ns;
    delay.periodNs = *periodNs;
    delay.line = decoded(next());
    delay.rank = decoded(next());
    while (!text.empty()) delay.calls.push_back(decoded(next()));
}

std::string writeTriggerRange(const AgentOptions& options) {
    if (options.windows.trigger == WindowTrigger::CudaProfilerCalls) return "cudaProfilerApi";
    if (options.windows.trigger != WindowTrigger::NvtxRange) return {};
    return "nvtx:" + rangeText(options.windows);
}
void readTriggerRange(std::string_view value, AgentOptions& options) {
    WindowOptions& windows = options.windows;
    if (setTriggerRange(value, windows) && windows.trigger == WindowTrigger::NvtxRange) decodeRange(windows);
}

std::string writeSteps(const AgentOptions& options) {
    const WindowOptions& windows = options.windows;
    if (windows.trigger != WindowTrigger::Steps) return {};
    return std::to_string(windows.steps.first) + "-" + std::to_string(windows.steps.last);
}
void readSteps(std::string_view value, AgentOptions& options) {
    const auto steps = parseStepRange(value);
    if (!steps) return;
    options.windows.trigger = WindowTrigger::Steps;
    options.windows.steps = *steps;
}

std::string writeStepRange(const AgentOptions& options) {
    return options.windows.trigger == WindowTrigger::Steps ? rangeText(options.windows) : std::string();
}

constexpr std::array table = {
    flag<&AgentOptions::recordCuda>("cuda", true),
    flag<&AgentOptions::recordNvtx>("nvtx", true),
    named<&AgentOptions::apiCalls, apiNames>("api"),
    named<&AgentOptions::graphs, graphNames>("graphs"),
    flag<&AgentOptions::recordPython>("python"),
    flag<&AgentOptions::recordMemsets>("memset"),
    flag<&AgentOptions::recordMemory>("memory"),
    flag<&AgentOptions::recordUnifiedMemory>("um"),
    flag<&AgentOptions::yieldCupti>("yield"),
    Option{"only", writePatterns, readPatterns},
    megabytes<&AgentOptions::maxLogBytes, 0>("max-log-mb"),
    megabytes<&AgentOptions::maxPartBytes, 1>("part-mb"),
    Option{"ring", [](const AgentOptions& options) { return std::to_string(options.ringNs / nsPerSecond); },
           [](std::string_view value, AgentOptions& options) {
               if (const auto seconds = number(value, maxMs / 1000)) options.ringNs = *seconds * nsPerSecond;
           }},
    megabytes<&AgentOptions::ringBytes, 1>("ring-mb"),
    flag<&AgentOptions::followsLevel>("levels"),
    flag<&AgentOptions::beginsAsleep>("asleep"),
    megabytes<&AgentOptions::diskReserveBytes, 0>("reserve-mb"),
    flag<&AgentOptions::keepsCommandLine>("keep-command-line"),
    Option{"sample-at", [](const AgentOptions& options) { return encoded(options.sampleAt); },
           [](std::string_view value, AgentOptions& options) { options.sampleAt = decoded(value); }},
    Option{"add-to-calls", writeDelay, readDelay},
    milliseconds<&WindowOptions::delayNs>("delay-ms"),
    milliseconds<&WindowOptions::durationNs>("duration-ms"),
    Option{"base-ns", [](const AgentOptions& options) { return std::to_string(options.windows.baseNs); },
           [](std::string_view value, AgentOptions& options) {
               options.windows.baseNs = number(value, INT64_MAX).value_or(0);
           }},
    Option{"range", writeTriggerRange, readTriggerRange},
    Option{"steps", writeSteps, readSteps},
    Option{"step-range", writeStepRange,
           [](std::string_view value, AgentOptions& options) {
               setRange(value, options.windows);
               decodeRange(options.windows);
           }},
    Option{"repeat", [](const AgentOptions& options) { return std::to_string(options.windows.repeat); },
           [](std::string_view value, AgentOptions& options) {
               int64_t& repeat = options.windows.repeat;
               repeat = number(value, INT64_MAX).value_or(repeat);
           }},
};

std::string_view baseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

bool isStepName(std::string_view name) {
    if (takeWord(name, "profilerstep")) return name.empty() || !isLetter(name[0]);
    for (const std::string_view first : {"training", "train"}) {
        if (!takeWord(name, first)) continue;
        while (!name.empty() && !isLetter(name[0])) name.remove_prefix(1);
        break;
    }
    for (const std::string_view word : {"step", "iteration", "iter"}) {
        std::string_view rest = name;
        if (takeWord(rest, word) && (rest.empty() || !isLetter(rest[0]))) return true;
    }
    return false;
}

bool isDisabled() {
    const std::string value = environment(disableVariable);
    return !value.empty() && value != "0";
}

std::string optionText(const AgentOptions& options) {
    std::string text;
    for (const Option& option : table) {
        const std::string value = option.write(options);
        if (!option.isAlwaysWritten && value == option.write(AgentOptions{})) continue;
        if (!text.empty()) text += ',';
        text.append(option.name).append("=").append(value);
    }
    return text;
}

void readOptionText(std::string_view text, AgentOptions& options) {
    while (!text.empty()) {
        const std::string_view one = takeUntil(text, ',');
        const size_t equals = one.find('=');
        if (equals == std::string_view::npos) continue;
        for (const Option& option : table)
            if (option.name == one.substr(0, equals)) option.read(one.substr(equals + 1), options);
    }
}

std::vector<std::string_view> optionNames() {
    std::vector<std::string_view> names;
    for (const Option& option : table) names.push_back(option.name);
    return names;
}

std::optional<ApiCalls> apiCallsNamed(std::string_view name) { return namedIn(apiNames, name); }
std::optional<GraphDetail> graphDetailNamed(std::string_view name) { return namedIn(graphNames, name); }

bool matchesProgram(const std::vector<std::string>& patterns, std::string_view executable, std::string_view calledAs) {
    if (patterns.empty()) return true;
    for (const std::string& pattern : patterns)
        for (const std::string_view name : {executable, baseName(executable), calledAs, baseName(calledAs)})
            if (matchesPattern(name, pattern)) return true;
    return false;
}

}  // namespace lanescope::agent
