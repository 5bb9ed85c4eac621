// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "capture/agent/Windows.h"
#include "capture/cupti/CuptiLibrary.h"
#include "capture/cupti/LaunchWindows.h"
#include "capture/log/LogFile.h"

namespace lanescope::agent {

/// Decoder that reads the records of CUPTI's buffers and writes those to keep to the log, with
/// interned names. Writer thread only.
class ActivityDecoder {
  public:
    /// `launches` decides which work was launched in a window. `onGraphNode` is called before the work of a node of a
    /// CUDA graph is written; may be empty.
    ActivityDecoder(const CuptiLibrary& cupti, const Windows& windows, LaunchWindows& launches,
                    log::RecordWriter& writer, std::function<void(uint64_t node)> onGraphNode = {});

    /// Writes a device, now and again if the log has lost a block or begins another part.
    void addDevice(const log::DeviceRecord& device, const std::string& name);
    /// Call before the buffers of a round. Writes devices, contexts and streams again if the log has lost a block.
    void beginRound() { reannounceResources(); }
    void decode(uint8_t* buffer, size_t validBytes);
    /// Call after the buffers of a round. Decides on work whose launch was unknown, on all of it if `isLast`.
    void endRound(bool isLast);

    /// Returns and resets the number of buffers that CUPTI could not read to their end.
    uint64_t takeUnreadableBuffers() { return std::exchange(unreadableBuffers_, 0); }
    bool sawGraphNode() const { return sawGraphNode_; }

  private:
    /// Copy of a CUPTI record of GPU work whose launch time is not known yet.
    struct PendingRecord {
        int64_t sinceNs;
        uint32_t correlationId;
        int64_t ranNs;
        std::array<uint64_t, 28> words;
    };

    void decodeRecord(const CUpti_Activity& record);
    void visitActivity(const CUpti_Activity& record, auto use);
    template <class Activity>
    const Activity& as(const CUpti_Activity& record);
    bool isInWindow(const auto& work, const CUpti_Activity& record);
    template <class Activity>
    void write(const Activity& from);
    void write(const CUpti_ActivityKernel9& from);
    void write(const CUpti_ActivityCudaEvent2& from);
    void write(const CUpti_ActivityAPI& from);
    void write(const CUpti_ActivitySynchronization2& from);
    void write(const CUpti_ActivityOverhead3& from);
    void write(const CUpti_ActivityMemory3& from);
    void write(const CUpti_ActivityDevice4& from);
    void write(const CUpti_ActivityContext& from);
    void write(const CUpti_ActivityStream& from);
    void writeWork(auto& to);
    void writeIfOpen(auto& to);
    bool hasSyncIds() const { return cupti_.version >= CuptiLibrary::version12_8; }
    uint32_t nameOf(const char* name) { return writer_.string(name ? name : ""); }
    void writeDevice(log::DeviceRecord device, const std::string& name);
    void reannounceResources();

    const CuptiLibrary& cupti_;
    const Windows& windows_;
    log::RecordWriter& writer_;
    LaunchWindows& launches_;
    const std::function<void(uint64_t)> onGraphNode_;
    ApiNames apiNames_;
    std::deque<PendingRecord> pending_;
    alignas(8) std::array<unsigned char, 256> scratch_{};
    uint64_t unreadableBuffers_ = 0;
    bool sawGraphNode_ = false;

    // Resources written once, kept to write them again after a loss.
    uint32_t resourcesGeneration_ = 0;
    std::map<uint32_t, std::pair<log::DeviceRecord, std::string>> devices_;
    std::map<uint32_t, log::ContextRecord> contexts_;
    std::map<std::pair<uint32_t, uint32_t>, log::StreamRecord> streams_;
};

}  // namespace lanescope::agent
