// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QByteArray>
#include <QMap>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "capture/log/LogReader.h"

namespace lanescope::test {

/// Content of the log of one process.
struct ProcessLog {
    struct Nvtx {
        log::NvtxRecord record;
        std::string text;
        std::string extended;
    };
    struct Nccl {
        log::NcclOperationRecord record;
        std::string function, datatype, algorithm, protocol;
    };
    struct Drop {
        Loss what;
        uint64_t count;
    };
    struct Schema {
        log::NvtxSchemaRecord record;
        std::vector<log::NvtxSchemaEntryRecord> entries;
    };

    uint32_t pid = 0;
    log::LogReader::Progress progress;
    uint64_t bytesNotUnderstood = 0;
    bool isCorrupt = false;
    int unknownStrings = 0;  ///< Ids used before their string.

    std::map<std::string, std::string> properties;
    std::vector<log::KernelRecord> kernels;
    std::vector<log::MemcpyRecord> memcpys;
    std::vector<log::MemsetRecord> memsets;
    std::vector<log::SyncRecord> syncs;
    std::vector<log::ApiRecord> calls;
    /// A Python stack by its innermost frame.
    struct Stack {
        uint32_t parent, line;
        std::string function, file, module;
    };
    std::map<uint32_t, Stack> stacks;
    int repeatedStacks = 0;
    std::vector<log::DeviceRecord> devices;
    std::vector<log::ContextRecord> contexts;
    std::vector<log::StreamRecord> streams;
    std::vector<Nvtx> nvtx;
    std::vector<Nccl> nccl;
    std::vector<log::NcclStopRecord> ncclStops;
    std::vector<std::pair<log::NcclCommunicatorRecord, std::string>> communicators;  ///< With names.
    std::map<uint32_t, std::string> domains;
    std::map<uint64_t, Schema> schemas;
    std::map<uint64_t, log::NvtxEnumRecord> enums;
    std::vector<log::NvtxEnumEntryRecord> enumEntries;
    std::vector<std::string> categories;
    std::map<std::string, std::string> notes;  ///< Sentence by code.
    std::vector<Drop> drops;
    std::vector<log::EndRecord> ends;
    std::vector<log::WindowRecord> windows;
    std::vector<log::OverheadRecord> overheads;
    std::vector<log::GraphRecord> graphs;
    std::vector<log::GraphNodeRecord> graphNodes;
    std::vector<log::DeviceMemoryRecord> memory;
    std::vector<log::MemoryPoolRecord> pools;
    std::vector<log::UnifiedMemoryRecord> unifiedMemory;
    std::vector<log::CudaEventRecord> cudaEvents;

    const std::string& text(uint32_t id);
    uint64_t dropped(Loss what) const;

    void operator()(const log::StringRecord& record, std::string_view text);
    void operator()(const log::PropertyRecord& record);
    void operator()(const log::KernelRecord& r) { text(r.name), kernels.push_back(r); }
    void operator()(const log::MemcpyRecord& r) { memcpys.push_back(r); }
    void operator()(const log::MemsetRecord& r) { memsets.push_back(r); }
    void operator()(const log::ApiRecord& r) { text(r.name), calls.push_back(r); }
    void operator()(const log::StackRecord& r) {
        Stack stack{r.parent, r.line, text(r.function), text(r.file), {}};
        if (r.module != 0) stack.module = text(r.module);
        const bool isNew = stacks.insert_or_assign(r.stack, std::move(stack)).second;
        repeatedStacks += isNew ? 0 : 1;
    }
    void operator()(const log::SyncRecord& r) { syncs.push_back(r); }
    void operator()(const log::DeviceRecord& r) { devices.push_back(r); }
    void operator()(const log::ContextRecord& r) { contexts.push_back(r); }
    void operator()(const log::StreamRecord& r) { streams.push_back(r); }
    void operator()(const log::NvtxRecord& record, std::span<const std::byte> extended);
    void operator()(const log::NcclOperationRecord& r) {
        nccl.push_back({r, text(r.function), text(r.datatype), text(r.algorithm), text(r.protocol)});
    }
    void operator()(const log::NcclStopRecord& r) { ncclStops.push_back(r); }
    void operator()(const log::NcclCommunicatorRecord& r) { communicators.emplace_back(r, text(r.name)); }
    void operator()(const log::NvtxDomainRecord& r) { domains[r.domain] = text(r.name); }
    void operator()(const log::NvtxCategoryRecord& r) { categories.push_back(text(r.name)); }
    void operator()(const log::NvtxSchemaRecord& r) { schemas[r.schemaId].record = r; }
    void operator()(const log::NvtxSchemaEntryRecord& r) { schemas[r.schemaId].entries.push_back(r); }
    void operator()(const log::NvtxEnumRecord& r) { enums[r.schemaId] = r; }
    void operator()(const log::NvtxEnumEntryRecord& r) { enumEntries.push_back(r); }
    void operator()(const log::NoteRecord& r) { notes[text(r.code)] = text(r.sentence); }
    void operator()(const log::DroppedRecord& r) { drops.push_back({r.what, r.count}); }
    void operator()(const log::EndRecord& r) { ends.push_back(r); }
    void operator()(const log::WindowRecord& r) { windows.push_back(r); }
    void operator()(const log::OverheadRecord& r) { overheads.push_back(r); }
    void operator()(const log::GraphRecord& r) { graphs.push_back(r); }
    void operator()(const log::GraphNodeRecord& r) { graphNodes.push_back(r); }
    void operator()(const log::DeviceMemoryRecord& r) { text(r.name), memory.push_back(r); }
    void operator()(const log::MemoryPoolRecord& r) { pools.push_back(r); }
    void operator()(const log::UnifiedMemoryRecord& r) { unifiedMemory.push_back(r); }
    void operator()(const log::CudaEventRecord& r) { cudaEvents.push_back(r); }

  private:
    std::map<uint32_t, std::string> strings_;
};

/// One run of the stand-in training, or of another program, under the agent.
class AgentRun {
  public:
    AgentRun();
    /// Runs the stand-in training to its end.
    explicit AgentRun(const QStringList& arguments, const QMap<QString, QString>& environment = {});

    QString program;                     ///< Program instead of the stand-in training.
    QStringList arguments;               ///< For the stand-in, in addition to --base and --cupti.
    QMap<QString, QString> environment;  ///< Added to the agent's own variables; empty values unset.
    QString folder;                      ///< Folder of the logs; a private one by default.
    bool withAgent = true;
    std::function<void()> inChild;  ///< Called in the child before the program.

    /// Runs the program to its end. Returns false, and fails the test, if it takes over 4 minutes.
    bool run();
    /// Runs the program, and ends the test if the program fails.
    void succeed();

    int64_t baseNs = 0;
    // After `run`:
    int exitCode = 0;  ///< 128 and the signal's number for a signal.
    int64_t tookMs = 0;
    uint32_t pid = 0;
    QByteArray output, errors;
    std::vector<ProcessLog> logs;  ///< The program's own log first.

    /// Returns the program's own log; an empty one if it left none.
    const ProcessLog& log() const;

    /// Reads the logs that are in the folder now.
    void readLogs();

  private:
    QTemporaryDir ownFolder_;
};

QString standinCupti();
QString agentLibrary();

}  // namespace lanescope::test
