// SPDX-License-Identifier: Apache-2.0
#include "model/importers/TraceFormat.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <future>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "model/format/OutputFile.h"
#include "model/format/ReadWatch.h"
#include "model/format/Sqlite.h"
#include "model/format/Subprocess.h"
#include "model/format/files.h"
#include "model/importers/events/JsonCursor.h"
#include "model/importers/inspector/readInspectorTrace.h"
#include "model/importers/kineto/readKinetoTrace.h"
#include "model/importers/nvprof/readNvprofTrace.h"
#include "model/importers/perfetto/readPerfettoTrace.h"
#include "model/importers/rocm/readRocmTraces.h"
#include "model/importers/sqlite/readSqliteTrace.h"
#include "model/importers/xplane/readXplaneTrace.h"
#include "model/system/system.h"
#include "model/trace/processes.h"

namespace lanescope {

namespace {

/// Share of the progress for decompression, if the whole file must be decompressed.
constexpr double unpackingShare = 0.4;

/// Progress when the file is read.
constexpr double finishingFrom = 0.85;

/// Finishes the trace. With a progress callback, the work runs on another thread and this one
/// reports. Returns false if cancelled.
bool finish(TraceBuilder& builder, unsigned threads, const LoadProgress& progress) {
    if (!progress) return builder.finish(threads);
    constexpr std::chrono::milliseconds betweenReports{20};
    const auto report = [&progress] { return progress(finishingFrom, "tracks"); };
    if (!report()) return false;
    std::stop_source stop;
    std::future<bool> finished;
    try {
        finished = std::async(std::launch::async,
                              [&builder, threads, token = stop.get_token()] { return builder.finish(threads, token); });
    } catch (const std::system_error&) {
        return builder.finish(threads);
    }
    while (finished.wait_for(betweenReports) != std::future_status::ready)
        if (!report()) stop.request_stop();
    return finished.get() && !stop.stop_requested();
}

Result<TraceBuilder> readSource(TraceSource& source, const LoadOptions& options, const LoadProgress& progress) {
    const Result<const TraceFormat*> format = findFormat(source, options.formats);
    if (!format) return fail(format.error());
    source.setThreads(options.threads == 0 ? defaultThreads() : options.threads);
    TraceBuilder builder(options.memory);
    builder.setPath(source.path());
    std::error_code error;
    const uintmax_t bytes = std::filesystem::file_size(source.path(), error);
    if (!error) builder.boundNamesBy(bytes + logBytesOf(source.path()));
    const double readingFrom = source.wasUnpacked() ? unpackingShare : 0;
    bool isWanted = true;
    const LoadProgress reading = [&](double fraction, std::string_view what) {
        const double read = readingFrom + fraction * (finishingFrom - readingFrom);
        isWanted = isWanted && (!progress || progress(read, what));
        return isWanted;
    };
    if (const Result<void> read = (*format)->read(source, builder, reading); !read) return fail(read.error());
    if (source.hasTrailingBytes())
        builder.note({Severity::Warning, HealthCode::BytesBehindPacked, std::string(trailingBytesSentence)});
    if (!isWanted || !finish(builder, source.threads(), progress))
        return fail("{}: opening was cancelled.", source.path().string());
    return builder;
}

constexpr std::array readFormats{&lanescopeFormat, &nsightFormat,    &nvprofFormat,      &chromeFormat,
                                 &rocpdFormat,     &rpdFormat,       &hipFormat,         &xplaneFormat,
                                 &perfettoFormat,  &inspectorFormat, &nsightReportFormat};

/// Returns the error for a format that is recognized but not read.
Error errorFor(const TraceFormat& format, const TraceSource& source) {
    return {fmt::format("{} is {}: {}.", source.path().string(), format.name, format.advice)};
}

/// Fails if the file is called .gz but is not compressed.
Result<void> checkGzipName(const TraceSource& source) {
    if (source.isCompressed() || source.path().extension() != ".gz") return {};
    return fail(
        "{}: has the extension of gzip, but does not start as a gzip file. Copy it again if it is corrupt, or rename "
        "it.",
        source.path().string());
}

/// Returns the names of formats as a list: "A Lanescope trace, or an SQLite export of Nsight Systems".
std::string namesOf(auto isNamed) {
    std::vector<std::string_view> readable;
    for (const TraceFormat* format : readFormats)
        if (isNamed(*format)) readable.push_back(format->name);
    std::string names;
    for (size_t i = 0; i < readable.size(); ++i) {
        if (i > 0) names += i + 1 == readable.size() ? ", or " : ", ";
        names += readable[i];
    }
    names.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(names.front())));
    return names;
}

}  // namespace

Result<TracePtr> loadTrace(const std::filesystem::path& path, const LoadProgress& progress,
                           const LoadOptions& options) {
    Result<TraceBuilder> trace = readTrace(path, progress, options);
    if (!trace) return fail(trace.error());
    return trace->take();
}

Result<TraceBuilder> readTrace(const std::filesystem::path& path, const LoadProgress& progress,
                               const LoadOptions& options) {
    return orOutOfMemory(path, [&]() -> Result<TraceBuilder> {
        const LoadProgress unpacking = partOf(progress, 0, unpackingShare);
        Result<TraceSource> source = TraceSource::open(path, unpacking);
        if (!source) return fail(source.error());
        return readSource(*source, options, progress);
    });
}

Result<TracePtr> loadOpenTrace(int descriptor, const std::filesystem::path& path, const LoadProgress& progress) {
    return orOutOfMemory(path, [&]() -> Result<TracePtr> {
        Result<TraceSource> source = TraceSource::open(descriptor, path);
        if (!source) return fail(source.error());
        LoadOptions options{.threads = 1};
        Result<TraceBuilder> trace = readSource(*source, options, progress);
        if (!trace) return fail(trace.error());
        return trace->take();
    });
}

std::span<const TraceFormat* const> traceFormats() {
    static const std::vector<const TraceFormat*> all = [] {
        std::vector<const TraceFormat*> formats(readFormats.begin(), readFormats.end());
        for (const TraceFormat& each : unreadableFormats()) formats.push_back(&each);
        return formats;
    }();
    return all;
}

Result<const TraceFormat*> findFormat(TraceSource& source, std::span<const TraceFormat* const> formats) {
    for (const TraceFormat* format : formats) {
        const Result<bool> isIt = format->isRecognized(source);
        if (!isIt) return fail(isIt.error());
        if (!*isIt) continue;
        if (format->read == nullptr) return fail(errorFor(*format, source));
        return format;
    }
    if (const Result<void> packed = checkGzipName(source); !packed) return fail(packed.error());
    return fail("{}: {}not a trace in a supported format. See format.md in the manual.", source.path().string(),
                source.isCompressed() ? "its compressed content is " : "");
}

Result<void> requireTables(TraceSource& source) {
    if (source.startsLikeSqlite()) return {};
    for (const TraceFormat* format : traceFormats()) {
        const Result<bool> isIt = format->isRecognized(source);
        if (!isIt || !*isIt) continue;
        if (format->read == nullptr) return fail(errorFor(*format, source));
        // `import` refuses reports with events that only the tables of Nsight Systems have.
        return fail("{0}: {1}, and SQL needs the tables of a trace. Convert the file: \"{2} {0}\".",
                    source.path().string(), format->name,
                    format == &nsightReportFormat ? "nsys export --type sqlite" : "lanescope import");
    }
    return checkGzipName(source);
}

std::string readableFormats() {
    return namesOf([](const TraceFormat&) { return true; });
}

std::string queryableFormats() {
    constexpr std::array queryable{&lanescopeFormat, &nsightFormat, &nvprofFormat,
                                   &rocpdFormat,     &rpdFormat,    &hipFormat};
    return namesOf([&](const TraceFormat& format) { return std::ranges::find(queryable, &format) != queryable.end(); });
}

std::string formatPatterns() {
    std::vector<std::string> patterns;
    const auto add = [&patterns](std::string pattern) {
        if (std::ranges::find(patterns, pattern) == patterns.end()) patterns.push_back(std::move(pattern));
    };
    for (const TraceFormat* format : readFormats)
        for (const std::string_view ending : format->endings)
            if (!ending.empty()) {
                add(fmt::format("*{}", ending));
                if (format->readsGzip) add(fmt::format("*{}.gz", ending));
            }
    return fmt::format("{}", fmt::join(patterns, " "));
}

namespace fs = std::filesystem;

namespace {

constexpr std::string_view xzMark(
    "\xfd"
    "7zXZ\0",
    6);
constexpr std::string_view zstdMark("\x28\xb5\x2f\xfd");
constexpr std::string_view zipMark("PK\3\4");
/// Within a gzip file. An outer gzip layer is always removed first.
constexpr std::string_view innerGzipMark("\x1f\x8b\x08");
constexpr std::string_view tarMark("ustar");
/// Offset of the mark in the header of the first file of a tar archive.
constexpr size_t tarMarkAt = 257;

enum class Packer { None, Xz, Zstd, Bzip2, Zip, Gzip, Tar };

bool isBzip2(std::string_view start) {
    // The block size, then the first bytes of the first block.
    return start.starts_with("BZh") && start.size() > 4 && start[3] >= '1' && start[3] <= '9' &&
           start.substr(4).starts_with("1AY&SY");
}

Packer packerOf(const TraceSource& source) {
    const std::string_view start = source.start();
    if (start.starts_with(xzMark)) return Packer::Xz;
    if (start.starts_with(zstdMark)) return Packer::Zstd;
    if (isBzip2(start)) return Packer::Bzip2;
    if (start.starts_with(zipMark)) return Packer::Zip;
    if (start.starts_with(innerGzipMark)) return Packer::Gzip;
    const bool isTar = start.size() > tarMarkAt && start.substr(tarMarkAt).starts_with(tarMark);
    return isTar && !source.startsLikeSqlite() ? Packer::Tar : Packer::None;
}

template <Packer packer>
Result<bool> isPackedBy(TraceSource& source) {
    // Within gzip, only tar (which unpacks both at once) and gzip itself are recognized.
    const bool isKnownWithin = packer == Packer::Tar || packer == Packer::Gzip;
    if (packerOf(source) != packer || (source.isCompressed() && !isKnownWithin)) return false;
    // A report may begin with any mark, but `nsys` reads it.
    const Result<bool> isReport = nsightReportFormat.isRecognized(source);
    return isReport ? Result<bool>(!*isReport) : isReport;
}

Result<bool> isNvvpSession(TraceSource& source) {
    return source.start().starts_with("<?xml") && contains(source.start(), "<session");
}

Result<bool> isNvprofLog(TraceSource& source) {
    const std::filesystem::path ending = source.path().extension();
    const std::string_view start = source.start();
    return (ending == ".nvvp" || ending == ".nvprof") && !source.startsLikeSqlite() &&
           start.starts_with(std::string_view("\0\4", 2));
}

/// The contents of a Python pickle, judged by its first bytes.
enum class Pickle { None, MemorySnapshot, FlightRecorder, Other };

Pickle pickleIn(std::string_view start) {
    // Pickles since version 2 begin with their version.
    if (start.size() < 4 || start[0] != '\x80' || start[1] < 2 || start[1] > 5) return Pickle::None;
    const auto names = [start](std::string_view word) { return contains(start, word); };
    // The keys of their outermost groups. Others may follow later.
    if (names("segments") || names("device_traces") || names("allocator_settings")) return Pickle::MemorySnapshot;
    if (names("pg_config") || names("pg_status") || names("nccl_version") || (names("entries") && names("frames")))
        return Pickle::FlightRecorder;
    return Pickle::Other;
}

template <Pickle wanted>
Result<bool> isPickle(TraceSource& source) {
    return pickleIn(source.start()) == wanted;
}

Result<bool> isFleetReport(TraceSource& source) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(source.start().data());
    return applicationIdOf(std::span(bytes, source.start().size())) == fleetReportId;
}

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
    const auto found = std::ranges::count_if(keys, [start](std::string_view key) { return contains(start, key); });
    const bool isJson = cursor.takes('{') || cursor.takes('[');
    return found > (isJson ? 0 : 1) || hasLateTraceMember(source);
}

Result<void> readEvents(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    return readKinetoTrace([&source](std::span<char> bytes) { return source.read(bytes); }, builder, source.threads(),
                           [&source] { return source.fractionRead(); }, progress, maxJsonBytesOf(source));
}

/// Returns true if the file begins with keys of NCCL Inspector: of a record up to format 4.2, of a batch since then, or
/// of an operation if the first batch is truncated. A trace of events may contain any text, also these keys.
Result<bool> isInspectorLog(TraceSource& source) {
    const std::string_view start = source.start();
    const auto has = [start](std::string_view key) { return contains(start, key); };
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

Result<bool> isXplane(TraceSource& source) { return startsLikeXplane(source.start()); }

Result<bool> isPerfetto(TraceSource& source) {
    return !startsLikeXplane(source.start()) && startsLikePerfetto(source.start());
}

template <auto readTrace>
Result<void> read(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    return readTrace([&source](std::span<char> bytes) { return source.read(bytes); }, builder,
                     [&source] { return source.fractionRead(); }, progress);
}

template <SqliteKind kind>
Result<bool> isOfKind(TraceSource& source) {
    if (!source.startsLikeSqlite()) return false;
    const Result<const Database*> database = source.database();
    if (!database) return fail(database.error());
    const bool isIt = kindOf(**database) == kind;
    if (auto trouble = (*database)->trouble()) return fail(std::move(*trouble));
    return isIt;
}

/// Fails if the database cannot be read completely, since a partial trace is not valid.
template <auto readTrace>
Result<void> readWhole(const Database& database, TraceSource& source, TraceBuilder& builder,
                       const LoadProgress& progress) {
    LoadContext context(database, builder, source.threads(), progress);
    readTrace(context);
    if (auto trouble = database.trouble()) return fail(std::move(*trouble));
    return {};
}

template <auto readTrace>
Result<void> readTables(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    const Result<const Database*> database = source.database();
    if (!database) return fail(database.error());
    return readWhole<readTrace>(**database, source, builder, progress);
}

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
            "{0}: a report of Nsight Systems, which only nsys can read, and nsys is not in PATH. Run \"{1}\" on a "
            "machine with nsys, then open {0}.sqlite.",
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
    return readWhole<readSqliteTrace>(*database, source, builder, progress);
}

/// Reads the export of a report in the cache, made by the first reading. Without a cache it is made each time.
Result<void> readReport(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    constexpr double exporting = 0.5;  // share of the progress
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

template <Packer packer>
constexpr TraceFormat packed(std::string_view identifier, std::string_view name, std::string_view ending,
                             std::string_view advice) {
    return {identifier, name, {ending}, isPackedBy<packer>, nullptr, advice};
}

constexpr auto unreadable = std::to_array<TraceFormat>(
    {{"nvvp-session",
      "a session of NVIDIA's Visual Profiler, which has settings and no data",
      {".nvvp"},
      isNvvpSession,
      nullptr,
      "open the .nvprof file next to it, or the one that was imported into it"},
     {"nvprof-log",
      "a log of nvprof from before CUDA 7",
      {".nvvp", ".nvprof"},
      isNvprofLog,
      nullptr,
      "only the Visual Profiler of that time reads it; export the profile from there, or record again"},
     {"torch-memory-snapshot",
      "a snapshot of PyTorch's memory, which holds no times on GPUs",
      {".pickle", ".pkl"},
      isPickle<Pickle::MemorySnapshot>,
      nullptr,
      "make a page of it with \"python -m torch.cuda._memory_viz trace_plot\""},
     {"torch-flight-recorder",
      "a dump of PyTorch's flight recorder, which holds no times on GPUs",
      {".pickle", ".pkl"},
      isPickle<Pickle::FlightRecorder>,
      nullptr,
      "analyze the dumps of all ranks with \"torchfrtrace\""},
     {"pickle",
      "a Python pickle, which could run any code when read",
      {".pickle", ".pkl"},
      isPickle<Pickle::Other>,
      nullptr,
      "write a trace in the program instead, for example with export_chrome_trace of torch.profiler"},
     {"fleet-report",
      "not a trace but a report of many ranks",
      {".sqlite"},
      isFleetReport,
      nullptr,
      "\"lanescope view\" shows it, and any program for SQLite reads its tables"},
     packed<Packer::Xz>("xz", "packed by xz", ".xz", "unpack it with \"xz -dk\" and open the result"),
     packed<Packer::Zstd>("zstd", "packed by zstd", ".zst", "unpack it with \"zstd -d\" and open the result"),
     packed<Packer::Bzip2>("bzip2", "packed by bzip2", ".bz2", "unpack it with \"bzip2 -dk\" and open the result"),
     packed<Packer::Zip>("zip", "an archive of zip", ".zip", "unpack it with \"unzip\" and open the trace in it"),
     packed<Packer::Gzip>("gzip-twice", "packed by gzip twice", ".gz",
                          "unpack it once with \"gunzip -k\" and open the result"),
     packed<Packer::Tar>("tar", "an archive of tar", ".tar", "unpack it with \"tar -xf\" and open the trace in it")});

}  // namespace

bool isKnownArchive(const TraceSource& source) { return packerOf(source) != Packer::None; }

std::span<const TraceFormat> unreadableFormats() { return unreadable; }

uint64_t maxJsonBytesOf(const TraceSource& source) {
    constexpr uint64_t minLimitBytes = uint64_t{256} << 20, maxExpansion = 200;
    if (!source.isCompressed()) return maxJsonBytes;
    return std::min(maxJsonBytes, minLimitBytes + maxExpansion * std::min(source.fileBytes(), maxJsonBytes));
}

const TraceFormat chromeFormat{
    "chrome-json", "a JSON trace, such as torch.profiler writes", {".json"}, isChromeTrace, readEvents};

const TraceFormat inspectorFormat{
    "nccl-inspector", "a log of NCCL Inspector", {"-pid*.log", "-pid*.jsonl"}, isInspectorLog, readRecords};

const TraceFormat xplaneFormat{
    "xplane", "an XPlane profile of JAX or TensorFlow", {".xplane.pb"}, isXplane, read<readXplaneTrace>};
const TraceFormat perfettoFormat{
    "perfetto", "a Perfetto trace", {".pftrace", ".perfetto-trace"}, isPerfetto, read<readPerfettoTrace>};

const TraceFormat lanescopeFormat{"lanescope",
                                  "a Lanescope trace",
                                  {".sqlite", ".sqlite3", ".db"},
                                  isOfKind<SqliteKind::Lanescope>,
                                  readTables<readSqliteTrace>};
const TraceFormat nsightFormat{"nsight-sqlite",
                               "an SQLite export of Nsight Systems",
                               {".sqlite"},
                               isOfKind<SqliteKind::Nsight>,
                               readTables<readSqliteTrace>};
const TraceFormat nvprofFormat{
    "nvprof", "a profile of nvprof", {".nvprof", ".nvvp"}, isOfKind<SqliteKind::Nvprof>, readTables<readNvprofTrace>};
const TraceFormat rocpdFormat{
    "rocpd", "a rocpd profile of AMD's ROCm", {".db"}, isOfKind<SqliteKind::Rocpd>, readTables<readRocpdTrace>};
const TraceFormat hipFormat{"rocprof",
                            "a profile of ROCm's rocprof or of hipprof",
                            {".db"},
                            isOfKind<SqliteKind::Hip>,
                            readTables<readHipTrace>};
const TraceFormat rpdFormat{
    "rpd", "an RPD profile of AMD's ROCm", {".rpd"}, isOfKind<SqliteKind::Rpd>, readTables<readRpdTrace>};

const TraceFormat nsightReportFormat{
    "nsight-report", "a report of Nsight Systems", {".nsys-rep", ".qdrep"}, isNsightReport, readReport, {}, false};

}  // namespace lanescope
