// SPDX-License-Identifier: Apache-2.0
#include "model/importers/loadTrace.h"
#include "model/importers/xplane/readXplaneTrace.h"
#include "model/importers/xplane/xplaneWork.h"
#include "model/trace/rangeDomains.h"
#include "tests/support/files.h"
#include "tests/support/notes.h"
#include "tests/support/protoTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/torchTrace.h"

using namespace lanescope;
namespace fs = std::filesystem;

namespace {

TracePtr loaded(const std::string& bytes) {
    TraceBuilder builder;
    builder.setPath("host.xplane.pb");
    if (!readXplaneTrace(protoTrace::sourceOf(bytes), builder, [] { return 0.0; }, {}) || !builder.finish())
        qFatal("not read");
    return builder.take();
}

/// A plain count of a file without the readers: events per line, by names of plane and line. Only for valid files.
class PlainCount {
  public:
    explicit PlainCount(std::string_view space) {
        forEach(space, [this](uint64_t field, std::string_view plane, uint64_t) {
            if (field == 1) countPlane(plane);
        });
    }
    int64_t onStreams = 0, onHosts = 0, allocations = 0;
    int64_t streamPs = 0;

  private:
    static uint64_t number(std::string_view& rest) {
        uint64_t value = 0;
        for (int shift = 0;; shift += 7) {
            const auto byte = static_cast<unsigned char>(rest.front());
            rest.remove_prefix(1);
            value |= uint64_t{byte & 0x7fu} << shift;
            if (byte < 0x80) return value;
        }
    }
    template <class Visitor>
    static void forEach(std::string_view rest, Visitor visit) {
        while (!rest.empty()) {
            const uint64_t key = number(rest);
            const uint64_t value = (key & 7) == 0 || (key & 7) == 2 ? number(rest) : 0;
            const size_t length = (key & 7) == 2 ? value : (key & 7) == 1 ? 8 : (key & 7) == 5 ? 4 : 0;
            visit(key >> 3, rest.substr(0, length), value);
            rest.remove_prefix(length);
        }
    }
    void countPlane(std::string_view plane) {
        std::string name;
        std::map<uint64_t, std::string> events;
        forEach(plane, [&](uint64_t field, std::string_view bytes, uint64_t) {
            if (field == 2) name = bytes;
            if (field != 4) return;
            uint64_t id = 0;
            forEach(bytes, [&](uint64_t part, std::string_view value, uint64_t own) {
                if (part == 1) id = own;
                if (part == 2)
                    forEach(value, [&](uint64_t each, std::string_view text, uint64_t) {
                        if (each == 2) events[id] = text;
                    });
            });
        });
        forEach(plane, [&](uint64_t field, std::string_view line, uint64_t) {
            if (field == 3) countLine(name, line, events);
        });
    }
    void countLine(const std::string& plane, std::string_view line, const std::map<uint64_t, std::string>& names) {
        forEach(line, [&](uint64_t field, std::string_view event, uint64_t) {
            if (field != 4) return;
            (plane.starts_with("/device:GPU:") ? onStreams : onHosts) += 1;
            forEach(event, [&](uint64_t part, std::string_view, uint64_t value) {
                if (part == 3 && plane.starts_with("/device:GPU:")) streamPs += static_cast<int64_t>(value);
                if (part == 1 && names.contains(value) && names.at(value) == "MemoryAllocation") ++allocations;
                if (part == 1 && names.contains(value) && names.at(value) == "MemoryDeallocation") ++allocations;
            });
        });
    }
};

}  // namespace

class tst_Xplane : public QObject {
    Q_OBJECT

  private slots:
    void workIsOnItsStream() {
        const TracePtr trace = loaded(protoTrace::smallXplane());
        QCOMPARE(trace->kernels.size(), 1u);
        QCOMPARE(trace->memcpys.size(), 1u);
        QCOMPARE(trace->memsets.size(), 1u);
        const LaunchConfig& config = trace->launchConfigs[trace->kernels.config[0]];
        QCOMPARE(trace->strings.at(config.demangledName), std::string_view("gemm(float*, int)"));
        QCOMPARE(config.grid, (std::array<uint32_t, 3>{512, 2, 1}));
        QCOMPARE(config.block, (std::array<uint32_t, 3>{128, 1, 1}));
        QCOMPARE(config.registersPerThread, 40u);
        QCOMPARE(config.dynamicSharedBytes, 416u);
        // Time 0 is the start of the first event, at 1000 ns; 5,000,500 ps later is 5000 ns.
        QCOMPARE(trace->memcpys.startNs[0], int64_t{5000});
        QCOMPARE(trace->memcpys.endNs[0], int64_t{7000});
        QCOMPARE(trace->memcpys.bytes[0], int64_t{4096});
        QVERIFY(trace->memcpys.kind[0] == MemcpyKind::HtoD);
        QVERIFY(trace->memcpys.sourceMemory[0] == MemoryKind::Pinned);
        QVERIFY(trace->memcpys.destinationMemory[0] == MemoryKind::Device);
        QCOMPARE(trace->memsets.bytes[0], int64_t{64});
        QCOMPARE(trace->streams[trace->kernels.stream[0]].streamId, int64_t{20});
        const EventRef call = trace->launchingCall(EventRef(EventKind::Kernel, 0));
        QVERIFY(call.isValid());
        QCOMPARE(trace->nameOf(call), std::string("cudaLaunchKernel"));
    }

    void callsAndRangesAreOnTheirThread() {
        const TracePtr trace = loaded(protoTrace::smallXplane());
        QCOMPARE(trace->apiCalls.size(), 2u);
        QCOMPARE(int(trace->apiCalls.isDriver[0]), 1);
        QCOMPARE(int(trace->apiCalls.isDriver[1]), 0);
        const auto domainOf = [&](std::string_view name) {
            const uint32_t row = torchTrace::rangeCalled(*trace, name);
            return row == noIndex ? std::string_view("none") : trace->strings.at(trace->nvtx.domain[row]);
        };
        QCOMPARE(domainOf("train 7"), xlaStepDomain);
        QCOMPARE(domainOf("Step 7"), xlaStepDomain);
        QCOMPARE(domainOf("train.py:12 step"), pythonDomain);
        QCOMPARE(domainOf("PjitFunction(step)"), xlaDomain);
        QVERIFY(trace->nvtx.style[torchTrace::rangeCalled(*trace, "Marked")] == NvtxStyle::Mark);
        const uint32_t thread = trace->nvtx.thread[torchTrace::rangeCalled(*trace, "train 7")];
        QCOMPARE(trace->threads[thread].name, std::string("python"));
        QCOMPARE(trace->threads[thread].tid, 4242u);
        QCOMPARE(trace->apiCalls.thread[0], thread);
    }

    void threadsWithEqualPrefixStayDistinct() {
        protoTrace::Plane host("/host:CPU"), gpu("/device:GPU:0");
        for (const uint64_t id : {4242u, 4243u, 4244u})
            host.line(id, fmt::format("worker/{}", id), 1000, {host.event(fmt::format("of {}", id), 0, 1'000'000)});
        for (const char* title : {"Steps", "Other", "Third"})
            gpu.line(1, title, 1000, {gpu.event("derived", 0, 1'000'000)});
        ProtoWriter space;
        space.bytes(1, host.bytes());
        space.bytes(1, gpu.bytes());
        const TracePtr trace = loaded(space.bytes());
        QCOMPARE(trace->threads.size(), size_t{6});
        for (uint32_t row = 0; row < trace->nvtx.size(); ++row) {
            const std::string_view text = trace->strings.at(trace->nvtx.text[row]);
            if (text.starts_with("of "))
                QCOMPARE(std::to_string(trace->threads[trace->nvtx.thread[row]].tid), std::string(text.substr(3)));
        }
    }

    void operationsArePlacedAtTheirLaunch() {
        const TracePtr trace = loaded(protoTrace::smallXplane());
        const uint32_t operation = torchTrace::rangeCalled(*trace, "dot.3");
        const uint32_t module = torchTrace::rangeCalled(*trace, "jit_step");
        QVERIFY(operation != noIndex && module != noIndex);
        QCOMPARE(trace->strings.at(trace->nvtx.domain[operation]), xlaOperationDomain);
        QCOMPARE(trace->strings.at(trace->nvtx.domain[module]), xlaModuleDomain);
        QCOMPARE(trace->nvtx.startNs[operation], int64_t{3000});
        QCOMPARE(trace->nvtx.endNs[operation], int64_t{3700});
        // The range is projected onto its work on the GPU.
        bool isProjected = false;
        for (uint32_t row = 0; row < trace->projections.size(); ++row)
            isProjected |= trace->projections.nvtx[row] == operation;
        QVERIFY(isProjected);
    }

    void fileGivesHostAndTime() {
        const TracePtr trace = loaded(protoTrace::smallXplane());
        QCOMPARE(trace->facts.host, std::string("node7"));
        QCOMPARE(trace->startUtcNs, int64_t{1771595639214724894 + 1000});
        QCOMPARE(trace->gpus.size(), size_t{1});
        QCOMPARE(trace->gpus[0].smCount, 132);
        QCOMPARE(trace->gpus[0].computeMajor, 9);
        QCOMPARE(trace->gpus[0].memoryBytes, int64_t{150000000000});
    }

    void eventDetailsAreRead() {
        const XplaneLaunch launch = launchOf(" grid:16,4,1 block:512,1,1 private_mem:0 group_mem:64 occ_pct:0");
        QCOMPARE(launch.grid, (std::array<uint32_t, 3>{16, 4, 1}));
        QCOMPARE(launch.sharedBytes, 64u);
        QVERIFY(copyOf("MemcpyD2D", "kind:Unknown size:7").kind == MemcpyKind::DtoD);
        QCOMPARE(copyOf("MemcpyD2D", "kind:Unknown size:7").bytes, int64_t{7});
        QVERIFY(copyOf("MemcpyD2D", "size:-3 size").bytes == 0);
        QVERIFY(isDriverName("cuLaunchKernel") && !isDriverName("cudaLaunchKernel"));
        QVERIFY(isApiName("hipMemcpyAsync") && !isApiName("customThing") && !isApiName("cu"));
        QCOMPARE(numberAfter("Stream #17(Kernel)", "Stream #"), int64_t{17});
        QCOMPARE(numberAfter("Stream #", "Stream #"), int64_t{-1});
        QCOMPARE(numberAfter("/device:GPU:-3", "/device:GPU:"), int64_t{-1});
    }

    void truncatedPlaneKeepsTheOthers() {
        const std::string whole = protoTrace::smallXplane();
        const TracePtr trace = loaded(whole.substr(0, whole.size() - 40));
        QCOMPARE(trace->kernels.size(), 1u);
        QVERIFY(hasNote(*trace, HealthCode::FileCut));
        const TracePtr broken = loaded(whole + "\x0b\x0b");
        QCOMPARE(broken->apiCalls.size(), 2u);
        QVERIFY(hasNote(*broken, HealthCode::FileDamaged));
    }

    void onlyTimedEventsAreRead() {
        protoTrace::Plane gpu("/device:GPU:0");
        ProtoWriter counted = gpu.event("kernel", 0, 1000);
        counted.number(5, 12);
        gpu.line(1, "Stream #1(Kernel)", 5, {counted, gpu.event("kernel", 2000, 1000)});
        gpu.line(2, "Stream #2(Kernel)", INT64_MAX, {gpu.event("kernel", 2000, 1000)});
        gpu.line(3, "Stream #3(Kernel)", 5, {gpu.event("kernel", UINT64_MAX / 2, UINT64_MAX / 2)});
        ProtoWriter space;
        space.bytes(1, gpu.bytes());
        const TracePtr trace = loaded(space.bytes());
        QVERIFY(trace->kernels.size() <= 2);
        QCOMPARE(trace->kernels.startNs[0], int64_t{0});
        QVERIFY(hasNote(*trace, HealthCode::RowsLeftOut));
    }

    void realFileIsReadCompletely() {
        const char* folder = std::getenv("LANESCOPE_TEST_DATA");
        if (folder == nullptr) QSKIP("LANESCOPE_TEST_DATA names no folder with real files.");
        std::error_code error;
        int files = 0;
        for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
            if (!entry.path().string().ends_with(".xplane.pb")) continue;
            ++files;
            const PlainCount plain(contentOf(entry.path()));
            const Result<TracePtr> trace = loadTrace(entry.path());
            QVERIFY(trace);
            const Trace& found = **trace;
            QCOMPARE(int64_t{found.kernels.size()} + found.memcpys.size() + found.memsets.size(), plain.onStreams);
            int64_t samples = 0, derived = 0, streamNs = 0;
            for (const CounterSeries& counter : found.counters) samples += counter.size();
            for (uint32_t row = 0; row < found.nvtx.size(); ++row) {
                const std::string_view domain = found.strings.at(found.nvtx.domain[row]);
                derived += domain == xlaOperationDomain || domain == xlaModuleDomain ? 1 : 0;
            }
            for (uint32_t row = 0; row < found.kernels.size(); ++row)
                streamNs += found.kernels.endNs[row] - found.kernels.startNs[row];
            QCOMPARE(int64_t{found.apiCalls.size()} + found.nvtx.size() - derived + plain.allocations, plain.onHosts);
            // Only the last of simultaneous samples is kept.
            QVERIFY(samples <= plain.allocations);
            QVERIFY(std::abs(streamNs - plain.streamPs / 1000) <= plain.onStreams);
        }
        if (files == 0) QSKIP("There is no real file of JAX.");
    }
};

LANESCOPE_TEST(tst_Xplane, NoApplication)
#include "tst_Xplane.moc"
