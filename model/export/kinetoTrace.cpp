// SPDX-License-Identifier: Apache-2.0
#include "model/export/exportTrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "model/export/exportRows.h"
#include "model/format/text.h"
#include "model/roofline/OperatorCall.h"
#include "model/trace/collectives.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/rangeDomains.h"

namespace lanescope {

namespace {

constexpr size_t pieceSize = 64 * 1024;

/// Returns "allreduce" for "AllReduce".
std::string torchName(std::string_view operation) {
    std::string name;
    for (const char c : operation) name += lowerCase(c);
    return name;
}

std::string torchType(std::string_view type) {
    for (const ElementType& each : elementTypes)
        if (type == each.nccl) return std::string(each.torch);
    return std::string(type);
}

/// Returns the arguments of an operator by its payload.
std::string shapesText(std::string_view payload) {
    const auto [shapes, types, values] = payloadLists(payload);
    std::string text = fmt::format(R"(, "Input Dims": {})", shapes.empty() ? payload : shapes);
    if (!types.empty()) text += fmt::format(R"(, "Input type": {})", types);
    if (!values.empty()) text += fmt::format(R"(, "Concrete Inputs": {})", values);
    return text;
}

/// Writes events; stops when the sink returns false.
class Writer {
  public:
    Writer(const Trace& trace, uint32_t process, const TextSink& sink)
        : trace_(trace), process_(process), sink_(sink) {}

    void run() {
        writeHead();
        writeRanges();
        writeBackwards();
        writeCalls();
        writeWork();
        writeWaits();
        writeNames();
        text_ += fmt::format("\n  ],\n  \"traceName\": {}\n}}\n", jsonString(trace_.title));
        flush();
    }

  private:
    /// Common start of an event: its place and its times.
    struct Head {
        std::string_view category;
        std::string name;  ///< Quoted.
        int64_t pid, tid;
        TimeRange range;
    };

    void event(const Head& head, const std::string& arguments) {
        line(fmt::format(R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, )"
                         R"("ts": {}, "dur": {}, "args": {{{}}}}})",
                         head.category, head.name, head.pid, head.tid, microseconds(head.range.startNs),
                         microseconds(head.range.durationNs()), arguments));
    }
    void line(const std::string& text) {
        if (!isWanted_) return;
        text_ += isFirst_ ? "\n  " : ",\n  ";
        text_ += text;
        isFirst_ = false;
        if (text_.size() >= pieceSize) flush();
    }
    void flush() {
        if (isWanted_) isWanted_ = sink_(text_);
        text_.clear();
    }

    bool isOfProcess(uint32_t thread) const { return trace_.threads[thread].process == process_; }
    int64_t pid() const { return trace_.processes[process_].pid; }
    std::string text(StringIndex index) const { return jsonString(trace_.strings.at(index)); }

    void writeHead() {
        text_ = "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [";
        bool isFirst = true;
        for (const Gpu& gpu : trace_.gpus) {
            text_ += fmt::format(R"({}{{"id": {}, "name": {}, "totalGlobalMem": {}, "computeMajor": {}, )"
                                 R"("computeMinor": {}, "numSms": {}}})",
                                 isFirst ? "" : ", ", gpu.id, jsonString(gpu.name), gpu.memoryBytes, gpu.computeMajor,
                                 gpu.computeMinor, gpu.smCount);
            isFirst = false;
        }
        text_ += "],\n";
        const Process& process = trace_.processes[process_];
        if (process.rank)
            text_ +=
                fmt::format("  \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, \"world_size\": {}}},\n",
                            *process.rank, process.worldSize.value_or(1));
        text_ += fmt::format("  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": {},\n  \"traceEvents\": [",
                             trace_.startUtcNs);
    }

    /// Numbers of operators are their rows plus 1, as 0 means none.
    static int64_t externalId(uint32_t nvtxRow) { return int64_t{nvtxRow} + 1; }

    void writeRanges() {
        const NvtxTable& nvtx = trace_.nvtx;
        for (uint32_t row = 0; row < nvtx.size() && isWanted_; ++row) {
            if (!isOfProcess(nvtx.thread[row])) continue;
            const int64_t tid = trace_.threads[nvtx.thread[row]].tid;
            const TimeRange range{nvtx.startNs[row], nvtx.endNs[row]};
            if (nvtx.style[row] != NvtxStyle::PushPop) {
                writeLoose(row, tid, range);
                continue;
            }
            const std::string_view domain = trace_.strings.at(nvtx.domain[row]);
            const uint32_t call = trace_.nccl.rowOf(row);
            const bool isOperator = domain == operatorDomain || call != noIndex;
            const std::string_view category = isOperator               ? "cpu_op"
                                              : domain == pythonDomain ? "python_function"
                                                                       : "user_annotation";
            std::string arguments =
                fmt::format(R"("{} id": {})", domain == pythonDomain ? "Python" : "External", externalId(row));
            if (domain == operatorDomain && nvtx.payload[row] != 0)
                arguments += shapesText(trace_.strings.at(nvtx.payload[row]));
            if (call != noIndex) arguments += collectiveArguments(call);
            event({category, call != noIndex ? R"("record_param_comms")" : text(nvtx.text[row]), pid(), tid, range},
                  arguments);
        }
    }

    /// Writes each pair as a flow event with a number of its own, from the start of the operator to
    /// that of its backward.
    void writeBackwards() {
        const NvtxTable& nvtx = trace_.nvtx;
        const BackwardTable& backwards = trace_.backwards;
        const auto end = [&](uint32_t pair, uint32_t row, std::string_view phase) {
            line(fmt::format(R"({{"ph": "{}", "id": {}, "pid": {}, "tid": {}, "ts": {}, )"
                             R"("cat": "fwdbwd", "name": "fwdbwd"{}}})",
                             phase, pair + 1, pid(), trace_.threads[nvtx.thread[row]].tid,
                             microseconds(nvtx.startNs[row]), phase == "f" ? R"(, "bp": "e")" : ""));
        };
        for (uint32_t pair = 0; pair < backwards.size() && isWanted_; ++pair) {
            const uint32_t forward = backwards.forward[pair], backward = backwards.backward[pair];
            if (!isOfProcess(nvtx.thread[forward]) || !isOfProcess(nvtx.thread[backward])) continue;
            end(pair, forward, "s");
            end(pair, backward, "f");
        }
    }

    /// Writes events that may overlap in any way, which complete events of a thread must not; and marks.
    void writeLoose(uint32_t row, int64_t tid, TimeRange range) {
        const auto end = [&](std::string_view phase, int64_t timeNs) {
            line(fmt::format(R"({{"ph": "{}", "cat": "user_annotation", "id": {}, "name": {}, )"
                             R"("pid": {}, "tid": {}, "ts": {}{}}})",
                             phase, row, text(trace_.nvtx.text[row]), pid(), tid, microseconds(timeNs),
                             phase == "i" ? R"(, "s": "t")" : ""));
        };
        if (trace_.nvtx.style[row] == NvtxStyle::Mark) return end("i", range.startNs);
        end("b", range.startNs);
        end("e", range.endNs);
    }

    std::string collectiveArguments(uint32_t call) const {
        const NcclTable& nccl = trace_.nccl;
        const NcclFacts facts = nccl.facts[call];
        const std::string_view operation = trace_.strings.at(nccl.operation[call]);
        const int64_t parts = operation == "AlltoAll" ? std::max(1, facts.rankCount) : 1;
        std::string list = fmt::format(R"(, "Collective name": "{}")", torchName(operation));
        // A size without a count is in bytes.
        const bool isSizeAlone = facts.count < 0 && nccl.bytes[call] >= 0;
        const int64_t count = isSizeAlone ? nccl.bytes[call] : facts.count;
        // A file may contain any size.
        int64_t elements = 0;
        if (__builtin_mul_overflow(count, parts, &elements)) elements = count;
        const std::string_view type = isSizeAlone ? std::string_view("uint8") : trace_.strings.at(facts.datatype);
        if (count >= 0)
            list += fmt::format(R"(, "In msg nelems": {0}, "Out msg nelems": {0}, "dtype": {1})", elements,
                                jsonString(torchType(type)));
        if (facts.rankCount >= 0) list += fmt::format(R"(, "Group size": {})", facts.rankCount);
        if (facts.sequence >= 0) list += fmt::format(R"(, "Seq": {})", facts.sequence);
        if (facts.peer >= 0) list += fmt::format(R"(, "{} Rank": {})", operation == "Send" ? "Dst" : "Src", facts.peer);
        if (nccl.communicator[call] != 0)
            list += fmt::format(R"(, "Process Group Name": "{}")", communicatorId(nccl.communicator[call]));
        return list + fmt::format(R"(, "Process Group Description": {})", text(facts.communicatorName));
    }

    void writeCalls() {
        const ApiTable& calls = trace_.apiCalls;
        for (uint32_t row = 0; row < calls.size() && isWanted_; ++row)
            if (isOfProcess(calls.thread[row]))
                event({calls.isDriver[row] != 0 ? "cuda_driver" : "cuda_runtime",
                       text(calls.name[row]),
                       pid(),
                       trace_.threads[calls.thread[row]].tid,
                       {calls.startNs[row], calls.endNs[row]}},
                      fmt::format(R"("correlation": {})", calls.correlation[row]));
    }

    /// Returns place, correlation and operator of work; nullopt for another process.
    std::optional<std::string> placeOf(EventRef work, uint32_t streamIndex, uint32_t correlation) {
        const Stream& stream = trace_.streams[streamIndex];
        if (stream.process != process_) return std::nullopt;
        int64_t operation = 0;
        if (const EventRef call = trace_.launchingCall(work); call.isValid()) {
            const EventRef range = innermostRange(trace_, trace_.apiCalls.thread[call.row()],
                                                  trace_.rangeOf(call).startNs, operatorDomain);
            if (range.isValid()) operation = externalId(range.row());
            arrow(call, work, correlation);
        }
        return fmt::format(R"("External id": {}, "device": {}, "context": {}, "stream": {}, "correlation": {})",
                           operation, trace_.gpus[stream.gpu].id, stream.contextId, stream.streamId, correlation);
    }

    void arrow(EventRef call, EventRef work, uint32_t correlation) {
        const Stream& stream = trace_.streams[streamOf(trace_, work)];
        line(fmt::format(R"({{"ph": "s", "id": {}, "pid": {}, "tid": {}, "ts": {}, )"
                         R"("cat": "ac2g", "name": "ac2g"}})",
                         correlation, pid(), trace_.threads[trace_.apiCalls.thread[call.row()]].tid,
                         microseconds(trace_.rangeOf(call).startNs)));
        line(fmt::format(R"({{"ph": "f", "id": {}, "pid": {}, "tid": {}, "ts": {}, )"
                         R"("cat": "ac2g", "name": "ac2g", "bp": "e"}})",
                         correlation, trace_.gpus[stream.gpu].id, stream.streamId,
                         microseconds(trace_.rangeOf(work).startNs)));
    }

    void writeTable(const auto& table, EventKind kind, std::string_view category, auto nameOf, auto more) {
        for (uint32_t row = 0; row < table.size() && isWanted_; ++row) {
            const std::optional<std::string> place =
                placeOf(EventRef(kind, row), table.stream[row], table.correlation[row]);
            if (!place) continue;
            const Stream& stream = trace_.streams[table.stream[row]];
            event({category,
                   nameOf(row),
                   trace_.gpus[stream.gpu].id,
                   stream.streamId,
                   {table.startNs[row], table.endNs[row]}},
                  *place + more(row));
        }
    }

    void writeWork() {
        const KernelTable& kernels = trace_.kernels;
        const auto configOf = [&](uint32_t row) { return trace_.launchConfigs[kernels.config[row]]; };
        writeTable(
            kernels, EventKind::Kernel, "kernel",
            [&](uint32_t row) { return text(trace_.launchConfigs.demangledName(kernels.config[row])); },
            [&](uint32_t row) {
                const LaunchConfig config = configOf(row);
                std::string list = fmt::format(R"(, "registers per thread": {}, "shared memory": {}, "grid": [{}], )"
                                               R"("block": [{}])",
                                               config.registersPerThread,
                                               uint64_t{config.staticSharedBytes} + config.dynamicSharedBytes,
                                               fmt::join(config.grid, ", "), fmt::join(config.block, ", "));
                if (kernels.graphNode[row] != 0)
                    list += fmt::format(R"(, "graph node id": {})", kernels.graphNode[row]);
                return list;
            });
        const MemcpyTable& memcpys = trace_.memcpys;
        writeTable(
            memcpys, EventKind::Memcpy, "gpu_memcpy",
            [&](uint32_t row) {
                return fmt::format("\"Memcpy {} ({} -> {})\"", name(memcpys.kind[row]),
                                   longName(memcpys.sourceMemory[row]), longName(memcpys.destinationMemory[row]));
            },
            [&](uint32_t row) { return fmt::format(R"(, "bytes": {})", memcpys.bytes[row]); });
        const MemsetTable& memsets = trace_.memsets;
        writeTable(
            memsets, EventKind::Memset, "gpu_memset",
            [&](uint32_t row) { return fmt::format("\"Memset ({})\"", longName(memsets.memory[row])); },
            [&](uint32_t row) { return fmt::format(R"(, "bytes": {})", memsets.bytes[row]); });
    }

    void writeWaits() {
        const SyncTable& syncs = trace_.syncs;
        for (uint32_t row = 0; row < syncs.size() && isWanted_; ++row) {
            if (syncs.process[row] != process_ || syncs.stream[row] == noIndex) continue;
            const Stream& stream = trace_.streams[syncs.stream[row]];
            event({"cuda_sync",
                   fmt::format("\"{}\"", torchName(syncs.type[row])),
                   trace_.gpus[stream.gpu].id,
                   stream.streamId,
                   {syncs.startNs[row], syncs.endNs[row]}},
                  fmt::format(R"("cuda_sync_kind": "{}", "stream": {}, "correlation": {}, )"
                              R"("device": {}, "context": {})",
                              torchName(syncs.type[row]), stream.streamId, syncs.correlation[row],
                              trace_.gpus[stream.gpu].id, stream.contextId));
        }
    }

    void writeNames() {
        const auto write = [this](std::string_view what, int64_t pid, int64_t tid, std::string_view key,
                                  const std::string& name) {
            line(fmt::format(R"({{"name": "{}", "ph": "M", "ts": 0, "pid": {}, "tid": {}, )"
                             R"("args": {{"{}": {}}}}})",
                             what, pid, tid, key, jsonString(name)));
        };
        write("process_name", pid(), 0, "name", trace_.processes[process_].name);
        write("process_labels", pid(), 0, "labels", "CPU");
        for (const Thread& thread : trace_.threads)
            if (thread.process == process_ && !thread.name.empty())
                write("thread_name", pid(), thread.tid, "name", fmt::format("thread {} ({})", thread.tid, thread.name));
        for (const Stream& stream : trace_.streams)
            if (stream.process == process_)
                write("thread_name", trace_.gpus[stream.gpu].id, stream.streamId, "name",
                      fmt::format("stream {} {}", stream.streamId, stream.streamId));
    }

    const Trace& trace_;
    const uint32_t process_;
    const TextSink& sink_;
    std::string text_;
    bool isFirst_ = true;
    bool isWanted_ = true;
};

}  // namespace

std::vector<uint32_t> kinetoProcesses(const Trace& trace) {
    std::set<uint32_t> working;
    for (const Stream& stream : trace.streams) working.insert(stream.process);
    std::vector<uint32_t> processes(working.begin(), working.end());
    if (processes.empty() && !trace.processes.empty()) processes.push_back(0);
    std::ranges::stable_sort(processes, {},
                             [&](uint32_t each) { return trace.processes[each].rank.value_or(INT32_MAX); });
    return processes;
}

void writeKinetoTrace(const Trace& trace, uint32_t process, const TextSink& sink) {
    Writer(trace, process, sink).run();
}

}  // namespace lanescope
