// SPDX-License-Identifier: Apache-2.0
#include "model/export/kinetoTrace.h"
#include "model/export/perfettoTrace.h"
#include "model/export/traceFile.h"
#include "model/importers/loadTrace.h"
#include "model/query/TraceQuery.h"
#include "model/reports/reports.h"
#include "model/text/formatTable.h"
#include "model/trace/collectives.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/kinds/eventFacts.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr uint64_t group = 208820269817245835, negative = 15568366574649179806u;
const std::string nameOfGroup = "0x02e5e0edd45bb08b", nameOfNegative = "0xd80df2ea37077e9e";

/// Two simulated ranks that gather twice, with the payloads that NCCL writes.
TracePtr ranks() {
    SimulatedTrace builder;
    builder.addGpu();
    for (const uint32_t rank : {0u, 1u}) {
        const uint32_t process = builder.addProcess(5000 + rank, "rank", static_cast<int>(rank));
        const uint32_t thread = builder.addThread(process, 5000 + rank);
        for (const uint64_t each : {group, negative}) {
            const int64_t startNs = (each == group ? 0 : 10'000) + 100 * rank;
            const EventRef range = builder.add<kinds::Nvtx>(
                {.startNs = startNs,
                 .endNs = startNs + 50,
                 .text = builder.intern("ncclAllGather"),
                 .domain = builder.intern("NCCL"),
                 .thread = thread,
                 .payload = builder.intern("{\"NCCL communicator ID\":" + std::to_string(each) +
                                           ",\"Message size [bytes]\":8}")});
            NcclFacts facts;
            facts.rank = static_cast<int32_t>(rank);
            facts.rankCount = 2;
            facts.sequence = 0;
            builder.nccl(range,
                         {.operation = builder.intern("AllGather"), .bytes = 8, .communicator = each, .facts = facts});
        }
    }
    return builder.finish();
}

std::string textOf(const auto& write) {
    std::string text;
    write([&text](std::string_view piece) {
        text += piece;
        return true;
    });
    return text;
}

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

/// Tests that a communicator has the same name everywhere, so that two places can be matched.
class tst_communicatorId : public QObject {
    Q_OBJECT

  private slots:
    void communicatorIdRoundTrips() {
        QCOMPARE(communicatorId(group), nameOfGroup);
        QCOMPARE(communicatorId(negative), nameOfNegative);
        QCOMPARE(communicatorFrom(nameOfGroup), std::optional(group));
        QCOMPARE(communicatorFrom(nameOfNegative), std::optional(negative));
        for (const char* other : {"", "0", "0x2e5e0edd45bb08b", "0x02e5e0edd45bb08g", "default_pg",
                                  "0x02e5e0edd45bb08b0", "0x-2e5e0edd45bb08b"})
            QVERIFY2(!communicatorFrom(other), other);
    }

    void onlyCommunicatorNumbersAreNames() {
        QCOMPARE(withCommunicatorIds("{\"NCCL communicator ID\": 208820269817245835,\"Root\":0}"),
                 "{\"NCCL communicator ID\": \"" + nameOfGroup + "\",\"Root\":0}");
        QCOMPARE(withCommunicatorIds("{\"communicator\":-2878377499060371810}"),
                 "{\"communicator\":\"" + nameOfNegative + "\"}");
        for (const char* other : {"", "7", "communicator", "{\"what\":\"communicator\",\"size\":8}",
                                  "{\"communicator\":", "{\"communicator\":\"tp\"}", "{\"communicator\":-}",
                                  "{\"communicator\":99999999999999999999999}", "\"communicator\":"})
            QCOMPARE(withCommunicatorIds(other), std::string(other));
    }

    void detailsUseOneName() {
        const TracePtr trace = ranks();
        for (uint32_t row = 0; row < trace->nvtx.size(); ++row) {
            const bool isFirst = trace->nccl.communicator[row] == group;
            const std::string& name = isFirst ? nameOfGroup : nameOfNegative;
            int named = 0;
            for (const Property& line : describe(*trace, {EventKind::Nvtx, row})) {
                QVERIFY2(!holds(line.value, std::to_string(isFirst ? group : negative)), line.value.c_str());
                if (holds(line.value, name)) ++named;
            }
            QCOMPARE(named, 2);  // the communicator and the payload
        }
    }

    void reportsUseTheNameInEveryFormat() {
        const TracePtr trace = ranks();
        for (const char* name : {"nccl_sum", "nccl_trace", "nccl_lateness", "nccl_lateness:collective"}) {
            const Result<ReportTable> table = makeReport(*trace, name);
            QVERIFY(table.has_value());
            for (const TableFormat format : {TableFormat::Text, TableFormat::Csv, TableFormat::Json}) {
                const std::string text = formatTable(*table, format);
                for (const std::string& each : {nameOfGroup, nameOfNegative})
                    QVERIFY2(holds(text, each), (name + text).c_str());
                for (const char* number : {"208820269817245835", "15568366574649179806", "-2878377499060371810"})
                    QVERIFY2(!holds(text, number), (name + text).c_str());
            }
        }
    }

    void queriesShowAndAcceptTheName() {
        const TemporaryFolder folder;
        const auto path = folder / "run.sqlite";
        QVERIFY(writeTraceFile(*ranks(), path).has_value());
        const auto query = TraceQuery::open(path);
        QVERIFY(query.has_value());
        const auto found =
            query->run("SELECT communicator, count(*) FROM LANESCOPE_NCCL_OPERATIONS GROUP BY communicator");
        QVERIFY(found.has_value());
        std::vector<std::string> names;
        for (const auto& row : found->table.rows) names.push_back(std::get<std::string>(row[0]));
        QCOMPARE(names, (std::vector{nameOfNegative, nameOfGroup}));
        for (const std::string& name : names) {
            const auto rows = query->run("SELECT count(*) FROM LANESCOPE_NCCL_OPERATIONS WHERE communicator = " + name);
            QVERIFY(rows.has_value());
            QCOMPARE(std::get<int64_t>(rows->table.rows[0][0]), int64_t{2});
        }
    }

    void exportsRoundTripTheName() {
        const TracePtr trace = ranks();
        const std::string perfetto = textOf([&](const TextSink& sink) { writePerfettoTrace(*trace, sink); });
        QVERIFY(holds(perfetto, nameOfGroup) && holds(perfetto, nameOfNegative));
        QVERIFY(!holds(perfetto, std::to_string(group)));
        const std::string kineto = textOf([&](const TextSink& sink) { writeKinetoTrace(*trace, 1, sink); });
        QVERIFY(holds(kineto, nameOfGroup) && holds(kineto, nameOfNegative));
        const TemporaryFolder folder;
        const auto path = folder / "rank0.json";
        std::ofstream(path) << kineto;
        const Result<TracePtr> read = loadTrace(path);
        QVERIFY(read.has_value());
        std::vector<uint64_t> communicators;
        for (uint32_t row = 0; row < (*read)->nccl.size(); ++row)
            communicators.push_back((*read)->nccl.communicator[row]);
        QCOMPARE(communicators, (std::vector<uint64_t>{group, negative}));
        for (uint32_t row = 0; row < (*read)->nccl.size(); ++row)
            QVERIFY((*read)->nccl.facts[row].communicatorName == 0);
    }
};

LANESCOPE_TEST(tst_communicatorId, NoApplication)
#include "tst_communicatorId.moc"
