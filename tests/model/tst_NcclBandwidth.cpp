// SPDX-License-Identifier: Apache-2.0
#include "model/format/ncclFunctions.h"
#include "model/trace/collectives.h"
#include "tests/support/runTest.h"

using namespace lanescope;

class tst_NcclBandwidth : public QObject {
    Q_OBJECT

  private slots:
    /// Compared with a count, byte by byte, of the data that each operation moves over the links.
    void ncclTrafficMatchesByteCount() {
        for (const int ranks : {1, 2, 3, 8, 64}) {
            const int64_t each = 720'720;  // divisible by all of them
            const int64_t all = each * ranks;
            // A ring: every rank forwards every byte except its own part, and reduces on the way.
            int64_t gathered = 0;
            for (int other = 1; other < ranks; ++other) gathered += each;
            const auto bus = [&](const char* operation) { return ncclTraffic(operation, each, ranks)->busBytes; };
            const auto algorithm = [&](const char* operation) {
                return ncclTraffic(operation, each, ranks)->algorithmBytes;
            };
            for (const char* operation : {"AllGather", "ReduceScatter", "AlltoAll", "Gather", "Scatter"}) {
                QCOMPARE(bus(operation), double(gathered));
                QCOMPARE(algorithm(operation), double(all));
            }
            // A reduce-scatter and an all-gather of a message split into as many parts as ranks.
            int64_t reduced = 0;
            for (int part = 1; part < ranks; ++part) reduced += 2 * (each / ranks);
            QCOMPARE(qRound64(bus("AllReduce")), ranks == 64 ? qRound64(double(each) * 126 / 64) : reduced);
            QCOMPARE(algorithm("AllReduce"), double(each));
            for (const char* operation : {"Broadcast", "Reduce", "Send", "Recv"}) {
                QCOMPARE(bus(operation), double(each));
                QCOMPARE(algorithm(operation), double(each));
            }
        }
    }

    void functionAliasesHaveOneName() {
        QCOMPARE(ncclOperationOf("ncclAllReduce"), std::string_view("AllReduce"));
        QCOMPARE(ncclOperationOf("ncclBcast"), std::string_view("Broadcast"));
        QCOMPARE(ncclOperationOf("ncclAllToAll"), ncclOperationOf("ncclAlltoAll"));
        QCOMPARE(ncclOperationName("AllToAllv"), std::string_view("AlltoAllv"));
        QCOMPARE(ncclOperationName("Barrier"), std::string_view("Barrier"));
        for (const char* other : {"ncclGroupStart", "ncclCommInitRank", "AllReduce", "nccl", ""})
            QVERIFY(ncclOperationOf(other).empty());
        QCOMPARE(ncclTraffic("AllToAll", 8, 4)->busBytes, ncclTraffic("AlltoAll", 8, 4)->busBytes);
        QVERIFY(!ncclTraffic("AllToAllv", 8, 4));  // the sizes vary by peer
    }

    void trafficIsUnknownWithoutSizeRanksOrName() {
        QVERIFY(!ncclTraffic("AllReduce", -1, 8));
        QVERIFY(!ncclTraffic("AllReduce", 8, -1));
        QVERIFY(!ncclTraffic("AllGather", 8, 0));
        QVERIFY(!ncclTraffic("Barrier", 8, 8));
        QVERIFY(!ncclTraffic("", 8, 8));
        QVERIFY(ncclTraffic("Send", 8, -1));
        QVERIFY(ncclTraffic("AllReduce", 0, 8));
        QVERIFY(ncclTraffic("AllGather", INT64_MAX, 1 << 24)->busBytes > 0);
    }
};

LANESCOPE_TEST(tst_NcclBandwidth, NoApplication)
#include "tst_NcclBandwidth.moc"
