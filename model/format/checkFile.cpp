// SPDX-License-Identifier: Apache-2.0
#include "model/format/checkFile.h"

#include <string>
#include <system_error>

namespace lanescope {

Result<uint64_t> checkFile(const std::filesystem::path& path) {
    const std::string shown = path.string();
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    const std::string partial = shown + std::string(unfinishedEnding);
    if (status.type() == std::filesystem::file_type::not_found &&
        std::filesystem::exists(partial, error))
        return fail(
            "There is no file {} yet: it is being recorded or made, or that broke off; {} has what "
            "there is.",
            shown, partial);
    if (status.type() == std::filesystem::file_type::not_found)
        return fail("There is no file {}: check the path.", shown);
    if (error) return fail("Cannot look at {}: {}.", shown, error.message());
    if (status.type() == std::filesystem::file_type::directory)
        return fail("{} is a folder: name the trace file in it.", shown);
    if (status.type() != std::filesystem::file_type::regular)
        return fail("{} is not a regular file: name a trace file.", shown);
    const uintmax_t size = std::filesystem::file_size(path, error);
    if (error) return fail("Cannot look at {}: {}.", shown, error.message());
    if (size == 0) return fail("The file {} is empty: nothing was recorded into it.", shown);
    return static_cast<uint64_t>(size);
}

bool isThere(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::symlink_status(path, error).type() !=
               std::filesystem::file_type::not_found &&
           error != std::errc::filename_too_long;
}

}  // namespace lanescope
