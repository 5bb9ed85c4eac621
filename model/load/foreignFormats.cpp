// SPDX-License-Identifier: Apache-2.0
#include "model/load/foreignFormats.h"

#include <span>

#include "model/format/checkSqliteHeader.h"

namespace lanescope {

namespace {

Result<bool> isNvvpSession(TraceSource& source) {
    return source.start().starts_with("<?xml") &&
           source.start().find("<session") != std::string_view::npos;
}

Result<bool> isNvprofLog(TraceSource& source) {
    const std::filesystem::path ending = source.path().extension();
    const std::string_view start = source.start();
    return (ending == ".nvvp" || ending == ".nvprof") && !source.startsLikeSqlite() &&
           start.starts_with(std::string_view("\0\4", 2));
}

/// What a pickle of Python holds, as far as its first bytes tell.
enum class Pickle { None, MemorySnapshot, FlightRecorder, Other };

Pickle pickleIn(std::string_view start) {
    // Since version 2 they begin with their version.
    if (start.size() < 4 || start[0] != '\x80' || start[1] < 2 || start[1] > 5) return Pickle::None;
    const auto names = [start](std::string_view word) {
        return start.find(word) != std::string_view::npos;
    };
    // The keys of their outermost groups, of which others stand further behind.
    if (names("segments") || names("device_traces") || names("allocator_settings"))
        return Pickle::MemorySnapshot;
    if (names("pg_config") || names("pg_status") || names("nccl_version") ||
        (names("entries") && names("frames")))
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

const TraceFormat memorySnapshotFormat{
    "torch-memory-snapshot",
    "a snapshot of PyTorch's memory, which holds no times on GPUs",
    {".pickle", ".pkl"},
    isPickle<Pickle::MemorySnapshot>,
    nullptr,
    "make a page of it with \"python -m torch.cuda._memory_viz trace_plot\""};
const TraceFormat flightRecorderFormat{
    "torch-flight-recorder",
    "a dump of PyTorch's flight recorder, which holds no times on GPUs",
    {".pickle", ".pkl"},
    isPickle<Pickle::FlightRecorder>,
    nullptr,
    "look at the dumps of all ranks with \"torchfrtrace\""};
const TraceFormat pickleFormat{
    "pickle",
    "a pickle of Python, whose reading could run anything",
    {".pickle", ".pkl"},
    isPickle<Pickle::Other>,
    nullptr,
    "have the program that wrote it write a trace, as export_chrome_trace of torch.profiler does"};

const TraceFormat fleetReportFormat{
    "fleet-report", "no trace but a report of many ranks",
    {".sqlite"},    isFleetReport,
    nullptr,        "\"lanescope view\" shows it, and any program for SQLite reads its tables"};
const TraceFormat nvvpSessionFormat{
    "nvvp-session", "a session of NVIDIA's Visual Profiler, which holds settings and no data",
    {".nvvp"},      isNvvpSession,
    nullptr,        "open the .nvprof file that lies beside it, or was imported into it"};
const TraceFormat nvprofLogFormat{
    "nvprof-log",
    "a log of nvprof from before CUDA 7",
    {".nvvp", ".nvprof"},
    isNvprofLog,
    nullptr,
    "only the Visual Profiler of that time reads it; have it export the profile, or record anew"};

}  // namespace lanescope
