// SPDX-License-Identifier: Apache-2.0
#include "model/load/checkIsNoTrace.h"

#include <array>
#include <span>
#include <system_error>

#include "model/format/checkSqliteHeader.h"
#include "model/load/UnpackedStream.h"

namespace lanescope {

Result<void> checkIsNoTrace(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return {};
    if (std::filesystem::file_size(path, error) == 0) return {};
    Result<UnpackedStream> stream = UnpackedStream::open(path);
    if (!stream)
        return fail("Will not write over {}, which may be a trace. {} Choose another output file.",
                    path.string(), stream.error().sentence);
    std::array<char, sqliteHeaderBytes> start{};
    // What cannot be unpacked is no trace, either.
    const Result<size_t> count = stream->read(start);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(start.data());
    if (!count || !isSqliteHeader(std::span(bytes, *count))) return {};
    return fail(
        "Will not write over {}, which is a trace or another database; choose another "
        "output file.",
        path.string());
}

}  // namespace lanescope
