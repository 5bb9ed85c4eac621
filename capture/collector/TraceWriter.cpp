// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/TraceWriter.h"

#include <fmt/format.h>

#include "model/format/tables/Hardware.h"
#include "model/format/tables/Schema.h"
#include "model/format/text.h"

namespace lanescope::capture {

int64_t TraceWriter::intern(std::string_view text) {
    if (const auto known = strings_.find(text); known != strings_.end()) return known->second;
    if (!isUtf8(text)) return intern(validUtf8(text));
    const auto id = static_cast<int64_t>(strings_.size()) + 1;
    strings_.emplace(text, id);
    constexpr const auto& t = tables::strings;
    rows_.add(t, t.id = id, t.value = text);
    return id;
}

int64_t TraceWriter::intern(const TraceStack& stack) {
    const auto id = static_cast<int64_t>(stacks_.size()) + 1;
    const auto [known, isNew] = stacks_.try_emplace(stack, id);
    if (!isNew) return known->second;
    rows_.add(StackRow{id, stack.parent, stack.function, stack.file, stack.line, stack.module});
    return id;
}

size_t TraceWriter::Hash::operator()(const TraceStack& stack) const {
    uint64_t mixed = 0;
    for (const uint64_t part :
         {static_cast<uint64_t>(stack.parent), static_cast<uint64_t>(stack.function), static_cast<uint64_t>(stack.file),
          uint64_t{stack.line}, static_cast<uint64_t>(stack.module)}) {
        mixed = (mixed ^ part) * 0x9e3779b97f4a7c15;
        mixed ^= mixed >> 29;
    }
    return mixed;
}

Result<std::unique_ptr<TraceWriter>> TraceWriter::create(const std::filesystem::path& path, Journal journal) {
    auto database = Database::create(path);
    if (!database) return fail(database.error());
    if (journal == Journal::Live && !beginLiveJournal(*database)) {
        // A connection that tried in vain to share memory stays unusable.
        { const Database closed = std::move(*database); }
        if (auto removed = removeUnfinished(path); !removed) return fail(removed.error());
        database = Database::create(path);
        if (!database) return fail(database.error());
        journal = Journal::None;
    }
    if (auto safe = checkSideFiles(path); !safe) return fail(safe.error());
    const TraceState state = journal == Journal::Live ? TraceState::Whole : TraceState::Unfinished;
    if (auto made = createTraceTables(*database, state); !made) return fail(made.error());
    std::unique_ptr<TraceWriter> writer(new TraceWriter(std::move(*database), journal));
    if (auto begun = writer->database_.execute("BEGIN"); !begun) return fail(begun.error());
    return writer;
}

Result<void> TraceWriter::commit() {
    if (auto done = endTransaction(); !done) return done;
    return database_.execute("BEGIN");
}

Result<void> TraceWriter::finish(const std::function<void(Database& database)>& addition) {
    if (!error_)
        if (auto dropped = dropEmptyTables(database_); !dropped) error_ = dropped.error();
    if (auto done = endTransaction(); !done) return done;
    if (journal_ == Journal::None) {
        if (auto done = markWhole(database_); !done) return done;
        // A kill during the addition must not leave a part of it that looks like all.
        if (auto done = database_.execute("PRAGMA journal_mode = DELETE"); !done) return done;
    }
    if (addition) {
        // It reads the file by a connection of its own.
        static_cast<void>(database_.execute("PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sqlite_schema"));
        // The addition reads the whole file, which is faster from the file than from the log. If
        // this fails, it reads from both.
        static_cast<void>(database_.execute("PRAGMA wal_checkpoint(TRUNCATE)"));
        addition(database_);
    }
    return endLiveJournal(database_);
}

Result<void> TraceWriter::endTransaction() {
    if (error_) return fail(*error_);
    auto done = database_.execute("COMMIT");
    if (!done) error_ = done.error();
    return done;
}

int64_t TraceWriter::internSource(std::string_view path) {
    const auto [known, isNew] = sources_.try_emplace(std::string(path), 0);
    if (isNew) known->second = intern(shortSourcePath(path, sourceFolders_));
    return known->second;
}

void TraceWriter::nameThread(int64_t globalTid, int64_t nameId, int64_t priority) {
    rows_.addThreadName(globalTid, nameId, priority);
    namedThreads_.insert(globalTid);
}

void TraceWriter::healthOfLog(Severity severity, std::string_view code, std::string_view sentence,
                              std::optional<int64_t> globalPid, std::optional<int64_t> timeNs,
                              std::optional<int64_t> count) {
    rows_.addHealth(severity, code, sentence, globalPid, timeNs, count);
    if (severity != Severity::Info)
        (severity == Severity::Error ? errors_ : warnings_).push_back({severity, std::string(sentence)});
}

std::vector<TraceWriter::Note> TraceWriter::warnings() const {
    std::vector<Note> all;
    std::unordered_map<std::string_view, size_t> counts;
    for (const std::vector<Note>* list : {&errors_, &warnings_})
        for (const Note& note : *list)
            if (++counts[note.sentence] == 1) all.push_back(note);
    for (Note& note : all)
        if (const size_t count = counts[note.sentence]; count > 1)
            note.sentence = fmt::format("{} ({} times)", note.sentence, count);
    return all;
}

void TraceWriter::setCounterInterval(int64_t counterId, std::optional<int64_t> intervalNs, std::string_view hostName) {
    constexpr const auto& t = tables::counters;
    if (error_) return;
    auto update = database_.prepare(fmt::format("UPDATE {} SET {} = ?1, {} = ?2 WHERE {} = ?3", t.tableName(),
                                                t.intervalNs.name, t.hostName.name, t.counterId.name));
    if (!update) {
        error_ = update.error();
        return;
    }
    update->bind(1, intervalNs);
    if (hostName.empty())
        update->bindNull(2);
    else
        update->bind(2, hostName);
    update->bind(3, counterId);
    if (const auto done = update->step(); !done) error_ = done.error();
}

}  // namespace lanescope::capture
