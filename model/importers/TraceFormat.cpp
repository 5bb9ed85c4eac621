// SPDX-License-Identifier: Apache-2.0
#include "model/importers/TraceFormat.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "model/importers/importedFormats.h"
#include "model/importers/unreadableFormats.h"

namespace lanescope {

namespace {

constexpr std::array knownFormats{
    &lanescopeFormat,    &nsightFormat,      &nvprofFormat,    &chromeFormat,         &rocpdFormat,
    &rpdFormat,          &hipFormat,         &xplaneFormat,    &perfettoFormat,       &inspectorFormat,
    &nsightReportFormat, &nvvpSessionFormat, &nvprofLogFormat, &memorySnapshotFormat, &flightRecorderFormat,
    &pickleFormat,       &fleetReportFormat, &xzFormat,        &zstdFormat,           &bzip2Format,
    &zipFormat,          &gzipTwiceFormat,   &tarFormat};

/// Returns the error for a format that is recognized but not read.
Error errorFor(const TraceFormat& format, const TraceSource& source) {
    return {fmt::format("{} is {}: {}.", source.path().string(), format.name, format.advice)};
}

/// Fails if the file is called .gz but is not compressed.
Result<void> checkGzipName(const TraceSource& source) {
    if (source.isCompressed() || source.path().extension() != ".gz") return {};
    return fail(
        "{}: has the extension of gzip, but does not start as a gzip file. Copy it again if it is "
        "corrupt, or rename it.",
        source.path().string());
}

}  // namespace

std::span<const TraceFormat* const> traceFormats() { return knownFormats; }

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
    for (const TraceFormat* format : knownFormats) {
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

namespace {

/// Returns the names of formats as a list: "A Lanescope trace, or an SQLite export of Nsight Systems".
template <class IsNamed>
std::string namesOf(IsNamed isNamed) {
    std::vector<std::string_view> readable;
    for (const TraceFormat* format : knownFormats)
        if (format->read != nullptr && isNamed(*format)) readable.push_back(format->name);
    std::string names;
    for (size_t i = 0; i < readable.size(); ++i) {
        if (i > 0) names += i + 1 == readable.size() ? ", or " : ", ";
        names += readable[i];
    }
    names.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(names.front())));
    return names;
}

}  // namespace

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
        if (std::find(patterns.begin(), patterns.end(), pattern) == patterns.end())
            patterns.push_back(std::move(pattern));
    };
    for (const TraceFormat* format : knownFormats)
        for (const std::string_view ending : format->endings)
            if (format->read != nullptr && !ending.empty()) {
                add(fmt::format("*{}", ending));
                if (format->readsGzip) add(fmt::format("*{}.gz", ending));
            }
    return fmt::format("{}", fmt::join(patterns, " "));
}

}  // namespace lanescope
