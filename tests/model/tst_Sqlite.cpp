// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "model/format/Sqlite.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"

using namespace lanescope;

class tst_Sqlite : public QObject {
    Q_OBJECT

  private slots:
    void init() { folder_ = std::make_unique<TemporaryFolder>(); }

    void boundValuesAreStored() {
        Database database = create("a", "CREATE TABLE t (a INTEGER, b REAL, c TEXT, d INTEGER)");
        auto insert = database.prepare("INSERT INTO t VALUES (?1, ?2, ?3, ?4)");
        QVERIFY(insert);
        insert->bind(1, int64_t{INT64_MIN});
        insert->bind(2, 0.25);
        insert->bind(3, std::string_view("a\0b", 3));
        insert->bind(4, std::optional<int64_t>());
        QVERIFY(insert->run());
        insert->bind(1, int64_t{2});
        insert->bind(3, std::string_view());
        QVERIFY(insert->run());

        auto select = database.prepare("SELECT a, b, c, d FROM t");
        QVERIFY(select);
        QCOMPARE(select->columnCount(), 4);
        QCOMPARE(select->columnName(2), std::string("c"));
        QVERIFY(*select->step());
        QCOMPARE(select->integer(0), int64_t{INT64_MIN});
        QCOMPARE(select->real(1), 0.25);
        QCOMPARE(select->text(2), std::string_view("a\0b", 3));
        QVERIFY(select->isNull(3));
        QVERIFY(select->isInteger(0) && !select->isInteger(1) && !select->isInteger(2));
        QVERIFY(*select->step());
        QVERIFY(!select->isNull(2) && select->text(2).empty());
        QVERIFY(!*select->step());
        QCOMPARE(database.rowCount("t"), int64_t{2});
        QCOMPARE(database.rowCount("missing"), int64_t{0});
    }

    void createdFileIsPrivate() {
        create("private", "CREATE TABLE t (a)");
        struct stat status {};
        QCOMPARE(::stat((*folder_ / "private").c_str(), &status), 0);
        QCOMPARE(status.st_mode & 0777, 0600u);
    }

    void existingFileIsNotOverwritten() {
        put(*folder_ / "there", "precious");
        const auto database = Database::create(*folder_ / "there");
        QVERIFY(!database);
        QVERIFY(database.error().sentence.find("exists") != std::string::npos);
        QCOMPARE(std::filesystem::file_size(*folder_ / "there"), uintmax_t{8});
    }

    void openErrorGivesTheReason_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("fragment");
        QTest::newRow("missing") << "nowhere" << QByteArray() << "no such file";
        QTest::newRow("empty") << "empty" << QByteArray("") << "is empty";
        QTest::newRow("folder") << "." << QByteArray() << "this is a folder";
        QTest::newRow("text") << "text" << QByteArray("hello, trace") << "not an SQLite file";
        QTest::newRow("Nsight report") << "run.nsys-rep" << QByteArray("QDSTRM") << "nsys export";
        QTest::newRow("header only") << "header" << QByteArray("SQLite format 3\0", 16)
                                     << "truncated inside its header";
        QTest::newRow("zeros") << "zeros" << QByteArray(4096, '\0') << "not an SQLite file";
    }
    void openErrorGivesTheReason() {
        QFETCH(QString, name);
        QFETCH(QByteArray, bytes);
        QFETCH(QString, fragment);
        const auto path = *folder_ / name.toUtf8().constData();
        if (!bytes.isNull()) put(path, bytes.toStdString());
        const auto database = Database::openReadOnly(path);
        QVERIFY(!database);
        const QString sentence = QString::fromStdString(database.error().sentence);
        QVERIFY2(sentence.contains(fragment), qPrintable(sentence));
        QVERIFY2(sentence.contains(QString::fromStdString(path.string())), qPrintable(sentence));
        QVERIFY2(sentence.endsWith('.'), qPrintable(sentence));
    }

    void strangeNamesAreFileNames() {
        // As relative paths, these would be an SQLite URI and an in-memory database.
        const auto previous = std::filesystem::current_path();
        std::filesystem::current_path(folder_->path());
        for (const char* name : {"file:x?mode=memory", ":memory:"}) {
            QVERIFY(Database::create(name)->execute("CREATE TABLE t (a)"));
            QVERIFY(std::filesystem::exists(*folder_ / name));
            QVERIFY(Database::openReadOnly(name)->hasTable("t"));
        }
        std::filesystem::current_path(previous);
    }

    void opensForReadingOnly() {
        create("a", "CREATE TABLE t (a)");
        auto database = Database::openReadOnly(*folder_ / "a");
        QVERIFY(database);
        QVERIFY(!database->execute("INSERT INTO t VALUES (1)"));
        QVERIFY(!database->execute("DROP TABLE t"));
        QVERIFY(!database->execute("ATTACH DATABASE 'b' AS b"));
        QVERIFY(database->execute("SELECT count(*) FROM t"));
    }

    void viewsAndVirtualTablesAreNotListed() {
        create("a",
               "CREATE TABLE t (a);"
               "CREATE VIEW v AS WITH RECURSIVE c(a) AS (SELECT 1 UNION ALL SELECT a FROM c)"
               " SELECT a FROM c;"
               "CREATE VIRTUAL TABLE f USING fts5(a)");
        const auto database = Database::openReadOnly(*folder_ / "a");
        QVERIFY(database);
        QVERIFY(database->hasTable("t") && database->hasTable("T"));
        QVERIFY(database->hasColumn("t", "a") && !database->hasColumn("t", "b"));
        QVERIFY(!database->hasTable("v") && !database->hasColumn("v", "a"));
        QVERIFY(!database->hasTable("f"));
        QVERIFY(!database->prepare("SELECT a FROM v"));
        const auto tables = database->tables();
        QVERIFY(std::find(tables.begin(), tables.end(), "t") != tables.end());
        QVERIFY(std::find(tables.begin(), tables.end(), "v") == tables.end());
    }

    void functionsOfAFileAreNotRun() {
        create("a", "CREATE TABLE t (a, b AS (zeroblob(100000000)))");
        const auto database = Database::openReadOnly(*folder_ / "a");
        QVERIFY(database);
        QVERIFY(!database->prepare("SELECT load_extension('x')"));
        QVERIFY(!database->prepare("SELECT zeroblob(1)"));
        QVERIFY(database->prepare("SELECT max(a), count(*) FROM t"));
    }

    void errorsNameTheFile() {
        create("a", "CREATE TABLE t (a)");
        const auto database = Database::openReadOnly(*folder_ / "a");
        const auto statement = database->prepare("SELECT nothing FROM t");
        QVERIFY(!statement);
        QVERIFY(statement.error().sentence.find((*folder_ / "a").string()) != std::string::npos);
    }

  private:
    Database create(const char* name, const char* sql) {
        Result<Database> database = Database::create(*folder_ / name);
        if (!database) qFatal("%s", database.error().sentence.c_str());
        if (!database->execute(sql)) qFatal("cannot run %s", sql);
        return std::move(*database);
    }

    std::unique_ptr<TemporaryFolder> folder_;
};

LANESCOPE_TEST(tst_Sqlite, NoApplication)
#include "tst_Sqlite.moc"
