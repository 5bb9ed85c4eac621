// SPDX-License-Identifier: Apache-2.0
#include "model/format/GlobalId.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Schema.h"
#include "model/importers/TraceFormat.h"
#include "model/trace/collectives.h"
#include "model/trace/kinds/eventFacts.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr int64_t reducer = 0xabc;

/// Rows of a simulated trace: one process whose threads call NCCL.
class Rows {
  public:
    explicit Rows(bool announces = true) {
        const int64_t main = globalTid(4242, 1);
        sql_ = QString(
                   "INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId)"
                   " VALUES (0, 75, 'NCCL', %1, 3);"
                   "INSERT INTO LANESCOPE_NCCL_COMMUNICATORS VALUES"
                   " (%2, 2748, 1, 8, 0, NULL, NULL), (%2, 2748, 1, 8, NULL, 1, 'data parallel');")
                   .arg(main)
                   .arg(globalPid(4242));
        announces_ = announces;
    }

    /// Adds the NVTX range by which NCCL announces a call.
    Rows& range(const char* operation, int64_t startNs, int64_t endNs, int64_t bytes, uint32_t thread = 1,
                int64_t communicator = reducer) {
        if (!announces_) return *this;
        ++nvtxRow_;
        sql_ += QString(
                    "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, globalTid,"
                    " domainId) VALUES (%1, %2, 59, 'nccl%3', %4, 3);"
                    "INSERT INTO LANESCOPE_NCCL_OPERATIONS VALUES (%5, '%3', %6, %7, NULL, NULL, NULL, %4);")
                    .arg(startNs)
                    .arg(endNs)
                    .arg(operation)
                    .arg(globalTid(4242, thread))
                    .arg(nvtxRow_)
                    .arg(bytes)
                    .arg(communicator);
        return *this;
    }
    struct Plugin {
        const char* operation = "AllReduce";
        TimeRange call{-1, -1}, enqueue{-1, -1}, launch{-1, -1};  // -1: NCCL before 2.28
        int64_t bytes = 4096, sequence = 7;
        uint32_t thread = 1;
        int64_t communicator = reducer;
    };
    Rows& plugin(const Plugin& p) {
        const auto time = [](int64_t ns) { return ns < 0 ? QString("NULL") : QString::number(ns); };
        const auto thread = [&](int64_t ns) {
            return ns < 0 ? QString("NULL") : QString::number(globalTid(4242, p.thread));
        };
        sql_ += QString(
                    "INSERT INTO LANESCOPE_NCCL_PLUGIN_OPERATIONS VALUES (%1, %2, %3, '%4',"
                    " 'bfloat16', %5, %6, %7, 1, NULL, NULL, %8, 'RING', 'LL128', 16, 8, 0,")
                    .arg(thread(p.call.startNs), time(p.call.startNs), time(p.call.endNs), p.operation)
                    .arg(p.bytes / 2)
                    .arg(p.bytes)
                    .arg(p.communicator)
                    .arg(p.sequence);
        sql_ += QString("%1, %2, %3, %4, %5, %6, NULL);")
                    .arg(thread(p.enqueue.startNs), time(p.enqueue.startNs), time(p.enqueue.endNs),
                         thread(p.launch.startNs), time(p.launch.startNs), time(p.launch.endNs));
        return *this;
    }
    /// Adds a kernel and the call that launches it, at one time on the CPU.
    Rows& kernel(int64_t callNs, int64_t startNs, int64_t endNs, uint32_t thread = 1) {
        ++correlation_;
        sql_ += QString(
                    "INSERT OR IGNORE INTO StringIds VALUES (1, 'kernel'), (2, 'cuLaunchKernelEx');"
                    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, \"end\", eventClass, globalTid, correlationId,"
                    " nameId, returnValue) VALUES (%1, %2, 1, %3, %4, 2, 0);")
                    .arg(callNs)
                    .arg(callNs + 1)
                    .arg(globalTid(4242, thread))
                    .arg(correlation_);
        sql_ += QString(
                    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", deviceId, contextId, streamId,"
                    " correlationId, globalPid, demangledName, shortName, gridX, gridY, gridZ, blockX, blockY, blockZ,"
                    " staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId,"
                    " registersPerThread) VALUES (%1, %2, 0, 1, 7, %3, %4, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0);")
                    .arg(startNs)
                    .arg(endNs)
                    .arg(correlation_)
                    .arg(globalPid(4242));
        return *this;
    }
    Rows& raw(const QString& sql) {
        sql_ += sql;
        return *this;
    }
    const QString& sql() const { return sql_; }

  private:
    QString sql_;
    bool announces_;
    int nvtxRow_ = 1;  // the domain's name comes first
    int correlation_ = 0;
};

}  // namespace

class tst_NcclPlugin : public QObject {
    Q_OBJECT
    std::unique_ptr<TemporaryFolder> folder_;

    TracePtr load(const Rows& rows) const {
        const std::filesystem::path file = *folder_ / "trace";
        {
            auto database = Database::create(file);
            if (!database || !createTraceTables(*database)) qFatal("cannot create the file");
            test::orFail(database->execute(rows.sql().toUtf8().constData()));
        }
        return test::orFail(loadTrace(file));
    }
    static std::string detail(const Trace& trace, EventRef event, const std::string& name) {
        for (const Property& line : describe(trace, event))
            if (line.name == name) return line.value;
        return {};
    }

  private slots:
    void init() { folder_ = std::make_unique<TemporaryFolder>(); }

    void pluginCallIsMatchedWithItsRange() {
        Rows rows;
        rows.range("AllReduce", 100, 200, 4096);
        rows.plugin({.call = {110, 120}, .enqueue = {150, 160}, .launch = {130, 140}});
        rows.kernel(135, 1000, 1512);
        const TracePtr trace = load(rows);
        QCOMPARE(test::listed(trace->nccl.size(), trace->nvtx.size()), "1 | 1");
        const NcclFacts& facts = trace->nccl.facts[0];
        QCOMPARE(trace->strings.at(facts.datatype), std::string_view("bfloat16"));
        QCOMPARE(test::listed(trace->strings.at(facts.algorithm), trace->strings.at(facts.protocol)), "RING | LL128");
        QCOMPARE(trace->strings.at(facts.communicatorName), std::string_view("data parallel"));
        QCOMPARE(test::listed(facts.count, facts.sequence, facts.rank, facts.rankCount), "2048 | 7 | 1 | 8");
        QCOMPARE(test::listed(facts.channels, facts.warps), "16 | 8");
        QCOMPARE(facts.gpu, (TimeRange{1000, 1512}));
        QCOMPARE(test::listed(facts.operationCount, facts.sharedBy), "1 | 1");
        const auto rate = test::orFail(ncclRate(*trace, 0));
        QCOMPARE(test::listed(rate.algorithmGBps(), rate.busGBps()), "8 | 14");

        for (const EventRef event :
             {EventRef(EventKind::Nvtx, 0), EventRef(EventKind::Kernel, 0), EventRef(EventKind::Projection, 0)}) {
            QCOMPARE(detail(*trace, event, "NCCL operation"), std::string("AllReduce"));
            QCOMPARE(detail(*trace, event, "Algorithm"), std::string("RING, LL128"));
            QCOMPARE(detail(*trace, event, "Elements"), std::string("2,048 bfloat16"));
            QCOMPARE(detail(*trace, event, "Communicator"), std::string("data parallel (0x0000000000000abc)"));
            QCOMPARE(detail(*trace, event, "NCCL rank"), std::string("1 of 8"));
            QCOMPARE(detail(*trace, event, "Bus bandwidth"), std::string("14.00 GB/s"));
        }
    }

    void groupSharesItsKernel() {
        Rows rows;
        rows.range("AllReduce", 100, 110, 4096).range("AllReduce", 120, 130, 4096);
        for (const int64_t callNs : {102, 122})
            rows.plugin(
                {.call = {callNs, callNs + 2}, .enqueue = {300, 310}, .launch = {200, 220}, .sequence = callNs});
        rows.kernel(210, 1000, 2000);
        const TracePtr trace = load(rows);
        QCOMPARE(trace->nccl.size(), 2u);
        for (const NcclFacts& facts : trace->nccl.facts) {
            QCOMPARE(facts.gpu, (TimeRange{1000, 2000}));
            QCOMPARE(facts.sharedBy, 2u);
        }
        QCOMPARE(test::listed(trace->nccl.facts[0].sequence, trace->nccl.facts[1].sequence), "102 | 122");
        QVERIFY(!ncclRate(*trace, 0));  // the time cannot be attributed
        QCOMPARE(detail(*trace, EventRef(EventKind::Nvtx, 0), "Kernel shared by"), std::string("2 NCCL operations"));
    }

    void renamedOperationsOfNcclVersionsAreMatched() {
        Rows rows;
        rows.range("Bcast", 100, 200, 4096);
        rows.range("AllToAll", 300, 400, 4096);
        rows.plugin({.operation = "Broadcast", .call = {110, 120}});
        rows.plugin({.operation = "AlltoAll", .call = {310, 320}});
        const TracePtr trace = load(rows);
        QCOMPARE(trace->nccl.size(), 2u);
        QCOMPARE(trace->strings.at(trace->nccl.operation[0]), std::string_view("Broadcast"));
        QCOMPARE(trace->strings.at(trace->nccl.operation[1]), std::string_view("AlltoAll"));
        for (const uint32_t row : {0u, 1u}) QCOMPARE(trace->nccl.facts[row].sequence, int64_t{7});
    }

    void allToAllTakesTheTypeOfItsParts() {
        Rows rows;
        rows.range("AlltoAll", 100, 200, 4096);
        for (const int64_t callNs : {110, 120, 130})
            rows.plugin({.operation = callNs == 120 ? "Recv" : "Send",
                         .call = {callNs, callNs + 1},
                         .enqueue = {180, 181},
                         .launch = {160, 170},
                         .sequence = -1});
        rows.kernel(165, 1000, 2000);
        const TracePtr trace = load(rows);
        QCOMPARE(trace->nccl.size(), 1u);
        const NcclFacts& facts = trace->nccl.facts[0];
        QCOMPARE(trace->strings.at(facts.datatype), std::string_view("bfloat16"));
        QCOMPARE(test::listed(facts.channels, facts.sharedBy), "-1 | 1");
        QCOMPARE(ncclRate(*trace, 0)->busGBps(), 4096 * 7 / 1000.0);
    }

    void tasksOfOldNcclAreMatchedInOrder() {
        Rows rows;
        rows.range("AllReduce", 100, 110, 64).range("Send", 120, 130, 64);
        rows.range("AllReduce", 140, 150, 64).range("AllReduce", 160, 170, 128);
        rows.plugin({.enqueue = {50, 55}, .bytes = 64, .sequence = 1});
        rows.plugin({.enqueue = {303, 309}, .bytes = 128, .sequence = 4});
        rows.plugin({.enqueue = {304, 309}, .bytes = 64, .sequence = 2});
        rows.plugin({.enqueue = {305, 309}, .bytes = 64, .sequence = 3});
        const TracePtr trace = load(rows);
        QCOMPARE(test::listed(trace->nccl.size(), trace->nvtx.size()), "4 | 4");
        QCOMPARE(test::listed(trace->nccl.facts[0].sequence, trace->nccl.facts[1].sequence), "2 | -1");
        QCOMPARE(test::listed(trace->nccl.facts[2].sequence, trace->nccl.facts[3].sequence), "3 | 4");
    }

    void rangesAreCreatedWhereNcclAnnouncedNone() {
        Rows rows(false);
        rows.plugin({.call = {100, 110}, .enqueue = {140, 150}, .launch = {120, 130}, .sequence = 1});
        // A group of two.
        rows.plugin({.call = {200, 210}, .enqueue = {260, 270}, .launch = {240, 250}, .sequence = 2});
        rows.plugin({.call = {220, 230}, .enqueue = {261, 271}, .launch = {240, 250}, .sequence = 3});
        // Messages that NCCL sends by itself for the last call.
        rows.plugin({.operation = "Send", .enqueue = {265, 266}});
        rows.kernel(125, 1000, 1100).kernel(245, 1200, 1300);
        const TracePtr trace = load(rows);
        QCOMPARE(test::listed(trace->nccl.size(), trace->nvtx.size()), "3 | 3");
        QCOMPARE(trace->nvtx.startNs, (Column<int64_t>{100, 200, 220}));
        QCOMPARE(trace->nvtx.endNs, (Column<int64_t>{150, 210, 230}));
        QCOMPARE(trace->strings.at(trace->nvtx.text[0]), std::string_view("ncclAllReduce"));
        QCOMPARE(trace->strings.at(trace->nvtx.domain[0]), std::string_view("NCCL"));
        QCOMPARE(trace->nccl.facts[0].gpu, (TimeRange{1000, 1100}));
        QCOMPARE(trace->nccl.facts[2].gpu, (TimeRange{1200, 1300}));
        QCOMPARE(trace->nccl.facts[2].sharedBy, 2u);
    }

    void rangesAreCreatedForTasksOfOldNccl() {
        Rows rows(false);
        rows.plugin({.enqueue = {50, 55}});
        const TracePtr trace = load(rows);
        QCOMPARE(trace->nccl.size(), 1u);
        QCOMPARE(trace->nvtx.endNs, Column<int64_t>{55});
    }

    void capturedCallIsShownOnce() {
        Rows rows(false);
        for (const int64_t replayNs : {500, 600, 700})
            rows.plugin({.call = {100, 110}, .enqueue = {replayNs, replayNs + 1}});
        QCOMPARE(load(rows)->nccl.size(), 1u);
    }

    void withoutPluginTheWorkInsideTheRangeIsUsed() {
        Rows rows;
        rows.range("AllGather", 100, 200, 1000).kernel(150, 1000, 1010).kernel(160, 1010, 1100);
        const TracePtr trace = load(rows);
        QCOMPARE(trace->nccl.facts[0].gpu, (TimeRange{1000, 1100}));
        QCOMPARE(trace->nccl.facts[0].operationCount, 2u);
        const auto rate = ncclRate(*trace, 0);
        QCOMPARE(test::listed(rate->algorithmGBps(), rate->busGBps()), "80 | 70");
    }

    void nonsenseRecordsAreHarmless() {
        Rows rows;
        rows.range("AllReduce", 100, 200, 4096);
        rows.raw(
            "INSERT INTO LANESCOPE_NCCL_PLUGIN_OPERATIONS (globalTid, start, \"end\", operation, channels, rank, count,"
            " sequence, launchGlobalTid, launchStart, launchEnd) VALUES (NULL, NULL, NULL, NULL, 1, 1, 1, 1, 1, 1, 1), "
            "('a', 'b', x'00', 5, 'c', 1e300, -7, -9, -1, 9223372036854775807, -5), "
            "(-1, -9223372036854775808, 9223372036854775807, 'AllReduce', 99999, -3, 0, 0, -1,  9223372036854775807,"
            " -9223372036854775808);");
        rows.raw(QString("INSERT INTO LANESCOPE_NCCL_PLUGIN_OPERATIONS (globalTid, start, operation,"
                         " channels) VALUES (%1, 150, 'AllReduce', 300);")
                     .arg(globalTid(4242, 1)));
        rows.raw(
            "INSERT INTO LANESCOPE_NCCL_COMMUNICATORS VALUES"
            " ('x', 2748, -1, -8, 0, 0, 7), (NULL, NULL, NULL, NULL, NULL, NULL, NULL);");
        const TracePtr trace = load(rows);
        QVERIFY(trace->nccl.size() >= 1);
        QCOMPARE(trace->nccl.facts.size(), trace->nccl.nvtx.size());
        for (const NcclFacts& facts : trace->nccl.facts) QVERIFY(facts.channels <= 255);
    }

    void randomCallsAreMatchedLikeThePlainLoop() {
        std::mt19937 random(3);
        const auto under = [&](uint32_t bound) { return random() % bound; };
        static const char* const names[] = {"AllReduce", "Broadcast"};
        for (int round = 0; round < 5; ++round) {
            init();
            struct Made {
                uint32_t thread;
                int64_t startNs, endNs;
                const char* name;
                bool hasPlugin;
            };
            std::vector<Made> made;
            Rows rows;
            int64_t now[3] = {0, 0, 0};
            for (int call = 0; call < 200; ++call) {
                const uint32_t thread = under(3);
                const int64_t startNs = now[thread] + 1 + under(20), endNs = startNs + 5 + under(20);
                now[thread] = endNs;
                const Made one{thread + 1, startNs, endNs, names[under(2)], under(4) != 0};
                made.push_back(one);
                rows.range(one.name, startNs, endNs, 64, one.thread);
                if (one.hasPlugin)
                    rows.plugin({.operation = one.name,
                                 .call = {startNs + 1, startNs + 2},
                                 .bytes = 64,
                                 .sequence = startNs,
                                 .thread = one.thread});
            }
            const TracePtr trace = load(rows);
            QCOMPARE(trace->nccl.size(), uint32_t(made.size()));
            for (uint32_t row = 0; row < trace->nccl.size(); ++row) {
                const uint32_t nvtx = trace->nccl.nvtx[row], tid = trace->threads[trace->nvtx.thread[nvtx]].tid;
                const auto found = std::find_if(made.begin(), made.end(), [&](const Made& one) {
                    return one.thread == tid && one.startNs == trace->nvtx.startNs[nvtx];
                });
                QVERIFY(found != made.end());
                QCOMPARE(trace->nccl.facts[row].sequence, found->hasPlugin ? found->startNs : -1);
            }
        }
    }
};

LANESCOPE_TEST(tst_NcclPlugin, NoApplication)
#include "tst_NcclPlugin.moc"
