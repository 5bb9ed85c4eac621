// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "model/build/LoadProgress.h"
#include "model/format/Result.h"
#include "model/format/TemporaryFile.h"

namespace lanescope {

/// How far unpacking may go. A small file can hold a gigantic one.
struct UnpackLimits {
    uint64_t unpackedBytes = uint64_t{64} << 30;
    /// Left free on the disk for everybody else.
    uint64_t spareBytes = uint64_t{256} << 20;
    /// Where to unpack to; empty for the usual folder of temporary files.
    std::filesystem::path folder;
};

struct UnpackedFile {
    TemporaryFile file;
    /// `UnpackedStream::hasBytesBehind`, or more was packed than its header tells of.
    bool hasBytesBehind = false;
};

/// Unpacks an SQLite file that was compressed with gzip into a temporary file that has no name,
/// since SQLite reads anywhere in its file. Stops at the first bytes if it is none. `progress`
/// hears fractions in [0, 1]. Errors: damaged, cut short, no trace, too large, no space, cancelled;
/// each one sentence about `path`. Linear in the size; blocks.
Result<UnpackedFile> unpackGzip(const std::filesystem::path& path, const UnpackLimits& limits,
                                const LoadProgress& progress);

}  // namespace lanescope
