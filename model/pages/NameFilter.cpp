// SPDX-License-Identifier: Apache-2.0
#include "model/pages/NameFilter.h"

#include <algorithm>
#include <cctype>
#include <functional>

#include "model/text/formatValue.h"

namespace lanescope::report {

namespace {

constexpr size_t maxNameBytes = 4096;

/// Returns what `path` would be called without its folders, for each absolute path in a text.
std::string withoutFolders(std::string_view text) {
    const auto isOfPath = [](char each) {
        return each == '/' || std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '.' || each == '_' ||
               each == '-' || each == '~' || each == '+' || (each & 0x80) != 0;
    };
    std::string result;
    for (size_t at = 0; at < text.size();) {
        const bool begins = (text[at] == '/' || text[at] == '~') && (at == 0 || !isOfPath(text[at - 1]));
        size_t end = at;
        while (begins && end < text.size() && isOfPath(text[end])) ++end;
        if (end > at)
            at = std::min(text.rfind('/', end - 1), end - 1) + 1;  // A path that ends with its folder becomes empty.
        if (end > at || !begins) result += text[at++];
    }
    return result;
}

}  // namespace

NameFilter::NameFilter(const Trace& trace) : isOn_(true) {
    const auto add = [this](std::string_view name, std::string_view substitute) {
        if (name.size() > 1) replaced_.emplace_back(name, substitute);
    };
    const auto addHome = [&](std::string_view home) {
        const size_t slash = home.find_last_of('/');
        if (slash != std::string_view::npos) add(home.substr(slash + 1), "user");
    };
    add(trace.facts.host, "host");
    for (const HostName& host : trace.facts.hosts) add(host.name, "host");
    for (const SamplerFacts& sampler : trace.facts.samplers) add(sampler.host, "host");
    for (const Process& process : trace.processes) add(process.facts->host, "host");
    addHome(trace.facts.homeDirectory);
    std::ranges::stable_sort(replaced_, std::greater(), [](const auto& each) { return each.first.size(); });
}

std::string NameFilter::operator()(std::string_view text) const {
    std::string result = printable(text.substr(0, maxNameBytes));
    if (!isOn_) return result;
    result = withoutFolders(result);
    for (const auto& [name, substitute] : replaced_)
        for (size_t at = result.find(name); at != std::string::npos; at = result.find(name, at + substitute.size()))
            result.replace(at, name.size(), substitute);
    return result;
}

}  // namespace lanescope::report
