// SPDX-License-Identifier: Apache-2.0
#include "model/numbers/LargeMemory.h"

#include <sys/resource.h>

#include "model/trace/Column.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

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

class tst_LargeMemory : public QObject {
    Q_OBJECT

  private slots:
    void privateMemoryIsUsedUpToTheBound() {
        LargeMemory memory(folder_.path(), 3 * large);
        void* const first = memory.allocate(2 * large);
        void* const second = memory.allocate(large);
        QCOMPARE(memory.ownBytes(), 3 * large);
        QCOMPARE(memory.fileBytes(), size_t{0});
        void* const third = memory.allocate(large);
        QCOMPARE(memory.ownBytes(), 3 * large);
        QCOMPARE(memory.fileBytes(), large);
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

LANESCOPE_TEST(tst_LargeMemory, NoApplication)
#include "tst_LargeMemory.moc"
