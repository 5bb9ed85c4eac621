// SPDX-License-Identifier: Apache-2.0
// The readers of tables, ours, Nsight Systems', nvprof's and ROCm's, of trace events in JSON and of
// protobuf; and, as a target of its own, what the programs do with a trace that was read.

#include <array>

#include "model/format/tables/Schema.h"
#include "model/load/loadTrace.h"
#include "tests/fuzz/targets/Scratch.h"
#include "tests/fuzz/targets/Sheet.h"
#include "tests/fuzz/targets/targets.h"
#include "tests/fuzz/useTrace.h"

namespace lanescope::fuzz {

namespace {

/// Null if it was refused.
TracePtr load(std::string_view content) {
    const NamelessFile file(content);
    Result<TracePtr> trace = loadOpenTrace(file.descriptor(), "fuzz");
    if (trace) return *std::move(trace);
    require(!trace.error().sentence.empty(), "It was refused without a word.");
    return nullptr;
}

TracePtr loadSheet(std::string_view sheet) {
    const SqlitePtr database = databaseOf(sheet);
    return load(bytesOf(database.get()));
}

TracePtr loadOwnSheet(std::string_view sheet) {
    return loadSheet("A " + std::to_string(traceApplicationId) + "\n" + std::string(sheet));
}

/// nvprof is known by two tables that others do not have; inputs begin with rows of the second.
TracePtr loadNvprofSheet(std::string_view sheet) {
    return loadSheet(
        "T CUPTI_ACTIVITY_KIND_DRIVER start end cbid processId threadId correlationId "
        "returnValue\nT StringTable _id_ value\n" +
        std::string(sheet));
}

}  // namespace

void loadOwnTrace(Bytes bytes) {
    (void)loadOwnSheet(textOf(bytes));
}

void loadNsightTrace(Bytes bytes) {
    (void)loadSheet(textOf(bytes));
}

void loadNvprofTrace(Bytes bytes) {
    (void)loadNvprofSheet(textOf(bytes));
}

/// RPD or rocpd, which are told apart by their tables.
void loadRocmTrace(Bytes bytes) {
    (void)loadSheet(textOf(bytes));
}

/// A trace of events or a log of NCCL Inspector, whichever it is more like.
void loadJsonTrace(Bytes bytes) {
    (void)load(textOf(bytes));
}

/// Planes of JAX or packets of Perfetto, whichever they are more like.
void loadProtobuf(Bytes bytes) {
    (void)load(textOf(bytes));
}

/// The first byte says which of the readers gets the rest: of our tables, of others', of nvprof's,
/// or of files that are no tables.
void useLoadedTrace(Bytes bytes) {
    constexpr std::array readers{&loadOwnSheet, &loadSheet, &loadNvprofSheet, &load};
    if (bytes.empty()) return;
    const TracePtr trace = readers[bytes[0] % readers.size()](textOf(bytes.subspan(1)));
    if (trace) usePartOf(*trace, bytes.size());
}

}  // namespace lanescope::fuzz
