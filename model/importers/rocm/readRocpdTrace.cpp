// SPDX-License-Identifier: Apache-2.0
#include "model/importers/rocm/readRocmTraces.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/GlobalId.h"
#include "model/format/Sqlite.h"
#include "model/format/text.h"
#include "model/importers/sqlite/ProfileContext.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/importers/sqlite/readSqliteTrace.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Memcpy.h"
#include "model/trace/kinds/MemoryEvent.h"
#include "model/trace/kinds/Nvtx.h"

namespace lanescope {

/// The tables of one process in a rocpd file. Their names are those of the format with a suffix that identifies the
/// process: "rocpd_region_00003fdc_92cb". The plain names are views, which are not read.
struct RocpdTables {
    explicit RocpdTables(const std::string& suffix)
        : strings("rocpd_string" + suffix),
          nodes("rocpd_info_node" + suffix),
          processes("rocpd_info_process" + suffix),
          threads("rocpd_info_thread" + suffix),
          agents("rocpd_info_agent" + suffix),
          symbols("rocpd_info_kernel_symbol" + suffix),
          events("rocpd_event" + suffix),
          regions("rocpd_region" + suffix),
          kernels("rocpd_kernel_dispatch" + suffix),
          copies("rocpd_memory_copy" + suffix),
          allocations("rocpd_memory_allocate" + suffix),
          counterEvents("rocpd_pmc_event" + suffix),
          samples("rocpd_sample" + suffix) {}

    std::string strings, nodes, processes, threads, agents, symbols, events, regions, kernels, copies, allocations,
        counterEvents, samples;
};

namespace {

/// A run has one set of tables for each process.
constexpr size_t maxProcesses = 4096;
constexpr size_t maxSuffixBytes = 64;

bool isPlain(std::string_view suffix) {
    return suffix.size() <= maxSuffixBytes &&
           std::ranges::all_of(suffix, [](char c) { return isLetter(c) || isDigit(c) || c == '_'; });
}

/// Returns true if regions of the category are calls of a GPU library. Others are ranges.
bool isApi(std::string_view category) { return category.starts_with("HIP_") || category.starts_with("HSA_"); }
bool isMarker(std::string_view category) {
    return category.starts_with("MARKER") || category.find("roctx") != std::string_view::npos;
}

/// Returns the "message" in the extra data of a row. Empty if missing.
std::string messageIn(std::string_view extra) {
    constexpr size_t maxExtraBytes = 1 << 16;
    if (extra.size() < 3 || extra.size() > maxExtraBytes) return {};
    const nlohmann::json object = nlohmann::json::parse(extra, nullptr, false);
    if (!object.is_object()) return {};
    const auto found = object.find("message");
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

struct Symbol {
    StringIndex name = 0, displayed = 0;  ///< Linker name and readable name.
    uint32_t registers = 0;
};

struct Event {
    StringIndex category = 0;
    int64_t stack = 0;  ///< Connects a call with the work that it launched.
    StringIndex message = 0;
};

/// Reads the tables of one process.
class RocpdReader {
  public:
    RocpdReader(ProfileContext& context, const RocpdTables& tables, std::map<int64_t, uint32_t>& hosts)
        : context_(context), tables_(tables), hosts_(hosts) {}

    void read() {
        context_.readTexts(tables_.strings.c_str());
        readNodes();
        readProcesses();
        readThreads();
        readAgents();
        readSymbols();
        readEvents();
        readRegions();
        readKernels();
        readCopies();
        readAllocations();
        noteTheRest();
    }

  private:
    TraceBuilder& builder() { return context_.builder(); }

    void readNodes() {
        RowReader reader(context_.load(), tables_.nodes.c_str(), {"id", "hostname"}, "hosts");
        while (reader.next()) {
            const int64_t node = reader.integerOr(0, 0);
            const auto number = static_cast<uint32_t>(hosts_.size());
            const bool isNew = hosts_.try_emplace(node, number).second;
            if (!isNew) continue;
            RunFacts& facts = builder().description().facts;
            if (facts.host.empty()) facts.host = reader.text(1);
            hostNames_[node] = reader.text(1);
        }
    }

    void readProcesses() {
        enum : int { Id, Node, Pid, Command, End };
        RowReader reader(context_.load(), tables_.processes.c_str(), {"id", "nid", "pid", "command", "end"},
                         "processes");
        while (reader.next()) {
            const uint32_t host = valueOr(hosts_, reader.integerOr(Node, 0), 0U);
            const uint32_t index = builder().process(globalPid(reader.unsigned32(Pid), host));
            if (reader.skipRowIf(index == noIndex)) continue;
            processes_[reader.integerOr(Id, 0)] = index;
            Process& process = builder().processes()[index];
            const std::string command(reader.text(Command));
            process.facts.edit().commandLine = command;
            const std::string program = command.substr(0, command.find(' '));
            process.name = program.substr(program.rfind('/') + 1);
            if (const auto name = hostNames_.find(reader.integerOr(Node, 0)); name != hostNames_.end())
                process.facts.edit().host = name->second;
        }
    }

    /// Returns the process of that id. Without the table: the first and only one.
    uint32_t processOf(int64_t id) {
        const auto found = processes_.find(id);
        if (found != processes_.end()) return found->second;
        const auto pid = id > 0 && id <= 0xffffff ? static_cast<uint32_t>(id) : 0;
        return processes_[id] = builder().process(globalPid(pid));
    }

    void readThreads() {
        enum : int { Id, Process, Tid, Name };
        RowReader reader(context_.load(), tables_.threads.c_str(), {"id", "pid", "tid", "name"}, "threads");
        while (reader.next()) {
            const uint32_t process = processOf(reader.integerOr(Process, 0));
            if (process == noIndex) continue;
            const int64_t packed = builder().processes()[process].globalPid | (reader.unsigned32(Tid) & 0xffffff);
            threads_[reader.integerOr(Id, 0)] = packed;
            if (!reader.text(Name).empty()) builder().nameThread(packed, reader.text(Name));
        }
    }

    uint32_t threadOf(int64_t id, int64_t process) {
        const auto found = threads_.find(id);
        if (found != threads_.end()) return builder().thread(found->second);
        const uint32_t owner = processOf(process);
        if (owner == noIndex) return noIndex;
        return builder().thread(builder().processes()[owner].globalPid | (id & 0xffffff));
    }

    void readAgents() {
        enum : int { Id, Type, TypeIndex, Product, Model, Name, Node };
        RowReader reader(context_.load(), tables_.agents.c_str(),
                         {"id", "type", "type_index", "product_name", "model_name", "name", "nid"}, "GPUs");
        constexpr int64_t maxGpus = 256;
        while (reader.next()) {
            // A GPU, or a processor of the host.
            uint32_t& gpuOfAgent = agents_.try_emplace(reader.integerOr(Id, 0), noIndex).first->second;
            const int64_t number = reader.integerOr(TypeIndex, 0);
            if (reader.text(Type) != "GPU" || number < 0 || number >= maxGpus) continue;
            // Each host counts its own from 0.
            const int64_t host = valueOr(hosts_, reader.integerOr(Node, 0), 0U);
            gpuOfAgent = builder().gpu(number + host * maxGpus);
            if (gpuOfAgent == noIndex) continue;
            Gpu& gpu = builder().gpus()[gpuOfAgent];
            for (const int column : {Product, Model, Name})
                if (gpu.name.empty()) gpu.name = reader.text(column);
        }
    }

    uint32_t gpuOf(int64_t agent) const { return valueOr(agents_, agent, noIndex); }

    void readSymbols() {
        enum : int { Id, Name, Display, Registers };
        RowReader reader(context_.load(), tables_.symbols.c_str(),
                         {"id", "kernel_name", "display_name", "arch_vgpr_count"}, "kernels");
        while (reader.next()) {
            Symbol& symbol = symbols_[reader.integerOr(Id, 0)];
            symbol.registers = reader.unsigned32(Registers);
            symbol.name = builder().intern(reader.text(Name));
            // The profiler's own compiler has types that other demanglers cannot read.
            const std::string_view displayed = reader.text(Display);
            if (symbol.name == 0 || (!displayed.empty() && !displayed.starts_with("_Z")))
                symbol.displayed = builder().intern(displayed);
        }
    }

    void readEvents() {
        enum : int { Id, Category, Stack, Correlation, Extra };
        RowReader reader(context_.load(), tables_.events.c_str(),
                         {"id", "category_id", "stack_id", "correlation_id", "extdata"}, "events");
        while (reader.next()) {
            Event event{context_.text(reader.integerOr(Category, 0)), reader.integerOr(Stack, 0), 0};
            if (event.stack == 0) event.stack = reader.integerOr(Correlation, 0);
            if (isMarker(builder().text(event.category)))
                event.message = builder().intern(messageIn(reader.text(Extra)));
            events_[reader.integerOr(Id, 0)] = event;
        }
    }

    Event eventOf(int64_t id) const { return valueOr(events_, id, Event{}); }

    /// Returns a 32-bit number per stack, which connects a call with its work.
    uint32_t correlationOf(const Event& event) {
        if (event.stack == 0) return 0;
        return correlations_.try_emplace(event.stack, static_cast<uint32_t>(correlations_.size()) + 1).first->second;
    }

    void readRegions() {
        enum : int { Process, Thread, Start, End, Name, Id };
        RowReader reader(context_.load(), tables_.regions.c_str(),
                         {"pid", "tid", "start", "end", "name_id", "event_id"}, "API calls");
        context_.forEachTimed(reader, Start, End, [&](TimeRange times) {
            const uint32_t thread = threadOf(reader.integerOr(Thread, 0), reader.integerOr(Process, 0));
            if (reader.skipRowIf(thread == noIndex)) return;
            const Event event = eventOf(reader.integerOr(Id, 0));
            const StringIndex name = context_.text(reader.integerOr(Name, 0));
            const std::string_view category = builder().text(event.category);
            if (isApi(category)) {
                builder().add<kinds::Api>(times, {.name = name,
                                                  .thread = thread,
                                                  .correlation = correlationOf(event),
                                                  .isDriver = category.starts_with("HSA_")});
                return;
            }
            builder().add<kinds::Nvtx>(times, {.text = event.message != 0 ? event.message : name,
                                               .domain = isMarker(category) ? StringIndex{0} : event.category,
                                               .thread = thread,
                                               .style = times.isEmpty() ? NvtxStyle::Mark : NvtxStyle::PushPop});
        });
    }

    void readKernels() {
        enum : int { Process, Agent, Symbol, Stream, Start, End, Shared, BlockX, GridX = BlockX + 3, Id = GridX + 3 };
        RowReader reader(
            context_.load(), tables_.kernels.c_str(),
            {"pid", "agent_id", "kernel_id", "stream_id", "start", "end", "group_segment_size", "workgroup_size_x",
             "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z", "event_id"},
            "kernels");
        context_.forEachTimed(reader, Start, End, [&](TimeRange times) {
            const uint32_t stream =
                builder().stream(processOf(reader.integerOr(Process, 0)), gpuOf(reader.integerOr(Agent, -1)), 0,
                                 reader.integerOr(Stream, 0));
            if (reader.skipRowIf(stream == noIndex)) return;
            LaunchConfig config;
            const auto symbol = symbols_.find(reader.integerOr(Symbol, 0));
            if (symbol != symbols_.end()) {
                context_.nameKernel(config,
                                    symbol->second.displayed != 0 ? symbol->second.displayed : symbol->second.name);
                if (symbol->second.name != 0) config.mangledName = symbol->second.name;
                config.registersPerThread = symbol->second.registers;
            }
            config.dynamicSharedBytes = reader.unsigned32(Shared);
            for (int axis = 0; axis < 3; ++axis) {
                // The grid is in threads.
                const uint32_t block = reader.unsigned32(BlockX + axis);
                const uint32_t threads = reader.unsigned32(GridX + axis);
                config.block[static_cast<size_t>(axis)] = block;
                config.grid[static_cast<size_t>(axis)] =
                    block > 0 ? threads / block + (threads % block > 0 ? 1 : 0) : threads;
            }
            builder().add<kinds::Kernel>(times, {.stream = stream,
                                                 .correlation = correlationOf(eventOf(reader.integerOr(Id, 0))),
                                                 .config = builder().launchConfig(config)});
        });
        reader.countAs(kinds::Kernel::plural);
    }

    void readCopies() {
        enum : int { Process, Start, End, Name, Destination, Source, Bytes, Stream, Id };
        RowReader reader(
            context_.load(), tables_.copies.c_str(),
            {"pid", "start", "end", "name_id", "dst_agent_id", "src_agent_id", "size", "stream_id", "event_id"},
            "memcpys");
        context_.forEachTimed(reader, Start, End, [&](TimeRange times) {
            const uint32_t from = gpuOf(reader.integerOr(Source, -1));
            const uint32_t to = gpuOf(reader.integerOr(Destination, -1));
            const uint32_t stream = builder().stream(processOf(reader.integerOr(Process, 0)),
                                                     from != noIndex ? from : to, 0, reader.integerOr(Stream, 0));
            if (reader.skipRowIf(stream == noIndex)) return;
            MemcpyKind kind = rocmCopyKind(context_.wordOf(reader.integerOr(Name, 0)));
            if (from != noIndex && to != noIndex) kind = from == to ? MemcpyKind::DtoD : MemcpyKind::PtoP;
            const bool areTwo = kind == MemcpyKind::PtoP;
            builder().add<kinds::Memcpy>(times,
                                         {.bytes = reader.bytes(Bytes),
                                          .kind = kind,
                                          .sourceMemory = from != noIndex ? MemoryKind::Device : MemoryKind::Unknown,
                                          .destinationMemory = to != noIndex ? MemoryKind::Device : MemoryKind::Unknown,
                                          .sourceGpu = areTwo ? from : noIndex,
                                          .destinationGpu = areTwo ? to : noIndex,
                                          .stream = stream,
                                          .correlation = correlationOf(eventOf(reader.integerOr(Id, 0)))});
        });
        reader.countAs(kinds::Memcpy::plural);
    }

    /// Reads allocations of GPU memory. Scratch memory of the runtime is not recorded completely.
    void readAllocations() {
        enum : int { Process, Agent, Type, Level, Start, Address, Bytes, Id };
        RowReader reader(context_.load(), tables_.allocations.c_str(),
                         {"pid", "agent_id", "type", "level", "start", "address", "size", "event_id"}, "memory events");
        while (reader.next()) {
            const std::optional<int64_t> timeNs = reader.time(Start);
            const std::string_view type = reader.text(Type);
            const bool isFree = type == "FREE";
            if (!timeNs || reader.text(Level) == "SCRATCH" || (!isFree && type != "ALLOC")) continue;
            const auto address = static_cast<uint64_t>(reader.integerOr(Address, 0));
            const uint32_t process = processOf(reader.integerOr(Process, 0));
            uint32_t gpu = gpuOf(reader.integerOr(Agent, -1));
            // A free has neither device nor size.
            auto& held = held_[process];
            if (isFree) {
                const auto found = held.find(address);
                if (found == held.end()) continue;
                gpu = found->second;
                held.erase(found);
            } else if (gpu != noIndex) {
                held[address] = gpu;
            }
            if (gpu == noIndex || process == noIndex) continue;
            builder().add<kinds::MemoryEvent>({.timeNs = *timeNs - context_.zeroNs(),
                                               .bytes = reader.bytes(Bytes),
                                               .address = address,
                                               .kind = MemoryKind::Device,
                                               .isFree = isFree,
                                               .process = process,
                                               .gpu = gpu,
                                               .correlation = correlationOf(eventOf(reader.integerOr(Id, 0)))});
        }
    }

    void noteTheRest() {
        const UnreadTable others[]{{tables_.counterEvents, "values of hardware counters"},
                                   {tables_.samples, "samples"}};
        noteSkippedTables(context_.load(), others);
    }

    ProfileContext& context_;
    const RocpdTables& tables_;
    std::map<int64_t, uint32_t>& hosts_;  ///< Number of each node in the whole file.
    std::map<int64_t, std::string> hostNames_;
    MixedMap<int64_t, uint32_t> processes_;
    MixedMap<int64_t, int64_t> threads_;
    MixedMap<int64_t, uint32_t> agents_;  ///< GPUs; `noIndex` for others.
    MixedMap<int64_t, Symbol> symbols_;
    MixedMap<int64_t, Event> events_;
    MixedMap<int64_t, uint32_t> correlations_;
    MixedMap<uint32_t, std::map<uint64_t, uint32_t>> held_;  ///< GPU of each address of a process.
};

}  // namespace

/// Returns the tables of each process in the file, by name. Names with characters other than
/// letters, digits and '_' are ignored and never become a part of a statement.
std::vector<RocpdTables> rocpdTablesIn(const Database& database) {
    constexpr std::string_view strings = "rocpd_string";
    std::vector<RocpdTables> all;
    for (const std::string& table : database.tables()) {
        if (!table.starts_with(strings) || all.size() >= maxProcesses) continue;
        const std::string suffix = table.substr(strings.size());
        if (isPlain(suffix)) all.emplace_back(suffix);
    }
    return all;
}

void readRocpdTrace(LoadContext& load) {
    load.builder().description().producer = "rocprofiler-sdk";
    ProfileContext context(load);
    const std::vector<RocpdTables> all = rocpdTablesIn(load.database());
    for (const RocpdTables& tables : all)
        for (const std::string& table : {tables.regions, tables.kernels, tables.copies})
            context.beginWith(table.c_str(), "start");
    std::map<int64_t, uint32_t> hosts;
    for (const RocpdTables& tables : all) RocpdReader(context, tables, hosts).read();
}

}  // namespace lanescope
