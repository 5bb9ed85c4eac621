// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include "model/format/checksums.h"
#include "tests/support/runTest.h"

using namespace lanescope;

/// Tests that shipped traces contain no private folders, and that a changed bit is detected.
class tst_sampleFolders : public QObject {
    Q_OBJECT

    static std::string unpacked(const QString& path) {
        std::string bytes(size_t{64} << 20, '\0');
        const gzFile file = ::gzopen(path.toUtf8().constData(), "rb");
        const int count = file ? ::gzread(file, bytes.data(), static_cast<unsigned>(bytes.size())) : -1;
        if (file) ::gzclose(file);
        bytes.resize(count > 0 ? static_cast<size_t>(count) : 0);
        return bytes;
    }

    static void eachSample() {
        QTest::addColumn<QString>("path");
        const QDir folder(LANESCOPE_SAMPLES);
        for (const QString& name : folder.entryList({"*.gz"}, QDir::Files))
            QTest::newRow(name.toUtf8().constData()) << folder.filePath(name);
    }
  private slots:
    void samplesContainNoFolderOfTheRecordingMachine_data() { eachSample(); }
    void samplesContainNoFolderOfTheRecordingMachine() {
        QFETCH(QString, path);
        std::string bytes = unpacked(path);
        // A folder of this repository, named in the commands.
        const std::string workloads = "tests/workloads/";
        for (size_t at = bytes.find(workloads); at != std::string::npos; at = bytes.find(workloads))
            bytes.erase(at, workloads.size());
        QVERIFY(bytes.starts_with("SQLite format 3"));
        for (const char* place : {"/home/", "/root/", "/work", "/tmp/", "/opt/", "/mnt/", "/data/", "/srv/", "/Users/",
                                  "/scratch/", "workingDirectory"}) {
            const size_t at = bytes.find(place);
            QVERIFY2(at == std::string::npos, at == std::string::npos ? "" : bytes.substr(at, 80).c_str());
        }
    }

    void samplesMatchTheirChecksums_data() { eachSample(); }
    void samplesMatchTheirChecksums() {
        QFETCH(QString, path);
        const std::string bytes = unpacked(path);
        const PageSeal seal = readSeal(bytes.size(), [&bytes](std::span<std::byte> to, uint64_t at) {
            if (at > bytes.size() || to.size() > bytes.size() - at) return false;
            std::memcpy(to.data(), bytes.data() + at, to.size());
            return true;
        });
        QVERIFY(seal.state == SealState::Whole);
        const auto all = std::as_bytes(std::span(bytes));
        const size_t pages = seal.checksums.size();
        QVERIFY(pages > 1000);
        for (size_t page = 0; page < pages; ++page)
            QVERIFY(seal.isAsSealed(page, all.subspan(page * seal.pageBytes, seal.pageBytes)));
    }
};

LANESCOPE_TEST(tst_sampleFolders, NoApplication)
#include "tst_sampleFolders.moc"
