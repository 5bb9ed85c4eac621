// SPDX-License-Identifier: Apache-2.0
#include "model/load/sqliteFormats.h"

#include "model/load/nvprof/readNvprofTrace.h"
#include "model/load/rocm/readRocpdTrace.h"
#include "model/load/rocm/readRpdTrace.h"
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

template <auto readTrace>
Result<void> readRocm(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    const Result<const Database*> database = source.database();
    if (!database) return fail(database.error());
    return readTrace(**database, builder, source.threads(), progress);
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
const TraceFormat rocpdFormat{"rocpd",
                              "a rocpd profile of AMD's ROCm",
                              {".db"},
                              isOfKind<SqliteKind::Rocpd>,
                              readRocm<readRocpdTrace>};
const TraceFormat rpdFormat{"rpd",
                            "an RPD profile of AMD's ROCm",
                            {".rpd"},
                            isOfKind<SqliteKind::Rpd>,
                            readRocm<readRpdTrace>};

}  // namespace lanescope
