// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for a program under the agent: leaves a log of simulated events in the agent's place.
//
// usage: leaveLog EVENTS [--truncate] [--kill] [--after MILLISECONDS] [--exit STATUS] [--windows COUNT]
// [--open] [--pause MILLISECONDS]

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "tests/capture/TestLog.h"

using namespace lanescope;

int main(int argc, char** argv) {
    const char* folder = std::getenv("LANESCOPE_AGENT_DIR");
    if (folder == nullptr || argc < 2) return 99;
    bool isCut = false, isKilled = false;
    bool hasOpenWindow = false;
    int status = 0, windows = 0, pauseMs = 0;
    for (int at = 2; at < argc; ++at) {
        const std::string word = argv[at];
        if (word == "--truncate")
            isCut = true;
        else if (word == "--kill")
            isKilled = true;
        else if (word == "--open")
            hasOpenWindow = true;
        else if (word == "--windows" && at + 1 < argc)
            windows = std::stoi(argv[++at]);
        else if (word == "--pause" && at + 1 < argc)
            pauseMs = std::stoi(argv[++at]);
        else if (word == "--after" && at + 1 < argc)
            usleep(1000u * std::stoi(argv[++at]));
        else if (word == "--exit" && at + 1 < argc)
            status = std::stoi(argv[++at]);
    }
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    const int64_t nowNs = int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    test::TestLog log(static_cast<uint32_t>(getpid()), nowNs);
    log.property("program", "leaveLog");
    for (int event = 0; event < std::stoi(argv[1]); ++event) {
        log::KernelRecord kernel{};
        kernel.startNs = nowNs + event * 1000;
        kernel.endNs = kernel.startNs + 500;
        kernel.name = log.string("_Z9simulatedv");
        log.add(kernel);
        if (event % 10 == 9) log.flush(nowNs, kernel.endNs);
    }
    const auto addWindow = [&](int index, bool isBegin) {
        log::WindowRecord window{.timestampNs = nowNs + index * 1000 + (isBegin ? 0 : 900),
                                 .index = static_cast<uint32_t>(index)};
        window.isBegin = isBegin ? 1 : 0;
        log.add(window);
    };
    for (int index = 0; index < windows; ++index) {
        addWindow(index, true);
        addWindow(index, false);
    }
    if (hasOpenWindow) addWindow(windows, true);
    if (!isCut && !isKilled && pauseMs == 0) log.end(nowNs + 1'000'000);
    log.flush();
    std::string bytes = log.bytes();
    if (isCut) bytes.resize(bytes.size() - 20);
    test::TestLog::write(std::string(folder) + "/box.-." + std::to_string(getpid()) + ".log", bytes);
    if (pauseMs > 0) usleep(1000u * static_cast<unsigned>(pauseMs));
    if (isKilled) raise(SIGKILL);
    return status;
}
