// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "model/notes/NotesFile.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

Mark mark(const char* id, int64_t startNs, const char* text = "", int64_t changedNs = 1) {
    Mark made{.id = id, .range = {startNs, startNs}, .text = text, .color = 0x123456, .changedUtcNs = changedNs};
    return made;
}

}  // namespace

class tst_Notes : public QObject {
    Q_OBJECT

  private slots:
    void init() { folder_ = std::make_unique<TemporaryFolder>(); }

    void everyFieldRoundTrips() {
        Mark full = mark("0123456789abcdef", -5, "a \"text\"\n\u00e9");
        full.range.endNs = 77;
        full.track = {"GPU 0", "Stream 7"};
        const Notes notes{{full, mark("b", 10)}, {}};
        QVERIFY(test::orFail(parseNotes(formatNotes(notes))) == notes);
    }

    void unknownFieldsOfOtherProgramsAreKept() {
        const char* json =
            R"({"format":"lanescope-notes","version":1,"owner":{"name":"x"},
            "marks":[{"id":"a","startNs":3,"votes":[1,2]}]})";
        auto notes = test::orFail(parseNotes(json));
        notes.marks[0].text = "changed";
        const auto written = nlohmann::json::parse(formatNotes(notes));
        QCOMPARE(written["owner"]["name"].get<std::string>(), std::string("x"));
        QCOMPARE(written["marks"][0]["votes"].size(), size_t(2));
        QCOMPARE(written["marks"][0]["text"].get<std::string>(), std::string("changed"));
    }

    void corruptNotesAreRefused_data() {
        QTest::addColumn<QString>("json");
        const QString head = R"({"format":"lanescope-notes","version":1,"marks":)";
        QTest::newRow("nothing") << "";
        QTest::newRow("truncated") << head + R"([{"id":"a","startNs":3)";
        QTest::newRow("of something else") << R"({"marks":[],"version":1})";
        QTest::newRow("no marks") << R"({"format":"lanescope-notes","version":1})";
        QTest::newRow("no id") << head + R"([{"startNs":3}]})";
        QTest::newRow("no time") << head + R"([{"id":"a"}]})";
        QTest::newRow("time as text") << head + R"([{"id":"a","startNs":"3"}]})";
        QTest::newRow("ends before it starts") << head + R"([{"id":"a","startNs":3,"endNs":2}]})";
        QTest::newRow("one id twice") << head + R"([{"id":"a","startNs":3},{"id":"a","startNs":4}]})";
        QTest::newRow("marks of numbers") << head + "[1,2]}";
        QTest::newRow("deep") << head + QString(100'000, '[');
        QTest::newRow("deep after brackets in a text") << head + "[],\"a\":\"" + QString(200'000, ']') +
                                                              "\\\"\",\"b\":" + QString(200'000, '[') +
                                                              QString(200'000, ']') + "}";
    }
    void corruptNotesAreRefused() {
        QFETCH(QString, json);
        const auto notes = parseNotes(json.toStdString());
        QVERIFY(!notes.has_value());
        QCOMPARE(notes.error(), NotesFault::Damaged);
    }

    void bracketsInTextsAreAccepted() {
        Notes notes{{mark("a", 1)}, {}};
        notes.marks[0].text = std::string(1000, '[') + "\\\"{";
        QCOMPARE(test::orFail(parseNotes(formatNotes(notes))).marks[0].text, notes.marks[0].text);
    }

    void newIdsDiffer() {
        std::set<std::string> ids;
        for (int i = 0; i < 1000; ++i) ids.insert(newMark({}).id);
        QCOMPARE(test::listed(ids.size(), ids.begin()->size()), test::listed(size_t(1000), size_t(16)));
    }

    void mergeKeepsChangesOfBothSides() {
        const Notes base{{mark("a", 1), mark("b", 2)}, {}};
        const Notes mine{{mark("a", 1, "mine", 5), mark("b", 2), mark("c", 3)}, {}};
        const Notes theirs{{mark("a", 1), mark("b", 2, "theirs", 4), mark("d", 0)}, "{\"x\":1}"};
        const Notes merged = mergeNotes(base, mine, theirs);
        QCOMPARE(merged.marks.size(), size_t(4));
        QCOMPARE(test::listed(merged.marks[0].id, merged.marks[1].text, merged.marks[2].text), "d | mine | theirs");
        QCOMPARE(test::listed(merged.marks[3].id, merged.unknownFields), "c | {\"x\":1}");
    }

    void removedMarkStaysRemoved() {
        const Notes both{{mark("a", 1), mark("b", 2)}, {}}, without{{mark("b", 2)}, {}};
        QCOMPARE(mergeNotes(both, without, both).marks.size(), size_t(1));
        QCOMPARE(mergeNotes(both, both, without).marks.size(), size_t(1));
        QCOMPARE(mergeNotes(both, without, without).marks.size(), size_t(1));
    }

    void laterOfTwoChangesWins() {
        const Notes base{{mark("a", 1)}, {}}, early{{mark("a", 1, "early", 5)}, {}};
        const Notes late{{mark("a", 1, "late", 6)}, {}};
        QCOMPARE(mergeNotes(base, early, late).marks[0].text, std::string("late"));
        QCOMPARE(mergeNotes(base, late, early).marks[0].text, std::string("late"));
    }

    void changeWinsOverRemoval() {
        const Notes base{{mark("a", 1)}, {}}, changed{{mark("a", 1, "changed", 5)}, {}};
        QCOMPARE(mergeNotes(base, {}, changed).marks.size(), size_t(1));
        QCOMPARE(mergeNotes(base, changed, {}).marks.size(), size_t(1));
    }

    void notesFileIsStoredNextToTheTraceWithItsPermissions() {
        QVERIFY(file().isNextToTrace());
        QCOMPARE(file().path(), *folder_ / "a.sqlite.lanescope-notes.json");
        QVERIFY(file().read().has_value());
        QVERIFY(!std::filesystem::exists(file().path()));
        QVERIFY(file().store({}, {{mark("a", 1)}, {}}).has_value());
        struct stat status {};
        QCOMPARE(::stat(file().path().c_str(), &status), 0);
        QCOMPARE(status.st_mode & 0777, mode_t(0600));
        QCOMPARE(file().read()->notes.marks.size(), size_t(1));
        std::ofstream(*folder_ / "a.sqlite") << "shared";
        QCOMPARE(::chmod((*folder_ / "a.sqlite").c_str(), 0664), 0);
        QVERIFY(file().store({}, {{mark("a", 1), mark("b", 2)}, {}}).has_value());
        QCOMPARE(::stat(file().path().c_str(), &status), 0);
        QCOMPARE(status.st_mode & 0777, mode_t(0664));
        // Notes that more users can write to than to the trace would be ignored.
        QCOMPARE(::chmod(file().path().c_str(), 0644), 0);
        QCOMPARE(::chmod((*folder_ / "a.sqlite").c_str(), 0700), 0);
        QVERIFY(file().store({}, {{mark("c", 3)}, {}}).has_value());
        QCOMPARE(::stat(file().path().c_str(), &status), 0);
        QCOMPARE(status.st_mode & 0777, mode_t(0600));
        // No partial file is left.
        QCOMPARE(std::distance(std::filesystem::directory_iterator(folder_->path()), {}), std::ptrdiff_t(2));
    }

    void waitForALockedFolderIsBounded() {
        const int held = ::open(folder_->path().c_str(), O_RDONLY | O_DIRECTORY);
        QCOMPARE(::flock(held, LOCK_EX), 0);
        QVERIFY(file().store({}, {{mark("a", 1)}, {}}).has_value());
        ::close(held);
        QCOMPARE(file().read()->notes.marks.size(), size_t(1));
    }

    void unfinishedTraceSharesNotesWithTheFinishedOne() {
        QCOMPARE(file("a.sqlite.partial").path(), file("a.sqlite").path());
    }

    void twoViewersLoseNothing() {
        const Notes first = file().store({}, {{mark("a", 1)}, {}})->notes;
        // Both have read `first`; each adds its own, and the second removes the marks of the first.
        const Notes one{{mark("a", 1), mark("b", 2)}, {}}, other{{mark("c", 3)}, {}};
        QVERIFY(file().store(first, one).has_value());
        QCOMPARE(test::orFail(file().store(first, other)).notes.marks.size(), size_t(2));
        QCOMPARE(test::listed(file().read()->notes.marks[0].id, file().read()->notes.marks[1].id), "b | c");
    }

    void manyWritersAtOnceLoseNothing() {
        std::vector<std::thread> writers;
        for (int writer = 0; writer < 4; ++writer) {
            writers.emplace_back([this, writer] {
                Notes base, mine;
                for (int i = 0; i < 10; ++i) {
                    mine.marks.push_back(mark(("w" + std::to_string(writer * 100 + i)).c_str(), i));
                    const auto stored = file().store(base, mine);
                    if (!stored) return;
                    base = mine = stored->notes;
                }
            });
        }
        for (std::thread& writer : writers) writer.join();
        QCOMPARE(file().read()->notes.marks.size(), size_t(40));
    }

    void corruptFileIsSetAside() {
        std::ofstream(file().path()) << "precious but broken";
        QVERIFY(test::orFail(file().read()).remark.find("corrupt") != std::string::npos);
        QCOMPARE(contentOf(file().path()), std::string("precious but broken"));
        const auto stored = file().store({}, {{mark("a", 1)}, {}});
        QVERIFY(stored.has_value() && !stored->remark.empty());
        QCOMPARE(contentOf(file().path().string() + ".damaged-1"), std::string("precious but broken"));
        QCOMPARE(file().read()->notes.marks.size(), size_t(1));
        std::ofstream(file().path()) << "broken again";
        QVERIFY(file().store({}, {{mark("b", 1)}, {}}).has_value());
        QCOMPARE(contentOf(file().path().string() + ".damaged-1"), std::string("precious but broken"));
        QCOMPARE(contentOf(file().path().string() + ".damaged-2"), std::string("broken again"));
    }

    void fileThatOthersCanWriteToIsIgnoredAndKept_data() {
        QTest::addColumn<int>("kind");
        for (const char* name : {"writable", "link", "pipe", "folder", "link to a device"})
            QTest::newRow(name) << static_cast<int>(name[0]) + (std::string_view(name) == "link to a device" ? 1 : 0);
    }
    void fileThatOthersCanWriteToIsIgnoredAndKept() {
        QFETCH(int, kind);
        const std::filesystem::path next = file().path();
        const std::string notes = formatNotes({{mark("theirs", 1)}, {}});
        std::ofstream(*folder_ / "a.sqlite") << "trace";
        std::ofstream(*folder_ / "elsewhere") << notes;
        if (kind == 'w') {
            std::ofstream(next) << notes;
            QCOMPARE(::chmod(next.c_str(), 0666), 0);
        } else if (kind == 'p') {
            QCOMPARE(::mkfifo(next.c_str(), 0600), 0);
        } else if (kind == 'f') {
            std::filesystem::create_directory(next);
        } else {
            std::filesystem::create_symlink(kind == 'l' ? *folder_ / "elsewhere" : "/dev/zero", next);
        }
        const auto type = std::filesystem::symlink_status(next).type();
        const auto found = file().read();
        QVERIFY(found && found->isIgnored && found->notes.marks.empty());
        HAS(found->remark, ": ignored, because another user can write to it");
        QVERIFY(!file().isNextToTrace() && file().store({}, {{mark("mine", 1)}, {}}).has_value());
        QCOMPARE(file().read()->notes.marks.at(0).id, std::string("mine"));
        QVERIFY(std::filesystem::symlink_status(next).type() == type);
        QCOMPARE(contentOf(*folder_ / "elsewhere"), notes);
    }

    void firstMarkInTheUserFolderKeepsThoseNextToTheTrace() {
        if (::geteuid() != 0) QSKIP("needs root to give a file to another user");
        QVERIFY(file().store({}, {{mark("theirs", 1)}, {}}).has_value());
        std::ofstream(*folder_ / "a.sqlite") << "trace";
        const auto setOwner = [this](uid_t user) {
            return ::chown((*folder_ / "a.sqlite").c_str(), user, user) == 0 &&
                   ::chmod((*folder_ / "a.sqlite").c_str(), 0644) == 0;
        };
        QVERIFY(setOwner(65'530));
        const std::filesystem::path next = NotesFile::forTrace(*folder_ / "a.sqlite", {}).path();
        const std::string before = contentOf(next);
        QCOMPARE(test::listed(::chmod(next.c_str(), 0644), ::chmod(folder_->path().c_str(), 0777)), "0 | 0");
        QVERIFY(!file().isNextToTrace());  // The owner could not read a private file of root.
        // A user who owns neither.
        QCOMPARE(::seteuid(65'531), 0);
        const NotesFile other = file();
        const auto found = other.read();
        const auto stored = other.store(found->notes, {{found->notes.marks.at(0), mark("mine", 2)}, {}});
        const auto again = file().read();
        QCOMPARE(::seteuid(0), 0);
        QVERIFY(!other.isNextToTrace());
        QVERIFY2(stored.has_value(), stored ? "" : stored.error().sentence.c_str());
        QCOMPARE(again->notes.marks.size(), size_t(2));
        QVERIFY(!again->isIgnored);
        QCOMPARE(contentOf(next), before);
    }

    void fileOfANewerVersionIsKeptUnchanged() {
        const std::string newer = R"({"format":"lanescope-notes","version":99,"marks":"elsewhere"})";
        std::ofstream(file().path()) << newer;
        QVERIFY(!file().read().has_value() && !file().store({}, {{mark("a", 1)}, {}}).has_value());
        QCOMPARE(contentOf(file().path()), newer);
    }

    void readOnlyFolderSendsNotesToTheUserFolder() {
        if (::geteuid() == 0) QSKIP("root may write anywhere");
        const std::filesystem::path locked = *folder_ / "locked";
        std::filesystem::create_directory(locked);
        std::filesystem::permissions(locked, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
        const NotesFile notes = NotesFile::forTrace(locked / "a.sqlite", *folder_ / "user/notes");
        QVERIFY(!notes.isNextToTrace() && notes.store({}, {{mark("a", 1)}, {}}).has_value());
        QCOMPARE(notes.read()->notes.marks.size(), size_t(1));
        QVERIFY(notes.path() != NotesFile::forTrace(*folder_ / "other/a.sqlite", *folder_ / "user/notes").path());
        std::filesystem::permissions(locked, std::filesystem::perms::owner_all);
    }

    void trackOfAMarkIsFoundAgain() {
        const TracePtr trace = simulatedTraining({.steps = 2});
        for (uint32_t track = 0; track < trace->tracks.size(); ++track) {
            QCOMPARE(trackPath(*trace, trackOfPath(*trace, trackPath(*trace, track))), trackPath(*trace, track));
        }
        // Stream track names before titles stated the purpose.
        const uint32_t stream = trackOfPath(*trace, {"GPU 1", "Stream 20"});
        QVERIFY(stream != noIndex);
        QCOMPARE(trace->tracks[stream].title, std::string("Communication, stream 20"));
        QVERIFY(trackOfPath(*trace, {"GPU 0", "Default stream 7"}) != noIndex);
        QCOMPARE(trackOfPath(*trace, {"GPU 0", "Stream 0"}), noIndex);
        QCOMPARE(trackOfPath(*trace, {"nowhere"}), noIndex);
        QCOMPARE(trackOfPath(*trace, {}), noIndex);
    }

    void markdownEscapesUserMarkup() {
        const std::vector<Mark> marks{mark("a", 1'500'000'000, "a | b\n# <b>")};
        const std::string text = marksAsMarkdown(marks, "run.sqlite");
        HAS(text, "a \\| b \\# \\<b\\>");
        QVERIFY(text.find("| 1.500000000 s |") != std::string::npos);
    }

  private:
    NotesFile file(const char* trace = "a.sqlite") { return NotesFile::forTrace(*folder_ / trace, *folder_ / "user"); }
    std::unique_ptr<TemporaryFolder> folder_;
};

LANESCOPE_TEST(tst_Notes, QCoreApplication)
#include "tst_Notes.moc"
