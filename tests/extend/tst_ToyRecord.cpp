// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "capture/log/LogReader.h"
#include "model/format/tables/TableWriter.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

/// A record of the log. A real one has its own enumerator and a place in `AllRecords`.
struct ToyRecord {
    static constexpr auto kind = static_cast<log::RecordKind>(60'000);
    log::RecordHeader header;
    int64_t startNs, endNs;
    uint32_t deviceId, contextId, streamId, correlationId;
    uint32_t toyCount, owner;  ///< `owner` 0: none.
};
using ToyRecords = log::RecordList<log::EndRecord, ToyRecord>;

/// Its table of the file. A real one is also in the list of `Schema.cpp`.
struct Toys : tables::TableOf<Toys> {
    constexpr Toys() : TableOf("TOYS", "toys made on the GPU", tables::Content::Events) {}

    Integer<"start"> start{this, "begin, ns"};
    Integer<"end"> end{this, "end, ns"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"contextId"> contextId{this, "CUPTI's number of the context"};
    Integer<"streamId"> streamId{this, "CUPTI's number of the stream"};
    OptionalInteger<"correlationId"> correlationId{this, "joins it with its API call"};
    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    Integer<"toyCount"> toyCount{this, "number of toys"};
    OptionalInteger<"owner"> owner{this, "NULL without one"};
};
constexpr Toys toys;

/// Its importer: one function. A real one is an `add` of an importer of the collector.
class ToyImporter {
  public:
    explicit ToyImporter(TableWriter& rows) : rows_(rows) {}

    void operator()(const ToyRecord& r) {
        constexpr const auto& t = toys;
        const GpuWorkRow work{r.startNs, r.endNs, 4242, r.deviceId, r.contextId, r.streamId, r.correlationId};
        rows_.add(t, work, t.toyCount = r.toyCount, t.owner = nullIfZero(r.owner));
    }

  private:
    TableWriter& rows_;
};

/// Returns the bytes of a record as in a log.
template <class Record>
std::array<uint64_t, sizeof(Record) / 8> bytesOf(const Record& record) {
    std::array<uint64_t, sizeof(Record) / 8> words{};
    std::memcpy(words.data(), &record, sizeof record);
    return words;
}

}  // namespace

/// Tests that a record reaches its table by its struct, its table and one function.
class tst_ToyRecord : public QObject {
    Q_OBJECT

  private slots:
    void recordReachesItsTable() {
        const TemporaryFolder folder;
        auto database = Database::create(folder / "trace");
        QVERIFY(database && database->execute(createSql(toys).c_str()));
        FirstError error;
        TableWriter rows(*database, error);
        ToyImporter importer(rows);
        const auto words = bytesOf(ToyRecord{.startNs = 100, .endNs = 700, .streamId = 7, .toyCount = 3});
        const auto passed = dispatchRecord(ToyRecord::kind, std::as_bytes(std::span(words)), importer, ToyRecords{});
        QVERIFY(passed.value_or(false) && !error);
        auto row = database->prepare("SELECT start, streamId, globalPid, toyCount, owner FROM TOYS");
        QVERIFY(row && *row->step());
        QCOMPARE(row->integer(0), int64_t{100});
        QCOMPARE(row->integer(1), int64_t{7});
        QCOMPARE(row->integer(2), int64_t{4242});
        QCOMPARE(row->integer(3), int64_t{3});
        QVERIFY(row->isNull(4));
    }

    void shortAndUnknownRecordsReachNoVisitor() {
        int received = 0;
        const auto count = [&received](const ToyRecord&) { ++received; };
        const auto words = bytesOf(ToyRecord{});
        const auto bytes = std::as_bytes(std::span(words));
        QCOMPARE(dispatchRecord(ToyRecord::kind, bytes.first(bytes.size() - 8), count, ToyRecords{}),
                 std::optional(false));
        QCOMPARE(dispatchRecord(ToyRecord::kind, bytes, count, log::AllRecords{}), std::optional<bool>());
        // A receiver skips records that it has no function for.
        QCOMPARE(dispatchRecord(log::RecordKind::End, bytes, count, ToyRecords{}), std::optional(true));
        QCOMPARE(received, 0);
        QCOMPARE(dispatchRecord(ToyRecord::kind, bytes, count, ToyRecords{}), std::optional(true));
        QCOMPARE(received, 1);
    }
};

LANESCOPE_TEST(tst_ToyRecord, NoApplication)
#include "tst_ToyRecord.moc"
