// SPDX-License-Identifier: Apache-2.0
#include "model/load/packedFormats.h"

#include "model/load/nsightReport.h"

namespace lanescope {

namespace {

constexpr std::string_view xzMark(
    "\xfd"
    "7zXZ\0",
    6);
constexpr std::string_view zstdMark("\x28\xb5\x2f\xfd");
constexpr std::string_view zipMark("PK\3\4");
constexpr std::string_view tarMark("ustar");
/// Where the mark stands in the head of a tape's first file.
constexpr size_t tarMarkAt = 257;

bool startsWith(const TraceSource& source, std::string_view mark) {
    return source.start().starts_with(mark);
}

bool isBzip2(const TraceSource& source) {
    // How large its blocks are, then what the first begins with.
    const std::string_view start = source.start();
    return startsWith(source, "BZh") && start.size() > 4 && start[3] >= '1' && start[3] <= '9' &&
           start.substr(4).starts_with("1AY&SY");
}

bool isTar(const TraceSource& source) {
    const std::string_view start = source.start();
    return start.size() > tarMarkAt && start.substr(tarMarkAt).starts_with(tarMark) &&
           !source.startsLikeSqlite();
}

enum class Packer { Xz, Zstd, Bzip2, Zip, Tar };

bool isPackedBy(const TraceSource& source, Packer packer) {
    switch (packer) {
        case Packer::Xz:
            return startsWith(source, xzMark);
        case Packer::Zstd:
            return startsWith(source, zstdMark);
        case Packer::Bzip2:
            return isBzip2(source);
        case Packer::Zip:
            return startsWith(source, zipMark);
        case Packer::Tar:
            return isTar(source);
    }
    return false;
}

template <Packer packer>
Result<bool> isPacked(TraceSource& source) {
    // Of what gzip packed again only tar unpacks both at once.
    if (source.isCompressed() && packer != Packer::Tar) return false;
    if (!isPackedBy(source, packer)) return false;
    // Whatever a report begins with, its own program reads it.
    const Result<bool> isReport = nsightReportFormat.recognises(source);
    return isReport ? Result<bool>(!*isReport) : isReport;
}

}  // namespace

bool isPacked(const TraceSource& source) {
    return isPackedBy(source, Packer::Xz) || isPackedBy(source, Packer::Zstd) || isBzip2(source) ||
           isPackedBy(source, Packer::Zip) || isTar(source);
}

const TraceFormat xzFormat{"xz",    "packed by xz",
                           {".xz"}, isPacked<Packer::Xz>,
                           nullptr, "unpack it with \"xz -dk\" and open what comes out"};
const TraceFormat zstdFormat{"zstd",   "packed by zstd",
                             {".zst"}, isPacked<Packer::Zstd>,
                             nullptr,  "unpack it with \"zstd -d\" and open what comes out"};
const TraceFormat bzip2Format{"bzip2",  "packed by bzip2",
                              {".bz2"}, isPacked<Packer::Bzip2>,
                              nullptr,  "unpack it with \"bzip2 -dk\" and open what comes out"};
const TraceFormat zipFormat{"zip",    "an archive of zip",
                            {".zip"}, isPacked<Packer::Zip>,
                            nullptr,  "unpack it with \"unzip\" and open the trace in it"};
const TraceFormat tarFormat{"tar",    "an archive of tar",
                            {".tar"}, isPacked<Packer::Tar>,
                            nullptr,  "unpack it with \"tar -xf\" and open the trace in it"};

}  // namespace lanescope
