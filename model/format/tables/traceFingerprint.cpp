// SPDX-License-Identifier: Apache-2.0
#include "model/format/tables/traceFingerprint.h"

#include <fmt/format.h>

#include <array>

#include "model/format/Sqlite.h"
#include "model/format/tables/ApiCalls.h"
#include "model/format/tables/Copies.h"
#include "model/format/tables/Kernels.h"
#include "model/format/tables/Names.h"
#include "model/format/tables/Nccl.h"
#include "model/format/tables/Nvtx.h"
#include "model/format/tables/Session.h"

namespace lanescope {

namespace {

/// Those whose last row counts, in this order: what is stored beside traces holds the number.
constexpr std::array<const tables::Table*, 7> counted{
    &tables::kernels,    &tables::memcpys,        &tables::memsets, &tables::apiCalls,
    &tables::nvtxEvents, &tables::ncclOperations, &tables::strings};

/// What `expression` is in the first row; 0 where the file does not say.
int64_t answer(const Database& database, const char* expression, const tables::Table& table) {
    if (!database.hasTable(table.tableName())) return 0;
    auto statement =
        database.prepare(fmt::format("SELECT {} FROM {}", expression, table.tableName()));
    if (!statement) return 0;
    const auto row = statement->step();
    return row && *row && statement->isInteger(0) ? statement->integer(0) : 0;
}

void mixIn(uint64_t& hash, int64_t answer) {
    auto number = static_cast<uint64_t>(answer);
    for (int byte = 0; byte < 8; ++byte) {
        hash = (hash ^ (number & 0xff)) * 0x100000001b3ULL;
        number >>= 8;
    }
}

}  // namespace

int64_t traceFingerprint(const Database& database) {
    uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
    for (const tables::Table* table : counted) mixIn(hash, answer(database, "max(rowid)", *table));
    constexpr const auto& start = tables::sessionStart;
    mixIn(hash, answer(database, start.utcEpochNs.name, start));
    return static_cast<int64_t>(hash);
}

}  // namespace lanescope
