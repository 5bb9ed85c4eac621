// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for NCCL: loads the profiler plugin named by NCCL_PROFILER_PLUGIN and passes it
// simulated operations as NCCL does. It lays out descriptors by hand, byte by byte, from NCCL's
// headers, so that it shares no mistake with the plugin.
//
// usage: standin-nccl VERSION SCENARIO

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int groupType = 1, collType = 2, p2pType = 4, proxyOpType = 8, groupApiType = 256, collApiType = 512,
              p2pApiType = 1024, launchType = 2048, copyEngineType = 4096;

/// The function table of ncclProfiler_vN, in its order.
struct Table {
    const char* name;
    void* init;
    int (*start)(void*, void**, void*);
    int (*stop)(void*);
    int (*state)(void*, int, void*);
    int (*finalize)(void*);
};

int version = 5;
const Table* table = nullptr;
int mask = 0;

[[noreturn]] void giveUp(const char* why) {
    std::fprintf(stderr, "standin-nccl: %s\n", why);
    std::exit(3);
}

void* makeCommunicator(uint64_t hash, const char* name, int ranks, int rank) {
    void* context = nullptr;
    int answer = 0;
    if (version < 4) {
        answer = reinterpret_cast<int (*)(void**, int*)>(table->init)(&context, &mask);
    } else if (version == 4) {
        using Init = int (*)(void**, int*, const char*, uint64_t, int, int, int, void (*)());
        answer = reinterpret_cast<Init>(table->init)(&context, &mask, name, hash, 1, ranks, rank, nullptr);
    } else {
        using Init = int (*)(void**, uint64_t, int*, const char*, int, int, int, void (*)());
        answer = reinterpret_cast<Init>(table->init)(&context, hash, &mask, name, 1, ranks, rank, nullptr);
    }
    if (answer != 0) giveUp("init failed");
    return context;
}

/// A descriptor of any version, with values at the offsets of NCCL's headers.
class Descriptor {
  public:
    Descriptor(int type, void* parent, int rank) {
        if (version < 5)
            put<uint8_t>(0, static_cast<uint8_t>(type));
        else
            put<uint64_t>(0, static_cast<uint64_t>(type));
        put(8, parent);
        put(16, rank);
    }
    template <class T>
    Descriptor& put(size_t offset, T value) {
        std::memcpy(bytes_ + offset, &value, sizeof value);
        return *this;
    }
    /// Writes a value into the union.
    template <class T>
    Descriptor& with(size_t offset, T value) {
        return put(24 + offset, value);
    }
    void* start(void* context) {
        void* handle = reinterpret_cast<void*>(uintptr_t{0x77});  // as if NCCL had not cleared it
        if (table->start(context, &handle, bytes_) != 0) giveUp("startEvent failed");
        return handle;
    }

  private:
    alignas(8) unsigned char bytes_[192] = {};
};

void stop(void* handle) {
    if (handle && table->stop(handle) != 0) giveUp("stopEvent failed");
}

struct Operation {
    const char* function = "AllReduce";
    size_t count = 1024;
    const char* datatype = "ncclFloat32";
    uint64_t sequence = 7;
    const char* algorithm = "RING";
    const char* protocol = "SIMPLE";
    int root = 0, peer = -1;
    uint64_t hash = 0xabc;
    int rank = 1;
};

void* startCall(void* context, void* group, const Operation& o) {
    Descriptor d(o.peer < 0 ? collApiType : p2pApiType, group, 0);
    d.with(0, o.function).with(8, o.count).with(16, o.datatype);
    if (o.peer < 0) d.with(24, o.root);
    return d.start(context);
}

void* startTask(void* context, void* call, void* group, const Operation& o) {
    Descriptor d(o.peer < 0 ? collType : p2pType, version < 5 ? group : call, o.rank);
    const void* none = nullptr;
    if (o.peer < 0 && version == 1) {
        d.with(8, o.hash).with(16, o.sequence).with<uint8_t>(24, 4).with(48, o.count);
        d.with(56, o.root).with<uint8_t>(60, 7).with<uint8_t>(80, 16).with<uint8_t>(81, 8);
        d.with<uint8_t>(82, 1).with<uint8_t>(83, 2);
    } else if (o.peer < 0 && version <= 3) {
        const size_t tail = version == 2 ? 80 : 72;  // version 2 has the traffic before it
        d.with(8, o.hash).with(16, o.sequence).with(24, o.function).with(48, o.count);
        d.with(56, o.root).with(64, o.datatype).with<uint8_t>(tail, 16).with<uint8_t>(tail + 1, 8);
        d.with(tail + 8, o.algorithm).with(tail + 16, o.protocol);
    } else if (o.peer < 0) {
        d.with(0, o.sequence).with(8, o.function).with(16, none).with(32, o.count);
        d.with(40, o.root).with(48, o.datatype).with<uint8_t>(56, 16).with<uint8_t>(57, 8);
        d.with(64, o.algorithm).with(72, o.protocol).with(80, group);
    } else if (version == 1) {
        d.with(8, o.hash).with<uint8_t>(16, 6).with<uint8_t>(32, 7).with(40, o.count);
        d.with(48, o.peer);
    } else if (version <= 3) {
        d.with(8, o.hash).with(16, o.function).with(32, o.datatype).with(40, o.count);
        d.with(48, o.peer);
    } else {
        d.with(0, o.function).with(16, o.datatype).with(24, o.count).with(32, o.peer);
        d.with<uint8_t>(36, 2).with(40, group);
    }
    return d.start(context);
}

/// Submits a plan of operations like ncclGroupEnd.
void run(void* context, const std::vector<Operation>& operations, bool stopsBackwards = false) {
    void* groupCall = nullptr;
    std::vector<void*> calls(operations.size(), nullptr);
    if (version >= 5) {
        groupCall = Descriptor(groupApiType, nullptr, 0).start(context);
        for (size_t at = 0; at < operations.size(); ++at) {
            calls[at] = startCall(context, groupCall, operations[at]);
            stop(calls[at]);
        }
        stop(Descriptor(launchType, groupCall, 0).start(context));
    }
    void* group = Descriptor(groupType, nullptr, 0).start(context);
    if (!group) giveUp("no handle for a group, so NCCL would tell nothing of it");
    std::vector<void*> tasks;
    for (size_t at = 0; at < operations.size(); ++at)
        tasks.push_back(startTask(context, calls[at], group, operations[at]));
    for (size_t at = 0; at < tasks.size(); ++at) stop(tasks[stopsBackwards ? tasks.size() - 1 - at : at]);
    stop(group);
    stop(groupCall);
}

Operation send(int peer) {
    Operation o{.function = "Send", .count = 77, .peer = peer};
    return o;
}

void plain() {
    void* context = makeCommunicator(0xabc, "data parallel", 8, 1);
    run(context, {Operation{}});
    run(context, {send(3)});
    if (table->finalize(context) != 0) giveUp("finalize failed");
}

void group() {
    void* context = makeCommunicator(0xabc, nullptr, 8, 1);
    Operation gather{.function = "AllGather", .datatype = "ncclBfloat16", .sequence = 2};
    run(context, {Operation{}, gather, send(0)}, true);
}

void threads() {
    std::vector<std::thread> all;
    for (int thread = 0; thread < 4; ++thread)
        all.emplace_back([thread] {
            Operation o;
            o.hash = 0x100u + static_cast<unsigned>(thread);
            void* context = makeCommunicator(o.hash, "one of four", 4, thread);
            for (uint64_t index = 0; index < 500; ++index) {
                o.sequence = index;
                run(context, {o});
            }
            table->finalize(context);
        });
    for (std::thread& thread : all) thread.join();
}

/// Events that no NCCL sends, or only a later one.
void odd() {
    void* context = makeCommunicator(0xabc, nullptr, 8, 1);
    Operation nameless{nullptr, 5, nullptr, 1, nullptr, nullptr};
    run(context, {nameless});
    void* handle = nullptr;
    table->start(context, &handle, nullptr);
    Descriptor known(collType, nullptr, 0);
    table->start(context, nullptr, &known);
    if (Descriptor(1 << (version < 5 ? 7 : 20), nullptr, 0).start(context))
        giveUp("a handle for an event of an unknown type");
    if (Descriptor(proxyOpType, reinterpret_cast<void*>(uintptr_t{0xdead}), 0).start(context))
        giveUp("a handle for an event that was not asked for");
    table->stop(nullptr);
    table->stop(reinterpret_cast<void*>(uintptr_t{0xdeadbeef}));
    table->stop(reinterpret_cast<void*>(UINTPTR_MAX));
    table->state(nullptr, 99, nullptr);
    void* task = startTask(context, reinterpret_cast<void*>(uintptr_t{0xdeadbeef}), nullptr, {});
    table->stop(task);
    table->stop(task);
    table->state(task, 22, nullptr);
    run(nullptr, {Operation{}});
    const std::string endless(5000, 'x');
    Operation talkative;
    talkative.function = endless.c_str();
    run(context, {talkative});
    // And no finalize.
}

void forked() {
    void* context = makeCommunicator(0xabc, "before the fork", 8, 1);
    run(context, {Operation{}});
    void* open = startTask(context, nullptr, nullptr, {});
    const pid_t child = ::fork();
    if (child == 0) {
        stop(open);  // the parent's
        run(context, {Operation{}, Operation{}});
        std::exit(0);
    }
    stop(open);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) giveUp("the forked child failed");
}

void copyEngine() {
    void* context = makeCommunicator(0xabc, "copies", 8, 1);
    const char* function = "AllGather";
    const char* datatype = "ncclFloat16";
    Descriptor d(copyEngineType, nullptr, 1);
    d.with<uint64_t>(0, 9).with(8, function).with<size_t>(32, 64).with(40, 0).with(48, datatype);
    stop(d.start(context));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) giveUp("usage: standin-nccl VERSION SCENARIO");
    version = std::atoi(argv[1]);
    const std::string scenario = argv[2];
    const char* plugin = std::getenv("NCCL_PROFILER_PLUGIN");
    void* library = plugin ? ::dlopen(plugin, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!library) giveUp("no plugin");
    table = static_cast<const Table*>(::dlsym(library, ("ncclProfiler_v" + std::to_string(version)).c_str()));
    if (!table) giveUp("the plugin lacks the version");
    if (scenario == "plain") plain();
    if (scenario == "group") group();
    if (scenario == "threads") threads();
    if (scenario == "odd") odd();
    if (scenario == "fork") forked();
    if (scenario == "copy-engine") copyEngine();
    ::dlclose(library);
    std::printf("%s %x\n", table->name, static_cast<unsigned>(mask));
    return 0;
}
