// SPDX-License-Identifier: Apache-2.0
//
// A program that calls NVTX under conditions that are hard for an agent. The first argument selects
// the condition; output and status are the same without an agent.

#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

// From the C library; compilers use it to register and remove exit handlers.
extern "C" int __cxa_atexit(void (*function)(void*), void* argument, void* owner);
extern "C" void __cxa_finalize(void* owner);

namespace {

void range(const char* name) {
    nvtxRangePushA(name);
    nvtxRangePop();
}

void ranges(int count) {
    for (int number = 0; number < count; ++number) range("work");
}

void pause(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

// --- memory

constexpr int statusOfFullMemory = 4;

/// Takes all memory that the allocator and the kernel still provide.
struct FullMemory {
    FullMemory() {
        rlimit limit{};
        ::getrlimit(RLIMIT_AS, &limit);
        limit.rlim_cur = 1u << 20;  // less than already in use
        ::setrlimit(RLIMIT_AS, &limit);
        for (size_t bytes = 1u << 20; bytes >= 16; bytes /= 2)
            while (void* const piece = std::malloc(bytes)) {
                *static_cast<void**>(piece) = last_;
                last_ = piece;
            }
    }
    ~FullMemory() {
        while (last_) {
            void* const next = *static_cast<void**>(last_);
            std::free(last_);
            last_ = next;
        }
        rlimit limit{};
        ::getrlimit(RLIMIT_AS, &limit);
        limit.rlim_cur = limit.rlim_max;
        ::setrlimit(RLIMIT_AS, &limit);
    }

  private:
    void* last_ = nullptr;
};

void everyKindOfCall() {
    range("work");
    nvtxMarkA("mark");
    nvtxRangePushW(L"wide");
    nvtxRangePop();
    nvtxRangeEnd(nvtxRangeStartA("started"));
    const nvtxDomainHandle_t domain = nvtxDomainCreateA("a domain whose name takes some memory");
    nvtxDomainRegisterStringA(domain, "a registered string that takes some memory");
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_UNICODE;
    attributes.message.unicode = L"wide in a struct";
    nvtxDomainRangePushEx(domain, &attributes);
    nvtxDomainRangePop(domain);
    nvtxNameOsThreadA(static_cast<uint32_t>(::syscall(SYS_gettid)), "a thread with a long name");
}

/// A thread whose first call comes without memory, and one with earlier calls.
int fullMemory() {
    range("before");
    std::atomic<bool> isFull{false}, hasCalled{false};
    std::thread other([&] {
        while (!isFull.load()) ::usleep(1000);
        for (int round = 0; round < 100; ++round) everyKindOfCall();
        hasCalled.store(true);
        while (isFull.load()) ::usleep(1000);
        ranges(10);
    });
    pause(300);
    {
        const FullMemory full;
        isFull.store(true);
        while (!hasCalled.load()) ::usleep(1000);
        for (int round = 0; round < 100; ++round) everyKindOfCall();
        ::usleep(500'000);
    }
    isFull.store(false);
    other.join();
    range("after");
    return statusOfFullMemory;
}

// --- bursts

/// Makes calls as fast as possible: ranges of a domain with a registered string, ranges with a message of their own,
/// and marks.
void burst(nvtxDomainHandle_t domain, int thread, int calls) {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtxDomainRegisterStringA(domain, "a registered message");
    char message[64];
    for (int number = 0; number < calls; number += 5) {
        nvtxDomainRangePushEx(domain, &attributes);
        nvtxDomainRangePop(domain);
        std::snprintf(message, sizeof message, "message %d of thread %d of the burst", number, thread);
        nvtxRangePushA(message);
        nvtxRangePop();
        nvtxMarkA("burst");
    }
}

/// The first call of each thread comes before the burst. All threads begin it at once.
int burstsOf(int threads, int calls) {
    const nvtxDomainHandle_t domain = nvtxDomainCreateA("bursts");
    std::atomic<int> waiting{0};
    std::vector<std::thread> callers;
    for (int number = 0; number < threads; ++number)
        callers.emplace_back([&, number] {
            range("before");
            ++waiting;
            while (waiting.load() < threads) std::this_thread::yield();
            burst(domain, number, calls);
        });
    for (std::thread& caller : callers) caller.join();
    return 0;
}

// --- signal handlers

volatile sig_atomic_t handled = 0;

void onAlarm(int) {
    handled = handled + 1;
    const int before = errno;
    // Longer than the interrupted call, so that the two need buffers of different sizes.
    range("handler, which has a name that is longer than those of the ranges that it interrupts");
    if (errno != before) std::_Exit(9);
}

/// Calls from a handler that interrupts other calls, every `microseconds`.
int callsInHandlers(int microseconds, int milliseconds) {
    nvtxDomainHandle_t domains[200] = {};
    range("before");
    for (int number = 0; number < 200; ++number)
        domains[number] = nvtxDomainCreateA(("domain " + std::to_string(number)).c_str());
    struct sigaction action {};
    action.sa_handler = &onAlarm;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGALRM, &action, nullptr);
    const itimerval every{{0, microseconds}, {0, microseconds}}, never{};
    ::setitimer(ITIMER_REAL, &every, nullptr);
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "work";
    for (size_t round = 0; std::chrono::steady_clock::now() < end; ++round) {
        ranges(50);
        nvtxDomainRangePushEx(domains[round % 200], &attributes);
        nvtxDomainRangePop(domains[round % 200]);
        ::usleep(200);
    }
    ::setitimer(ITIMER_REAL, &never, nullptr);
    std::printf("%s\n", handled > 10 ? "handled" : "no signal came");
    return 0;
}

// --- clocks

/// A range of a third of a second during a clock change; `standinSetClock` is from a preloaded library.
int clockIsSet(int seconds) {
    const auto set = reinterpret_cast<void (*)(long)>(::dlsym(RTLD_DEFAULT, "standinSetClock"));
    if (!set) return 77;
    range("before");
    pause(50);
    nvtxRangePushA("across");
    pause(100);
    set(seconds);
    pause(200);
    nvtxRangePop();
    pause(1200);
    range("after");
    return 0;
}

// --- rights and limits

int asAnotherUser() {
    if (::setgroups(0, nullptr) != 0 || ::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0)
        return 77;
    ranges(100);
    pause(300);
    return 0;
}

int inAnotherRoot(const char* folder) {
    range("before");
    if (::chroot(folder) != 0 || ::chdir("/") != 0) return 77;
    ranges(99);
    pause(300);
    return 0;
}

int withoutDescriptors() {
    range("before");
    const rlimit few{3, 3};
    if (::setrlimit(RLIMIT_NOFILE, &few) != 0) return 77;
    ranges(100);
    pause(300);
    return 0;
}

/// Children that call and exit at once, without their exit handlers.
int shortChildren(int count) {
    range("before");
    pause(100);
    for (int number = 0; number < count; ++number) {
        const pid_t child = ::fork();
        if (child == 0) {
            ranges(100);
            ::_exit(0);
        }
        ::waitpid(child, nullptr, 0);
    }
    return 0;
}

/// Once takes the descriptor numbers of others for its own file; returns what is wrong with it.
int takeDescriptors(const std::string& path) {
    const int own = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (::write(own, "mine", 4) != 4) return 5;
    for (int number = 3; number < 256; ++number)
        if (number != own) ::dup2(own, number);
    for (int number = 3; number < 256; ++number) ::close(number);
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && status.st_size == 4 ? 0 : 6;
}

/// Does so repeatedly, so that it also happens between any two calls of another user of descriptors.
int takesDescriptors(const char* path) {
    range("before");
    pause(100);
    std::atomic<bool> isDone = false;
    std::thread caller([&isDone] {
        for (int round = 0; round < 100; ++round) {
            ranges(90);
            pause(5);
        }
        isDone = true;
    });
    int problem = 0;
    while (!isDone && problem == 0) problem = takeDescriptors(path);
    caller.join();
    return problem;
}

/// Forks while other threads make the first calls of a process that was itself forked.
int forksAtOnce() {
    // A fork during the setup of NVTX itself leaves a child that waits forever, recorded or not.
    range("before");
    for (int round = 0; round < 30; ++round) {
        const pid_t branch = ::fork();
        if (branch == 0) {
            std::vector<std::thread> callers;
            for (int number = 0; number < 3; ++number) callers.emplace_back([] { ranges(10); });
            std::vector<pid_t> children;
            for (int number = 0; number < 10; ++number) {
                const pid_t child = ::fork();
                if (child == 0) {
                    range("child");
                    ::_exit(0);
                }
                children.push_back(child);
            }
            for (const pid_t child : children) ::waitpid(child, nullptr, 0);
            for (std::thread& caller : callers) caller.join();
            ::_exit(0);
        }
        ::waitpid(branch, nullptr, 0);
    }
    return 0;
}

/// Forks while another thread is mostly inside the C library's exit handler list, whose lock state a child inherits.
int forksAmongExitHandlers() {
    range("before");
    std::atomic<bool> isOver{false};
    std::thread other([&] {
        static int owner = 0;
        while (!isOver.load()) {
            for (int number = 0; number < 100; ++number) ::__cxa_atexit([](void*) {}, nullptr, &owner);
            ::__cxa_finalize(&owner);
        }
    });
    for (int number = 0; number < 100; ++number) {
        const pid_t child = ::fork();
        if (child == 0) {
            range("child");
            ::_exit(0);
        }
        ::waitpid(child, nullptr, 0);
    }
    isOver.store(true);
    other.join();
    return 0;
}

int terminatesItself() {
    ranges(100);
    pause(300);
    ::kill(::getpid(), SIGTERM);
    pause(300);
    ranges(200);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view kind = argc > 1 ? argv[1] : "";
    const auto text = [&](int index) { return index < argc ? argv[index] : ""; };
    const auto number = [&](int index) { return std::atoi(text(index)); };
    if (kind == "memory") return fullMemory();
    if (kind == "handler") return callsInHandlers(number(2), number(3));
    if (kind == "clock") return clockIsSet(number(2));
    if (kind == "user") return asAnotherUser();
    if (kind == "root") return inAnotherRoot(text(2));
    if (kind == "descriptors") return withoutDescriptors();
    if (kind == "children") return shortChildren(number(2));
    if (kind == "takes-descriptors") return takesDescriptors(text(2));
    if (kind == "forks") return forksAtOnce();
    if (kind == "exit-handlers") return forksAmongExitHandlers();
    if (kind == "term") return terminatesItself();
    if (kind == "burst") return burstsOf(number(2), number(3));
    if (kind == "ranges") {
        ranges(number(2));
        return 0;
    }
    return 2;
}
