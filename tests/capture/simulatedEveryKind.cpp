// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/simulatedEveryKind.h"

#include <QtGlobal>
#include <bit>
#include <map>
#include <utility>

#include "capture/collector/RunInfo.h"
#include "tests/capture/TestLog.h"

namespace lanescope::test {

using namespace lanescope::log;

namespace {

constexpr uint32_t processId = 4242;
constexpr uint32_t workerId = 4243;
constexpr int64_t beginNs = 1'000'000'000'000;
constexpr int64_t durationNs = 10'000;
constexpr uint64_t copyBytes = 32u << 20;

// CUPTI's numbers.
constexpr uint8_t htod = 1, dtoh = 2, htoa = 3, atoh = 4, atod = 6, dtod = 8, htoh = 9, ptop = 10;
constexpr uint8_t pageable = 1, pinned = 2, device = 3, array = 4, managed = 5, deviceStatic = 6;

/// Replays the program call by call, and writes its log.
class Simulation {
  public:
    void run(const std::filesystem::path& folder) {
        describe();
        push("copies");
        copy();
        pop();
        launch();
        launchGraph();
        annotate();
        log_.end(nowNs_);
        log_.flush(beginNs, nowNs_);
        log_.writeTo((folder / "box.-.4242.log").string());
        std::string output;
        for (const auto& [what, count] : counts_) output += "count " + what + " " + std::to_string(count) + "\n";
        for (const auto& [what, bytes] : bytes_) output += "bytes " + what + " " + std::to_string(bytes) + "\n";
        // 32 MiB in 10 us and 3 us between two.
        for (const char* kind : {"HtoD-pinned", "DtoH-pinned", "PtoP"})
            output += std::string("speed ") + kind + " 2581.1\n";
        TestLog::write((folder / "output.txt").string(), output);
        capture::RunInfo info{.startRealtimeNs = beginNs, .commandLine = {"./every_kind"}, .host = "box"};
        if (const auto saved = info.save(*Folder::open(folder), capture::runInfoFileName); !saved)
            qFatal("%s", saved.error().sentence.c_str());
    }

  private:
    void describe() {
        log_.property("program", "every_kind");
        for (uint32_t id = 0; id < 2; ++id) {
            DeviceRecord gpu{};
            gpu.uuid[0] = static_cast<uint8_t>(id + 1);
            gpu.deviceId = id;
            gpu.name = log_.string("Simulated GPU");
            log_.add(gpu);
            log_.add(ContextRecord{.contextId = id + 1, .deviceId = id, .nullStreamId = 7});
        }
        for (const auto& [thread, name] :
             {std::pair{processId, "every_kind main"}, std::pair{workerId, "every_kind worker"}}) {
            log_.add(ThreadNameRecord{.threadId = thread, .name = log_.string(name)});
        }
        NvtxDomainRecord domain{
            .timestampNs = nowNs_, .domain = 1, .name = log_.string("every_kind"), .threadId = processId};
        log_.add(domain);
        category(0, 3, "third category");
        category(1, 7, "seventh category");
    }

    void category(uint32_t domain, uint32_t number, const char* name) {
        NvtxCategoryRecord record{};
        record.timestampNs = nowNs_;
        record.domain = domain;
        record.category = number;
        record.name = log_.string(name);
        record.threadId = processId;
        log_.add(record);
    }

    void call(const char* name, uint32_t thread = processId) {
        ApiRecord record{};
        record.startNs = nowNs_;
        record.endNs = nowNs_ + 2'000;
        record.name = log_.string(name);
        record.threadId = thread;
        record.correlationId = ++correlation_;
        log_.add(record);
        nowNs_ += 3'000;
    }

    /// Fills the common fields of GPU work and advances the time.
    template <class Record>
    Record work(uint32_t stream, uint64_t node) {
        Record record{};
        record.startNs = nowNs_;
        record.endNs = nowNs_ + durationNs;
        record.contextId = 1;
        record.streamId = stream;
        record.correlationId = correlation_;
        record.graphNodeId = node;
        record.graphId = node != 0 ? 1 : 0;
        nowNs_ += durationNs;
        return record;
    }

    void count(const std::string& what, uint64_t bytes = 0) {
        ++counts_[what];
        if (bytes > 0) bytes_[what] += bytes;
    }

    void copyWork(const char* what, uint8_t kind, uint8_t from, uint8_t to, uint64_t bytes, int fromDevice = -1,
                  uint64_t node = 0) {
        auto record = work<MemcpyRecord>(13, node);
        record.copyKind = kind;
        record.sourceKind = from;
        record.destinationKind = to;
        record.bytes = bytes;
        if (fromDevice >= 0) {
            record.isPeer = 1;
            record.sourceDeviceId = static_cast<uint32_t>(fromDevice);
            record.destinationDeviceId = static_cast<uint32_t>(1 - fromDevice);
            record.sourceContextId = record.sourceDeviceId + 1;
            record.destinationContextId = record.destinationDeviceId + 1;
        }
        log_.add(record);
        count(what, bytes);
    }

    void memsetWork(const char* what, uint8_t memory, uint64_t bytes, uint64_t node = 0) {
        auto record = work<MemsetRecord>(13, node);
        record.memoryKind = memory;
        record.bytes = bytes;
        log_.add(record);
        count(what, bytes);
    }

    void kernelWork(const char* name, uint32_t stream, uint64_t node = 0) {
        auto record = work<KernelRecord>(stream, node);
        record.name = log_.string(name);
        record.grid[0] = record.block[0] = 32;
        log_.add(record);
        count("kernel");
    }

    void kernels(const char* name, uint32_t stream, int times, uint32_t thread = processId) {
        for (int i = 0; i < times; ++i) {
            call("cudaLaunchKernel_v7000", thread);
            kernelWork(name, stream);
        }
    }

    void copyTimes(const char* what, int times, uint8_t kind, uint8_t from, uint8_t to, uint64_t bytes,
                   int fromDevice = -1) {
        for (int i = 0; i < times; ++i) {
            call(fromDevice >= 0 ? "cudaMemcpyPeerAsync_v4000" : "cudaMemcpyAsync_v3020");
            copyWork(what, kind, from, to, bytes, fromDevice);
        }
    }

    void timed(const char* what, uint8_t kind, uint8_t from, uint8_t to, int fromDevice = -1) {
        push(what);
        copyTimes(what, 5, kind, from, to, copyBytes, fromDevice);
        pop();
    }

    void copy() {
        timed("HtoD-pinned", htod, pinned, device);
        timed("HtoD-pageable", htod, pageable, device);
        timed("DtoH-pinned", dtoh, device, pinned);
        timed("DtoH-pageable", dtoh, device, pageable);
        timed("DtoD", dtod, device, device);
        timed("HtoH-pinned", htoh, pinned, pinned);
        timed("managed", dtod, managed, device);
        push("memset-device");
        for (int i = 0; i < 5; ++i) {
            call("cudaMemsetAsync_v3020");
            memsetWork("memset-device", device, copyBytes);
        }
        pop();
        for (int i = 0; i < 2; ++i) {
            call("cudaMemsetAsync_v3020");
            memsetWork("memset-pinned", pinned, 4096);
        }
        copyTimes("HtoD-symbol", 1, htod, pageable, deviceStatic, 4);
        copyTimes("DtoD-2D", 1, dtod, device, device, 4096 * 64);
        copyTimes("HtoA", 1, htoa, pinned, array, 1u << 20);
        copyTimes("AtoD", 1, atod, array, device, 1u << 20);
        copyTimes("AtoH", 1, atoh, array, pinned, 1u << 20);
        kernels("_Z4spinx", 7, 4);
        timed("PtoP", ptop, device, device, 0);
        timed("PtoP-back", ptop, device, device, 1);
    }

    void launch() {
        for (int round = 0; round < 10; ++round) {
            kernels("_Z11scaleAndAddIfEvPT_iS0_S0_", 13, 1);
            kernels("_Z4spinx", 14, 1);
        }
        kernels("_Z4spinx", 7, 15);
        for (int i = 0; i < 3; ++i) {
            call("cudaLaunchCooperativeKernel_v9000");
            kernelWork("_Z17meetAcrossTheGridPfi", 13);
            count("cooperative");
        }
        for (int i = 0; i < 3; ++i) {
            kernels("_Z11scaleAndAddIfEvPT_iS0_S0_", 13, 1);
            count("stream-allocation", 4u << 20);
        }
    }

    void launchGraph() {
        for (int round = 0; round < 2; ++round) {
            call("cudaGraphLaunch_v10000");
            count("graph-launch");
            copyWork("HtoD-graph", htod, pinned, device, 1u << 20, -1, 101);
            memsetWork("memset-graph", device, 1u << 20, 102);
            for (uint64_t node = 103; node < 106; ++node) {
                kernelWork("_Z4spinx", 13, node);
                count("kernel-in-graph");
            }
            copyWork("DtoH-graph", dtoh, device, pinned, 1u << 20, -1, 106);
        }
    }

    void annotate() {
        for (const char* name : {"outermost", "outer", "inner", "innermost"}) {
            push(name);
            kernels("_Z4spinx", 14, 1);
        }
        for (int i = 0; i < 4; ++i) pop();
        push("wide \u00fcber \u0394");
        nvtx(NvtxEvent::Mark, "plain mark");
        count("nvtx-mark");
        pop();
        for (uint64_t step = 0; step < 4; ++step) {
            nvtx(NvtxEvent::Push, "registered step", 1, NvtxPayload::Int64, step, 0xFF4682B4, 7);
            kernels("_Z4spinx", 13, 5);
            nvtx(NvtxEvent::Pop, "", 1);
            count("nvtx-push-pop");
        }
        mark("uint64", NvtxPayload::UInt64, uint64_t{1} << 63);
        mark("int64", NvtxPayload::Int64, static_cast<uint64_t>(int64_t{-5'000'000'000}));
        mark("double", NvtxPayload::Double, std::bit_cast<uint64_t>(2.5));
        mark("uint32", NvtxPayload::UInt32, 4'000'000'000u);
        mark("int32", NvtxPayload::Int32, static_cast<uint32_t>(-7));
        mark("float", NvtxPayload::Float, std::bit_cast<uint32_t>(0.125f));
        nvtx(NvtxEvent::Start, "started here, ended there");
        thread_ = workerId;
        nvtx(NvtxEvent::Push, "worker's range", 0, NvtxPayload::None, 0, 0xFF2E8B57);
        kernels("_Z11scaleAndAddIfEvPT_iS0_S0_", 14, 10, workerId);
        pop();
        nvtx(NvtxEvent::End, "");
        count("nvtx-start-end");
    }

    void push(const char* text) { nvtx(NvtxEvent::Push, text); }
    void pop() {
        nvtx(NvtxEvent::Pop, "");
        count("nvtx-push-pop");
    }
    void mark(const char* text, NvtxPayload payload, uint64_t bits) {
        nvtx(NvtxEvent::Mark, text, 1, payload, bits);
        count("nvtx-mark");
    }

    void nvtx(NvtxEvent event, const char* text, uint32_t domain = 0, NvtxPayload payload = NvtxPayload::None,
              uint64_t bits = 0, uint32_t color = 0, uint32_t categoryNumber = 0) {
        int32_t& level = levels_[{thread_, domain}];
        if (event == NvtxEvent::Pop) --level;
        NvtxRecord record{};
        record.event = event;
        record.timestampNs = nowNs_;
        record.rangeId = event == NvtxEvent::Start || event == NvtxEvent::End ? 1 : 0;
        record.payload = payload;
        record.payloadBits = bits;
        record.threadId = thread_;
        record.domain = domain;
        record.text = log_.string(text);
        record.category = categoryNumber;
        record.colorArgb = color;
        record.level = level;
        log_.add(record);
        if (event == NvtxEvent::Push) ++level;
        nowNs_ += 100;
    }

    TestLog log_{processId, beginNs};
    int64_t nowNs_ = beginNs + 1'000'000;
    uint32_t correlation_ = 0, thread_ = processId;
    std::map<std::pair<uint32_t, uint32_t>, int32_t> levels_;
    std::map<std::string, uint64_t> counts_;
    std::map<std::string, uint64_t> bytes_;
};

}  // namespace

void writeSimulatedEveryKind(const std::filesystem::path& folder) { Simulation().run(folder); }

}  // namespace lanescope::test
