// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include "model/export/traceFile.h"
#include "model/index/MappedFile.h"
#include "model/index/openTrace.h"
#include "model/system/system.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/traceDump.h"

using namespace lanescope;

namespace {

OpenOptions always() {
    OpenOptions options;
    options.minBytes = 0;
    return options;
}

}  // namespace

class tst_MappedFile : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        folder_ = std::make_unique<TemporaryFolder>();
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString((*folder_ / "cache").string()));
        path_ = *folder_ / "trace.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 3, .layers = 6, .ncclPlugin = true}), path_).has_value());
        index_ = indexPaths(path_).front();
    }

    void copyOutlivesItsFile() {
        QVERIFY(ensureIndex(path_).has_value());
        const std::string whole = contentOf(index_);
        const auto copy = MappedFile::open(index_, MappedFile::Access::Copied);
        QVERIFY(copy.has_value());
        std::filesystem::resize_file(index_, 0);
        QCOMPARE(copy->bytes().size(), whole.size());
        QVERIFY(std::memcmp(copy->bytes().data(), whole.data(), whole.size()) == 0);
    }

    void mappedFileOutlivesItsName() {
        QVERIFY(ensureIndex(path_).has_value());
        const std::string whole = contentOf(index_);
        const auto file = MappedFile::open(index_, MappedFile::Access::Mapped);
        QVERIFY(file.has_value());
        std::filesystem::remove(index_);
        QVERIFY(ensureIndex(path_).has_value());
        QVERIFY(std::memcmp(file->bytes().data(), whole.data(), whole.size()) == 0);
    }

    void mappedFileMayBeTruncatedDuringReading() {
        QVERIFY(ensureIndex(path_).has_value());
        const std::string whole = contentOf(index_);
        QVERIFY(whole.size() > 3 * 4096);
        const auto file = MappedFile::open(index_, MappedFile::Access::Mapped);
        QVERIFY(file.has_value());
        std::atomic<uint32_t> losses{0};
        file->countLossesInto(losses);
        std::filesystem::resize_file(index_, 4096);
        QVERIFY(std::memcmp(file->bytes().data(), whole.data(), 4096) == 0);
        QCOMPARE(losses.load(), 0u);
        for (size_t at = 4096; at < whole.size(); ++at) QVERIFY(file->bytes()[at] == std::byte{0});
        QCOMPARE(losses.load(), 1u);
    }

    void indexMayBeTruncatedDuringUse_data() {
        QTest::addColumn<double>("share");
        for (const double share : {0.0, 0.01, 0.3, 0.7}) QTest::addRow("%g of it left", share) << share;
    }
    void indexMayBeTruncatedDuringUse() {
        QFETCH(double, share);
        QVERIFY(ensureIndex(path_).has_value());
        const auto open = openTrace(path_, always());
        QVERIFY(open.has_value() && !(*open)->isCorrupt());
        const auto bytes = static_cast<double>(std::filesystem::file_size(index_));
        std::filesystem::resize_file(index_, static_cast<uintmax_t>(bytes * share));
        QVERIFY(!dumpOf(**open).empty());
        QVERIFY((*open)->isCorrupt());
        const Result<void> checked = checkIndex(**open);
        QVERIFY(!checked.has_value());
        QVERIFY2(checked.error().sentence.ends_with("."), checked.error().sentence.c_str());
        // The next index is rebuilt.
        const auto again = openTrace(path_, always());
        QVERIFY(again.has_value() && checkIndex(**again).has_value());
    }

    /// Faults outside of mapped files end the process as usual.
    void otherBusErrorsEndTheProcess() {
        if (test::hasAddressSanitizer || test::hasThreadSanitizer) QSKIP("The sanitizer has its own way to end.");
        QVERIFY(ensureIndex(path_).has_value());
        const auto file = MappedFile::open(index_, MappedFile::Access::Mapped);
        QVERIFY(file.has_value());
        const pid_t child = ::fork();
        if (child == 0) {
            // Qt Test's handler comes next and must not dump a stack.
            qputenv("QTEST_DISABLE_STACK_DUMP", "1");
            const int other = ::open((*folder_ / "other").c_str(), O_RDWR | O_CREAT, 0600);
            (void)!::ftruncate(other, 8192);
            const auto* mapped =
                static_cast<const volatile char*>(::mmap(nullptr, 8192, PROT_READ, MAP_SHARED, other, 0));
            (void)!::ftruncate(other, 0);
            ::_exit(mapped[5000]);
        }
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QVERIFY(WIFSIGNALED(status));
        QCOMPARE(WTERMSIG(status), SIGBUS);
    }

    void filesAreMappedOnlyOnSafeFileSystems() {
        // Magic numbers of file systems in the kernel, some of them negative in 32 bits.
        for (const int64_t local : {0xEF53, 0x58465342, 0x01021994}) QVERIFY(system::isLocalType(local));
        QVERIFY(system::isLocalType(0x9123683E));
        QVERIFY(system::isLocalType(static_cast<int32_t>(0x9123683E)));
        for (const int64_t remote : {0x6969, 0x517B, 0x65735546, 0x0BD00BD0, 0x47504653, 0x01021997, 0})
            QVERIFY(!system::isLocalType(remote));
        QVERIFY(!system::isLocalType(static_cast<int32_t>(0xFF534D42)));
    }

  private:
    std::unique_ptr<TemporaryFolder> folder_;
    std::filesystem::path path_, index_;
};

LANESCOPE_TEST(tst_MappedFile, NoApplication)
#include "tst_MappedFile.moc"
