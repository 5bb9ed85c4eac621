// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "model/compare/storedSummary.h"
#include "model/fleet/RankDetails.h"
#include "model/format/AtomicFile.h"
#include "model/format/Sqlite.h"
#include "model/format/TemporaryFile.h"

namespace lanescope::fleet {

namespace {

/// A file that goes with this object.
class Scratch {
  public:
    explicit Scratch(std::filesystem::path path) : path_(std::move(path)) {}
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

Result<void> fill(Database database, const Trace& trace, const compare::RunSummary& run,
                  const RankDetails& details, bool isHere) {
    // "LNSR": a reader of traces does not take it for one.
    if (auto named = database.execute("PRAGMA application_id = 0x4c4e5352"); !named) return named;
    if (auto written = compare::writeRunSummary(database, run); !written) return written;
    return writeRankDetails(database, trace, details, isHere);
}

/// Where SQLite may work: not where the summary goes, which may be a file system that many ranks
/// write to at once.
Result<Database> makeDatabase(std::filesystem::path& place) {
    Result<Database> made = fail("There is no folder for temporary files.");
    for (const std::filesystem::path& folder : temporaryFolders()) {
        place = folder / fmt::format("lanescope-summary-{}", ::getpid());
        made = Database::create(place);
        if (made) break;
    }
    return made;
}

}  // namespace

std::filesystem::path summaryName(const std::filesystem::path& trace) {
    std::filesystem::path name = trace.filename();
    if (name.extension() == ".gz") name.replace_extension();
    return name.replace_extension(summaryExtension);
}

Result<void> writeSummaryFile(const std::filesystem::path& path, const Trace& trace,
                              const compare::RunSummary& run, const RankDetails& details,
                              bool isHere) {
    std::filesystem::path place;
    Result<Database> database = makeDatabase(place);
    if (!database) return fail(database.error());
    const Scratch scratch(place);
    if (auto filled = fill(std::move(*database), trace, run, details, isHere); !filled)
        return filled;
    std::ifstream file(scratch.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!file || bytes.empty()) return fail("Cannot read {}.", scratch.path().string());
    Result<AtomicFile> out = AtomicFile::create(path);
    if (!out) return fail(out.error());
    out->write(bytes);
    return out->commit();
}

}  // namespace lanescope::fleet
