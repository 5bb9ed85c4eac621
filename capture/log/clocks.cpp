// SPDX-License-Identifier: Apache-2.0
#include "capture/log/clocks.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>

#include "model/format/UniqueFd.h"

namespace lanescope::log {

namespace {

/// Returns a name that is equal for processes with the same CLOCK_MONOTONIC.
std::string monotonicClockName() {
    char text[128];
    std::string name;
    const UniqueFd file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    if (file >= 0) name.assign(text, readAll(file, text, sizeof text));
    while (!name.empty() && name.back() == '\n') name.pop_back();
    const ssize_t bytes = ::readlink("/proc/self/ns/time", text, sizeof text);
    if (bytes > 0) name.append("/").append(text, static_cast<size_t>(bytes));
    return name;
}

}  // namespace

std::string eventClockText() { return std::to_string(eventOffsetNs()) + "@" + monotonicClockName(); }

void setEventClock(std::string_view text) {
    int64_t offsetNs = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), offsetNs);
    const std::string_view rest = text.substr(static_cast<size_t>(end - text.data()));
    if (error != std::errc() || offsetNs == 0 || !rest.starts_with('@')) return;
    const std::string own = monotonicClockName();
    if (!own.empty() && rest.substr(1) == own) setEventOffset(offsetNs);
}

}  // namespace lanescope::log
