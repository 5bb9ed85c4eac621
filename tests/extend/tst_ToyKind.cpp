// SPDX-License-Identifier: Apache-2.0
#include "model/trace/kinds/allKinds.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

/// Allocations, described as if they were an event kind. A real kind has its own enumerator and a
/// case in `allKinds.h`; its description is the same.
struct Allocation : kinds::TableKind<EventKind::None, &Trace::allocations> {
    static constexpr std::string_view identifier = "allocation";
    static constexpr std::string_view name = "Allocation", plural = "allocations";

    static std::string nameOf(const Trace& trace, uint32_t row) {
        return trace.allocations.isLive[row] != 0 ? "never freed" : "freed";
    }
    static SliceCategory categoryOf(const Trace&, uint32_t) { return SliceCategory::ManagedMemory; }
    static constexpr std::array tracks{TrackKind::GpuEvents};
    static kinds::TrackSubject trackOf(const Trace& trace, uint32_t row) {
        return {TrackKind::GpuEvents, trace.allocations.gpu[row]};
    }
    struct Row {
        int64_t startNs = 0, endNs = 0, bytes = 0;
        uint64_t address = 0;
        MemoryKind kind = MemoryKind::Unknown;
        bool isLive = false;
        uint32_t process = noIndex, gpu = noIndex;
    };
    static void append(Trace& trace, const Row& row) {
        AllocationTable& table = trace.allocations;
        table.address.push_back(row.address);
        table.kind.push_back(row.kind);
        table.isLive.push_back(row.isLive ? 1 : 0);
        table.isPooled.push_back(0);
    }

    static void describe(const Trace& trace, uint32_t row, kinds::Details& details) {
        details.add("Allocation", nameOf(trace, row));
        details.addGpu(trace.allocations.gpu[row]);
    }
};
static_assert(kinds::EventDescription<Allocation>);

/// A kind without a name for its events, and one without a row type.
struct Nameless : kinds::TableKind<EventKind::None, &Trace::allocations> {};
static_assert(!kinds::EventDescription<Nameless>);
struct Unread : Allocation {
    struct Row {};
};
static_assert(!kinds::EventDescription<Unread>);

}  // namespace

class tst_ToyKind : public QObject {
    Q_OBJECT

  private slots:
    void columnsDetermineTheOwner() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addKernel(stream, "gemm", 0, 1'000);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x1000, 4096, 100);
        builder.addFree(0, 0, 0x1000, 700);
        const TracePtr trace = builder.finish();
        QCOMPARE(Allocation::size(*trace), 1u);
        QCOMPARE(Allocation::rangeOf(*trace, 0), (TimeRange{100, 700}));
        QCOMPARE(Allocation::processOf(*trace, 0), 0u);
        QCOMPARE(Allocation::gpuOf(*trace, 0), 0u);
        QCOMPARE(*Allocation::bytesOf(*trace, 0), int64_t{4096});
        // Its table has no such columns.
        QCOMPARE(Allocation::streamOf(*trace, 0), noIndex);
        QCOMPARE(Allocation::threadOf(*trace, 0), noIndex);
        QCOMPARE(Allocation::correlationOf(*trace, 0), 0u);
        QVERIFY(!Allocation::isGpuWork);
        kinds::Details details(*trace, {});
        Allocation::describe(*trace, 0, details);
        QCOMPARE(details.take().front().value, std::string("freed"));
    }

    void builderAcceptsTheKind() {
        SimulatedTrace builder;
        builder.addGpu();
        builder.add<Allocation>({.startNs = 100, .endNs = 700, .bytes = 4096, .address = 1, .process = 0, .gpu = 0});
        builder.add<Allocation>({.startNs = 100, .endNs = 50, .process = 0});
        builder.add<Allocation>({.startNs = 100, .endNs = 700, .process = 12});
        const AllocationTable& table = builder.trace().allocations;
        QCOMPARE(table.size(), 1u);
        QCOMPARE(Allocation::rangeOf(builder.trace(), 0), (TimeRange{100, 700}));
        QCOMPARE(table.bytes[0], int64_t{4096});
        forEachField(table, [](const auto& column) { QCOMPARE(column.size(), size_t{1}); });
        const TracePtr trace = builder.finish();
        QVERIFY(trace->health[0].sentence.starts_with("2 rows of allocations were skipped"));
    }
};

LANESCOPE_TEST(tst_ToyKind, NoApplication)
#include "tst_ToyKind.moc"
