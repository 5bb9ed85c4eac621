// SPDX-License-Identifier: Apache-2.0
#include "model/load/packedFormats.h"

namespace lanescope {

namespace {

constexpr std::string_view xzMark(
    "\xfd"
    "7zXZ\0",
    6);
constexpr std::string_view zstdMark("\x28\xb5\x2f\xfd");
constexpr std::string_view bzip2Mark("BZh");
constexpr std::string_view zipMark("PK\3\4");
constexpr std::string_view tarMark("ustar");
/// Where the mark stands in the head of a tape's first file.
constexpr size_t tarMarkAt = 257;

template <const std::string_view& mark, size_t at = 0>
Result<bool> isMarked(TraceSource& source) {
    const std::string_view start = source.start();
    // Whatever a report begins with, its own program reads it.
    return start.size() >= at && start.substr(at).starts_with(mark) &&
           source.path().extension() != ".nsys-rep";
}

}  // namespace

const TraceFormat xzFormat{"xz",    "packed by xz",
                           {".xz"}, isMarked<xzMark>,
                           nullptr, "unpack it with \"xz -dk\" and open what comes out"};
const TraceFormat zstdFormat{"zstd",   "packed by zstd",
                             {".zst"}, isMarked<zstdMark>,
                             nullptr,  "unpack it with \"zstd -d\" and open what comes out"};
const TraceFormat bzip2Format{"bzip2",  "packed by bzip2",
                              {".bz2"}, isMarked<bzip2Mark>,
                              nullptr,  "unpack it with \"bzip2 -dk\" and open what comes out"};
const TraceFormat zipFormat{"zip",    "an archive of zip",
                            {".zip"}, isMarked<zipMark>,
                            nullptr,  "unpack it with \"unzip\" and open the trace in it"};
const TraceFormat tarFormat{"tar",    "an archive of tar",
                            {".tar"}, isMarked<tarMark, tarMarkAt>,
                            nullptr,  "unpack it with \"tar -xf\" and open the trace in it"};

}  // namespace lanescope
