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

}  // namespace

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
