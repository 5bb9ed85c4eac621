// SPDX-License-Identifier: Apache-2.0
#include "model/notes/NotesFile.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <system_error>
#include <thread>
#include <tuple>

#include "model/format/OutputFile.h"
#include "model/format/ReadWatch.h"
#include "model/format/checksums.h"
#include "model/format/files.h"
#include "model/format/parseNumber.h"
#include "model/text/formatValue.h"

namespace lanescope {

namespace fs = std::filesystem;

namespace {

/// Older notes name streams by number only: "Stream 7" is "Compute, stream 7".
bool isCalled(std::string_view title, std::string_view wanted) {
    if (title == wanted) return true;
    const bool isOfStream = wanted.starts_with("Stream ") || wanted.starts_with("Default stream ");
    return isOfStream && title.size() > wanted.size() + 1 && title[title.size() - wanted.size() - 2] == ',' &&
           title[title.size() - wanted.size()] == lowerCase(wanted.front()) &&
           title.substr(title.size() - wanted.size() + 1) == wanted.substr(1);
}

bool isCalled(const Trace& trace, uint32_t track, const std::vector<std::string>& path) {
    const std::vector<std::string> titles = trackPath(trace, track);
    return std::equal(titles.begin(), titles.end(), path.begin(), path.end(),
                      [](const auto& title, const auto& wanted) { return isCalled(title, wanted); });
}

std::string escaped(const std::string& text) {
    std::string result;
    for (const char letter : printable(text)) {
        if (std::string_view("\\`*_{}[]<>#|!").find(letter) != std::string_view::npos) result += '\\';
        result += letter;
    }
    return result;
}

using Json = nlohmann::json;

constexpr int version = 1;
constexpr const char* formatName = "lanescope-notes";
constexpr uint32_t defaultColor = 0xe69f00;

/// Limit of times in ns; differences of two fit into 64 bits.
constexpr int64_t maxMarkTimeNs = int64_t{1} << 60;

uint32_t parseColor(const std::string& text) {
    if (text.size() != 7 || text[0] != '#') return defaultColor;
    return parseNumber<uint32_t>(std::string_view(text).substr(1), 16).value_or(defaultColor);
}

/// Returns `object` without the `known` fields as text; empty if none is left.
std::string rest(Json object, std::initializer_list<const char*> known) {
    for (const char* name : known) object.erase(name);
    return object.empty() ? std::string() : object.dump();
}

Json restored(const std::string& unknownFields) {
    Json object = unknownFields.empty() ? Json::object() : Json::parse(unknownFields, nullptr, false);
    return object.is_object() ? object : Json::object();
}

bool isTime(const Json& object, const char* name) { return object.contains(name) && object[name].is_number_integer(); }

int64_t timeIn(const Json& object, const char* name) {
    return std::clamp(object[name].get<int64_t>(), -maxMarkTimeNs, maxMarkTimeNs);
}

Result<Mark, NotesFault> parseMark(const Json& object) {
    const auto damaged = tl::unexpected(NotesFault::Damaged);
    if (!object.is_object() || !isTime(object, "startNs")) return damaged;
    if (!object.contains("id") || !object["id"].is_string()) return damaged;
    Mark mark;
    mark.id = object["id"].get<std::string>();
    if (mark.id.empty() || mark.id.size() > 64) return damaged;
    mark.range.startNs = timeIn(object, "startNs");
    mark.range.endNs = isTime(object, "endNs") ? timeIn(object, "endNs") : mark.range.startNs;
    if (mark.range.endNs < mark.range.startNs) return damaged;
    if (const auto text = object.find("text"); text != object.end() && text->is_string())
        mark.text = text->get<std::string>().substr(0, maxMarkBytes);
    if (const auto color = object.find("color"); color != object.end() && color->is_string())
        mark.color = parseColor(color->get<std::string>());
    else
        mark.color = defaultColor;
    if (const auto track = object.find("track"); track != object.end() && track->is_array())
        for (const Json& title : *track)
            if (title.is_string()) mark.track.push_back(title.get<std::string>());
    if (isTime(object, "changedUtcNs")) mark.changedUtcNs = object["changedUtcNs"].get<int64_t>();
    mark.unknownFields = rest(object, {"id", "startNs", "endNs", "text", "color", "track", "changedUtcNs"});
    return mark;
}

Json markAsJson(const Mark& mark) {
    Json object = restored(mark.unknownFields);
    object["id"] = mark.id;
    object["startNs"] = mark.range.startNs;
    if (mark.range.endNs > mark.range.startNs) object["endNs"] = mark.range.endNs;
    object["text"] = mark.text;
    object["color"] = fmt::format("#{:06x}", mark.color & 0xffffff);
    if (!mark.track.empty()) object["track"] = mark.track;
    object["changedUtcNs"] = mark.changedUtcNs;
    return object;
}

/// Returns true if the nesting could overflow the stack of the parser. Brackets inside texts are
/// skipped, because closing ones would offset as many opening ones.
bool isTooDeep(std::string_view json) {
    constexpr int deepest = 200;
    int depth = 0;
    bool isInText = false;
    for (size_t at = 0; at < json.size(); ++at) {
        const char letter = json[at];
        if (letter == '"') isInText = !isInText;
        if (isInText && letter == '\\') ++at;  // An escaped character does not end the text.
        if (isInText) continue;
        if (letter == '[' || letter == '{') ++depth;
        if (letter == ']' || letter == '}') --depth;
        if (depth > deepest) return true;
    }
    return false;
}

using ById = std::map<std::string_view, const Mark*>;

ById byId(const Notes& notes) {
    ById found;
    for (const Mark& mark : notes.marks) found.emplace(mark.id, &mark);
    return found;
}

const Mark* find(const ById& marks, std::string_view id) {
    const auto found = marks.find(id);
    return found != marks.end() ? found->second : nullptr;
}

bool areEqual(const Mark* one, const Mark* other) { return one && other ? *one == *other : one == other; }

/// Returns null if the mark is deleted.
const Mark* chosen(const Mark* base, const Mark* mine, const Mark* theirs) {
    if (areEqual(mine, base)) return theirs;
    if (areEqual(theirs, base)) return mine;
    if (!mine || !theirs) return mine ? mine : theirs;
    return theirs->changedUtcNs > mine->changedUtcNs ? theirs : mine;
}

constexpr uintmax_t maxFileBytes = uintmax_t{64} << 20;
constexpr const char* suffix = ".lanescope-notes.json";
/// Maximum wait for the lock; storing takes some milliseconds.
constexpr std::chrono::seconds maxLockWait{10};
constexpr std::chrono::milliseconds lockInterval{5};

/// Lock that keeps other viewers from storing in the same folder. It does not wait if folders
/// cannot be locked, and gives up after `maxLockWait`.
class FolderLock {
  public:
    explicit FolderLock(const fs::path& folder) {
        std::error_code error;
        const fs::path whole = fs::canonical(folder, error);  // Links in the path are the user's own.
        if (Result<Folder> opened = Folder::open(whole)) folder_.emplace(std::move(*opened));
        const auto deadline = std::chrono::steady_clock::now() + maxLockWait;
        while (folder_ && ::flock(folder_->descriptor(), LOCK_EX | LOCK_NB) != 0 &&
               (errno == EWOULDBLOCK || errno == EINTR) && std::chrono::steady_clock::now() < deadline)
            std::this_thread::sleep_for(lockInterval);
    }

  private:
    std::optional<Folder> folder_;
};

/// The file gets the permissions of the trace.
Result<void> replaceFile(const fs::path& path, std::string_view text, const fs::path& trace) {
    Result<AtomicFile> file = AtomicFile::create(path);
    if (!file) return fail(file.error());
    file->copyPermissionsOf(trace);
    file->write(text);
    return file->commit();
}

/// Renames a corrupt file and returns its new name; empty if that fails.
fs::path keepAside(const fs::path& path) {
    for (int number = 1; number < 1000; ++number) {
        fs::path aside = path;
        aside += fmt::format(".damaged-{}", number);
        if (mayExist(aside)) continue;
        return publishFile(path, aside, IfExists::Fail) ? aside : fs::path();
    }
    return {};
}

/// Returns true if `path` has a file that is not to be believed next to `trace`.
bool isUntrusted(const fs::path& path, const fs::path& trace) {
    const UniqueFd file = openTrustedFile(path, trace);
    return file < 0 && errno == EPERM;
}

/// Returns true if this user owns the trace. The owner would not believe the notes of another user, and could not read
/// those of root.
bool isOwnTrace(const fs::path& trace) {
    struct stat status {};
    return ::stat(trace.c_str(), &status) != 0 || status.st_uid == ::geteuid();
}

}  // namespace

int64_t utcNow() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

Mark newMark(TimeRange range) {
    std::random_device random;
    Mark mark;
    mark.id = fmt::format("{:08x}{:08x}", uint32_t{random()}, uint32_t{random()});
    mark.range = range;
    mark.changedUtcNs = utcNow();
    return mark;
}

void sortMarks(std::vector<Mark>& marks) {
    std::ranges::sort(marks, {}, [](const Mark& each) { return std::tie(each.range.startNs, each.id); });
}

std::vector<std::string> trackPath(const Trace& trace, uint32_t track) {
    std::vector<std::string> path;
    auto at = static_cast<int64_t>(track);
    while (at >= 0 && at < static_cast<int64_t>(trace.tracks.size())) {
        const Track& step = trace.tracks[static_cast<size_t>(at)];
        path.push_back(step.title);
        if (step.parent >= at) break;
        at = step.parent;
    }
    std::reverse(path.begin(), path.end());
    return path;
}

uint32_t trackOfPath(const Trace& trace, const std::vector<std::string>& path) {
    if (path.empty()) return noIndex;
    for (uint32_t track = 0; track < trace.tracks.size(); ++track)
        if (isCalled(trace.tracks[track].title, path.back()) && isCalled(trace, track, path)) return track;
    return noIndex;
}

std::string trackText(const Mark& mark) {
    std::string text;
    for (const std::string& title : mark.track) {
        if (!text.empty()) text += " / ";
        text += title;
    }
    return text;
}

ReportTable marksTable(std::span<const Mark> marks) {
    ReportTable table;
    table.name = "marks";
    table.title = "Marks";
    table.columns = {
        {"Start", Unit::Timestamp}, {"Duration", Unit::Nanoseconds}, {"Track", Unit::Text}, {"Text", Unit::Text}};
    for (const Mark& mark : marks) {
        table.rows.push_back({mark.range.startNs, Cell(), trackText(mark), mark.text});
        if (!mark.range.isEmpty()) table.rows.back()[1] = mark.range.durationNs();
    }
    return table;
}

std::string marksAsMarkdown(std::span<const Mark> marks, const std::string& title) {
    std::string text = fmt::format("## {}\n\n| start | duration | track | text |\n|---|---|---|---|\n", escaped(title));
    for (const Mark& mark : marks)
        text += fmt::format("| {} | {} | {} | {} |\n", formatTimestamp(mark.range.startNs),
                            mark.range.isEmpty() ? "" : formatDuration(mark.range.durationNs()),
                            escaped(trackText(mark)), escaped(mark.text));
    return text;
}

Result<Notes, NotesFault> parseNotes(std::string_view json) {
    const auto damaged = tl::unexpected(NotesFault::Damaged);
    if (isTooDeep(json)) return damaged;
    const Json file = Json::parse(json, nullptr, false);
    if (!file.is_object() || file.value("format", Json()) != formatName) return damaged;
    if (!file.contains("version") || !file["version"].is_number_integer()) return damaged;
    if (file["version"].get<int64_t>() > version) return tl::unexpected(NotesFault::Newer);
    const auto marks = file.find("marks");
    if (marks == file.end() || !marks->is_array() || marks->size() > maxMarks) return damaged;
    Notes notes;
    std::set<std::string> ids;
    for (const Json& object : *marks) {
        auto mark = parseMark(object);
        if (!mark || !ids.insert(mark->id).second) return damaged;
        notes.marks.push_back(std::move(*mark));
    }
    notes.unknownFields = rest(file, {"format", "version", "marks"});
    sortMarks(notes.marks);
    return notes;
}

std::string formatNotes(const Notes& notes) {
    Json file = restored(notes.unknownFields);
    file["format"] = formatName;
    file["version"] = version;
    file["marks"] = Json::array();
    for (const Mark& mark : notes.marks) file["marks"].push_back(markAsJson(mark));
    return file.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

Notes mergeNotes(const Notes& base, const Notes& mine, const Notes& theirs) {
    const ById baseMarks = byId(base), myMarks = byId(mine), theirMarks = byId(theirs);
    std::set<std::string_view> ids;
    for (const ById* marks : {&myMarks, &theirMarks})
        for (const auto& [id, mark] : *marks) ids.insert(id);
    Notes merged{.unknownFields = theirs.unknownFields};
    for (const std::string_view id : ids) {
        const Mark* mark = chosen(find(baseMarks, id), find(myMarks, id), find(theirMarks, id));
        if (mark) merged.marks.push_back(*mark);
    }
    sortMarks(merged.marks);
    return merged;
}

struct NotesFile::Content {
    enum class State : uint8_t { Missing, Read, Corrupt, Ignored } state = State::Missing;
    Notes notes = {};
};

Result<NotesFile::Content> NotesFile::contentOf(const fs::path& path, const fs::path& trace) {
    using enum Content::State;
    const UniqueFd file = openTrustedFile(path, trace);
    const int problem = file < 0 ? errno : 0;
    if (problem == EPERM) return Content{Ignored};
    if (problem != 0 && !mayExist(path)) return Content{};
    std::string text;
    if (problem != 0 || !readToEnd(file, text, maxFileBytes))
        return fail("Cannot read {}: {}.", path.string(), std::strerror(problem != 0 ? problem : errno));
    auto notes = text.size() > maxFileBytes ? tl::unexpected(NotesFault::Damaged) : parseNotes(text);
    if (notes) return Content{Read, std::move(*notes)};
    if (notes.error() == NotesFault::Newer)
        return fail("{}: the notes were written by a newer Lanescope. Change them with that version.", path.string());
    return Content{Corrupt};
}

NotesFile NotesFile::forTrace(const fs::path& trace, const fs::path& userFolder) {
    std::error_code ignored;
    fs::path whole = fs::absolute(trace, ignored);
    NotesFile file;
    file.trace_ = whole;
    if (whole.extension() == ".partial") {
        whole.replace_extension();
        if (fs::exists(whole, ignored)) file.trace_ = whole;
    }
    file.nextToTrace_ = whole;
    file.nextToTrace_ += suffix;
    file.path_ = file.nextToTrace_;
    file.isNextToTrace_ = ::access(whole.parent_path().c_str(), W_OK) == 0 && isOwnTrace(file.trace_) &&
                          !isUntrusted(file.path_, file.trace_);
    if (!file.isNextToTrace_ && !userFolder.empty()) {
        // Different folders may contain traces of the same name.
        Fnv1a folder;
        folder.add(whole.string());
        const std::string name = whole.filename().string();
        file.path_ = userFolder / fmt::format("{}-{:016x}{}", name, folder.value(), suffix);
    }
    return file;
}

/// Without notes in the folder of the user, those next to the trace are the first.
Result<NotesFile::Content> NotesFile::content() const {
    if (path_ == nextToTrace_) return contentOf(path_, trace_);
    Result<Content> own = contentOf(path_, {});
    const bool isThere = !own || own->state == Content::State::Read || own->state == Content::State::Corrupt;
    return isThere ? own : contentOf(nextToTrace_, trace_);
}

Result<FoundNotes> NotesFile::read() const {
    Result<Content> content = this->content();
    if (!content) return fail(content.error());
    FoundNotes found{.notes = std::move(content->notes)};
    if (content->state == Content::State::Corrupt)
        found.remark = fmt::format("{}: the notes are corrupt and not shown. They will be renamed when a mark is set.",
                                   path_.string());
    found.isIgnored = isUntrusted(nextToTrace_, trace_);
    if (found.isIgnored)
        found.remark = fmt::format("{}: ignored, because another user can write to it or it is no regular file.",
                                   nextToTrace_.string());
    return found;
}

Result<FoundNotes> NotesFile::store(const Notes& base, const Notes& mine) const {
    if (!isNextToTrace_) {
        if (Result<void> made = makePrivateFolders(path_.parent_path()); !made) return fail(made.error());
    }
    const FolderLock lock(path_.parent_path());
    Result<Content> content = this->content();
    if (!content) return fail(content.error());
    if (isNextToTrace_ && content->state == Content::State::Ignored)
        return fail("{}: another user can write to this file; nothing was written.", path_.string());
    FoundNotes stored;
    const bool isCorrupt = content->state == Content::State::Corrupt;
    if (isCorrupt && mayExist(path_)) {
        const fs::path aside = keepAside(path_);
        if (aside.empty())
            return fail("{}: the notes are corrupt and cannot be renamed; nothing was written.", path_.string());
        stored.remark = fmt::format("{}: the notes were corrupt; they were renamed to {}.", path_.string(),
                                    aside.filename().string());
    }
    stored.notes = isCorrupt ? mine : mergeNotes(base, mine, content->notes);
    if (isCorrupt) sortMarks(stored.notes.marks);
    if (!isCorrupt && stored.notes == content->notes) return stored;
    const auto done = replaceFile(path_, formatNotes(stored.notes), isNextToTrace_ ? trace_ : fs::path());
    if (!done) return fail(done.error());
    return stored;
}

}  // namespace lanescope
