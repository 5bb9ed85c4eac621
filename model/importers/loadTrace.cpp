// SPDX-License-Identifier: Apache-2.0
#include "model/importers/loadTrace.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <system_error>
#include <thread>

#include "model/format/Result.h"
#include "model/format/checkFile.h"

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

}  // namespace lanescope
