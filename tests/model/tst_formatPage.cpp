// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <regex>

#include "model/format/Table.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/Session.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

const std::filesystem::path prose = LANESCOPE_SOURCE_DIR "/model/format/FORMAT.md";
const std::filesystem::path list = LANESCOPE_SOURCE_DIR "/model/format/TABLES.md";
/// The text above the list.
constexpr std::string_view endOfIntroduction = "in `tables/`.\n\n";
constexpr size_t lineWidth = 116;

std::vector<const tables::Table*> everyTable() {
    std::vector<const tables::Table*> all(tables::traceTables().begin(), tables::traceTables().end());
    const auto stored = tables::storedTables();
    all.insert(all.end(), stored.begin(), stored.end());
    return all;
}

/// The note in brackets after its name; a whole number that may be NULL has none.
std::string noteOf(const tables::ColumnInfo& column) {
    std::string note = column.type == tables::Type::Text   ? "text"
                       : column.type == tables::Type::Real ? "real"
                       : column.type == tables::Type::Any  ? "any type"
                                                           : "";
    if (column.presence == tables::Presence::Key) note = "key";
    if (column.presence == tables::Presence::Required) note += note.empty() ? "not NULL" : ", not NULL";
    return note.empty() ? "" : " (" + note + ")";
}

std::string columnsOf(const tables::Table& table) {
    std::string text;
    for (const tables::ColumnInfo& column : table.columns())
        text += fmt::format("{}`{}`{} {}", text.empty() ? "" : " · ", column.name, noteOf(column), column.meaning);
    return text + ".";
}

std::string wrapped(const std::string& text) {
    std::istringstream words(text);
    std::string lines, word;
    size_t length = 0;
    while (words >> word) {
        if (length > 0 && length + 1 + word.size() > lineWidth) {
            lines += '\n';
            length = 0;
        }
        if (length > 0) lines += ' ';
        length += word.size() + (length > 0 ? 1 : 0);
        lines += word;
    }
    return lines + '\n';
}

/// The expected list of the page.
std::string listOfTables() {
    std::string text, before;
    const char* nameBefore = nullptr;
    for (const tables::Table* table : everyTable()) {
        const std::string columns = columnsOf(*table);
        // All tables that explain numbers share one text.
        if (!text.empty()) text += '\n';
        text += wrapped(fmt::format("**`{}`**, {}: {}", table->tableName(), table->rowMeaning(),
                                    columns == before ? fmt::format("columns as of `{}`.", nameBefore) : columns));
        if (columns != before) nameBefore = table->tableName();
        before = columns;
    }
    return text;
}

}  // namespace

class tst_formatPage : public QObject {
    Q_OBJECT

  private slots:
    void listsEveryTableAndColumn() {
        const std::string text = contentOf(list);
        const size_t begin = text.find(endOfIntroduction);
        QVERIFY(begin != std::string::npos);
        const size_t first = begin + endOfIntroduction.size();
        const std::string stands = text.substr(first), expected = listOfTables();
        if (stands == expected) return;
        if (qEnvironmentVariableIntValue("LANESCOPE_UPDATE_GOLDEN") == 0)
            QFAIL(
                "The page does not say what the program does; run this test with "
                "LANESCOPE_UPDATE_GOLDEN=1 and read what it wrote.");
        std::ofstream(list) << text.substr(0, first) << expected;
    }

    void namesOnlyExistingTables() {
        std::vector<std::string> known;
        for (const tables::Table* table : everyTable()) known.emplace_back(table->tableName());
        // A row of a table, a table of earlier versions, and names that the page calls absent.
        known.insert(known.end(), {tables::producerName, tables::oldGraphNodes.tableName(), "CUDA_GRAPH_EVENTS",
                                   "TARGET_INFO_NVTX_CUDA_DEVICE"});
        const std::string text = contentOf(prose) + contentOf(list);
        // "*" or "..." may shorten a name.
        static const std::regex name(
            "((?:CUPTI|CUDA|NVTX|GPU|TARGET|META|ANALYSIS|DIAGNOSTIC|LANESCOPE|ENUM)_[A-Z_]*)(\\*|\\.{"
            "3})?");
        int names = 0;
        for (std::sregex_iterator match(text.begin(), text.end(), name), last; match != last; ++match) {
            const std::string found = (*match)[1];
            const bool isCut = (*match)[2].matched;
            const bool isKnown = std::ranges::any_of(
                known, [&](const std::string& table) { return isCut ? table.starts_with(found) : table == found; });
            QVERIFY2(isKnown, (found + " is no table").c_str());
            ++names;
        }
        QVERIFY(names > static_cast<int>(known.size()));
    }

    void everyColumnHasAMeaning() {
        std::set<std::string_view> names;
        for (const tables::Table* table : everyTable()) {
            QVERIFY2(names.insert(table->tableName()).second, table->tableName());
            QVERIFY2(!std::string_view(table->rowMeaning()).empty(), table->tableName());
            std::set<std::string_view> columns;
            for (const tables::ColumnInfo& column : table->columns()) {
                QVERIFY2(columns.insert(column.name).second, column.name);
                QVERIFY2(!std::string_view(column.meaning).empty(), column.name);
                const std::string_view meaning(column.meaning), name(column.name);
                if (name.ends_with("Ns")) QVERIFY2(meaning.find("ns") != std::string_view::npos, column.name);
            }
        }
    }
};

LANESCOPE_TEST(tst_formatPage, NoApplication)
#include "tst_formatPage.moc"
