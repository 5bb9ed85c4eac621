// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/format/Result.h"
#include "model/format/files.h"

namespace lanescope::capture {

/// Request for a trace, by `lanescope trigger` or the program itself.
struct WatchRequest {
    std::string reason;   ///< For people; at most 200 bytes.
    int64_t steps = 0;    ///< Steps to record from now on.
    bool hasPast = true;  ///< Include what the ring has.
};

/// Puts a request into a run folder.
Result<void> putRequest(const std::filesystem::path& runFolder, const WatchRequest& request);
/// Returns and removes the requests in a run folder. Malformed ones are skipped.
std::vector<WatchRequest> takeRequests(const Folder& runFolder);

/// A running watch of this user on this host.
struct KnownWatch {
    int pid = 0, program = 0;  ///< Process ids of `lanescope watch` and the program.
    std::string name;          ///< Name of the program's file.
    std::filesystem::path runFolder, output;
};

/// Entry of a watch in the user's cache folder, by which `lanescope trigger` finds it. Removed with this object.
/// Without a cache folder there is no entry.
class WatchEntry {
  public:
    explicit WatchEntry(const KnownWatch& watch);
    WatchEntry& operator=(WatchEntry&&) = delete;
    ~WatchEntry();

  private:
    std::string name_;
};

std::vector<KnownWatch> runningWatches();
/// Returns the watch with that process id, of one of its processes, or with that name. Fails with the reason if there
/// is none or more than one.
Result<KnownWatch> findWatch(const std::string& pidOrName);

}  // namespace lanescope::capture
