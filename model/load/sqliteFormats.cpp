// SPDX-License-Identifier: Apache-2.0
#include "model/load/sqliteFormats.h"

#include "model/load/nvprof/readNvprofTrace.h"
#include "model/load/sqlite/SqliteKind.h"
#include "model/load/sqlite/readSqliteTrace.h"

namespace lanescope {

namespace {

template <SqliteKind kind>
Result<bool> isOfKind(TraceSource& source) {
    if (!source.startsLikeSqlite()) return false;
    const Result<const Database*> database = source.database();
    if (!database) return fail(database.error());
    const bool isIt = kindOf(**database) == kind;
    if (auto trouble = (*database)->trouble()) return fail(std::move(*trouble));
    return isIt;
}

Result<void> readTables(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    const Result<const Database*> database = source.database();
    if (!database) return fail(database.error());
    return readSqliteTrace(**database, builder, source.threads(), progress);
}

Result<void> readNvprof(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    const Result<const Database*> database = source.database();
    if (!database) return fail(database.error());
    return readNvprofTrace(**database, builder, source.threads(), progress);
}

Result<bool> isNsightReport(TraceSource& source) {
    const std::filesystem::path ending = source.path().extension();
    return (ending == ".nsys-rep" || ending == ".qdrep") && !source.startsLikeSqlite();
}

}  // namespace

const TraceFormat lanescopeFormat{"lanescope",
                                  "a Lanescope trace",
                                  {".sqlite", ".sqlite3", ".db"},
                                  isOfKind<SqliteKind::Lanescope>,
                                  readTables};
const TraceFormat nsightFormat{"nsight-sqlite",
                               "an SQLite export of Nsight Systems",
                               {".sqlite"},
                               isOfKind<SqliteKind::Nsight>,
                               readTables};
const TraceFormat nvprofFormat{"nvprof",
                               "a profile of nvprof",
                               {".nvprof", ".nvvp"},
                               isOfKind<SqliteKind::Nvprof>,
                               readNvprof};
const TraceFormat rocmFormat{"rocm",          "a profile of AMD's ROCm",
                             {".db", ".rpd"}, isOfKind<SqliteKind::Rocm>,
                             nullptr,         "it cannot be read; traces are of NVIDIA GPUs"};
const TraceFormat nsightReportFormat{
    "nsight-report",
    "a report of Nsight Systems",
    {".nsys-rep", ".qdrep"},
    isNsightReport,
    nullptr,
    "turn it into a file that can be opened with \"nsys export --type sqlite\""};

}  // namespace lanescope
