// SPDX-License-Identifier: Apache-2.0
#include "model/importers/importedFormats.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>

#include "model/format/OutputFile.h"
#include "model/format/Sqlite.h"
#include "model/format/Subprocess.h"
#include "model/format/files.h"
#include "model/importers/events/JsonCursor.h"
#include "model/importers/inspector/readInspectorTrace.h"
#include "model/importers/kineto/readKinetoTrace.h"
#include "model/importers/nvprof/readNvprofTrace.h"
#include "model/importers/perfetto/readPerfettoTrace.h"
#include "model/importers/rocm/readHipTrace.h"
#include "model/importers/rocm/readRocpdTrace.h"
#include "model/importers/rocm/readRpdTrace.h"
#include "model/importers/sqlite/readSqliteTrace.h"
#include "model/importers/unreadableFormats.h"
#include "model/importers/xplane/readXplaneTrace.h"
#include "model/system/system.h"

namespace lanescope {

namespace {

constexpr std::array<std::string_view, 8> keys{"\"traceEvents\"",
                                               "\"schemaVersion\"",
                                               "\"deviceProperties\"",
                                               "\"distributedInfo\"",
                                               "\"baseTimeNanoseconds\"",
                                               "\"displayTimeUnit\"",
                                               "\"ph\"",
                                               "\"ts\""};

/// Returns true for the name of a member of a trace, not of an event.
bool isTraceMember(std::string_view name) {
    constexpr size_t count = 6;
    return std::any_of(keys.begin(), keys.begin() + count,
                       [name](std::string_view key) { return key.substr(1, key.size() - 2) == name; });
}

/// Returns true if a member of the object at the start is named like one of torch.profiler. Members before it may have
/// any size up to that of `text`. Truncated is nullopt.
std::optional<bool> hasTraceMember(std::string_view text) {
    JsonCursor cursor(text);
    cursor.skipMark();
    if (!cursor.takes('{')) return false;
    while (true) {
        while (cursor.takes(',')) {
        }
        JsonValue key, value;
        if (cursor.isAtEnd()) return std::nullopt;
        const JsonStatus named = cursor.keyOfMember(key);
        if (named == JsonStatus::Complete && isTraceMember(key.text)) return true;
        const JsonStatus status = named == JsonStatus::Complete ? cursor.value(value) : named;
        if (status == JsonStatus::Truncated) return std::nullopt;
        if (status != JsonStatus::Complete) return false;
    }
}

/// Returns true if the file begins with an object that has such a member after a large one, such as the metadata of a
/// test harness.
bool hasLateTraceMember(TraceSource& source) {
    constexpr size_t maxStartBytes = size_t{64} << 20;
    std::string_view text = source.start();
    std::optional<bool> found = hasTraceMember(text);
    for (size_t bytes = 16 * text.size(); !found && bytes <= maxStartBytes; bytes *= 16) {
        const size_t before = text.size();
        text = source.startOf(bytes);
        if (text.size() == before) break;
        found = hasTraceMember(text);
    }
    return found.value_or(false);
}

/// Returns true if the file begins with keys of torch.profiler or of its events, or if its outermost object has one
/// later. If the first byte is corrupt, two keys are required.
Result<bool> isChromeTrace(TraceSource& source) {
    const std::string_view start = source.start();
    JsonCursor cursor(start);
    cursor.skipMark();
    cursor.skipSpace();
    if (cursor.isAtEnd() || source.startsLikeSqlite() || isKnownArchive(source)) return false;
    const auto found = std::count_if(
        keys.begin(), keys.end(), [start](std::string_view key) { return start.find(key) != std::string_view::npos; });
    const bool isJson = cursor.takes('{') || cursor.takes('[');
    return found > (isJson ? 0 : 1) || hasLateTraceMember(source);
}

Result<void> readEvents(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    return readKinetoTrace([&source](std::span<char> bytes) { return source.read(bytes); }, builder, source.threads(),
                           [&source] { return source.fractionRead(); }, progress, maxJsonBytesOf(source));
}

}  // namespace

uint64_t maxJsonBytesOf(const TraceSource& source) {
    constexpr uint64_t minLimitBytes = uint64_t{256} << 20, maxExpansion = 200;
    if (!source.isCompressed()) return maxJsonBytes;
    return std::min(maxJsonBytes, minLimitBytes + maxExpansion * std::min(source.fileBytes(), maxJsonBytes));
}

const TraceFormat chromeFormat{
    "chrome-json", "a JSON trace, such as torch.profiler writes", {".json"}, isChromeTrace, readEvents};

namespace {

/// Returns true if the file begins with keys of NCCL Inspector: of a record up to format 4.2, of a batch since then, or
/// of an operation if the first batch is truncated. A trace of events may contain any text, also these keys.
Result<bool> isInspectorLog(TraceSource& source) {
    const std::string_view start = source.start();
    const auto has = [start](std::string_view key) { return start.find(key) != std::string_view::npos; };
    const bool isOfInspector = has("\"inspector_output_format_version\"") ||
                               (has("\"coll_perf\"") && has("\"coll_exec_time_us\"")) ||
                               (has("\"p2p_perf\"") && has("\"p2p_exec_time_us\""));
    if (!isOfInspector || source.startsLikeSqlite() || start.find('\0') != std::string_view::npos) return false;
    const Result<bool> isOther = chromeFormat.isRecognized(source);
    return isOther && !*isOther;
}

Result<void> readRecords(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    return readInspectorTrace([&source](std::span<char> bytes) { return source.read(bytes); }, builder,
                              [&source] { return source.fractionRead(); }, progress, maxJsonBytesOf(source));
}

}  // namespace

const TraceFormat inspectorFormat{
    "nccl-inspector", "a log of NCCL Inspector", {"-pid*.log", "-pid*.jsonl"}, isInspectorLog, readRecords};

namespace {

Result<bool> isXplane(TraceSource& source) { return startsLikeXplane(source.start()); }

Result<bool> isPerfetto(TraceSource& source) {
    return !startsLikeXplane(source.start()) && startsLikePerfetto(source.start());
}

template <auto readTrace>
Result<void> read(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    return readTrace([&source](std::span<char> bytes) { return source.read(bytes); }, builder,
                     [&source] { return source.fractionRead(); }, progress);
}

}  // namespace

const TraceFormat xplaneFormat{
    "xplane", "an XPlane profile of JAX or TensorFlow", {".xplane.pb"}, isXplane, read<readXplaneTrace>};
const TraceFormat perfettoFormat{
    "perfetto", "a Perfetto trace", {".pftrace", ".perfetto-trace"}, isPerfetto, read<readPerfettoTrace>};

namespace {

template <SqliteKind kind>
Result<bool> isOfKind(TraceSource& source) {
    if (!source.startsLikeSqlite()) return false;
    const Result<const Database*> database = source.database();
    if (!database) return fail(database.error());
    const bool isIt = kindOf(**database) == kind;
    if (auto trouble = (*database)->trouble()) return fail(std::move(*trouble));
    return isIt;
}

Result<void> readTables(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    const Result<const Database*> database = source.database();
    if (!database) return fail(database.error());
    return readSqliteTrace(**database, builder, source.threads(), progress);
}

Result<void> readNvprof(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    const Result<const Database*> database = source.database();
    if (!database) return fail(database.error());
    return readNvprofTrace(**database, builder, source.threads(), progress);
}

template <auto readTrace>
Result<void> readRocm(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    const Result<const Database*> database = source.database();
    if (!database) return fail(database.error());
    return readTrace(**database, builder, source.threads(), progress);
}

}  // namespace

const TraceFormat lanescopeFormat{
    "lanescope", "a Lanescope trace", {".sqlite", ".sqlite3", ".db"}, isOfKind<SqliteKind::Lanescope>, readTables};
const TraceFormat nsightFormat{
    "nsight-sqlite", "an SQLite export of Nsight Systems", {".sqlite"}, isOfKind<SqliteKind::Nsight>, readTables};
const TraceFormat nvprofFormat{
    "nvprof", "a profile of nvprof", {".nvprof", ".nvvp"}, isOfKind<SqliteKind::Nvprof>, readNvprof};
const TraceFormat rocpdFormat{
    "rocpd", "a rocpd profile of AMD's ROCm", {".db"}, isOfKind<SqliteKind::Rocpd>, readRocm<readRocpdTrace>};
const TraceFormat hipFormat{
    "rocprof", "a profile of ROCm's rocprof or of hipprof", {".db"}, isOfKind<SqliteKind::Hip>, readRocm<readHipTrace>};
const TraceFormat rpdFormat{
    "rpd", "an RPD profile of AMD's ROCm", {".rpd"}, isOfKind<SqliteKind::Rpd>, readRocm<readRpdTrace>};

namespace {

namespace fs = std::filesystem;

constexpr std::string_view exporter = "nsys";

Result<bool> isNsightReport(TraceSource& source) {
    const fs::path ending = source.path().extension();
    return (ending == ".nsys-rep" || ending == ".qdrep") && !source.startsLikeSqlite();
}

/// Runs a program without input and output and returns its exit status, or -1 if it did not exit.
/// Ends it with all its children as soon as `isWanted` returns false.
int runQuietly(const std::vector<std::string>& words, const std::function<bool()>& isWanted) {
    Subprocess child = Subprocess::spawn(words.front(), words, {.hasOwnGroup = true});
    if (child.pid() < 0) return -1;
    for (;;) {
        if (const std::optional<int> status = child.poll())
            return *status >= 0 && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
        if (!isWanted()) return -1;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

/// Returns the name of the export of a report. Every change of the report changes the name, and no other report has it.
std::optional<std::string> exportName(const fs::path& report) {
    const Result<UniqueFd> file = openRegularFile(report);
    struct stat status {};
    if (!file || ::fstat(*file, &status) != 0) return std::nullopt;
    return fmt::format("{:x}-{:x}-{:x}-{:x}.sqlite", static_cast<uint64_t>(status.st_dev),
                       static_cast<uint64_t>(status.st_ino), static_cast<uint64_t>(status.st_size),
                       static_cast<uint64_t>(system::changedNs(status)));
}

/// Removes the exports of earlier states of a report.
void removeOldExports(const Folder& cache, std::string_view newest) {
    const std::string_view ofReport = newest.substr(0, newest.find('-', newest.find('-') + 1) + 1);
    for (const std::string& name : cache.names())
        if (name.starts_with(ofReport) && name != newest) static_cast<void>(cache.removeFile(name));
}

Result<void> makeExport(const fs::path& report, const fs::path& exported, const LoadProgress& progress) {
    const std::string command = fmt::format("nsys export --type sqlite -o {0}.sqlite {0}", report.string());
    const fs::path program = findProgram(std::string(exporter));
    if (program.empty())
        return fail(
            "{0}: a report of Nsight Systems, which only nsys can read, and nsys is not in PATH. "
            "Run \"{1}\" on a machine with nsys, then open {0}.sqlite.",
            report.string(), command);
    std::error_code ignored;
    bool isWanted = true;
    const int status = runQuietly({program.string(), "export", "--type", "sqlite", "--output", exported.string(),
                                   fs::absolute(report, ignored).string()},
                                  [&] { return isWanted = !progress || progress(0, "nsys exports the report"); });
    if (!isWanted) return fail("{}: opening was cancelled.", report.string());
    fs::permissions(exported, fs::perms::owner_read | fs::perms::owner_write, ignored);
    if (status == 0 && !ignored) return {};
    return fail("{0} could not export {1}. Run \"{2}\" to see why.", program.string(), report.string(), command);
}

Result<void> readExport(const fs::path& exported, TraceSource& source, TraceBuilder& builder,
                        const LoadProgress& progress) {
    const Result<Database> database = Database::openReadOnly(exported);
    if (!database) return fail(database.error());
    return readSqliteTrace(*database, builder, source.threads(), progress);
}

/// Reads the export of a report in the cache, made by the first reading. Without a cache it is made each time.
Result<void> readReport(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    constexpr double exporting = 0.5;  // of the progress
    const LoadProgress reading = partOf(progress, exporting, 1);
    const fs::path& report = source.path();
    const std::optional<std::string> name = exportName(report);
    if (!name) return fail("Cannot read {}.", report.string());
    const Result<Folder> cache = Folder::openCache("exports");
    const fs::path kept = cache ? cache->path() / *name : fs::path();
    const UniqueFd earlier = cache ? openTrustedFile(kept) : UniqueFd();
    if (earlier >= 0) return readExport(kept, source, builder, reading);

    const Result<ScratchFolder> folder = ScratchFolder::create(cache ? cache->path() : fs::path());
    if (!folder) return fail(folder.error());
    const fs::path exported = folder->path() / "export.sqlite";
    if (auto made = makeExport(report, exported, progress); !made) return made;
    if (exportName(report) != name) return fail("{}: changed during its export. Open it again.", report.string());
    if (!cache) return readExport(exported, source, builder, reading);
    removeOldExports(*cache, *name);
    const bool isKept = folder->moveTo(exported.filename().string(), *cache, *name) == 0;
    return readExport(isKept ? kept : exported, source, builder, reading);
}

}  // namespace

const TraceFormat nsightReportFormat{
    "nsight-report", "a report of Nsight Systems", {".nsys-rep", ".qdrep"}, isNsightReport, readReport, {}, false};

}  // namespace lanescope
