// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <bit>

#include "model/format/Sqlite.h"
#include "model/importers/sqlite/TableRows.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

/// A cell as written or read.
struct Cell {
    CellType type = CellType::Null;
    int64_t bits = 0;
    std::string text;
    bool operator==(const Cell&) const = default;
};
using Row = std::vector<Cell>;

constexpr const char* table = "CUPTI_ACTIVITY_KIND_RUNTIME";

/// Declaration of the table and properties of its rows.
struct Kind {
    const char* columns = "number INTEGER, word TEXT, share REAL";
    int64_t rows = 40'000;
    int64_t firstNumber = 1;
    int maxRowIdGap = 0;  ///< Between the row numbers.
    size_t longText = 0;  ///< Letters of every third text.
    bool hasNumbers = true;
};

std::vector<Row> write(const std::filesystem::path& path, const Kind& kind) {
    auto database = Database::create(path);
    if (!database) return {};
    const std::string create = fmt::format("CREATE TABLE {} ({})", table, kind.columns);
    if (!database->execute(create.c_str()) || !database->execute("BEGIN")) return {};
    auto insert = database->prepare(
        kind.hasNumbers ? fmt::format("INSERT INTO {} (rowid, number, word, share) VALUES (?4, ?1, ?2, ?3)", table)
                        : fmt::format("INSERT INTO {} (number, word, share) VALUES (?1, ?2, ?3)", table));
    if (!insert) return {};
    std::mt19937 random(1);
    std::vector<Row> rows;
    int64_t number = kind.firstNumber;
    for (int64_t row = 0; row < kind.rows; ++row) {
        const std::string word(row % 3 == 0 ? kind.longText : random() % 5, static_cast<char>('a' + row % 26));
        insert->bind(1, row);
        insert->bind(2, std::string_view(word));
        if (row % 5 == 0)
            insert->bindNull(3);
        else
            insert->bind(3, static_cast<double>(row) / 7);
        if (kind.hasNumbers) insert->bind(4, number);
        number +=
            1 + (kind.maxRowIdGap > 0 ? static_cast<int64_t>(random() % static_cast<uint32_t>(kind.maxRowIdGap)) : 0);
        if (!insert->run()) return {};
        rows.push_back(
            {{CellType::Integer, row, {}},
             {CellType::Text, 0, word},
             row % 5 == 0 ? Cell{} : Cell{CellType::Real, std::bit_cast<int64_t>(static_cast<double>(row) / 7), {}}});
    }
    return database->execute("COMMIT") ? rows : std::vector<Row>();
}

struct Reading {
    std::vector<Row> rows;
    bool isCorrupt = false;
};

Reading read(const std::filesystem::path& path, unsigned threads) {
    const auto database = Database::openReadOnly(path);
    Reading reading;
    if (!database) return reading;
    TraceBuilder trace;
    const LoadProgress progress;
    LoadContext context(*database, trace, threads, progress);
    TableRows rows(context, table, "number, word, share");
    while (const RowBatch* batch = rows.next())
        for (size_t index = 0; index < batch->rowCount(); ++index) {
            Row& row = reading.rows.emplace_back();
            for (int column = 0; column < 3; ++column) {
                const RowBatch::Cell& cell = batch->row(index)[column];
                if (cell.type == CellType::Text)
                    row.push_back({cell.type, 0, std::string(batch->text(cell))});
                else
                    row.push_back({cell.type, cell.bits, {}});
            }
        }
    reading.isCorrupt = rows.isCorrupt();
    return reading;
}

}  // namespace

class tst_TableRows : public QObject {
    Q_OBJECT

  private slots:
    void rowsAreReturnedInOrder_data() {
        QTest::addColumn<int>("shape");
        QTest::newRow("few") << 0;
        QTest::newRow("many") << 1;
        QTest::newRow("with gaps") << 2;
        QTest::newRow("long texts") << 3;
        QTest::newRow("far apart") << 4;
        QTest::newRow("negative numbers") << 5;
        QTest::newRow("without numbers") << 6;
        QTest::newRow("a column named rowid") << 7;
        QTest::newRow("empty") << 8;
    }

    void rowsAreReturnedInOrder() {
        QFETCH(int, shape);
        Kind kind;
        if (shape == 0) kind.rows = 100;
        if (shape == 2) kind.maxRowIdGap = 9;
        if (shape == 3) kind = {.rows = 20'000, .longText = 4000};
        if (shape == 4) kind.maxRowIdGap = 100'000;
        if (shape == 5) kind.firstNumber = -20'000;
        if (shape == 7) kind = {.columns = "number INTEGER, word TEXT, share REAL, ROWID TEXT", .hasNumbers = false};
        if (shape == 8) kind.rows = 0;
        const TemporaryFolder folder;
        const std::vector<Row> rows =
            shape == 6 ? writeWithoutNumbers(folder / "trace") : write(folder / "trace", kind);
        QCOMPARE(rows.empty(), shape == 8);
        for (const unsigned threads : {1u, 2u, 5u}) {
            const Reading reading = read(folder / "trace", threads);
            QVERIFY(!reading.isCorrupt);
            QVERIFY(reading.rows == rows);
        }
    }

    void corruptPageEndsAtTheSameRowForAnyThreadCount() {
        const TemporaryFolder folder;
        QVERIFY(!write(folder / "trace", {}).empty());
        const auto size = std::filesystem::file_size(folder / "trace");
        {
            std::fstream file(folder / "trace", std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(static_cast<std::streamoff>(size / 2 / 4096 * 4096));
            file << std::string(4096, '\x77');
        }
        const Reading alone = read(folder / "trace", 1);
        QVERIFY(alone.isCorrupt);
        QVERIFY(!alone.rows.empty());
        QVERIFY(alone.rows.size() < 40'000);
        for (const unsigned threads : {2u, 4u}) {
            const Reading together = read(folder / "trace", threads);
            QVERIFY(together.isCorrupt);
            QVERIFY(together.rows == alone.rows);
        }
    }

    /// A reader may begin before another has ended.
    void tablesAreReadAlternately() {
        const TemporaryFolder folder;
        const std::vector<Row> rows = write(folder / "trace", {});
        const auto database = Database::openReadOnly(folder / "trace");
        QVERIFY(database.has_value() && !rows.empty());
        TraceBuilder trace;
        const LoadProgress progress;
        LoadContext context(*database, trace, 4, progress);
        for (int round = 0; round < 5; ++round) {
            TableRows first(context, table, "number");
            TableRows second(context, table, "number, share");
            std::array<TableRows*, 2> both{&first, &second};
            std::array<int64_t, 2> counts{};
            for (bool isAny = true; isAny;) {
                isAny = false;
                for (size_t which = 0; which < both.size(); ++which) {
                    const RowBatch* batch = both[which]->next();
                    if (batch == nullptr) continue;
                    isAny = true;
                    for (size_t row = 0; row < batch->rowCount(); ++row)
                        QCOMPARE(batch->row(row)->bits, counts[which]++);
                }
            }
            QCOMPARE(counts[0], static_cast<int64_t>(rows.size()));
            QCOMPARE(counts[1], static_cast<int64_t>(rows.size()));
        }
    }

    void readingMayStopAtAnyTime() {
        const TemporaryFolder folder;
        QVERIFY(!write(folder / "trace", {}).empty());
        const auto database = Database::openReadOnly(folder / "trace");
        QVERIFY(database.has_value());
        TraceBuilder trace;
        const LoadProgress progress;
        LoadContext context(*database, trace, 3, progress);
        for (int batches = 0; batches < 6; ++batches) {
            TableRows rows(context, table, "number");
            for (int batch = 0; batch < batches; ++batch) QVERIFY(rows.next() != nullptr);
        }
    }

  private:
    /// Writes rows into a table without row numbers.
    static std::vector<Row> writeWithoutNumbers(const std::filesystem::path& path) {
        auto database = Database::create(path);
        if (!database) return {};
        const std::string create =
            fmt::format("CREATE TABLE {} (number INTEGER PRIMARY KEY, word TEXT, share REAL) WITHOUT ROWID", table);
        if (!database->execute(create.c_str()) || !database->execute("BEGIN")) return {};
        auto insert = database->prepare(fmt::format("INSERT INTO {} VALUES (?1, 'w', NULL)", table));
        std::vector<Row> rows;
        for (int64_t row = 0; row < 20'000; ++row) {
            insert->bind(1, row);
            if (!insert->run()) return {};
            rows.push_back({{CellType::Integer, row, {}}, {CellType::Text, 0, "w"}, {}});
        }
        insert->reset();
        return database->execute("COMMIT") ? rows : std::vector<Row>();
    }
};

LANESCOPE_TEST(tst_TableRows, NoApplication)
#include "tst_TableRows.moc"
