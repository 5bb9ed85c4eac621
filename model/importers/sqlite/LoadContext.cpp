// SPDX-License-Identifier: Apache-2.0
#include "model/importers/sqlite/LoadContext.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "model/format/factNames.h"
#include "model/format/tables/Session.h"
#include "model/format/text.h"
#include "model/text/kernelNames.h"

namespace lanescope {

namespace {

/// Minimum size of a row: a cell pointer, two lengths and a record header.
constexpr int64_t minBytesPerRow = 6;
/// Each byte of a file belongs to at most one text. A table may be read twice, and the default text
/// of an added column is stored once in the file.
constexpr uint64_t textsPerByte = 4;
constexpr uint64_t minTextLimitBytes = uint64_t{1} << 20;
constexpr std::chrono::milliseconds reportInterval{40};

}  // namespace

void FileStrings::read(LoadContext& context) {
    constexpr const auto& table = tables::strings;
    TableReader reader(context, table, {table.id, table.value}, "strings");
    // Larger ids than the file can contain rows would make the vector larger than the file.
    const int64_t denseLimit = context.possibleRows();
    while (reader.next()) {
        const std::optional<int64_t> id = reader.integer(table.id);
        if (reader.skipRowIf(!id)) continue;
        const StringIndex index = builder_.intern(reader.text(table.value));
        if (*id < 0 || *id >= denseLimit) {
            sparse_[*id] = index;
            continue;
        }
        const auto position = static_cast<size_t>(*id);
        if (position >= dense_.size()) dense_.resize(position + 1, missing);
        dense_[position] = index;
    }
}

std::optional<StringIndex> FileStrings::find(int64_t id) const {
    if (id >= 0 && static_cast<uint64_t>(id) < dense_.size()) {
        const StringIndex index = dense_[static_cast<size_t>(id)];
        return index != missing ? std::optional(index) : std::nullopt;
    }
    const auto found = sparse_.find(id);
    return found != sparse_.end() ? std::optional(found->second) : std::nullopt;
}

std::string_view plainApiName(std::string_view entryPoint) {
    const size_t version = entryPoint.rfind("_v");
    if (version == std::string_view::npos) return entryPoint;
    const std::string_view digits = entryPoint.substr(version + 2);
    // CUDA versions have four or five digits ("_v3020", "_v12000").
    if (digits.size() < 4 || digits.size() > 5 || !isNumber(digits)) return entryPoint;
    std::string_view name = entryPoint.substr(0, version);
    // Variants of the default stream, which are the same call for the user.
    for (const std::string_view suffix : {"_ptsz", "_ptds"})
        if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
    return name;
}

LoadContext::LoadContext(const Database& database, TraceBuilder& builder, unsigned threads,
                         const LoadProgress& progress)
    : database_(database),
      builder_(builder),
      threads_(threads),
      progress_(progress),
      possibleRows_(static_cast<int64_t>(database.fileBytes()) / minBytesPerRow),
      possibleTextBytes_(minTextLimitBytes + textsPerByte * database.fileBytes()) {}

std::span<const Database> LoadContext::borrowConnections() {
    if (areBorrowed_) return {};
    while (furtherConnections_.size() + 1 < threads_) {
        Result<Database> database = database_.reopen();
        if (!database) break;
        furtherConnections_.push_back(std::move(*database));
    }
    areBorrowed_ = !furtherConnections_.empty();
    return furtherConnections_;
}

int64_t LoadContext::estimatedRows(const char* table) const {
    if (!database_.hasTable(table)) return 0;
    auto statement = database_.prepare(fmt::format("SELECT max(rowid) FROM {}", table));
    if (!statement) return 0;
    const auto row = statement->step();
    return row && *row ? std::clamp<int64_t>(statement->integer(0), 0, possibleRows_) : 0;
}

bool LoadContext::advance(int64_t rows, std::string_view what) {
    readRows_ += rows;
    const double read =
        static_cast<double>(readRows_) / static_cast<double>(std::max<int64_t>({1, expectedRows_, readRows_}));
    return report(read, what);
}

bool LoadContext::report(double fraction, std::string_view what) {
    if (!progress_ || isCancelled_) return !isCancelled_;
    const auto now = std::chrono::steady_clock::now();
    if (now < nextReport_) return true;
    nextReport_ = now + reportInterval;
    isCancelled_ = !progress_(fraction, what);
    return !isCancelled_;
}

void ProfileContext::beginWith(const char* table, const char* column) {
    RowReader reader(context_, table, {column}, "times");
    while (reader.next())
        if (const std::optional<int64_t> timeNs = reader.integer(0); timeNs && *timeNs > 0)
            firstNs_ = std::min(firstNs_, *timeNs);
}

void ProfileContext::readTexts(const char* table, const char* numberColumn, const char* textColumn) {
    texts_.clear();
    demangled_.clear();
    RowReader reader(context_, table, {numberColumn, textColumn}, "strings");
    while (reader.next())
        if (const int64_t number = reader.integerOr(0, 0); number != 0)
            texts_[number] = builder().intern(reader.text(1));
}

StringIndex ProfileContext::text(int64_t number) const {
    const auto found = texts_.find(number);
    return found != texts_.end() ? found->second : 0;
}

void ProfileContext::nameKernel(LaunchConfig& config, StringIndex name) {
    const auto [found, isNew] = demangled_.try_emplace(name, name);
    if (isNew) {
        std::string mangled(builder().text(name));
        // Suffix of kernel descriptors in code objects.
        constexpr std::string_view descriptor = ".kd";
        if (mangled.ends_with(descriptor)) mangled.resize(mangled.size() - descriptor.size());
        found->second = builder().intern(demangledName(mangled).value_or(mangled));
    }
    config.mangledName = name;
    config.demangledName = found->second;
    const std::string whole(builder().text(config.demangledName));
    config.shortName = builder().intern(kernelBaseName(whole));
}

void ProfileContext::noteOthers() {
    for (const auto& [name, count] : others_)
        builder().note(Severity::Info, HealthCode::NotShown,
                       fmt::format("Not shown here: {} GPU operations named \"{}\".", count, name), count);
}

MemcpyKind rocmCopyKind(std::string_view name) {
    std::string word;
    for (const char c : name)
        if (isLetter(c)) word += lowerCase(c);
    constexpr std::array<std::pair<std::string_view, MemcpyKind>, 4> words{{{"hosttodevice", MemcpyKind::HtoD},
                                                                            {"devicetohost", MemcpyKind::DtoH},
                                                                            {"devicetodevice", MemcpyKind::DtoD},
                                                                            {"hosttohost", MemcpyKind::HtoH}}};
    for (const auto& [ending, kind] : words)
        if (word.find("copy") != std::string::npos && word.ends_with(ending)) return kind;
    return MemcpyKind::Unknown;
}

}  // namespace lanescope
