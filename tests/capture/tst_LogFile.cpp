// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <csignal>

#include "capture/agent/DiskReserve.h"
#include "capture/log/LogFile.h"
#include "capture/log/LogReader.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::log;

namespace {

/// Properties by name, with every string resolved, and other relevant records.
struct Contents {
    std::map<uint32_t, std::string> strings;
    std::vector<std::pair<std::string, std::string>> properties;
    std::vector<uint64_t> lost;
    log::LogReader::Progress progress;
    uint64_t bytesNotUnderstood = 0;
    bool isCorrupt = false;
    int brokenErrno = 0;

    void operator()(const log::StringRecord& record, std::string_view text) { strings[record.id] = text; }
    void operator()(const log::PropertyRecord& record) {
        const auto text = [this](uint32_t id) { return id == 0 ? "" : strings.count(id) ? strings[id] : "(unknown)"; };
        properties.emplace_back(text(record.name), text(record.value));
    }
    void operator()(const log::DroppedRecord& record) { lost.push_back(record.count); }
};

Contents read(const QString& path) {
    Contents contents;
    auto reader = log::LogReader::open(path.toStdString());
    if (!reader || !reader->poll(contents)) return contents;
    contents.progress = reader->progress();
    contents.bytesNotUnderstood = reader->bytesNotUnderstood();
    contents.isCorrupt = reader->isCorrupt();
    contents.brokenErrno = reader->brokenErrno();
    return contents;
}

/// Simulates a disk that is full at `bytes` during its lifetime.
class FullDisk {
  public:
    explicit FullDisk(rlim_t bytes) {
        previous_ = std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before_);
        rlimit limit = before_;
        limit.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FullDisk() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, previous_);
    }

  private:
    rlimit before_{};
    void (*previous_)(int);
};

}  // namespace

class tst_LogFile : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string base(const char* name) const { return folder_.filePath(name).toStdString(); }
    QString path(const char* name) const { return folder_.filePath(QString(name) + ".log"); }

  private slots:
    void writesNothingUntilTheFirstRecord() {
        {
            LogFile file(base("none"));
            file.flush();
            QVERIFY(file.isEmpty());
        }
        QVERIFY(!QFile::exists(path("none")));
    }

    void logFileRoundTrips() {
        LogFile file(base("plain"));
        RecordWriter writer(file);
        for (int i = 0; i < 5000; ++i) writer.property("name" + std::to_string(i % 7), std::string(size_t(i), 'x'));
        file.flush();
        const Contents contents = read(path("plain"));
        QCOMPARE(contents.properties.size(), size_t{5000});
        for (size_t i = 0; i < 5000; ++i) {
            QCOMPARE(contents.properties[i].first, "name" + std::to_string(i % 7));
            QCOMPARE(contents.properties[i].second.size(), i);
        }
        QVERIFY(contents.progress.blocks > 10);
        QCOMPARE(contents.bytesNotUnderstood, 0u);
    }

    void truncatesLongStrings() {
        LogFile file(base("long"));
        RecordWriter writer(file);
        writer.property("long", std::string(100'000, 'y'));
        file.flush();
        const Contents contents = read(path("long"));
        QCOMPARE(contents.properties.at(0).second.size(), size_t{32u << 10});
    }

    void keepsOlderLogs() {
        for (int i = 0; i < 3; ++i) {
            LogFile file(base("twice"));
            RecordWriter writer(file);
            writer.property("turn", std::to_string(i));
            file.flush();
        }
        QCOMPARE(read(path("twice")).properties.at(0).second, std::string("0"));
        QCOMPARE(read(path("twice.2")).properties.at(0).second, std::string("1"));
        QCOMPARE(read(path("twice.3")).properties.at(0).second, std::string("2"));
    }

    void continuesAfterAFullDisk() {
        LogFile file(base("full"));
        RecordWriter writer(file);
        writer.property("before", std::string(1000, 'b'));
        file.flush();
        {
            const FullDisk disk(5000);
            for (int i = 0; i < 3; ++i) {
                writer.property("lost " + std::to_string(i), std::string(30'000, static_cast<char>('l' + i)));
                file.flush();
            }
        }
        QVERIFY(QFileInfo(path("full")).size() < 5000);
        QVERIFY(!read(path("full")).isCorrupt);
        QCOMPARE(read(path("full")).bytesNotUnderstood, 0u);
        QVERIFY(read(path("full")).brokenErrno != 0);
        QCOMPARE(file.takeLostBlocks(), 2u);  // one, and the block after it
        writer.startAgain();
        writer.dropped(Loss::LogBlocks, 2);
        writer.property("lost 1", "found");
        writer.property("before", "after");
        file.flush();
        const Contents contents = read(path("full"));
        const std::vector<std::pair<std::string, std::string>> expected = {
            {"before", std::string(1000, 'b')}, {"lost 1", "found"}, {"before", "after"}};
        QCOMPARE(contents.properties, expected);
        QCOMPARE(contents.progress.lostBlocks, 2u);
        QCOMPARE(contents.lost, std::vector<uint64_t>{2});
        QCOMPARE(contents.brokenErrno, 0);
    }

    void diskReserveGrowsWithTheRateAtWhichTheDiskFills() {
        constexpr uint64_t mib = uint64_t{1} << 20;
        agent::DiskReserve slow(agent::defaultReserve), fast(agent::defaultReserve), tiny(agent::defaultReserve);
        // 1 MiB/s needs 4 MiB and 2 s of it; 20 MiB/s needs 44 MiB.
        QVERIFY(!slow.isReached({8 * mib, 40 * mib}, 1'000'000'000) &&
                !slow.isReached({7 * mib, 40 * mib}, 2'000'000'000));
        QVERIFY(slow.isReached({5 * mib, 40 * mib}, 4'000'000'000));
        QVERIFY(!fast.isReached({100 * mib, 160 * mib}, 1'000'000'000));
        QVERIFY(!fast.isReached({80 * mib, 160 * mib}, 2'000'000'000));
        QVERIFY(fast.isReached({40 * mib, 160 * mib}, 4'000'000'000));
        QVERIFY(!tiny.isReached({2 * mib, 3 * mib}, 1'000'000'000));
        QVERIFY(tiny.isReached({mib, 3 * mib}, 2'000'000'000));
    }

    void avoidsAFileThatReusedItsDescriptor() {
        LogFile file(base("taken"));
        RecordWriter writer(file);
        writer.property("a", "b");
        file.flush();
        // Closes every descriptor of the log, like a program that closes all unknown descriptors.
        const QDir descriptors("/proc/self/fd");
        for (const QString& number : descriptors.entryList(QDir::NoDotAndDotDot | QDir::AllEntries | QDir::System)) {
            if (QFile::symLinkTarget(descriptors.filePath(number)) == path("taken")) {
                QVERIFY(number.toInt() > 99);
                ::close(number.toInt());
            }
        }
        std::vector<int> victims;
        for (int i = 0; i < 600; ++i) {
            victims.push_back(::open(folder_.filePath("victim").toStdString().c_str(), O_WRONLY | O_CREAT, 0600));
        }
        writer.property("c", "d");
        file.flush();
        QCOMPARE(file.takeLostBlocks(), 0u);
        for (const int victim : victims) ::close(victim);
        QCOMPARE(QFileInfo(folder_.filePath("victim")).size(), 0);
        QCOMPARE(read(path("taken")).properties.size(), size_t{2});
        QVERIFY(!read(path("taken")).isCorrupt);
    }

    void endsTheLogWhenItsFileIsGone() {
        LogFile file(base("gone"));
        RecordWriter writer(file);
        writer.property("a", "b");
        file.flush();
        const QDir descriptors("/proc/self/fd");
        for (const QString& number : descriptors.entryList(QDir::NoDotAndDotDot | QDir::AllEntries | QDir::System)) {
            if (QFile::symLinkTarget(descriptors.filePath(number)) == path("gone")) ::close(number.toInt());
        }
        QFile::remove(path("gone"));
        QFile impostor(path("gone"));
        QVERIFY(impostor.open(QIODevice::WriteOnly));
        writer.property("c", "d");
        file.flush();
        QCOMPARE(QFileInfo(path("gone")).size(), 0);
    }

    void splitsIntoParts() {
        LogFile file(base("parts"));
        RecordWriter writer(file);
        for (int i = 0; i < 1000; ++i) {
            writer.property("number", std::to_string(i));
            if (i % 100 == 99) {
                const uint64_t before = file.totalBytes();
                QVERIFY(file.beginNextPart());
                QVERIFY(file.totalBytes() >= before && file.partBytes() < 100);
                writer.startAgain();
            }
        }
        file.flush();
        const Contents contents = read(path("parts"));
        QCOMPARE(contents.properties.size(), size_t{1000});
        for (size_t i = 0; i < 1000; ++i) QCOMPARE(contents.properties[i].second, std::to_string(i));
        QCOMPARE(contents.progress.lostBlocks, 0u);
        QCOMPARE(contents.bytesNotUnderstood, 0u);
        QCOMPARE(contents.progress.bytesRead, file.totalBytes());
        QVERIFY(QFile::exists(path("parts") + ".10") && !QFile::exists(path("parts") + ".11"));
    }

    void growingPartsAreFollowed() {
        LogFile file(base("grows"));
        RecordWriter writer(file);
        writer.property("number", "0");
        file.flush();
        auto reader = log::LogReader::open(path("grows").toStdString());
        Contents contents;
        for (int i = 1; i <= 300; ++i) {
            if (i % 7 == 0 && file.beginNextPart()) writer.startAgain();
            writer.property("number", std::to_string(i));
            if (i % 3 == 0) file.flush();
            if (i % 11 == 0) QVERIFY(reader->poll(contents, 2));
        }
        file.flush();
        QVERIFY(reader->poll(contents));
        QCOMPARE(contents.properties.size(), size_t{301});
        for (size_t i = 0; i <= 300; ++i) QCOMPARE(contents.properties[i].second, std::to_string(i));
        QCOMPARE(reader->progress().lostBlocks, 0u);
    }

    void corruptionCostsOnlyItsPart() {
        LogFile file(base("broken"));
        RecordWriter writer(file);
        for (int i = 0; i < 30; ++i) {
            writer.property("number", std::to_string(i));
            file.flush();
            if (i % 10 == 9 && file.beginNextPart()) writer.startAgain();
        }
        QFile second(path("broken") + ".1");
        QVERIFY(second.open(QIODevice::ReadWrite));
        const qint64 bytes = second.size();
        QVERIFY(second.seek(bytes / 2));
        second.write("corruption");
        second.close();
        const Contents contents = read(path("broken"));
        QVERIFY(contents.properties.size() >= 20 && contents.properties.size() < 30);
        QCOMPARE(contents.properties.back().second, std::string("29"));
        for (const auto& property : contents.properties) QCOMPARE(property.first, std::string("number"));
        QVERIFY(contents.progress.lostBlocks > 0);
        QVERIFY(contents.bytesNotUnderstood > 0 && contents.bytesNotUnderstood < uint64_t(bytes));
    }

    void partOfAnotherLogIsNotFollowed() {
        LogFile file(base("own"));
        RecordWriter writer(file);
        writer.property("a", "b");
        file.flush();
        for (const char* content : {"", "no log", "LNSCLOG1 and more that is far from any header  "}) {
            QFile other(path("own") + ".1");
            QVERIFY(other.open(QIODevice::WriteOnly | QIODevice::Truncate));
            other.write(content);
            other.close();
            QCOMPARE(read(path("own")).properties.size(), size_t{1});
            QCOMPARE(read(path("own")).bytesNotUnderstood, 0u);
        }
        QFile::remove(path("own") + ".1");
        QVERIFY(QFile::copy(path("own"), path("own") + ".1"));  // claims to be the first part
        QCOMPARE(read(path("own")).properties.size(), size_t{1});
    }
};

LANESCOPE_TEST(tst_LogFile, QCoreApplication)
#include "tst_LogFile.moc"
