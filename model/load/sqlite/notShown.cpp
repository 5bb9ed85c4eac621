// SPDX-License-Identifier: Apache-2.0
#include "model/load/sqlite/notShown.h"

#include <fmt/format.h>

#include <array>

#include "model/values/formatTable.h"

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

}  // namespace

void noteNotShown(LoadContext& context, std::span<const UnreadTable> tables) {
    for (const UnreadTable& each : tables) {
        const int64_t rows = context.database().rowCount(each.table);
        if (rows > 0)
            context.note({Severity::Info,
                          HealthCode::NotShown,
                          fmt::format("Not shown here: {} rows of {} ({}).", formatCount(rows),
                                      each.table, each.rows),
                          {},
                          {},
                          rows});
    }
}

void noteNotShownOfNsight(LoadContext& context) {
    noteNotShown(context, tablesOfNsight);
}

}  // namespace lanescope
