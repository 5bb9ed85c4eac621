// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Sqlite.h"
#include "model/numbers/MixedMap.h"
#include "model/text/formatValue.h"

namespace lanescope {

/// The shared state of the readers of one load: file, builder and progress. Loading thread only.
class LoadContext {
  public:
    LoadContext(const Database& database, TraceBuilder& builder, unsigned threads, const LoadProgress& progress);

    const Database& database() const { return database_; }
    /// Returns a connection for each thread other than the loading one. Only one reader has them at a time, others get
    /// none. Opened by the first call. Empty for a file that can be opened only once.
    std::span<const Database> borrowConnections();
    void returnConnections() { areBorrowed_ = false; }
    TraceBuilder& builder() { return builder_; }
    TraceDescription& description() { return builder_.description(); }

    /// Marks a table as read, or as deliberately unread.
    void reads(std::string_view table) { read_.insert(lowerCase(std::string(table))); }
    /// Returns true if the table was marked, in any case of its name. O(log n).
    bool isRead(std::string_view table) const { return read_.contains(lowerCase(std::string(table))); }

    /// Counts an activity that has no row in that table because it has no time.
    void addUntimed(std::string_view table) { ++untimed_[lowerCase(std::string(table))]; }
    /// Returns the count. O(log n).
    int64_t untimedOf(std::string_view table) const {
        return valueOr(untimed_, lowerCase(std::string(table)), int64_t{0});
    }

    /// Returns an estimate of the rows of `table` without counting them. O(log n).
    int64_t estimatedRows(const char* table) const;
    /// Returns the maximum number of rows in a table of an intact file of this size.
    int64_t possibleRows() const { return possibleRows_; }
    /// Adds to the total size of texts. Returns false if it exceeds that of any intact file of this size.
    bool mayTake(size_t textBytes) { return (textBytes_ += textBytes) <= possibleTextBytes_; }
    void expectRows(int64_t rows) { expectedRows_ += rows; }
    /// Reports progress at intervals. Returns false if the load was cancelled.
    bool advance(int64_t rows, std::string_view what);
    /// Reports a fraction as it is. Returns false if the load was cancelled.
    bool report(double fraction, std::string_view what);
    bool isCancelled() const { return isCancelled_; }

    void note(HealthNote note) { builder_.note(std::move(note)); }

  private:
    const Database& database_;
    TraceBuilder& builder_;
    const unsigned threads_;
    const LoadProgress& progress_;
    std::set<std::string> read_;  ///< Names of tables in lower case.
    std::map<std::string, int64_t> untimed_;
    std::vector<Database> furtherConnections_;
    bool areBorrowed_ = false;
    int64_t possibleRows_ = 0;
    uint64_t possibleTextBytes_ = 0, textBytes_ = 0;
    int64_t expectedRows_ = 0;
    int64_t readRows_ = 0;
    bool isCancelled_ = false;
    std::chrono::steady_clock::time_point nextReport_;
};

/// The mapping from `StringIds` of the file to strings of the trace.
class FileStrings {
  public:
    explicit FileStrings(TraceBuilder& builder) : builder_(builder), dense_(builder.memory()) {}

    void read(LoadContext& context);
    /// Returns nullopt for an unknown id. O(1).
    std::optional<StringIndex> find(int64_t id) const;
    StringIndex intern(std::string_view text) { return builder_.intern(text); }
    std::string_view text(StringIndex index) const { return builder_.text(index); }

  private:
    static constexpr StringIndex missing = 0xffffffff;

    TraceBuilder& builder_;
    LargeVector<StringIndex> dense_;  ///< By id. Ids count up from 0 in all known files.
    MixedMap<int64_t, StringIndex> sparse_;
};

/// Returns the name without the version of its entry point: "cudaLaunchKernel" for "cudaLaunchKernel_ptsz_v7000". Names
/// such as "cuMemAlloc_v2", whose number is part of the API, are unchanged.
std::string_view plainApiName(std::string_view entryPoint);

/// Finds the processes, threads, streams and GPUs that events refer to by ids of the file. All
/// lookups are O(1), and fast for the last id.
class Identities {
  public:
    explicit Identities(TraceBuilder& builder) : builder_(builder) {}

    /// Reads GPUs, streams, and names of processes and threads.
    void read(LoadContext& context, FileStrings& strings);

    /// Each is `noIndex` if the file has more of them than any real machine.
    uint32_t process(int64_t globalPid) { return builder_.process(globalPid); }
    uint32_t thread(int64_t globalTid) { return builder_.thread(globalTid); }
    uint32_t stream(uint32_t process, int64_t device, int64_t context, int64_t stream);
    /// Returns the GPU with this CUDA ordinal in the process, or `noIndex` if the ordinal is invalid.
    uint32_t gpuOf(uint32_t process, int64_t device);
    /// Returns the CUDA ordinal of the GPU of a context, or -1 if the file names none or several.
    int64_t deviceOf(uint32_t process, int64_t context) const;
    /// Returns the GPU of a displayed number, or `noIndex` if the number is invalid.
    uint32_t gpuNumbered(int64_t gpuId);
    /// Returns the process for events without one: the only process, if any.
    uint32_t unnamedProcess();
    uint32_t unnamedThread();

  private:
    void readGpus(LoadContext& context);
    void readGpus(LoadContext& context, const auto& t);
    void readOldGpus(LoadContext& context);
    void readDeviceMap(LoadContext& context);
    void readNullStreams(LoadContext& context);
    void readContexts(LoadContext& context);
    void readNames(LoadContext& context, FileStrings& strings);
    /// Returns the number of the GPU with this CUDA ordinal, or the ordinal if the file has no mapping.
    int64_t gpuIdOf(const Process& process, int64_t device) const;
    bool isNullStream(const Process& process, int64_t context, int64_t stream) const;

    TraceBuilder& builder_;
    /// By PID and CUDA ordinal, then by host, since two hosts may use the same PID.
    std::map<std::pair<uint32_t, int64_t>, std::map<uint32_t, int64_t>> gpuIdOf_;
    /// Hosts by PID, context and stream.
    std::map<std::tuple<uint32_t, int64_t, int64_t>, std::set<uint32_t>> nullStreams_;
    std::map<std::pair<uint32_t, int64_t>, std::set<int64_t>> devicesOf_;  ///< By PID and context.
    struct Device {
        uint32_t process = noIndex;
        int64_t number = 0;
        uint32_t gpu = noIndex;
    };
    Device lastDevice_;
};

}  // namespace lanescope
