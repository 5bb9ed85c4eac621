// SPDX-License-Identifier: Apache-2.0
#include "model/load/sqlite/readSqliteTrace.h"

#include "model/format/tables/Names.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/allTables.h"
#include "model/load/sqlite/LoadContext.h"
#include "model/load/sqlite/notShown.h"
#include "model/load/sqlite/readers.h"

namespace lanescope {

namespace {

void readEverything(LoadContext& context) {
    FileDirectory directory(context.builder());
    context.expectRows(context.estimatedRows(tables::strings.tableName()));
    for (const tables::Table* table : tables::eventTables())
        context.expectRows(context.estimatedRows(table->tableName()));
    readUntimed(context);
    readDescription(context);
    readTopology(context);
    readLinkPeaks(context);
    readSampledRanges(context);
    readGpuProcesses(context);
    readHealth(context);
    directory.strings.read(context);
    directory.identities.read(context, directory.strings);
    directory.kinds.read(context);
    readProcessStates(context, directory);
    readFacts(context, directory);
    readStacks(context, directory);
    // API calls first: they name the threads, and with them the processes.
    readApiCalls(context, directory);
    readKernels(context, directory);
    readMemcpys(context, directory);
    readMemsets(context, directory);
    readGraphs(context, directory);
    readGraphNodes(context, directory);
    readMemoryEvents(context, directory);
    readUnifiedMemory(context, directory);
    readSyncs(context, directory);
    readEventRecords(context, directory);
    readNvtx(context, directory);
    readOtherCalls(context, directory);
    readRecordedTime(context, directory);
    readCounters(context, directory);
    // Threads that launched work come first.
    LooksOfThreads looks = readThreadStates(context, directory);
    const CoreTimes onCore = readSchedule(context, directory, std::move(looks));
    readSystemCalls(context, directory);
    readSamples(context, directory, onCore);
    readOverhead(context);
    noteNotShownOfNsight(context);
}

/// Says where the file is not what was recorded.
void noteDoubt(const Database& database, TraceBuilder& builder) {
    if (auto doubt = database.doubt())
        builder.note({doubt->severity, doubt->code, std::move(doubt->sentence)});
    else if (database.sealState() == SealState::None && wasSealed(database))
        builder.note({Severity::Warning, HealthCode::TraceChanged,
                      "The checksums of the trace are gone: another program wrote to it since it "
                      "was recorded, or its recording was broken off."});
}

}  // namespace

Result<void> readSqliteTrace(const Database& database, TraceBuilder& builder, unsigned threads,
                             const LoadProgress& progress) {
    LoadContext context(database, builder, threads, progress);
    readEverything(context);
    noteDoubt(database, builder);
    if (auto trouble = database.trouble()) return fail(std::move(*trouble));
    return {};
}

}  // namespace lanescope
