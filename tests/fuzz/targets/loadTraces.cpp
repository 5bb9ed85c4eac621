// SPDX-License-Identifier: Apache-2.0
// The readers of tables, ours, Nsight Systems', nvprof's and ROCm's, of trace events in JSON and of
// protobuf, and what is built of them.

#include "model/format/tables/Schema.h"
#include "model/load/loadTrace.h"
#include "tests/fuzz/targets/Scratch.h"
#include "tests/fuzz/targets/Sheet.h"
#include "tests/fuzz/targets/targets.h"
#include "tests/fuzz/useTrace.h"

namespace lanescope::fuzz {

namespace {

void load(std::string_view content, Bytes bytes) {
    const NamelessFile file(content);
    const Result<TracePtr> trace = loadOpenTrace(file.descriptor(), "fuzz");
    if (!trace) return require(!trace.error().sentence.empty(), "It was refused without a word.");
    usePartOf(**trace, bytes.size());
}

void loadSheet(std::string_view sheet, Bytes bytes) {
    const SqlitePtr database = databaseOf(sheet);
    load(bytesOf(database.get()), bytes);
}

}  // namespace

void loadOwnTrace(Bytes bytes) {
    loadSheet("A " + std::to_string(traceApplicationId) + "\n" + std::string(textOf(bytes)), bytes);
}

void loadNsightTrace(Bytes bytes) {
    loadSheet(textOf(bytes), bytes);
}

/// nvprof is known by two tables that others do not have; inputs begin with rows of the second.
void loadNvprofTrace(Bytes bytes) {
    loadSheet(
        "T CUPTI_ACTIVITY_KIND_DRIVER start end cbid processId threadId correlationId "
        "returnValue\nT StringTable _id_ value\n" +
            std::string(textOf(bytes)),
        bytes);
}

/// RPD or rocpd, which are told apart by their tables.
void loadRocmTrace(Bytes bytes) {
    loadSheet(textOf(bytes), bytes);
}

/// A trace of events or a log of NCCL Inspector, whichever it is more like.
void loadJsonTrace(Bytes bytes) {
    load(textOf(bytes), bytes);
}

/// Planes of JAX or packets of Perfetto, whichever they are more like.
void loadProtobuf(Bytes bytes) {
    load(textOf(bytes), bytes);
}

}  // namespace lanescope::fuzz
