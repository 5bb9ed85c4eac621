// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/python/FrameLayout.h"
#include "capture/python/codeFacts.h"
#include "capture/sample/SampleLog.h"
#include "capture/threads/ForeignMemory.h"
#include "capture/threads/GilWatch.h"

namespace lanescope::capture {

/// The Python interpreter in a process: where it lies and how it keeps its stacks.
struct PythonImage {
    uint64_t runtime = 0;  ///< `_PyRuntime`.
    agent::python::KnownTypes types;
    agent::python::FrameLayout layout;
    std::string version;  ///< "3.11".
};

/// What a look into the memory map of a process tells.
struct ImagesOfProcess {
    std::shared_ptr<const PythonImage> python;  ///< Null if there is none that can be read.
    std::string unknownVersion;                 ///< "3.16": there is one whose stacks nobody knows.
    bool isHidden = false;  ///< What is called Python is there, and nobody may read its memory.
    bool usesCuda = false;  ///< The driver or our agent is loaded.
};
/// A millisecond for a process with thousands of libraries.
ImagesOfProcess lookForImages(pid_t pid, const ForeignMemory& memory);

/// Whether stacks are read, and how it went, all in all.
struct StackReading {
    bool isWanted = true;
    uint64_t whole = 0;  ///< Read from the innermost frame to the root.
    uint64_t torn = 0;   ///< Changed while they were read, also when that was tried again.
};

/// Reads the Python stacks of the threads of one process, from outside: nothing in it is stopped,
/// called or changed. A stack that changed meanwhile is torn, which shows, and is never guessed.
/// One thread.
class PythonProcess {
  public:
    PythonProcess(std::shared_ptr<const PythonImage> image, ForeignMemory& memory, SampleLog& log,
                  StackReading& reading);

    /// Looks which threads of the process run Python. 1 us a thread.
    void findThreads(int64_t nowNs);
    bool isEmpty() const { return stateOf_.empty(); }
    bool hasThread(pid_t thread) const { return stateOf_.contains(thread); }
    /// The number of the thread's stack in the log, where it is written when it is new; 0 if it
    /// runs no Python, or if the stack was torn. While it collects garbage the innermost frame says
    /// so. 5 to 10 us.
    uint32_t stackOf(pid_t thread);
    /// Whether a thread that sleeps on the word at `address` waits for the GIL.
    bool isGil(uint64_t address) { return gil_.isWaitedFor(memory_, address, states_); }
    /// Who holds the GIL; 0 if nobody does, or if that is not known.
    pid_t gilHolder() const;

  private:
    struct KnownCode {
        uint64_t identity = 0;
        uint32_t number = 0;   ///< In the log.
        uint32_t checked = 0;  ///< When it was last looked at, as `round_` counts.
    };
    enum class Outcome : uint8_t { Whole, Torn, None };
    Outcome tryStack(pid_t thread, uint64_t state, uint32_t& number);
    void findGil();
    bool isCollecting(uint64_t state) const;
    bool isStill(pid_t thread, uint64_t state) const;
    pid_t threadOf(uint64_t state) const;
    bool addFrame(const agent::python::Frame& frame, uint32_t& number);

    const std::shared_ptr<const PythonImage> image_;
    ForeignMemory& memory_;
    SampleLog& log_;
    StackReading& reading_;
    GilWatch gil_;
    uint64_t interpreter_ = 0;  ///< The main one; 0: not known yet.
    std::unordered_map<pid_t, uint64_t> stateOf_;
    std::vector<uint64_t> states_;
    std::unordered_map<uint64_t, uint32_t> known_;  ///< Whole stacks by a hash of their frames.
    std::unordered_map<uint64_t, int32_t> lines_;   ///< By code, its identity and instruction.
    uint32_t round_ = 0;  ///< For the time of one what is known of code is believed.
    int64_t roundBegunNs_ = 0;
    std::unordered_map<uint64_t, KnownCode> codes_;  ///< By address.
    std::vector<agent::python::Frame> frames_;
};

}  // namespace lanescope::capture
