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
/// Within what gzip packed; elsewhere it is taken off before anybody looks.
constexpr std::string_view innerGzipMark("\x1f\x8b\x08");
constexpr std::string_view tarMark("ustar");
/// Where the mark stands in the head of a tape's first file.
constexpr size_t tarMarkAt = 257;

enum class Packer { None, Xz, Zstd, Bzip2, Zip, Gzip, Tar };

bool isBzip2(std::string_view start) {
    // How large its blocks are, then what the first begins with.
    return start.starts_with("BZh") && start.size() > 4 && start[3] >= '1' && start[3] <= '9' &&
           start.substr(4).starts_with("1AY&SY");
}

Packer packerOf(const TraceSource& source) {
    const std::string_view start = source.start();
    if (start.starts_with(xzMark)) return Packer::Xz;
    if (start.starts_with(zstdMark)) return Packer::Zstd;
    if (isBzip2(start)) return Packer::Bzip2;
    if (start.starts_with(zipMark)) return Packer::Zip;
    if (start.starts_with(innerGzipMark)) return Packer::Gzip;
    const bool isTar = start.size() > tarMarkAt && start.substr(tarMarkAt).starts_with(tarMark);
    return isTar && !source.startsLikeSqlite() ? Packer::Tar : Packer::None;
}

template <Packer packer>
Result<bool> isPackedBy(TraceSource& source) {
    // Of what gzip packed again only tar unpacks both at once, and gzip itself is known.
    const bool isKnownWithin = packer == Packer::Tar || packer == Packer::Gzip;
    if (packerOf(source) != packer || (source.isCompressed() && !isKnownWithin)) return false;
    // Whatever a report begins with, its own program reads it.
    const Result<bool> isReport = nsightReportFormat.recognises(source);
    return isReport ? Result<bool>(!*isReport) : isReport;
}

}  // namespace

bool isPacked(const TraceSource& source) {
    return packerOf(source) != Packer::None;
}

const TraceFormat xzFormat{"xz",    "packed by xz",
                           {".xz"}, isPackedBy<Packer::Xz>,
                           nullptr, "unpack it with \"xz -dk\" and open what comes out"};
const TraceFormat zstdFormat{"zstd",   "packed by zstd",
                             {".zst"}, isPackedBy<Packer::Zstd>,
                             nullptr,  "unpack it with \"zstd -d\" and open what comes out"};
const TraceFormat bzip2Format{"bzip2",  "packed by bzip2",
                              {".bz2"}, isPackedBy<Packer::Bzip2>,
                              nullptr,  "unpack it with \"bzip2 -dk\" and open what comes out"};
const TraceFormat zipFormat{"zip",    "an archive of zip",
                            {".zip"}, isPackedBy<Packer::Zip>,
                            nullptr,  "unpack it with \"unzip\" and open the trace in it"};
const TraceFormat gzipTwiceFormat{
    "gzip-twice", "packed by gzip twice",
    {".gz"},      isPackedBy<Packer::Gzip>,
    nullptr,      "unpack it once with \"gunzip -k\" and open what comes out"};
const TraceFormat tarFormat{"tar",    "an archive of tar",
                            {".tar"}, isPackedBy<Packer::Tar>,
                            nullptr,  "unpack it with \"tar -xf\" and open the trace in it"};

}  // namespace lanescope
