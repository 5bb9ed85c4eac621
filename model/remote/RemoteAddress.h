// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/format/Result.h"

namespace lanescope {

/// Returns true for the address of a trace on another machine: "ssh://...".
bool isRemoteAddress(std::string_view text);

/// A trace on another machine: `ssh://[user@]host[:port]/path`. A path that begins with "/~/" is within the home folder
/// of the user there. The path is taken as it is, without percent codes.
struct RemoteAddress {
    std::string user, host, port, path;

    /// Refuses a host or user that `ssh` could take for an option.
    static Result<RemoteAddress> parse(std::string_view text);
    std::string text() const;
    /// Returns the words that run `lanescope serve` there: those of `ssh`, by default the program of that name, then
    /// the host and one command for its shell.
    std::vector<std::string> words(const std::vector<std::string>& ssh = {}) const;
};

}  // namespace lanescope
