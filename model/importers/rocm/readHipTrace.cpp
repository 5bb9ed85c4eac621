// SPDX-License-Identifier: Apache-2.0
#include "model/importers/rocm/readRocmTraces.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "model/format/GlobalId.h"
#include "model/importers/events/JsonCursor.h"
#include "model/importers/sqlite/LoadContext.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/importers/sqlite/readSqliteTrace.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Memcpy.h"

namespace lanescope {

namespace {

constexpr std::array unreadHipTables{
    UnreadTable{"HSA", "HSA calls"}, UnreadTable{"ROCTX", "ranges of rocTX"},   UnreadTable{"HIPTX", "ranges of hipTX"},
    UnreadTable{"MPI", "MPI calls"}, UnreadTable{"KFD", "calls of the driver"},
};

/// Names of columns that differ between the programs.
struct Columns {
    const char* device;
    const char* queue;
    const char* index;
};

/// Numbers of OpenCL for commands, which hipprof stores as the kind of a copy.
MemcpyKind copyKindOf(int64_t command) {
    constexpr std::array<std::pair<int64_t, MemcpyKind>, 6> kinds{{{0x11f3, MemcpyKind::DtoH},
                                                                   {0x11f4, MemcpyKind::HtoD},
                                                                   {0x11f5, MemcpyKind::DtoD},
                                                                   {0x1201, MemcpyKind::DtoH},
                                                                   {0x1202, MemcpyKind::HtoD},
                                                                   {0x1203, MemcpyKind::DtoD}}};
    for (const auto& [number, kind] : kinds)
        if (number == command) return kind;
    return MemcpyKind::Unknown;
}
constexpr int64_t fillCommand = 0x1207;

class HipReader {
  public:
    HipReader(LoadContext& context, bool isOfHipprof)
        : context_(context),
          isOfHipprof_(isOfHipprof),
          columns_(isOfHipprof ? Columns{"dev_id", "queue_id", "_Index"} : Columns{"dev-id", "queue-id", "Index"}) {
        for (const char* table : {"HIP", "OPS", "COPY"}) context_.beginWith(table, "BeginNs");
    }

    void read() {
        if (isOfHipprof_) readTexts();
        readCalls();
        readKernels();
        readCopies();
        context_.noteOthers();
    }

  private:
    TraceBuilder& builder() { return context_.builder(); }

    /// Indexes of calls count from 0.
    uint32_t correlationOf(RowReader& reader, int column) {
        const int64_t index = reader.integerOr(column, -1);
        return index >= 0 && index + 1 < int64_t{noIndex} ? static_cast<uint32_t>(index + 1) : 0;
    }

    void readTexts() {
        RowReader reader(context_.load(), "STR_TABLE", {"PID", "STR_ID", "STR_NAME"}, "strings");
        while (reader.next())
            texts_[{reader.integerOr(0, 0), reader.integerOr(1, 0)}] = builder().intern(reader.text(2));
    }

    /// Returns a text of the file, or the one that its number stands for.
    StringIndex nameIn(RowReader& reader, int column, int64_t pid) {
        if (!isOfHipprof_) return builder().intern(reader.text(column));
        const std::optional<int64_t> number = decimalOf(reader.text(column), 0);
        const auto found = texts_.find({pid, number.value_or(-1)});
        return found != texts_.end() ? found->second : builder().intern(reader.text(column));
    }

    void readCalls() {
        enum : int { Start, End, Pid, Tid, Name, Arguments, Index };
        RowReader reader(context_.load(), "HIP", {"BeginNs", "EndNs", "pid", "tid", "Name", "args", columns_.index},
                         "API calls");
        while (reader.next()) {
            const std::optional<TimeRange> times = context_.times(reader, Start, End);
            if (!times) continue;
            const uint32_t thread = builder().thread(globalTid(reader.unsigned32(Pid), reader.unsigned32(Tid)));
            if (reader.skipRowIf(thread == noIndex)) continue;
            // hipprof stores the function as a number, and its name in front of the arguments.
            const std::string_view arguments = reader.text(Arguments);
            const StringIndex name = isOfHipprof_ ? builder().intern(arguments.substr(0, arguments.find('(')))
                                                  : builder().intern(reader.text(Name));
            builder().add<kinds::Api>(*times,
                                      {.name = name, .thread = thread, .correlation = correlationOf(reader, Index)});
        }
    }

    uint32_t streamOf(RowReader& reader, int pid, int device, int queue) {
        const uint32_t process = builder().process(globalPid(reader.unsigned32(pid)));
        const uint32_t gpu = builder().gpu(std::max<int64_t>(0, reader.integerOr(device, 0)));
        if (process == noIndex || gpu == noIndex) return noIndex;
        return builder().stream(process, gpu, 0, decimalOf(reader.text(queue), 0).value_or(0));
    }

    void readKernels() {
        enum : int { Start, End, Device, Queue, Name, Pid, Index };
        RowReader reader(context_.load(), "OPS",
                         {"BeginNs", "EndNs", columns_.device, columns_.queue, "Name", "pid", columns_.index},
                         "kernels");
        while (reader.next()) {
            const std::optional<TimeRange> times = context_.times(reader, Start, End);
            if (!times) continue;
            const uint32_t stream = streamOf(reader, Pid, Device, Queue);
            if (reader.skipRowIf(stream == noIndex)) continue;
            LaunchConfig config;
            context_.nameKernel(config, nameIn(reader, Name, reader.integerOr(Pid, 0)));
            builder().add<kinds::Kernel>(*times, {.stream = stream,
                                                  .correlation = correlationOf(reader, Index),
                                                  .config = builder().launchConfig(config)});
        }
    }

    void readCopies() {
        enum : int { Start, End, Device, Queue, Kind, Pid, Index };
        RowReader reader(context_.load(), "COPY",
                         {"BeginNs", "EndNs", columns_.device, columns_.queue, isOfHipprof_ ? "Kind" : "Name", "pid",
                          columns_.index},
                         "memcpys");
        while (reader.next()) {
            const std::optional<TimeRange> times = context_.times(reader, Start, End);
            if (!times) continue;
            const uint32_t stream = streamOf(reader, Pid, Device, Queue);
            if (reader.skipRowIf(stream == noIndex)) continue;
            const uint32_t correlation = correlationOf(reader, Index);
            const int64_t command = isOfHipprof_ ? reader.integerOr(Kind, -1) : -1;
            const MemcpyKind kind = isOfHipprof_ ? copyKindOf(command) : rocmCopyKind(reader.text(Kind));
            const bool isFill = command == fillCommand || reader.text(Kind).find("Fill") != std::string_view::npos;
            if (kind != MemcpyKind::Unknown)
                builder().add<kinds::Memcpy>(*times, {.kind = kind, .stream = stream, .correlation = correlation});
            else if (isFill)
                builder().add<kinds::Memset>(
                    *times, {.memory = MemoryKind::Device, .stream = stream, .correlation = correlation});
            else
                context_.addOther(reader.text(Kind));
        }
    }

    ProfileContext context_;
    const bool isOfHipprof_;
    const Columns columns_;
    std::map<std::pair<int64_t, int64_t>, StringIndex> texts_;  ///< By process and number.
};

}  // namespace

Result<void> readHipTrace(const Database& database, TraceBuilder& builder, unsigned threads,
                          const LoadProgress& progress) {
    LoadContext context(database, builder, threads, progress);
    const bool isOfHipprof = database.hasTable("STR_TABLE");
    builder.description().producer = isOfHipprof ? "hipprof" : "rocprof";
    HipReader(context, isOfHipprof).read();
    noteSkippedTables(context, unreadHipTables);
    if (auto trouble = database.trouble()) return fail(std::move(*trouble));
    return {};
}

}  // namespace lanescope
