// SPDX-License-Identifier: Apache-2.0
#include "model/remote/RemoteAddress.h"

#include <algorithm>

#include "model/format/text.h"

namespace lanescope {

namespace {

constexpr std::string_view scheme = "ssh://";

bool consistsOf(std::string_view text, std::string_view others) {
    return std::ranges::all_of(text, [others](char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') ||
               others.find(each) != std::string_view::npos;
    });
}

}  // namespace

bool isRemoteAddress(std::string_view text) { return text.starts_with(scheme); }

Result<RemoteAddress> RemoteAddress::parse(std::string_view text) {
    const auto refuse = [text](std::string_view what) {
        return fail("{}: {}. Write ssh://[user@]host[:port]/path.", text, what);
    };
    if (!isRemoteAddress(text)) return refuse("no address of a remote trace");
    std::string_view place = text.substr(scheme.size());
    const size_t slash = place.find('/');
    if (slash == std::string_view::npos || slash + 1 == place.size()) return refuse("the path is missing");
    RemoteAddress address;
    address.path = place.substr(slash);
    if (address.path.starts_with("/~/")) address.path.erase(0, 3);
    place = place.substr(0, slash);
    if (const size_t at = place.rfind('@'); at != std::string_view::npos) {
        address.user = place.substr(0, at);
        place.remove_prefix(at + 1);
        if (address.user.empty() || !consistsOf(address.user, "._-+@\\")) return refuse("invalid user");
    }
    const size_t bracket = place.starts_with('[') ? place.find(']') : 0;
    const size_t colon = bracket == std::string_view::npos ? bracket : place.find(':', bracket);
    if (colon != std::string_view::npos) {
        address.port = place.substr(colon + 1);
        constexpr size_t maxDigits = 5;
        const bool isNumber = !address.port.empty() && address.port.size() <= maxDigits &&
                              address.port.find_first_not_of("0123456789") == std::string::npos;
        if (!isNumber) return refuse("invalid port");
        place = place.substr(0, colon);
    }
    if (place.starts_with('[') && place.ends_with(']')) place = place.substr(1, place.size() - 2);
    address.host = place;
    if (address.host.empty() || !consistsOf(address.host, "._-:%")) return refuse("invalid host");
    if (address.host.front() == '-' || address.user.starts_with('-')) return refuse("a host cannot begin with '-'");
    if (address.path.find('\0') != std::string::npos) return refuse("invalid path");
    return address;
}

std::string RemoteAddress::text() const {
    const bool isNumeric = host.find(':') != std::string::npos;
    return fmt::format("{}{}{}{}{}{}", scheme, user.empty() ? "" : user + "@", isNumeric ? "[" + host + "]" : host,
                       port.empty() ? "" : ":" + port, path.starts_with('/') ? "" : "/~/", path);
}

std::vector<std::string> RemoteAddress::words(const std::vector<std::string>& ssh) const {
    std::vector<std::string> words = ssh.empty() ? std::vector<std::string>{"ssh", "-T"} : ssh;
    if (!port.empty()) words.insert(words.end(), {"-p", port});
    if (!user.empty()) words.insert(words.end(), {"-l", user});
    words.insert(words.end(), {"--", host, "lanescope serve --stdio -- " + shellQuoted(path)});
    return words;
}

}  // namespace lanescope
