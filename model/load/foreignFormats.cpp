// SPDX-License-Identifier: Apache-2.0
#include "model/load/foreignFormats.h"

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

/// From the second version on one begins with what version it is.
Result<bool> isPickle(TraceSource& source) {
    constexpr unsigned char mark = 0x80, firstVersion = 2, lastVersion = 5;
    const std::string_view start = source.start();
    return start.size() > 2 && static_cast<unsigned char>(start[0]) == mark &&
           static_cast<unsigned char>(start[1]) >= firstVersion &&
           static_cast<unsigned char>(start[1]) <= lastVersion;
}

}  // namespace

const TraceFormat nvvpSessionFormat{
    "nvvp-session", "a session of NVIDIA's Visual Profiler, which holds settings and no data",
    {".nvvp"},      isNvvpSession,
    nullptr,        "open the .nvprof file that lies beside it, or was imported into it"};
const TraceFormat pickleFormat{
    "pickle",
    "a pickle of Python, such as a memory snapshot of PyTorch or what its flight recorder left",
    {".pickle", ".pkl"},
    isPickle,
    nullptr,
    "one can run any program when it is read, so none is opened here; PyTorch's own tools show "
    "what "
    "is in it"};
const TraceFormat nvprofLogFormat{
    "nvprof-log",
    "a log of nvprof from before CUDA 7",
    {".nvvp", ".nvprof"},
    isNvprofLog,
    nullptr,
    "only the Visual Profiler of that time reads it; have it export the profile, or record anew"};

}  // namespace lanescope
