// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "model/export/kinetoTrace.h"
#include "model/trace/rangeDomains.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/torchTrace.h"

using namespace lanescope;
using namespace lanescope::torchTrace;

namespace {

std::string written(const Trace& trace, uint32_t process) {
    std::string text;
    writeKinetoTrace(trace, process, [&text](std::string_view piece) {
        text += piece;
        return true;
    });
    return text;
}

}  // namespace

class tst_KinetoTrace : public QObject {
    Q_OBJECT

  private slots:
    void kinetoExportRoundTrips() {
        std::vector<std::string> events = smallRun();
        events.push_back(slice("cpu_op", "record_param_comms", "4000", "4001", "1070.000", "9.000",
                               R"("Collective name": "allreduce", "In msg nelems": 10, "Seq": 3,
                              "Group size": 2, "dtype": "Float", "Process Group Name": "0",
                              "Out msg nelems": 10)"));
        events.push_back(R"({"ph": "i", "name": "here", "pid": 4000, "tid": 4001, "ts": 1030.5})");
        events.push_back(slice("cuda_sync", "Stream Sync", "0", "7", "1080.000", "2.000",
                               R"("stream": 7, "context": 1, "device": 0, "correlation": 90)"));
        const TracePtr first = loaded(traceOf(events, "", ",\n \"distributedInfo\": {\"rank\": 1, \"world_size\": 2}"));
        const std::string text = written(*first, 0);
        const auto json = nlohmann::json::parse(text, nullptr, false);
        QVERIFY(!json.is_discarded());
        QCOMPARE(json["distributedInfo"]["rank"].get<int>(), 1);
        const TracePtr second = loaded(text);
        QCOMPARE(eventsIn(*second), eventsIn(*first));
        QCOMPARE(second->kernels.startNs[0], first->kernels.startNs[0]);
        QCOMPARE(second->kernels.endNs[0], first->kernels.endNs[0]);
        QVERIFY(second->memcpys.sourceMemory[0] == MemoryKind::Pinned);
        QVERIFY(second->syncs.type[0] == SyncType::Stream);
        QVERIFY(second->launchingCall(EventRef(EventKind::Kernel, 0)).isValid());
        const uint32_t op = rangeCalled(*second, "aten::mm");
        QCOMPARE(second->strings.at(second->nvtx.domain[op]), operatorDomain);
        QCOMPARE(second->strings.at(second->nvtx.payload[op]), std::string_view("[[8, 16], [16, 4]]"));
        QCOMPARE(second->strings.at(second->nvtx.domain[rangeCalled(*second, "ProfilerStep#1")]), annotationDomain);
        QCOMPARE(second->nccl.size(), 1u);
        QCOMPARE(second->nccl.bytes[0], int64_t{40});
        QCOMPARE(second->nccl.facts[0].sequence, int64_t{3});
        QCOMPARE(second->processes[0].rank, std::optional<int>(1));
        QCOMPARE(second->health.size(), first->health.size());
        // The operator of the kernel, by its id.
        int operatorId = -1, kernelsId = -2;
        for (const auto& each : json["traceEvents"]) {
            if (each.value("name", "") == "aten::mm") operatorId = each["args"]["External id"];
            if (each.value("cat", "") == "kernel") kernelsId = each["args"]["External id"];
        }
        QCOMPARE(kernelsId, operatorId);
    }

    void eachRankIsExportedToItsOwnFile() {
        const TracePtr trace = simulatedTraining();
        const std::vector<uint32_t> processes = kinetoProcesses(*trace);
        QVERIFY(!processes.empty());
        size_t kernels = 0;
        for (const uint32_t process : processes) {
            const TracePtr one = loaded(written(*trace, process));
            QCOMPARE(one->processes.size(), size_t{1});
            QCOMPARE(one->processes[0].rank, trace->processes[process].rank);
            kernels += one->kernels.size();
        }
        QCOMPARE(kernels, size_t{trace->kernels.size()});
    }

    void exportStopsWhenTheSinkCloses() {
        int pieces = 0;
        writeKinetoTrace(*simulatedTraining(), 0, [&pieces](std::string_view) {
            ++pieces;
            return false;
        });
        QCOMPARE(pieces, 1);
    }
};

LANESCOPE_TEST(tst_KinetoTrace, NoApplication)
#include "tst_KinetoTrace.moc"
