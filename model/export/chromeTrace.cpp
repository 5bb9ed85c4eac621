// SPDX-License-Identifier: Apache-2.0
#include "model/export/chromeTrace.h"

#include <fmt/format.h>

#include <iterator>
#include <unordered_map>

#include "model/export/exportRows.h"
#include "model/trace/kinds/allKinds.h"

namespace lanescope {

namespace {

constexpr size_t pieceSize = 64 * 1024;
/// Thread ids and rows of `ChromeRows` are smaller.
constexpr uint32_t firstThreadRowTid = 0x78000000;

/// Writes events; stops when the sink returns false.
class Writer {
  public:
    Writer(const Trace& trace, const TextSink& sink) : trace_(trace), sink_(sink), rows_(trace) {}

    void run() {
        text_ = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
        writeNames();
        writeCpu();
        writeThreads();
        writeGpu();
        writeFlows();
        text_ += "\n]}\n";
        flush();
    }

  private:
    using Row = ChromeRows::Row;

    template <class... Args>
    void event(fmt::format_string<Args...> format, Args&&... args) {
        if (!isWanted_) return;
        text_ += isFirst_ ? "\n" : ",\n";
        isFirst_ = false;
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
        if (text_.size() >= pieceSize) flush();
    }

    void flush() {
        if (isWanted_) isWanted_ = sink_(text_);
        text_.clear();
    }

    const std::string& string(StringIndex index) {
        std::string& text = quotedStrings_[index];
        if (text.empty()) text = jsonString(trace_.strings.at(index));
        return text;
    }

    void name(std::string_view what, Row row, const std::string& text) {
        event(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", what, row.pid,
              row.tid, jsonString(text));
    }

    void writeNames() {
        for (const Process& process : trace_.processes)
            name("process_name", {ChromeRows::pidOf(process), 0}, nameOf(process));
        for (uint32_t index = 0; index < trace_.gpus.size(); ++index)
            name("process_name", {ChromeRows::pidOfGpu(index), 0},
                 fmt::format("GPU {} {}", trace_.gpus[index].id, trace_.gpus[index].name));
        for (const ChromeRows::NamedRow& each : rows_.names())
            name("thread_name", each.row, each.name);
    }

    static std::string nameOf(const Process& process) {
        return process.rank
                   ? fmt::format("{} (rank {}, PID {})", process.name, *process.rank, process.pid)
                   : fmt::format("{} (PID {})", process.name, process.pid);
    }

    /// Writes a slice, or a pair of asynchronous events if there is no row left for it.
    template <class Kind>
    void slice(Kind kind, uint32_t row, const std::string& quotedName,
               const std::string& arguments) {
        const Row at = rows_.rowOf(EventRef(kind.kind, row));
        if (at.tid == ChromeRows::noTid) return pair(kind, row, {at.pid, 0}, quotedName, arguments);
        const TimeRange range = kind.rangeOf(trace_, row);
        event(
            R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
            kind.identifier, quotedName, at.pid, at.tid, microseconds(range.startNs),
            microseconds(range.durationNs()), arguments);
    }

    /// Writes events that may overlap in any way, which slices must not.
    template <class Kind>
    void pair(Kind kind, uint32_t row, Row at, const std::string& quotedName,
              const std::string& arguments) {
        const TimeRange range = kind.rangeOf(trace_, row);
        for (const char phase : {'b', 'e'})
            event(
                R"({{"ph":"{}","cat":"{}","id":{},"name":{},"pid":{},"tid":{},"ts":{},"args":{{{}}}}})",
                phase, kind.identifier, row, quotedName, at.pid, at.tid,
                microseconds(phase == 'b' ? range.startNs : range.endNs), arguments);
    }

    void writeCpu() {
        const ApiTable& calls = trace_.apiCalls;
        for (uint32_t row = 0; row < calls.size() && isWanted_; ++row)
            slice(kinds::Api{}, row, string(calls.name[row]),
                  fmt::format(R"("correlation":{})", calls.correlation[row]));
        for (uint32_t row = 0; row < trace_.nvtx.size() && isWanted_; ++row) writeRange(row);
    }

    /// Writes the activity of threads on rows of their own: their states, and below each its stack.
    void writeThreads() {
        uint32_t tid = firstThreadRowTid;
        forEachThreadRow(trace_, [&](const ThreadRow& row) {
            if (!isWanted_) return;
            const Row at{rows_.rowOfThread(row.thread).pid, tid++};
            name("thread_name", at, row.name);
            for (const ThreadRow::Slice& slice : row.slices) {
                if (!isWanted_) return;
                std::string arguments;
                if (!row.isStack)
                    for (const auto& [what, text] : threadStateFacts(trace_, slice.event.row()))
                        arguments += fmt::format(R"({}"{}":{})", arguments.empty() ? "" : ",", what,
                                                 jsonString(text));
                event(
                    R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
                    row.isStack ? "stack" : kinds::CpuState::identifier, string(slice.name), at.pid,
                    at.tid, microseconds(slice.times.startNs),
                    microseconds(slice.times.durationNs()), arguments);
            }
        });
    }

    void writeRange(uint32_t row) {
        const NvtxTable& nvtx = trace_.nvtx;
        const Row at = rows_.rowOfThread(nvtx.thread[row]);
        const std::string& text = string(nvtx.text[row]);
        const std::string arguments = fmt::format(R"("domain":{})", string(nvtx.domain[row]));
        switch (nvtx.style[row]) {
            case NvtxStyle::PushPop:
                slice(kinds::Nvtx{}, row, text, arguments);
                break;
            case NvtxStyle::StartEnd:
                pair(kinds::Nvtx{}, row, at, text, arguments);
                break;
            case NvtxStyle::Mark:
                event(
                    R"({{"ph":"i","s":"t","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"args":{{{}}}}})",
                    kinds::Nvtx::identifier, text, at.pid, at.tid, microseconds(nvtx.startNs[row]),
                    arguments);
                break;
        }
    }

    void writeGpu() {
        const KernelTable& kernels = trace_.kernels;
        for (uint32_t row = 0; row < kernels.size() && isWanted_; ++row) {
            const LaunchConfig& config = trace_.launchConfigs[kernels.config[row]];
            slice(kinds::Kernel{}, row, string(config.demangledName),
                  fmt::format(R"("grid":[{}],"block":[{}],"registers per thread":{},)"
                              R"("shared memory":{},"correlation":{})",
                              fmt::join(config.grid, ","), fmt::join(config.block, ","),
                              config.registersPerThread,
                              uint64_t{config.staticSharedBytes} + config.dynamicSharedBytes,
                              kernels.correlation[row]));
        }
        const MemcpyTable& memcpys = trace_.memcpys;
        for (uint32_t row = 0; row < memcpys.size() && isWanted_; ++row)
            slice(kinds::Memcpy{}, row,
                  fmt::format(R"("Memcpy {}")", lanescope::name(memcpys.kind[row])),
                  fmt::format(R"("bytes":{},"source":"{}","destination":"{}","correlation":{})",
                              memcpys.bytes[row], lanescope::name(memcpys.sourceMemory[row]),
                              lanescope::name(memcpys.destinationMemory[row]),
                              memcpys.correlation[row]));
        const MemsetTable& memsets = trace_.memsets;
        for (uint32_t row = 0; row < memsets.size() && isWanted_; ++row)
            slice(kinds::Memset{}, row, R"("Memset")",
                  fmt::format(R"("bytes":{},"correlation":{})", memsets.bytes[row],
                              memsets.correlation[row]));
    }

    void writeFlows() {
        int64_t id = 0;
        forEachLaunch(trace_, [&](uint32_t row, EventRef work) {
            const EventRef call(EventKind::Api, row);
            const EventKind kind = work.kind();
            const bool isGpuWork =
                kind == EventKind::Kernel || kind == EventKind::Memcpy || kind == EventKind::Memset;
            if (!isWanted_ || !isGpuWork) return;
            const Row from = rows_.rowOf(call), to = rows_.rowOf(work);
            if (from.tid == ChromeRows::noTid || to.tid == ChromeRows::noTid) return;
            ++id;
            event(
                R"({{"ph":"s","cat":"launch","name":"launch","id":{},"pid":{},"tid":{},"ts":{}}})",
                id, from.pid, from.tid, microseconds(trace_.rangeOf(call).startNs));
            event(
                R"({{"ph":"f","bp":"e","cat":"launch","name":"launch","id":{},"pid":{},"tid":{},"ts":{}}})",
                id, to.pid, to.tid, microseconds(trace_.rangeOf(work).startNs));
        });
    }

    const Trace& trace_;
    const TextSink& sink_;
    const ChromeRows rows_;
    std::string text_;
    std::unordered_map<StringIndex, std::string> quotedStrings_;
    bool isFirst_ = true;
    bool isWanted_ = true;
};

}  // namespace

void writeChromeTrace(const Trace& trace, const TextSink& sink) {
    Writer(trace, sink).run();
}

}  // namespace lanescope
