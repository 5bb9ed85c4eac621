// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <QDir>
#include <QtTest>
#include <string>

#include "tests/support/runTest.h"

/// The traces that are shipped tell nobody's folders.
class tst_sampleFolders : public QObject {
    Q_OBJECT

    static std::string unpacked(const QString& path) {
        std::string bytes(size_t{64} << 20, '\0');
        const gzFile file = ::gzopen(path.toUtf8().constData(), "rb");
        const int count =
            file ? ::gzread(file, bytes.data(), static_cast<unsigned>(bytes.size())) : -1;
        if (file) ::gzclose(file);
        bytes.resize(count > 0 ? static_cast<size_t>(count) : 0);
        return bytes;
    }

  private slots:
    void holdNoFolderOfTheRecordingMachine_data() {
        QTest::addColumn<QString>("path");
        const QDir folder(LANESCOPE_SAMPLES);
        for (const QString& name : folder.entryList({"*.gz"}, QDir::Files))
            QTest::newRow(name.toUtf8().constData()) << folder.filePath(name);
    }
    void holdNoFolderOfTheRecordingMachine() {
        QFETCH(QString, path);
        std::string bytes = unpacked(path);
        // A folder of this repository, which the commands name.
        const std::string workloads = "tests/workloads/";
        for (size_t at = bytes.find(workloads); at != std::string::npos; at = bytes.find(workloads))
            bytes.erase(at, workloads.size());
        QVERIFY(bytes.starts_with("SQLite format 3"));
        for (const char* place : {"/home/", "/root/", "/work", "/tmp/", "/opt/", "/mnt/", "/data/",
                                  "/srv/", "/Users/", "/scratch/", "workingDirectory"}) {
            const size_t at = bytes.find(place);
            QVERIFY2(at == std::string::npos,
                     at == std::string::npos ? "" : bytes.substr(at, 80).c_str());
        }
    }
};

LANESCOPE_TEST(tst_sampleFolders, NoApplication)
#include "tst_sampleFolders.moc"
