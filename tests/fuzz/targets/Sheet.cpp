// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets/Sheet.h"

#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tests/fuzz/targets/targets.h"

namespace lanescope::fuzz {

namespace {

constexpr size_t maxTables = 80, maxColumns = 60, maxRows = 3000, maxRepeatedRows = 20'000;

template <class Number>
bool isNumber(std::string_view text, Number& number, int base = 10) {
    std::from_chars_result read{};
    if constexpr (std::is_floating_point_v<Number>)
        read = std::from_chars(text.data(), text.data() + text.size(), number);
    else
        read = std::from_chars(text.data(), text.data() + text.size(), number, base);
    return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

/// Returns a name quoted for SQL, whatever its content.
std::string quoted(std::string_view name) {
    std::string text = "\"";
    for (const char letter : name) text += letter == '"' ? "\"\"" : std::string(1, letter);
    return text + '"';
}

std::string unescaped(std::string_view text) {
    std::string plain;
    for (size_t at = 0; at < text.size(); ++at) {
        uint8_t byte = 0;
        if (text[at] == '%' && at + 3 <= text.size() && isNumber(text.substr(at + 1, 2), byte, 16)) {
            plain += static_cast<char>(byte);
            at += 2;
        } else {
            plain += text[at];
        }
    }
    return plain;
}

/// Binds "5+2" as the number 5, 7, 9 ... of a repeated row, "5?9" as one of 5 to 13; returns false for any other word.
bool bindVaried(sqlite3_stmt* into, int index, std::string_view word, size_t repeated) {
    const size_t sign = word.find_first_of("+?", 1);
    uint64_t first = 0, second = 0;
    if (sign == word.npos || !isNumber(word.substr(0, sign), first) || !isNumber(word.substr(sign + 1), second))
        return false;
    // Multiplying and shifting makes growing numbers unordered.
    constexpr uint64_t factor = 0x9e3779b97f4a7c15;
    const uint64_t more =
        word[sign] == '+' ? second * repeated : ((repeated + 1) * factor >> 20) % std::max<uint64_t>(second, 1);
    sqlite3_bind_int64(into, index, static_cast<int64_t>(first + more));
    return true;
}

/// Inserts a row of these values; the row number selects repeated values.
void insert(sqlite3_stmt* into, std::span<const std::string_view> values, std::optional<size_t> repeated) {
    const auto columns = static_cast<size_t>(sqlite3_bind_parameter_count(into));
    for (size_t at = 0; at < std::min(values.size(), columns); ++at) {
        const int index = static_cast<int>(at + 1);
        if (!repeated || !bindVaried(into, index, values[at], *repeated)) bindWord(into, index, values[at]);
    }
    sqlite3_step(into);
    sqlite3_reset(into);
    sqlite3_clear_bindings(into);
}

/// Returns the insert statement of the new table; null if the table is impossible.
sqlite3_stmt* makeTable(sqlite3* database, const std::vector<std::string_view>& line) {
    if (line.size() < 3) return nullptr;
    std::string columns, values;
    for (size_t column = 2; column < line.size(); ++column) {
        columns += (column > 2 ? "," : "") + quoted(line[column]);
        values += column > 2 ? ",?" : "?";
    }
    const std::string table = quoted(line[1]);
    if (sqlite3_exec(database, ("CREATE TABLE " + table + "(" + columns + ")").c_str(), nullptr, nullptr, nullptr) !=
        SQLITE_OK)
        return nullptr;
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(database, ("INSERT INTO " + table + " VALUES(" + values + ")").c_str(), -1, &statement, nullptr);
    return statement;
}

}  // namespace

std::string_view takeUntil(std::string_view& rest, char separator) {
    const size_t end = rest.find(separator);
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    return part;
}

std::vector<std::string_view> wordsOf(std::string_view line) {
    std::vector<std::string_view> found;
    while (!line.empty() && found.size() <= maxColumns)
        if (const std::string_view word = takeUntil(line, ' '); !word.empty()) found.push_back(word);
    return found;
}

void bindWord(sqlite3_stmt* statement, int index, std::string_view word) {
    int64_t whole = 0;
    double real = 0;
    if (word.empty() || word == "~") {
        sqlite3_bind_null(statement, index);
    } else if (word.front() == '\'') {
        const std::string text = unescaped(word.substr(1));
        sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
    } else if (word.front() == 'x') {
        std::string blob;
        for (size_t at = 1; at + 2 <= word.size(); at += 2) {
            uint8_t byte = 0;
            (void)isNumber(word.substr(at, 2), byte, 16);
            blob += static_cast<char>(byte);
        }
        sqlite3_bind_blob(statement, index, blob.data(), static_cast<int>(blob.size()), SQLITE_TRANSIENT);
    } else if (isNumber(word, whole)) {
        sqlite3_bind_int64(statement, index, whole);
    } else if (isNumber(word, real)) {
        sqlite3_bind_double(statement, index, real);
    } else {
        sqlite3_bind_text(statement, index, word.data(), static_cast<int>(word.size()), SQLITE_TRANSIENT);
    }
}

void CloseSqlite::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

SqlitePtr databaseOf(std::string_view sheet) {
    sqlite3* raw = nullptr;
    require(sqlite3_open(":memory:", &raw) == SQLITE_OK, "There is no SQLite.");
    SqlitePtr database(raw);
    sqlite3_exec(raw, "PRAGMA page_size = 512; BEGIN", nullptr, nullptr, nullptr);
    sqlite3_stmt* into = nullptr;
    size_t tables = 0, rows = 0, repeated = 0;
    while (!sheet.empty()) {
        const std::vector<std::string_view> line = wordsOf(takeUntil(sheet, '\n'));
        if (line.empty()) continue;
        if (line[0] == "T" && tables++ < maxTables) {
            sqlite3_finalize(into);
            into = makeTable(raw, line);
        } else if (line[0] == "R" && into != nullptr && rows++ < maxRows) {
            insert(into, std::span(line).subspan(1), std::nullopt);
        } else if (size_t count = 0; line[0] == "M" && into != nullptr && line.size() > 1 && isNumber(line[1], count)) {
            for (size_t row = 0; row < count && repeated < maxRepeatedRows; ++row, ++repeated)
                insert(into, std::span(line).subspan(2), row);
        } else if (int32_t id = 0; line[0] == "A" && line.size() == 2 && isNumber(line[1], id)) {
            const std::string pragma = "PRAGMA application_id = " + std::to_string(id);
            sqlite3_exec(raw, pragma.c_str(), nullptr, nullptr, nullptr);
        }
    }
    sqlite3_finalize(into);
    sqlite3_exec(raw, "COMMIT", nullptr, nullptr, nullptr);
    return database;
}

SqlitePtr databaseFrom(std::string_view file) {
    sqlite3* raw = nullptr;
    require(sqlite3_open(":memory:", &raw) == SQLITE_OK, "There is no SQLite.");
    SqlitePtr database(raw);
    auto* const copy = static_cast<unsigned char*>(sqlite3_malloc64(file.size()));
    require(copy != nullptr, "There is no memory.");
    std::copy(file.begin(), file.end(), copy);
    const auto size = static_cast<sqlite3_int64>(file.size());
    sqlite3_deserialize(raw, "main", copy, size, size, SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
    return database;
}

std::string bytesOf(sqlite3* database) {
    sqlite3_int64 size = 0;
    unsigned char* const bytes = sqlite3_serialize(database, "main", &size, 0);
    if (bytes == nullptr) return {};
    std::string copy(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
    sqlite3_free(bytes);
    return copy;
}

}  // namespace lanescope::fuzz
