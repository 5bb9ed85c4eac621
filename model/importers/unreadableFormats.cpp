// SPDX-License-Identifier: Apache-2.0
#include "model/importers/unreadableFormats.h"

#include <span>

#include "model/format/checkFile.h"
#include "model/importers/importedFormats.h"

namespace lanescope {

namespace {

constexpr std::string_view xzMark(
    "\xfd"
    "7zXZ\0",
    6);
constexpr std::string_view zstdMark("\x28\xb5\x2f\xfd");
constexpr std::string_view zipMark("PK\3\4");
/// Within a gzip file. An outer gzip layer is always removed first.
constexpr std::string_view innerGzipMark("\x1f\x8b\x08");
constexpr std::string_view tarMark("ustar");
/// Offset of the mark in the header of the first file of a tar archive.
constexpr size_t tarMarkAt = 257;

enum class Packer { None, Xz, Zstd, Bzip2, Zip, Gzip, Tar };

bool isBzip2(std::string_view start) {
    // The block size, then the first bytes of the first block.
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
    // Within gzip, only tar (which unpacks both at once) and gzip itself are recognized.
    const bool isKnownWithin = packer == Packer::Tar || packer == Packer::Gzip;
    if (packerOf(source) != packer || (source.isCompressed() && !isKnownWithin)) return false;
    // A report may begin with any mark, but `nsys` reads it.
    const Result<bool> isReport = nsightReportFormat.isRecognized(source);
    return isReport ? Result<bool>(!*isReport) : isReport;
}

}  // namespace

bool isKnownArchive(const TraceSource& source) { return packerOf(source) != Packer::None; }

const TraceFormat xzFormat{
    "xz", "packed by xz", {".xz"}, isPackedBy<Packer::Xz>, nullptr, "unpack it with \"xz -dk\" and open the result"};
const TraceFormat zstdFormat{"zstd",   "packed by zstd",
                             {".zst"}, isPackedBy<Packer::Zstd>,
                             nullptr,  "unpack it with \"zstd -d\" and open the result"};
const TraceFormat bzip2Format{"bzip2",  "packed by bzip2",
                              {".bz2"}, isPackedBy<Packer::Bzip2>,
                              nullptr,  "unpack it with \"bzip2 -dk\" and open the result"};
const TraceFormat zipFormat{"zip",    "an archive of zip",
                            {".zip"}, isPackedBy<Packer::Zip>,
                            nullptr,  "unpack it with \"unzip\" and open the trace in it"};
const TraceFormat gzipTwiceFormat{"gzip-twice", "packed by gzip twice",
                                  {".gz"},      isPackedBy<Packer::Gzip>,
                                  nullptr,      "unpack it once with \"gunzip -k\" and open the result"};
const TraceFormat tarFormat{"tar",    "an archive of tar",
                            {".tar"}, isPackedBy<Packer::Tar>,
                            nullptr,  "unpack it with \"tar -xf\" and open the trace in it"};

namespace {

Result<bool> isNvvpSession(TraceSource& source) {
    return source.start().starts_with("<?xml") && source.start().find("<session") != std::string_view::npos;
}

Result<bool> isNvprofLog(TraceSource& source) {
    const std::filesystem::path ending = source.path().extension();
    const std::string_view start = source.start();
    return (ending == ".nvvp" || ending == ".nvprof") && !source.startsLikeSqlite() &&
           start.starts_with(std::string_view("\0\4", 2));
}

/// The contents of a Python pickle, judged by its first bytes.
enum class Pickle { None, MemorySnapshot, FlightRecorder, Other };

Pickle pickleIn(std::string_view start) {
    // Pickles since version 2 begin with their version.
    if (start.size() < 4 || start[0] != '\x80' || start[1] < 2 || start[1] > 5) return Pickle::None;
    const auto names = [start](std::string_view word) { return start.find(word) != std::string_view::npos; };
    // The keys of their outermost groups. Others may follow later.
    if (names("segments") || names("device_traces") || names("allocator_settings")) return Pickle::MemorySnapshot;
    if (names("pg_config") || names("pg_status") || names("nccl_version") || (names("entries") && names("frames")))
        return Pickle::FlightRecorder;
    return Pickle::Other;
}

template <Pickle wanted>
Result<bool> isPickle(TraceSource& source) {
    return pickleIn(source.start()) == wanted;
}

Result<bool> isFleetReport(TraceSource& source) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(source.start().data());
    return applicationIdOf(std::span(bytes, source.start().size())) == fleetReportId;
}

}  // namespace

const TraceFormat memorySnapshotFormat{"torch-memory-snapshot",
                                       "a snapshot of PyTorch's memory, which holds no times on GPUs",
                                       {".pickle", ".pkl"},
                                       isPickle<Pickle::MemorySnapshot>,
                                       nullptr,
                                       "make a page of it with \"python -m torch.cuda._memory_viz trace_plot\""};
const TraceFormat flightRecorderFormat{"torch-flight-recorder",
                                       "a dump of PyTorch's flight recorder, which holds no times on GPUs",
                                       {".pickle", ".pkl"},
                                       isPickle<Pickle::FlightRecorder>,
                                       nullptr,
                                       "analyze the dumps of all ranks with \"torchfrtrace\""};
const TraceFormat pickleFormat{
    "pickle",
    "a Python pickle, which could run any code when read",
    {".pickle", ".pkl"},
    isPickle<Pickle::Other>,
    nullptr,
    "write a trace in the program instead, for example with export_chrome_trace of torch.profiler"};

const TraceFormat fleetReportFormat{
    "fleet-report", "not a trace but a report of many ranks",
    {".sqlite"},    isFleetReport,
    nullptr,        "\"lanescope view\" shows it, and any program for SQLite reads its tables"};
const TraceFormat nvvpSessionFormat{
    "nvvp-session", "a session of NVIDIA's Visual Profiler, which has settings and no data", {".nvvp"}, isNvvpSession,
    nullptr,        "open the .nvprof file next to it, or the one that was imported into it"};
const TraceFormat nvprofLogFormat{"nvprof-log",
                                  "a log of nvprof from before CUDA 7",
                                  {".nvvp", ".nvprof"},
                                  isNvprofLog,
                                  nullptr,
                                  "only the Visual Profiler of that time reads it; export the "
                                  "profile from there, or record again"};

}  // namespace lanescope
