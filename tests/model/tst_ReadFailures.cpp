// SPDX-License-Identifier: Apache-2.0
#include <sqlite3.h>
#include <unistd.h>
#include <cerrno>

#include "model/export/traceFile.h"
#include "model/format/Sqlite.h"
#include "model/index/openTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/traceDump.h"

using namespace lanescope;

namespace {

/// Number of the failing SQLite read, counted from 1; 0 = none.
std::atomic<int64_t> failingRead{0};
/// True if all later reads fail, too.
std::atomic<bool> goesOnFailing{false};
std::atomic<int64_t> reads{0};

bool fails() {
    const int64_t number = ++reads, failing = failingRead;
    return failing > 0 && (number == failing || (goesOnFailing && number > failing));
}

ssize_t readOrFail(int file, void* to, size_t bytes) {
    if (!fails()) return ::read(file, to, bytes);
    errno = EIO;
    return -1;
}

ssize_t preadOrFail(int file, void* to, size_t bytes, off_t at) {
    if (!fails()) return ::pread(file, to, bytes, at);
    errno = EIO;
    return -1;
}

/// Redirects SQLite's reads to the functions above during its lifetime.
class FailingReads {
  public:
    FailingReads(int64_t number, bool goesOn) {
        failingRead = number;
        goesOnFailing = goesOn;
        reads = 0;
        set(reinterpret_cast<sqlite3_syscall_ptr>(&readOrFail), reinterpret_cast<sqlite3_syscall_ptr>(&preadOrFail));
    }
    ~FailingReads() { set(nullptr, nullptr); }
    FailingReads(const FailingReads&) = delete;
    FailingReads& operator=(const FailingReads&) = delete;

  private:
    static void set(sqlite3_syscall_ptr read, sqlite3_syscall_ptr pread) {
        sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
        vfs->xSetSystemCall(vfs, "read", read);
        vfs->xSetSystemCall(vfs, "pread", pread);
        vfs->xSetSystemCall(vfs, "pread64", pread);
    }
};

}  // namespace

/// Tests that a failed read (of a disk or network file system) is an error: a partial trace must
/// not be stored anywhere.
class tst_ReadFailures : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        path_ = folder_ / "run.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 30}), path_).has_value());
        const TracePtr good = test::orFail(loadTrace(path_));
        good_ = dumpOf(*good);
        const FailingReads counting(0, false);
        OpenOptions options;
        options.minBytes = 0;
        QVERIFY(openTrace(path_, options).has_value());
        readCount_ = reads;
        QVERIFY(readCount_ > 50);
        QVERIFY(removeIndexes(path_).has_value());
    }

    void everyFailedReadIsReportedAndNothingWrongIsKept_data() {
        test::rows<bool>("goesOn", {{"once", false}, {"from then on", true}});
    }
    void everyFailedReadIsReportedAndNothingWrongIsKept() {
        QFETCH(bool, goesOn);
        OpenOptions options;
        options.minBytes = 0;
        int refused = 0;
        const int64_t step = std::max<int64_t>(1, readCount_ / 40);
        for (int64_t number = 1; number <= readCount_; number += step) {
            {
                const FailingReads failing(number, goesOn);
                const Result<TracePtr> trace = openTrace(path_, options);
                if (trace) {
                    QVERIFY2(dumpOf(**trace) == good_, qPrintable(QString::number(number)));
                } else {
                    ++refused;
                    const QByteArray sentence = trace.error().sentence.c_str();
                    QVERIFY2(sentence.contains("Input/output error"), sentence.constData());
                }
            }
            QVERIFY2(dumpOf(*test::orFail(openTrace(path_, options))) == good_, qPrintable(QString::number(number)));
            QVERIFY(removeIndexes(path_).has_value());
        }
        QVERIFY2(refused > 15, qPrintable(QString::number(refused)));
    }

    void connectionRemembersItsError() {
        const Database database = test::orFail(Database::openReadOnly(path_));
        QVERIFY(!database.trouble());
        {
            const FailingReads failing(1, true);
            QVERIFY(database.rowCount("StringIds") == 0);
        }
        QVERIFY(database.trouble().has_value());
        // A later query would succeed, but the state of the earlier one is unknown.
        QVERIFY(!database.hasTable("StringIds"));
        const Result<Database> another = Database::openReadOnly(path_);
        QVERIFY(another && another->rowCount("StringIds") > 0 && !another->trouble());
        QVERIFY(!another->prepare("SELECT nothing FROM StringIds") && !another->trouble());
    }

  private:
    TemporaryFolder folder_;
    std::filesystem::path path_;
    std::string good_;
    int64_t readCount_ = 0;
};

LANESCOPE_TEST(tst_ReadFailures, NoApplication)
#include "tst_ReadFailures.moc"
