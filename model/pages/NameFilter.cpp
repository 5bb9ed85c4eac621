// SPDX-License-Identifier: Apache-2.0
#include "model/pages/NameFilter.h"

#include <algorithm>
#include <cctype>
#include <functional>

#include "model/text/formatValue.h"

namespace lanescope::report {

namespace {

constexpr size_t maxNameBytes = 4096;

/// Returns true for units such as "GB/s", and for "I/O".
bool isNoPath(std::string_view word) {
    constexpr size_t maxUnitBytes = 8;
    return word == "I/O" || (word.size() <= maxUnitBytes && word.find('/') == word.size() - 2 && word.ends_with('s'));
}

/// Returns a text in which each path has lost its folders.
std::string withoutFolders(std::string_view text) {
    const auto isOfPath = [](char each) {
        return each == '/' || std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '.' || each == '_' ||
               each == '-' || each == '~' || each == '+' || (each & 0x80) != 0;
    };
    std::string result;
    for (size_t at = 0; at < text.size();) {
        size_t end = at;
        while (end < text.size() && isOfPath(text[end])) ++end;
        const std::string_view word = text.substr(at, end - at);
        const size_t slash = isNoPath(word) ? std::string_view::npos : word.rfind('/');
        // A path that ends with its folder becomes empty.
        if (slash != std::string_view::npos || word.starts_with('~')) at += std::min(slash, word.size() - 1) + 1;
        result += text.substr(at, std::max(end, at + 1) - at);
        at = std::max(end, at + 1);
    }
    return result;
}

}  // namespace

NameFilter::NameFilter(const Trace& trace) : isOn_(true) {
    const auto add = [this](std::string_view name, std::string_view substitute) {
        if (name.size() > 1) replaced_.emplace_back(name, substitute);
    };
    const auto addHost = [&](std::string_view host) {
        add(host, "host");
        const bool isNumber = !host.empty() && std::isdigit(static_cast<unsigned char>(host.front())) != 0;
        if (!isNumber) add(host.substr(0, host.find('.')), "host");
    };
    const auto addUsers = [&](std::string_view text) {
        for (const std::string_view homes : {"/home/", "/Users/"})
            for (size_t at = text.find(homes); at != std::string_view::npos; at = text.find(homes, at)) {
                at += homes.size();
                add(text.substr(at, text.find_first_of("/: ", at) - at), "user");
            }
    };
    addHost(trace.facts.host);
    for (const HostName& host : trace.facts.hosts) addHost(host.name);
    for (const SamplerFacts& sampler : trace.facts.samplers) addHost(sampler.host);
    for (const std::string& text : {trace.facts.homeDirectory, trace.facts.workingDirectory, trace.facts.commandLine})
        addUsers(text);
    for (const Process& process : trace.processes) {
        addHost(process.facts->host);
        addUsers(process.facts->commandLine);
        addUsers(process.facts->program);
    }
    const std::string& home = trace.facts.homeDirectory;
    add(std::string_view(home).substr(home.rfind('/') + 1), "user");
    std::ranges::stable_sort(replaced_, std::greater(), [](const auto& each) { return each.first.size(); });
}

std::string NameFilter::operator()(std::string_view text) const {
    std::string result = printable(text.substr(0, maxNameBytes));
    if (!isOn_) return result;
    result = withoutFolders(result);
    const auto isLetter = [&](size_t at) {
        return at < result.size() && std::isalnum(static_cast<unsigned char>(result[at])) != 0;
    };
    constexpr size_t minPartBytes = 4;  // Shorter names are parts of other words.
    for (const auto& [name, substitute] : replaced_)
        for (size_t at = result.find(name); at != std::string::npos; at = result.find(name, at)) {
            const bool isWord = (at == 0 || !isLetter(at - 1)) && !isLetter(at + name.size());
            const bool isName = isWord || name.size() >= minPartBytes;
            if (isName) result.replace(at, name.size(), substitute);
            at += isName ? substitute.size() : 1;
        }
    return result;
}

}  // namespace lanescope::report
