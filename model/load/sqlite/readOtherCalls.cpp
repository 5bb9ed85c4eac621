// SPDX-License-Identifier: Apache-2.0
// Calls of other libraries, as ranges of a domain that is called like them.
#include <array>
#include <string_view>

#include "model/load/sqlite/RowReader.h"
#include "model/load/sqlite/readers.h"
#include "model/trace/kinds/Nvtx.h"

namespace lanescope {

namespace {

/// A table of calls, each with its times, its thread and its name; some versions call the column of
/// names otherwise.
struct CallTable {
    const char* table;
    std::string_view domain;
};
constexpr std::array callTables{
    CallTable{"MPI_P2P_EVENTS", "MPI"},
    CallTable{"MPI_COLLECTIVES_EVENTS", "MPI"},
    CallTable{"MPI_START_WAIT_EVENTS", "MPI"},
    CallTable{"MPI_OTHER_EVENTS", "MPI"},
    CallTable{"UCP_EVENTS", "UCX"},
    CallTable{"NVSHMEM_EVENTS", "NVSHMEM"},
    CallTable{"CUBLAS_EVENTS", "cuBLAS"},
    CallTable{"CUDNN_EVENTS", "cuDNN"},
    CallTable{"CUSPARSE_EVENTS", "cuSPARSE"},
    CallTable{"CUSOLVER_EVENTS", "cuSOLVER"},
    CallTable{"CUPTI_ACTIVITY_KIND_OPENACC_DATA", "OpenACC"},
    CallTable{"CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH", "OpenACC"},
    CallTable{"CUPTI_ACTIVITY_KIND_OPENACC_OTHER", "OpenACC"},
};

int64_t readCalls(LoadContext& context, FileDirectory& directory, const CallTable& calls) {
    enum : int { Start, End, Thread, Text, Name };
    RowReader reader(context, calls.table, {"start", "end", "globalTid", "textId", "nameId"},
                     "calls of other libraries");
    if (!reader.hasTable()) return 0;
    const StringIndex domain = context.builder().intern(calls.domain);
    int64_t taken = 0;
    while (reader.next()) {
        const std::optional<TimeRange> times = reader.times(Start, End);
        if (!times) continue;
        const std::optional<int64_t> thread = reader.integer(Thread);
        const uint32_t index = thread ? context.builder().thread(*thread) : noIndex;
        if (index == noIndex) {
            reader.skipRow();
            continue;
        }
        std::optional<StringIndex> name = reader.string(Text, directory.strings);
        if (!name) name = reader.string(Name, directory.strings);
        context.builder().add<kinds::Nvtx>({.startNs = times->startNs,
                                            .endNs = times->endNs,
                                            .text = name.value_or(domain),
                                            .domain = domain,
                                            .thread = index});
        ++taken;
    }
    return taken;
}

/// Which rank of MPI each process is, where nothing else says so.
void readRanks(LoadContext& context) {
    RowReader reader(context, "MPI_RANKS", {"globalTid", "rank"}, "ranks");
    while (reader.next()) {
        const std::optional<int64_t> thread = reader.integer(0);
        const std::optional<int64_t> rank = reader.integer(1);
        if (!thread || !rank || *rank < 0 || *rank > INT32_MAX) continue;
        const uint32_t process = context.builder().process(*thread);
        if (process == noIndex || context.builder().processes()[process].rank) continue;
        context.builder().processes()[process].rank = static_cast<int>(*rank);
    }
}

}  // namespace

void readOtherCalls(LoadContext& context, FileDirectory& directory) {
    int64_t calls = 0;
    for (const CallTable& each : callTables) calls += readCalls(context, directory, each);
    if (calls > 0) context.builder().count("calls of other libraries", calls, 0);
    readRanks(context);
}

}  // namespace lanescope
