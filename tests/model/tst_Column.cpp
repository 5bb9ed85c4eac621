// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include "model/numbers/LargeMemory.h"
#include "model/trace/Column.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

/// Values with a growing spread, so that blocks of every width occur.
template <class T>
std::vector<T> spreadValues(size_t count) {
    std::mt19937_64 random(11);
    std::vector<T> values;
    for (size_t i = 0; i < count; ++i) {
        const auto bits = static_cast<int>(i / 256 % (sizeof(T) * 8 + 1));
        uint64_t value = bits == 0 ? 0 : random() >> (64 - bits);
        if (i % 3 == 0) value = ~value;
        values.push_back(static_cast<T>(value));
    }
    return values;
}

template <class T>
void checkAgainstVector(const std::vector<T>& values) {
    Column<T> column;
    for (const T value : values) column.push_back(value);
    QCOMPARE(column.size(), values.size());
    QVERIFY(std::equal(column.begin(), column.end(), values.begin()));
    std::vector<T> copy(values.size());
    column.copyTo(copy, 0);
    QVERIFY(copy == values);
    for (const size_t first : {size_t{1}, size_t{255}, size_t{256}, size_t{1000}}) {
        std::vector<T> part(std::min<size_t>(700, values.size() - first));
        column.copyTo(part, first);
        QVERIFY(std::equal(part.begin(), part.end(), values.begin() + static_cast<long>(first)));
    }
    const Column<T> second = column;
    column.clear();
    QVERIFY(std::equal(second.begin(), second.end(), values.begin()));
}

/// Copies, moves and appends at every length.
template <class T>
void checkEveryLength() {
    LargeMemory memory;
    std::vector<T> values;
    for (size_t length = 0; length < 2 * Column<T>::blockSize + 20; ++length) {
        Column<T> column(&memory);
        for (const T value : values) column.push_back(value);
        Column<T> copy = column;
        QVERIFY(copy.memory() == nullptr);
        copy.push_back(T{7});
        Column<T> moved = std::move(column);
        QVERIFY(column.empty() && column.memory() == &memory && moved.memory() == &memory);
        column.push_back(T{3});
        QCOMPARE(column.front(), T{3});
        moved.push_back(T{7});
        const Column<T> assigned = std::exchange(copy, std::move(moved));
        values.push_back(T{7});
        for (const Column<T>* each : {&assigned, &std::as_const(copy)})
            QVERIFY(std::equal(each->begin(), each->end(), values.begin(), values.end()));
        values.back() = static_cast<T>(length * 31);
    }
}

/// The packed part of a column, copied to other memory.
struct Stored {
    explicit Stored(const Column<uint32_t>& column)
        : blocks(column.packed().blocks().begin(), column.packed().blocks().end()),
          bytes(column.packed().bytes().begin(), column.packed().bytes().end()) {}
    std::vector<PackedBlock> blocks;
    std::vector<std::byte> bytes;
};

Column<uint32_t> countingColumn(uint32_t count) {
    Column<uint32_t> column;
    for (uint32_t i = 0; i < count; ++i) column.push_back(i * 7);
    return column;
}

constexpr size_t large = LargeMemory::minLargeBytes;

/// Occupies all file descriptors during its lifetime.
class NoFiles {
  public:
    NoFiles() {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit none{1, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &none);
    }
    ~NoFiles() { ::setrlimit(RLIMIT_FSIZE, &before_); }
    NoFiles(const NoFiles&) = delete;
    NoFiles& operator=(const NoFiles&) = delete;

  private:
    rlimit before_{};
};

}  // namespace

class tst_Column : public QObject {
    Q_OBJECT

  private slots:
    void keepsValuesOfEveryWidth() {
        checkAgainstVector(spreadValues<int64_t>(20'001));
        checkAgainstVector(spreadValues<uint64_t>(20'000));
        checkAgainstVector(spreadValues<uint32_t>(10'007));
        checkAgainstVector(spreadValues<int32_t>(10'007));
        checkAgainstVector(spreadValues<int16_t>(5'000));
        checkAgainstVector(spreadValues<uint8_t>(2'600));
    }

    void keepsNumbersWithFractions() {
        std::vector<double> values;
        for (int i = 0; i < 3000; ++i) values.push_back(i % 7 == 0 ? -i / 3.0 : i * 1e9);
        values[5] = std::numeric_limits<double>::infinity();
        checkAgainstVector(values);
        Column<double> column;
        column.push_back(std::numeric_limits<double>::quiet_NaN());
        QVERIFY(column[0] != column[0]);
    }

    void closeValuesTakeFewBytes() {
        std::mt19937_64 random(2);
        Column<int64_t> times;
        for (int64_t i = 0; i < 256 * 100; ++i)
            times.push_back(int64_t{1} << 60 | static_cast<int64_t>(random() % (1 << 15)));
        QCOMPARE(times.packed().bytes().size(), size_t{256 * 100 * 15 / 8 + PackedBlocks::padding});
    }

    void evenlyRisingValuesTakeFewerBytes() {
        Column<int64_t> times;
        for (int64_t i = 0; i < 256 * 100; ++i) times.push_back(int64_t{1} << 60 | i * 100);
        QCOMPARE(times.packed().bytes().size(), size_t{8 * 100 + PackedBlocks::padding});
        // A small deviation from the line takes only the bits of the deviation.
        Column<int64_t> uneven;
        for (int64_t i = 0; i < 256 * 100; ++i) uneven.push_back(i * 10'000 + i * i * 7 % 16);
        QVERIFY(uneven.packed().bytes().size() <= 256 * 100 * 6 / 8);
    }

    void keepsValuesInAnyOrder() {
        std::mt19937_64 random(9);
        for (int round = 0; round < 200; ++round) {
            const auto first = static_cast<int64_t>(random());
            const auto slope = static_cast<int64_t>(random()) >> (round % 60);
            const uint64_t offLine = uint64_t{1} << round % 50;
            std::vector<int64_t> values;
            for (uint64_t i = 0; i < 1700; ++i)
                values.push_back(static_cast<int64_t>(static_cast<uint64_t>(first) + static_cast<uint64_t>(slope) * i +
                                                      random() % offLine));
            checkAgainstVector(values);
        }
    }

    void objectIsSmallAndMovableAtAnyLength() {
        // Columns dominate the memory of many lanes with one slice each.
        QCOMPARE(sizeof(Column<int64_t>), size_t{24});
        checkEveryLength<int64_t>();
        checkEveryLength<uint32_t>();
        checkEveryLength<uint8_t>();
    }

    void changesSingleValues() {
        std::mt19937_64 random(3);
        std::vector<int64_t> values = spreadValues<int64_t>(5'000);
        for (int64_t i = 0; i < 1000; ++i) values.push_back(i * 1000);  // a sloped block is changed
        Column<int64_t> column;
        for (const int64_t value : values) column.push_back(value);
        for (int i = 0; i < 2000; ++i) {
            const size_t index = random() % values.size();
            const auto value = static_cast<int64_t>(random() >> (random() % 64));
            values[index] = value;
            column.set(index, value);
        }
        QVERIFY(std::equal(column.begin(), column.end(), values.begin()));
    }

    void isSearchedLikeAVector() {
        const Column<uint32_t> column = countingColumn(2000);
        const auto found = std::lower_bound(column.begin(), column.end(), 701u);
        QCOMPARE(found - column.begin(), std::ptrdiff_t{101});
        QCOMPARE(*(found - 1), 700u);
        QCOMPARE(std::count(column.begin(), column.end(), 14u), std::ptrdiff_t{1});
        QCOMPARE(column.back(), 1999u * 7);
    }

    void readsFromMappedMemory() {
        const Column<uint32_t> column = countingColumn(512);
        const Stored stored(column);
        Column<uint32_t> mapped;
        QVERIFY(mapped.map(stored.blocks, stored.bytes, 300));
        QCOMPARE(mapped.size(), size_t{300});
        QVERIFY(std::equal(mapped.begin(), mapped.end(), column.begin()));
        QVERIFY(!mapped.map(stored.blocks, stored.bytes, 513) && !mapped.map(stored.blocks, {}, 10));
        QVERIFY(!mapped.map(stored.blocks, stored.bytes, std::numeric_limits<size_t>::max() - 3));
    }

    void missingRowsReadAsZero() {
        const Stored stored(countingColumn(512));
        Column<uint32_t> mapped;
        QVERIFY(mapped.map(stored.blocks, stored.bytes, 300));
        QCOMPARE(mapped[299], 299u * 7);
        for (const size_t row : {size_t{300}, size_t{511}, size_t{512}, ~size_t{0}}) QCOMPARE(mapped[row], 0u);
        std::vector<uint32_t> copy(400, 1);
        mapped.copyTo(copy, 100);
        QCOMPARE(test::listed(copy[199], copy[200]), test::listed(299u * 7, 0u));
        const Column<EventRef> none{};
        QVERIFY(!none.back().isValid());
    }

    void neverReadsOutsideOfMappedMemory() {
        std::mt19937_64 random(5);
        Column<uint32_t> uneven;
        for (int i = 0; i < 1024; ++i) uneven.push_back(static_cast<uint32_t>(random() % 3000));
        const Stored sloped(countingColumn(1024)), plain(uneven);
        for (int round = 0; round < 1000; ++round) {
            const Stored& good = round % 2 == 0 ? sloped : plain;
            // Separate memory, so that a sanitizer detects accesses outside.
            std::vector<PackedBlock> blocks = good.blocks;
            const size_t length = std::min(good.bytes.size(), 8 + random() % good.bytes.size());
            const auto end = good.bytes.begin() + static_cast<long>(length);
            std::vector<std::byte> bytes(good.bytes.begin(), end);
            blocks[random() % blocks.size()].place ^= uint64_t{1} << random() % 64;
            Column<uint32_t> mapped;
            QVERIFY(mapped.map(blocks, bytes, 1024));
            mapped.bound(0, 999);
            std::vector<uint32_t> copy(1024);
            mapped.copyTo(copy, 0);
            for (size_t i = 0; i < copy.size(); ++i) {
                QVERIFY(mapped[i] < 1000);
                QCOMPARE(copy[i], mapped[i]);
            }
        }
    }

    void boundsChecksIndicesAndEvents() {
        Column<uint32_t> column = countingColumn(256);
        column.set(9, noIndex);
        const Stored stored(column);
        Column<uint32_t> mapped;
        QVERIFY(mapped.map(stored.blocks, stored.bytes, 256));
        mapped.bound(0, 69, true);
        QCOMPARE(test::listed(mapped[8], mapped[9], mapped[10]), test::listed(56u, noIndex, 0u));
        mapped.bound(0, 69);
        QCOMPARE(mapped[9], 0u);

        Column<EventRef> events;
        for (uint32_t i = 0; i < 256; ++i) events.push_back({EventKind::Kernel, i});
        RowCounts rows{};
        rows[static_cast<size_t>(EventKind::Kernel)] = 100;
        events.bound(&rows);
        QCOMPARE(events[99], EventRef(EventKind::Kernel, 99));
        QVERIFY(!events[100].isValid());
    }

    void privateMemoryIsUsedUpToTheBound() {
        LargeMemory memory(folder_.path(), 3 * large);
        void* const first = memory.allocate(2 * large);
        void* const second = memory.allocate(large);
        QCOMPARE(test::listed(memory.ownBytes(), memory.fileBytes()), test::listed(3 * large, 0));
        void* const third = memory.allocate(large);
        QCOMPARE(test::listed(memory.ownBytes(), memory.fileBytes()), test::listed(3 * large, large));
        memory.release(second, large);
        void* const fourth = memory.allocate(large);
        QCOMPARE(memory.fileBytes(), large);
        for (void* const each : {third, fourth}) memory.release(each, large);
        memory.release(first, 2 * large);
        QCOMPARE(memory.ownBytes() + memory.fileBytes(), size_t{0});
    }

    void shortBlocksAreUnaffected() {
        LargeMemory memory(folder_.path(), 0);
        void* const block = memory.allocate(large - 1);
        QCOMPARE(memory.ownBytes() + memory.fileBytes(), size_t{0});
        memory.release(block, large - 1);
    }

    void backingFileIsPrivate() {
        LargeMemory memory(folder_.path(), 0);
        void* const block = memory.allocate(large);
        QCOMPARE(memory.fileBytes(), large);
        QVERIFY(std::filesystem::is_empty(folder_.path()));
        memory.release(block, large);
    }

    void growingBlockKeepsItsContent_data() {
        QTest::addColumn<size_t>("ownBytes");
        QTest::addRow("own") << (size_t{1} << 40);
        QTest::addRow("in the file") << size_t{0};
        QTest::addRow("moving there") << 3 * large;
    }
    void growingBlockKeepsItsContent() {
        QFETCH(size_t, ownBytes);
        LargeMemory memory(folder_.path(), ownBytes);
        size_t bytes = 1000;
        auto* block = static_cast<unsigned char*>(memory.resize(nullptr, 0, bytes));
        const auto valueAt = [](size_t at) { return static_cast<unsigned char>(at * 31 + at / 251); };
        for (size_t at = 0; at < bytes; ++at) block[at] = valueAt(at);
        while (bytes < size_t{20} << 20) {
            const size_t more = bytes + bytes / 2;
            block = static_cast<unsigned char*>(memory.resize(block, bytes, more));
            for (size_t at = bytes; at < more; ++at) block[at] = valueAt(at);
            bytes = more;
        }
        block = static_cast<unsigned char*>(memory.resize(block, bytes, bytes / 3));
        bytes /= 3;
        bool isSame = true;
        for (size_t at = 0; at < bytes; ++at) isSame = isSame && block[at] == valueAt(at);
        QVERIFY(isSame);
        QVERIFY(memory.ownBytes() <= std::max(ownBytes, large));
        memory.release(block, bytes);
        QCOMPARE(memory.ownBytes() + memory.fileBytes(), size_t{0});
    }

    void blocksDoNotOverlap() {
        LargeMemory memory(folder_.path(), 0);
        std::mt19937 random(1);
        std::vector<LargeVector<uint32_t>> blocks;
        for (uint32_t round = 0; round < 400; ++round) {
            if (round % 3 == 2) blocks.erase(blocks.begin() + random() % blocks.size());
            LargeVector<uint32_t>& block = blocks.emplace_back(&memory);
            block.assign(large + random() % (16 * large), round);
        }
        for (const LargeVector<uint32_t>& block : blocks)
            QVERIFY(std::ranges::all_of(block, [&](uint32_t each) { return each == block.front(); }));
    }

    void privateMemoryIsUsedWithoutAFile() {
        LargeMemory nowhere(folder_.path() / "missing", 0);
        void* block = nowhere.allocate(large);
        QCOMPARE(nowhere.ownBytes(), large);
        block = nowhere.resize(block, large, 5 * large);
        QCOMPARE(nowhere.ownBytes(), 5 * large);
        nowhere.release(block, 5 * large);

        const NoFiles limit;
        LargeMemory limited(folder_.path(), 0);
        block = limited.allocate(large);
        std::memset(block, 1, large);
        QCOMPARE(limited.ownBytes(), large);
        limited.release(block, large);
    }

    void worksAsVectorAllocator() {
        LargeMemory memory(folder_.path(), 0);
        LargeVector<int64_t> there(large, 7, &memory);
        QCOMPARE(memory.fileBytes(), large * sizeof(int64_t));
        LargeVector<int64_t> other;
        other = std::move(there);
        QCOMPARE(memory.fileBytes(), large * sizeof(int64_t));
        const LargeVector<int64_t> copy = other;
        QVERIFY(copy == other);
        QCOMPARE(memory.fileBytes(), 2 * large * sizeof(int64_t));
    }

    void storesGrowingColumns() {
        LargeMemory memory(folder_.path(), 0);
        Column<int64_t> column(&memory);
        std::mt19937_64 random(1);
        std::vector<int64_t> values;
        for (int row = 0; row < 300'000; ++row) {
            values.push_back(static_cast<int64_t>(random()));
            column.push_back(values.back());
        }
        QVERIFY(memory.fileBytes() > 300'000 * sizeof(int64_t) - large);
        QVERIFY(std::ranges::equal(column, values));
        const Column<int64_t> copy = column;
        QVERIFY(copy.memory() == nullptr && copy == column);
        column.set(1000, 1);
        QCOMPARE(column[1000], int64_t{1});
        Column<int64_t> moved = std::move(column);
        QVERIFY(moved.memory() == &memory);
        moved.clear();
        QVERIFY(moved.memory() == &memory);
        QCOMPARE(memory.fileBytes(), size_t{0});
    }

  private:
    TemporaryFolder folder_;
};

LANESCOPE_TEST(tst_Column, NoApplication)
#include "tst_Column.moc"
