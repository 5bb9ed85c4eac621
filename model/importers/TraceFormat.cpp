// SPDX-License-Identifier: Apache-2.0
#include "model/importers/TraceFormat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

#include "model/format/ReadWatch.h"
#include "model/importers/importedFormats.h"

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

/// Returns the default number of threads. With more than four, building tables becomes the bottleneck.
unsigned defaultThreads() { return std::clamp(std::thread::hardware_concurrency(), 1u, 4u); }

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
template <class IsNamed>
std::string namesOf(IsNamed isNamed) {
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
        LoadOptions options;
        options.threads = 1;
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

}  // namespace lanescope
