// SPDX-License-Identifier: Apache-2.0
//
// Targets for the readers of tables (Lanescope's, Nsight Systems', nvprof's and ROCm's), of trace
// events in JSON and of protobuf; and, as a separate target, finishing a trace and using it.

#include <array>
#include <span>
#include <string>

#include "model/format/Result.h"
#include "model/format/tables/Schema.h"
#include "model/importers/TraceFormat.h"
#include "tests/fuzz/targets/Scratch.h"
#include "tests/fuzz/targets/Sheet.h"
#include "tests/fuzz/targets/targets.h"
#include "tests/fuzz/useTrace.h"

namespace lanescope::fuzz {

namespace {

std::string sheet(std::string_view text) { return bytesOf(databaseOf(text).get()); }

std::string ownSheet(std::string_view text) {
    return sheet("A " + std::to_string(traceApplicationId) + "\n" + std::string(text));
}

/// nvprof is detected by two tables that others lack; inputs begin with rows of the second.
std::string nvprofSheet(std::string_view text) {
    return sheet(
        "T CUPTI_ACTIVITY_KIND_DRIVER start end cbid processId threadId correlationId "
        "returnValue\nT StringTable _id_ value\n" +
        std::string(text));
}

std::string file(std::string_view text) { return std::string(text); }

template <class Value>
void requireReason(const Result<Value>& result) {
    require(result || !result.error().sentence.empty(), "It was refused without a word.");
}

/// Does the first part of `loadOpenTrace`; using the rows is not the reader's part.
void read(const std::string& content, std::span<const TraceFormat* const> formats = traceFormats()) {
    const NamelessFile named(content);
    requireReason(orOutOfMemory("fuzz", [&]() -> Result<void> {
        Result<TraceSource> source = TraceSource::open(named.descriptor(), "fuzz");
        if (!source) return fail(source.error());
        const Result<const TraceFormat*> format = findFormat(*source, formats);
        if (!format) return fail(format.error());
        TraceBuilder builder;
        builder.setPath(source->path());
        builder.boundNamesBy(content.size());
        return (*format)->read(*source, builder, [](double, std::string_view) { return true; });
    }));
}

}  // namespace

void readOwnTrace(Bytes bytes) { read(ownSheet(textOf(bytes))); }

void readNsightTrace(Bytes bytes) { read(sheet(textOf(bytes))); }

void readNvprofTrace(Bytes bytes) { read(nvprofSheet(textOf(bytes))); }

/// RPD or rocpd, distinguished by their tables.
void readRocmTrace(Bytes bytes) { read(sheet(textOf(bytes))); }

/// A trace of events or a log of NCCL Inspector, whichever is more similar.
void readKinetoTrace(Bytes bytes) { read(file(textOf(bytes))); }

/// JAX planes or Perfetto packets, whichever are more similar; `readKinetoTrace` handles JSON.
void readProtobuf(Bytes bytes) {
    constexpr std::array formats{&xplaneFormat, &perfettoFormat};
    read(file(textOf(bytes)), formats);
}

/// The first byte selects the reader of the rest: Lanescope's tables, others', nvprof's, or files that are no tables.
void useLoadedTrace(Bytes bytes) {
    constexpr std::array contents{&ownSheet, &sheet, &nvprofSheet, &file};
    if (bytes.empty()) return;
    const NamelessFile named(contents[bytes[0] % contents.size()](textOf(bytes.subspan(1))));
    const Result<TracePtr> trace = loadOpenTrace(named.descriptor(), "fuzz");
    requireReason(trace);
    if (trace) usePartOf(**trace, bytes.size());
}

}  // namespace lanescope::fuzz
