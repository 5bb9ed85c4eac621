// SPDX-License-Identifier: Apache-2.0
#include "model/trace/communicatorId.h"

#include <fmt/format.h>

#include <charconv>

namespace lanescope {

namespace {

constexpr std::string_view prefix = "0x";
constexpr size_t digits = 16;

/// The whole number that a text begins with, and how long that is; negative ones are the same hash
/// as a signed number.
struct Number {
    uint64_t value = 0;
    size_t length = 0;
};
Number numberAt(std::string_view text) {
    const auto read = [text](auto value) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc()
                   ? Number{static_cast<uint64_t>(value), static_cast<size_t>(end - text.data())}
                   : Number();
    };
    return text.starts_with('-') ? read(int64_t{0}) : read(uint64_t{0});
}

}  // namespace

std::string communicatorId(uint64_t hash) {
    return fmt::format("{}{:016x}", prefix, hash);
}

std::optional<uint64_t> communicatorFrom(std::string_view id) {
    if (id.size() != prefix.size() + digits || !id.starts_with(prefix)) return std::nullopt;
    uint64_t hash = 0;
    const auto [end, error] =
        std::from_chars(id.data() + prefix.size(), id.data() + id.size(), hash, 16);
    if (error != std::errc() || end != id.data() + id.size()) return std::nullopt;
    return hash;
}

std::string withCommunicatorIds(std::string_view payload) {
    constexpr std::string_view word = "communicator";
    std::string shown;
    const auto take = [&](size_t length) {
        shown += payload.substr(0, length);
        payload.remove_prefix(length);
    };
    for (size_t at = 0; (at = payload.find(word)) != std::string_view::npos;) {
        // The word is of a key if what ends its text is followed by a value.
        take(std::min(payload.find('"', at), payload.size()));
        if (!payload.starts_with("\":")) continue;
        take(std::min(payload.find_first_not_of(" ", 2), payload.size()));
        const Number number = numberAt(payload);
        if (number.length == 0) continue;
        shown += fmt::format("\"{}\"", communicatorId(number.value));
        payload.remove_prefix(number.length);
    }
    return shown.append(payload);
}

}  // namespace lanescope
