// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

// What stands behind the program in the one file that holds the viewer: a tar archive, packed with
// xz and its SHA-256, and a line that tells where that begins and what its name is.

namespace lanescope::single {

/// Where in this file its archive lies.
struct Payload {
    int file = -1;  ///< Open for as long as the process lives.
    off_t start = 0;
    off_t size = 0;
    std::string identifier;  ///< Of exactly this content: the start of the archive's SHA-256.
};

/// Of the running program. Says in `problem` what is wrong with the file; then `file` is -1.
Payload findPayload(std::string& problem);

/// Unpacks into an existing folder, and leaves a list of what it unpacked. Everything in the folder
/// is in the archive, dated as there. Returns what went wrong, or nothing. Content that its
/// checksum does not fit is such a failure.
std::string unpack(const Payload& payload, const std::filesystem::path& folder);

/// Whether `unpack` filled the folder and nothing in it was changed since: each file has the size
/// and the date that it had. Takes a millisecond.
bool isUnpacked(const std::filesystem::path& folder);

}  // namespace lanescope::single
