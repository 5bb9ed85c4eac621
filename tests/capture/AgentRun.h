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
struct ProcessLog : log::RecordVisitor {
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
        std::string function, file;
    };
    std::map<uint32_t, Stack> stacks;
    int repeatedStacks = 0;
    std::vector<log::DeviceRecord> devices;
    std::vector<log::ContextRecord> contexts;
    std::vector<log::StreamRecord> streams;
    std::vector<Nvtx> nvtx;
    std::vector<Nccl> nccl;
    std::vector<log::NcclStopRecord> ncclStops;
    std::vector<std::pair<log::NcclCommunicatorRecord, std::string>>
        communicators;  ///< With names.
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

    void visit(const log::StringRecord& record, std::string_view text) override;
    void visit(const log::PropertyRecord& record) override;
    void visit(const log::KernelRecord& r) override { text(r.name), kernels.push_back(r); }
    void visit(const log::MemcpyRecord& r) override { memcpys.push_back(r); }
    void visit(const log::MemsetRecord& r) override { memsets.push_back(r); }
    void visit(const log::ApiRecord& r) override { text(r.name), calls.push_back(r); }
    void visit(const log::StackRecord& r) override {
        const bool isNew =
            stacks
                .insert_or_assign(r.stack, Stack{r.parent, r.line, text(r.function), text(r.file)})
                .second;
        repeatedStacks += isNew ? 0 : 1;
    }
    void visit(const log::SyncRecord& r) override { syncs.push_back(r); }
    void visit(const log::DeviceRecord& r) override { devices.push_back(r); }
    void visit(const log::ContextRecord& r) override { contexts.push_back(r); }
    void visit(const log::StreamRecord& r) override { streams.push_back(r); }
    void visit(const log::NvtxRecord& record, std::span<const std::byte> extended) override;
    void visit(const log::NcclOperationRecord& r) override {
        nccl.push_back(
            {r, text(r.function), text(r.datatype), text(r.algorithm), text(r.protocol)});
    }
    void visit(const log::NcclStopRecord& r) override { ncclStops.push_back(r); }
    void visit(const log::NcclCommunicatorRecord& r) override {
        communicators.emplace_back(r, text(r.name));
    }
    void visit(const log::NvtxDomainRecord& r) override { domains[r.domain] = text(r.name); }
    void visit(const log::NvtxCategoryRecord& r) override { categories.push_back(text(r.name)); }
    void visit(const log::NvtxSchemaRecord& r) override { schemas[r.schemaId].record = r; }
    void visit(const log::NvtxSchemaEntryRecord& r) override {
        schemas[r.schemaId].entries.push_back(r);
    }
    void visit(const log::NvtxEnumRecord& r) override { enums[r.schemaId] = r; }
    void visit(const log::NvtxEnumEntryRecord& r) override { enumEntries.push_back(r); }
    void visit(const log::NoteRecord& r) override { notes[text(r.code)] = text(r.sentence); }
    void visit(const log::DroppedRecord& r) override { drops.push_back({r.what, r.count}); }
    void visit(const log::EndRecord& r) override { ends.push_back(r); }
    void visit(const log::WindowRecord& r) override { windows.push_back(r); }
    void visit(const log::OverheadRecord& r) override { overheads.push_back(r); }
    void visit(const log::GraphRecord& r) override { graphs.push_back(r); }
    void visit(const log::GraphNodeRecord& r) override { graphNodes.push_back(r); }
    void visit(const log::DeviceMemoryRecord& r) override { text(r.name), memory.push_back(r); }
    void visit(const log::MemoryPoolRecord& r) override { pools.push_back(r); }
    void visit(const log::UnifiedMemoryRecord& r) override { unifiedMemory.push_back(r); }
    void visit(const log::CudaEventRecord& r) override { cudaEvents.push_back(r); }

  private:
    std::map<uint32_t, std::string> strings_;
};

/// One run of the stand-in training, or of another program, under the agent.
class AgentRun {
  public:
    AgentRun();

    QString program;        ///< Program instead of the stand-in training.
    QStringList arguments;  ///< For the stand-in, in addition to --base and --cupti.
    QMap<QString, QString>
        environment;  ///< Added to the agent's own variables; empty values unset.
    QString folder;   ///< Folder of the logs; a private one by default.
    bool withAgent = true;
    std::function<void()> inChild;  ///< Called in the child before the program.

    /// Runs the program to its end. Returns false, and fails the test, if it takes over 4 minutes.
    bool run();

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
