// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <QtGlobal>
#include <filesystem>
#include <string>

#include "model/format/Sqlite.h"

#include <sqlite3.h>

namespace lanescope {

inline void editReport(const std::filesystem::path& path, const std::string& sql) {
    sqlite3* database = nullptr;
    if (sqlite3_open(path.c_str(), &database) != SQLITE_OK ||
        sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        qFatal("%s: %s", path.c_str(), sqlite3_errmsg(database));
    sqlite3_close(database);
}

/// A report as written by `lanescope fleet`, with simulated numbers: all ranks take 60 ms per step themselves and 40 ms
/// in communication, except the slow rank, which takes 20 % longer itself from the middle on.
struct ReportMaker {
    int ranks = 8, perMachine = 4, steps = 20;
    int64_t firstStep = 100;
    int culprit = 5;

    void write(const std::filesystem::path& path) const {
        std::string sql =
            "PRAGMA application_id = 0x4C4E5346; PRAGMA user_version = 1; BEGIN;"
            "CREATE TABLE ranks (rank INTEGER PRIMARY KEY, machine TEXT, host TEXT, local_rank INTEGER, role TEXT, gpu "
            "INTEGER, gpu_name TEXT, gpu_uuid TEXT, pid INTEGER, ended_abnormally INTEGER, steps INTEGER, "
            "own_ns_per_step REAL, against_role REAL, lost_ns INTEGER, trace TEXT, trace_start_utc_ns INTEGER);"
            "CREATE TABLE steps (rank INTEGER, step INTEGER, start_ns INTEGER, wall_ns INTEGER, "
            "communication_ns INTEGER, compute_ns INTEGER, copies_ns INTEGER, loading_ns INTEGER, "
            "launching_ns INTEGER, against_role REAL, PRIMARY KEY (rank, step)) WITHOUT ROWID;"
            "CREATE TABLE findings (place INTEGER PRIMARY KEY, kind TEXT, what TEXT, ranks TEXT, "
            "first_step INTEGER, last_step INTEGER, lost_ns INTEGER, share REAL, sureness REAL, "
            "sentence TEXT, command TEXT, shown_ranks TEXT);"
            "CREATE TABLE notes (sentence TEXT); CREATE TABLE job (folder TEXT);";
        for (int rank = 0; rank < ranks; ++rank) {
            sql += fmt::format(
                "INSERT INTO ranks VALUES ({0}, 'node{1}', 'node{1}', {2}, 'all', {2}, "
                "'Simulated', "
                "'', NULL, 0, {3}, 6e7, 0, {4}, 'run.{0}.sqlite', NULL);",
                rank, rank / perMachine, rank % perMachine, steps,
                rank == culprit ? 12'000'000 * int64_t{steps - steps / 2} : 0);
            for (int step = 0; step < steps; ++step) {
                const bool isSlow = rank == culprit && step >= steps / 2;
                sql += fmt::format(
                    "INSERT INTO steps VALUES ({}, {}, 0, {}, 40000000, {}, 1000000, 5000000, 4000000, {});", rank,
                    firstStep + step, isSlow ? 112'000'000 : 100'000'000, isSlow ? 62'000'000 : 50'000'000,
                    isSlow ? 0.2 : 0.0);
            }
        }
        if (culprit >= 0)
            sql += fmt::format(
                "INSERT INTO findings VALUES (1, 'rank', 'compute', '{0}', {1}, {2}, 120000000, "
                "0.1, 9, 'Rank {0} on node{3} loses 12 ms per step.', 'lanescope view --merge "
                "run.{0}.sqlite --ranks {0}', '{0},{4},1');",
                culprit, firstStep + steps / 2, firstStep + steps / 2 + 4, culprit / perMachine, culprit - 1);
        editReport(path, sql + "COMMIT");
    }
};

}  // namespace lanescope
