// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/processIdentity.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "capture/log/launcherRank.h"
#include "capture/log/maskSecrets.h"
#include "model/format/UniqueFd.h"
#include "model/format/factNames.h"
#include "model/format/text.h"
#include "model/format/version.h"

namespace lanescope::agent {

namespace {

/// Reads a small file of /proc, by default with zero bytes as spaces.
std::string readSmallFile(const char* path, bool zeroAsSpace = true) {
    const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
    if (file < 0) return {};
    char buffer[4096];
    std::string text(buffer, readAll(file, buffer, sizeof buffer));
    if (!zeroAsSpace) return text;
    std::replace(text.begin(), text.end(), '\0', ' ');
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
    return text;
}

std::string commandLine(bool keepsSecrets) {
    const std::string text = readSmallFile("/proc/self/cmdline", false);
    std::vector<std::string> words;
    for (std::string_view rest = text; !rest.empty();) words.emplace_back(takeUntil(rest, '\0'));
    std::string joined;
    for (const std::string& word : keepsSecrets ? words : log::maskSecrets(words))
        joined.append(joined.empty() ? "" : " ").append(word);
    return joined;
}

/// Returns a field of this process's line in /proc by its number there, from 3 on; empty if unknown.
std::string fieldOfStat(int number) {
    // The second field, a name in brackets, may contain any character.
    const std::string stat = readSmallFile("/proc/self/stat", false);
    size_t at = stat.rfind(')');
    for (int field = 2; field < number && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
    return at == std::string::npos ? std::string() : stat.substr(at + 1, stat.find(' ', at + 1) - at - 1);
}

std::string hostName() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "host";
}

}  // namespace

std::string programPath() {
    char program[4096];
    const ssize_t length = ::readlink("/proc/self/exe", program, sizeof program);
    return length > 0 ? std::string(program, static_cast<size_t>(length)) : std::string();
}

std::string calledAs() {
    const std::string commandLine = readSmallFile("/proc/self/cmdline", false);
    return commandLine.substr(0, commandLine.find('\0'));
}

std::vector<std::pair<std::string, std::string>> processIdentity(bool keepsCommandLine) {
    std::vector<std::pair<std::string, std::string>> identity;
    const auto add = [&](std::string_view name, std::string value) {
        if (!value.empty()) identity.emplace_back(name, std::move(value));
    };
    add(facts::program, programPath());
    add(facts::commandLine, commandLine(keepsCommandLine));
    add(facts::processName, readSmallFile("/proc/self/comm"));
    constexpr int startField = 22;
    add(facts::processStart, fieldOfStat(startField));
    add(facts::host, hostName());
    add(facts::bootId, readSmallFile("/proc/sys/kernel/random/boot_id"));
    const log::LauncherRank place = log::launcherRank();
    add(facts::rank, place.rank);
    add(facts::localRank, place.localRank);
    add(facts::worldSize, place.worldSize);
    add(facts::localWorldSize, place.localWorldSize);
    if (const char* devices = std::getenv("CUDA_VISIBLE_DEVICES")) add(facts::visibleDevices, devices);
    add(facts::agentVersion, productVersion());
    return identity;
}

bool isForkWithoutExec() {
    constexpr unsigned long forkedWithoutExec = 0x40;
    return (std::strtoul(fieldOfStat(9).c_str(), nullptr, 10) & forkedWithoutExec) != 0;
}

std::string logName() {
    // Host and rank are external input and must not escape the folder.
    const auto safe = [](std::string text) {
        for (char& c : text)
            if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_') c = '_';
        return text.empty() ? "-" : text.substr(0, 64);
    };
    return safe(hostName()) + "." + safe(log::launcherRank().rank) + "." + std::to_string(::getpid());
}

}  // namespace lanescope::agent
