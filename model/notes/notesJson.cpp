// SPDX-License-Identifier: Apache-2.0
#include "model/notes/notesJson.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

namespace lanescope {

namespace {

using Json = nlohmann::json;

constexpr int version = 1;
constexpr const char* formatName = "lanescope-notes";
constexpr uint32_t defaultColor = 0xe69f00;

/// Times beyond are nowhere in a trace; differences of two stay within 64 bits.
constexpr int64_t farthestNs = int64_t{1} << 60;

uint32_t parseColor(const std::string& text) {
    uint32_t color = 0;
    if (text.size() != 7 || text[0] != '#') return defaultColor;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + 7, color, 16);
    return error == std::errc() && end == text.data() + 7 ? color : defaultColor;
}

/// What is left of `object` without `known`, as text; empty if nothing is.
std::string rest(Json object, std::initializer_list<const char*> known) {
    for (const char* name : known) object.erase(name);
    return object.empty() ? std::string() : object.dump();
}

Json restored(const std::string& foreign) {
    Json object = foreign.empty() ? Json::object() : Json::parse(foreign, nullptr, false);
    return object.is_object() ? object : Json::object();
}

bool isTime(const Json& object, const char* name) {
    return object.contains(name) && object[name].is_number_integer();
}

int64_t timeIn(const Json& object, const char* name) {
    return std::clamp(object[name].get<int64_t>(), -farthestNs, farthestNs);
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
        mark.text = text->get<std::string>().substr(0, longestMarkText);
    if (const auto color = object.find("color"); color != object.end() && color->is_string())
        mark.color = parseColor(color->get<std::string>());
    else
        mark.color = defaultColor;
    if (const auto track = object.find("track"); track != object.end() && track->is_array())
        for (const Json& title : *track)
            if (title.is_string()) mark.track.push_back(title.get<std::string>());
    if (isTime(object, "changedUtcNs")) mark.changedUtcNs = object["changedUtcNs"].get<int64_t>();
    mark.foreign =
        rest(object, {"id", "startNs", "endNs", "text", "color", "track", "changedUtcNs"});
    return mark;
}

Json markAsJson(const Mark& mark) {
    Json object = restored(mark.foreign);
    object["id"] = mark.id;
    object["startNs"] = mark.range.startNs;
    if (mark.range.endNs > mark.range.startNs) object["endNs"] = mark.range.endNs;
    object["text"] = mark.text;
    object["color"] = fmt::format("#{:06x}", mark.color & 0xffffff);
    if (!mark.track.empty()) object["track"] = mark.track;
    object["changedUtcNs"] = mark.changedUtcNs;
    return object;
}

/// Nested so deep that reading it would take the stack. Brackets in texts count for nothing: else
/// those that close would hide as many that open.
bool isTooDeep(std::string_view json) {
    constexpr int deepest = 200;
    int depth = 0;
    bool isInText = false;
    for (size_t at = 0; at < json.size(); ++at) {
        const char letter = json[at];
        if (letter == '"') isInText = !isInText;
        if (isInText && letter == '\\') ++at;  // whatever it is, it does not end the text
        if (isInText) continue;
        if (letter == '[' || letter == '{') ++depth;
        if (letter == ']' || letter == '}') --depth;
        if (depth > deepest) return true;
    }
    return false;
}

}  // namespace

Result<Notes, NotesFault> parseNotes(std::string_view json) {
    const auto damaged = tl::unexpected(NotesFault::Damaged);
    if (isTooDeep(json)) return damaged;
    const Json file = Json::parse(json, nullptr, false);
    if (!file.is_object() || file.value("format", Json()) != formatName) return damaged;
    if (!file.contains("version") || !file["version"].is_number_integer()) return damaged;
    if (file["version"].get<int64_t>() > version) return tl::unexpected(NotesFault::Newer);
    const auto marks = file.find("marks");
    if (marks == file.end() || !marks->is_array() || marks->size() > mostMarks) return damaged;
    Notes notes;
    std::set<std::string> ids;
    for (const Json& object : *marks) {
        auto mark = parseMark(object);
        if (!mark || !ids.insert(mark->id).second) return damaged;
        notes.marks.push_back(std::move(*mark));
    }
    notes.foreign = rest(file, {"format", "version", "marks"});
    sortMarks(notes.marks);
    return notes;
}

std::string formatNotes(const Notes& notes) {
    Json file = restored(notes.foreign);
    file["format"] = formatName;
    file["version"] = version;
    file["marks"] = Json::array();
    for (const Mark& mark : notes.marks) file["marks"].push_back(markAsJson(mark));
    return file.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace lanescope
