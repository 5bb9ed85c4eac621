// SPDX-License-Identifier: Apache-2.0
#include "model/load/sqlite/notShown.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "model/format/tables/allTables.h"
#include "model/values/formatTable.h"
#include "model/values/lowerCase.h"

namespace lanescope {

namespace {

constexpr std::array tablesOfNsight{
    UnreadTable{"OSRT_FILE_ACCESS_EVENTS", "accesses to files"},
    UnreadTable{"CUDA_CALLCHAINS", "entries of the call stacks of CUDA calls"},
    UnreadTable{"GENERIC_EVENTS", "events of other sources"},
    UnreadTable{"OPENMP_EVENT_KIND_TASK_CREATE", "tasks of OpenMP"},
    UnreadTable{"OPENMP_EVENT_KIND_PARALLEL", "parallel regions of OpenMP"},
    UnreadTable{"OPENMP_EVENT_KIND_SYNC_REGION", "waits of OpenMP"},
    UnreadTable{"OPENMP_EVENT_KIND_WORK", "worksharing regions of OpenMP"},
    UnreadTable{"OPENGL_API", "calls of OpenGL"},
    UnreadTable{"VULKAN_API", "calls of Vulkan"},
    UnreadTable{"NET_NIC_METRIC", "metrics of network adapters"},
    UnreadTable{"NET_IB_SWITCH_METRIC", "metrics of InfiniBand switches"},
    UnreadTable{"ETW_EVENTS", "events of Windows"},
    UnreadTable{"PROFILER_OVERHEAD", "times that the profiler itself took"},
    UnreadTable{"PYTHON_EVENTS", "events of Python"},
};

// Of tables that nobody described: so many are named, of the others it is said how many there are.
constexpr size_t mostNamed = 16;

/// Whether rows of that table happened at some time, and are no names or settings.
bool holdsEvents(const Database& database, const std::string& table) {
    constexpr std::array<std::string_view, 3> times{"start", "timestamp", "rawtimestamp"};
    return std::ranges::any_of(database.columns(table), [&](const Database::Column& column) {
        return std::ranges::find(times, column.name) != times.end();
    });
}

bool isOurs(const std::string& table) {
    const auto is = [&](const tables::Table* known) {
        return lowerCase(std::string(known->tableName())) == lowerCase(table);
    };
    return std::ranges::any_of(tables::traceTables(), is) ||
           std::ranges::any_of(tables::storedTables(), is);
}

/// Says what lies in tables that no reader asked for and nobody described, such as those of a
/// profiler that is newer than this program.
void noteUnknown(LoadContext& context) {
    const auto isPlain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    size_t named = 0;
    int64_t others = 0, otherRows = 0;
    for (const std::string& table : context.database().tables()) {
        if (context.isRead(table) || isOurs(table) || !std::ranges::all_of(table, isPlain) ||
            !holdsEvents(context.database(), table))
            continue;
        if (named < mostNamed) {
            const UnreadTable unknown{table, "events that this program does not know"};
            named += noteNotShown(context, std::span(&unknown, 1));
        } else if (const int64_t rows = context.database().rowCount(table); rows > 0) {
            ++others;
            otherRows += rows;
        }
    }
    if (others > 0)
        context.note({Severity::Info,
                      HealthCode::NotShown,
                      fmt::format("Not shown here: {} rows of {} more tables that this program "
                                  "does not know.",
                                  formatCount(otherRows), formatCount(others)),
                      {},
                      {},
                      otherRows});
}

}  // namespace

size_t noteNotShown(LoadContext& context, std::span<const UnreadTable> tables) {
    size_t notes = 0;
    for (const UnreadTable& each : tables) {
        context.reads(each.table);
        const int64_t rows = context.database().rowCount(each.table);
        if (rows == 0) continue;
        ++notes;
        context.note({Severity::Info,
                      HealthCode::NotShown,
                      fmt::format("Not shown here: {} rows of {} ({}).", formatCount(rows),
                                  each.table, each.rows),
                      {},
                      {},
                      rows});
    }
    return notes;
}

void noteNotShownOfNsight(LoadContext& context) {
    noteNotShown(context, tablesOfNsight);
    noteUnknown(context);
}

}  // namespace lanescope
