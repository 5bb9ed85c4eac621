// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "model/events/listEvents.h"
#include "model/format/OutputFile.h"
#include "model/notes/NotesFile.h"
#include "tests/support/FullDisk.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

mode_t modeOf(const std::filesystem::path& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

std::ptrdiff_t entriesIn(const std::filesystem::path& folder) {
    return std::distance(std::filesystem::directory_iterator(folder), {});
}

}  // namespace

class tst_AtomicFile : public QObject {
    Q_OBJECT

  private slots:
    void fileAppearsOnlyOnCommit() {
        const TemporaryFolder folder;
        const std::filesystem::path path = folder / "file";
        put(path, "before");
        Result<AtomicFile> file = AtomicFile::create(path);
        QVERIFY(file.has_value());
        file->write("head");
        file->write(std::string(3'000'000, 'x'));
        file->writeAtStart(std::as_bytes(std::span("HEAD", 4)));
        file->write("tail");
        QCOMPARE(file->offset(), uint64_t{3'000'008});
        QCOMPARE(contentOf(path), std::string("before"));
        QVERIFY(file->commit().has_value());
        QVERIFY(contentOf(path) == "HEAD" + std::string(3'000'000, 'x') + "tail");
        QCOMPARE(entriesIn(folder.path()), std::ptrdiff_t{1});
    }

    void uncommittedFileLeavesNothing() {
        const TemporaryFolder folder;
        {
            Result<AtomicFile> file = AtomicFile::create(folder / "file");
            QVERIFY(file.has_value());
            file->write(std::string(3'000'000, 'x'));
        }
        QCOMPARE(entriesIn(folder.path()), std::ptrdiff_t{0});
    }

    void fileIsPrivateByDefault() {
        const TemporaryFolder folder;
        const mode_t mask = ::umask(022);
        QVERIFY(writeAtomically(folder / "mine", "x").has_value());
        QVERIFY(writeAtomically(folder / "usual", "x", AtomicFile::defaultMode).has_value());
        ::umask(mask);
        QCOMPARE(modeOf(folder / "mine"), mode_t{0600});
        QCOMPARE(modeOf(folder / "usual"), mode_t{0644});
        put(folder / "source", "x");
        std::filesystem::permissions(folder / "source", std::filesystem::perms(0640));
        Result<AtomicFile> file = AtomicFile::create(folder / "like");
        QVERIFY(file.has_value());
        file->copyPermissionsOf(folder / "source");
        QVERIFY(file->commit().has_value());
        QCOMPARE(modeOf(folder / "like"), mode_t{0640});
    }

    void replacementKeepsPermissions() {
        const TemporaryFolder folder;
        const auto replace = [&](const char* name) {
            Result<AtomicFile> file = AtomicFile::create(folder / name);
            if (!file) return false;
            file->copyTargetPermissions();
            file->write("new");
            return file->commit().has_value();
        };
        put(folder / "shared", "x");
        std::filesystem::permissions(folder / "shared", std::filesystem::perms(0644));
        put(folder / "mine", "x");
        std::filesystem::permissions(folder / "mine", std::filesystem::perms(0600));
        std::filesystem::create_symlink(folder / "shared", folder / "link");
        for (const char* name : {"shared", "mine", "link", "none"}) QVERIFY(replace(name));
        QCOMPARE(modeOf(folder / "shared"), mode_t{0644});
        QCOMPARE(modeOf(folder / "mine"), mode_t{0600});
        QCOMPARE(modeOf(folder / "link"), mode_t{0600});
        QCOMPARE(modeOf(folder / "none"), mode_t{0600});
        QCOMPARE(contentOf(folder / "shared"), std::string("new"));
    }

    void symlinkIsNotFollowed() {
        const TemporaryFolder folder;
        put(folder / "others", "theirs");
        std::filesystem::create_symlink(folder / "others", folder / "file");
        QVERIFY(writeAtomically(folder / "file", "mine").has_value());
        QCOMPARE(contentOf(folder / "others"), std::string("theirs"));
        QCOMPARE(contentOf(folder / "file"), std::string("mine"));
        QVERIFY(!std::filesystem::is_symlink(folder / "file"));
    }

    void fullDiskIsAnErrorAndKeepsTheOldFile() {
        const TemporaryFolder folder;
        put(folder / "file", "before");
        Result<void> done;
        {
            const FullDisk full(65'536);
            done = writeAtomically(folder / "file", std::string(3'000'000, 'x'));
        }
        QVERIFY(!done);
        QVERIFY(done.error().sentence.starts_with("Cannot write "));
        QVERIFY(done.error().sentence.ends_with("."));
        QVERIFY(!QByteArray(done.error().sentence.c_str()).contains("Success"));
        QCOMPARE(contentOf(folder / "file"), std::string("before"));
        QCOMPARE(entriesIn(folder.path()), std::ptrdiff_t{1});
    }

    void unwritableFolderIsReported() {
        const TemporaryFolder folder;
        QVERIFY(!AtomicFile::create(folder / "missing" / "file"));
        std::filesystem::create_directory(folder / "taken");
        QVERIFY(!AtomicFile::create(folder / "taken"));
        // A folder created in the meantime.
        Result<AtomicFile> file = AtomicFile::create(folder / "late");
        QVERIFY(file.has_value());
        file->write("x");
        std::filesystem::create_directories(folder / "late" / "more");
        QVERIFY(!file->commit());
    }

    void publishReplacesAnotherFileOnlyOnRequest() {
        const TemporaryFolder folder;
        put(folder / "made", "new");
        put(folder / "file", "old");
        const Result<void> kept = publishFile(folder / "made", folder / "file", IfExists::Fail);
        QVERIFY(!kept);
        QVERIFY(QByteArray(kept.error().sentence.c_str()).contains("another program created the file in the meantime"));
        QCOMPARE(contentOf(folder / "file"), std::string("old"));
        QCOMPARE(contentOf(folder / "made"), std::string("new"));
        QVERIFY(publishFile(folder / "made", folder / "file", IfExists::Replace).has_value());
        QCOMPARE(contentOf(folder / "file"), std::string("new"));
        QCOMPARE(entriesIn(folder.path()), std::ptrdiff_t{1});
        QVERIFY(!publishFile(folder / "made", folder / "file", IfExists::Replace));
    }

    void fullDiskKeepsOldNotes() {
        const TemporaryFolder folder;
        put(folder / "run.sqlite", "x");
        const NotesFile file = NotesFile::forTrace(folder / "run.sqlite", folder / "user");
        Notes notes;
        notes.marks.push_back(newMark({1, 2}));
        notes.marks[0].text = "first";
        const Result<FoundNotes> first = file.store({}, notes);
        QVERIFY2(first.has_value(), first ? "" : first.error().sentence.c_str());
        Notes more = first->notes;
        more.marks.push_back(newMark({3, 4}));
        more.marks[1].text = std::string(1'000'000, 'x');
        {
            const FullDisk full(65'536);
            QVERIFY(!file.store(first->notes, more));
        }
        const Result<FoundNotes> found = file.read();
        QVERIFY(found.has_value());
        QVERIFY(found->notes == first->notes);
    }

    void fullDiskKeepsOldEventList() {
        const TemporaryFolder folder;
        put(folder / "events.csv", "before");
        const TracePtr trace = simulatedTraining({.steps = 12});
        EventRequest request;
        request.range = trace->range;
        {
            const FullDisk full(1024);
            const auto rows = saveEventsAsCsv(*trace, request, folder / "events.csv");
            QVERIFY(!rows);
            QVERIFY(QByteArray(rows.error().sentence.c_str()).startsWith("Cannot write "));
        }
        QCOMPARE(contentOf(folder / "events.csv"), std::string("before"));
        QVERIFY(saveEventsAsCsv(*trace, request, folder / "events.csv").value_or(0) > 0);
        QVERIFY(contentOf(folder / "events.csv").size() > 1024);
        QCOMPARE(entriesIn(folder.path()), std::ptrdiff_t{1});
    }
};

LANESCOPE_TEST(tst_AtomicFile, NoApplication)
#include "tst_AtomicFile.moc"
