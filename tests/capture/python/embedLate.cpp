// SPDX-License-Identifier: Apache-2.0
// SIMULATED: a program in C++ that uses CUDA for a while before it loads a Python, which then
// launches kernels for three seconds.
//
// usage: standin-embedding LIBPYTHON LAUNCHES AGENT CUPTI

#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace {

template <class Function>
Function* need(void* library, const char* name) {
    auto* const function = reinterpret_cast<Function*>(::dlsym(library, name));
    if (!function) std::fprintf(stderr, "%s is missing\n", name);
    return function;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    void* const launches = ::dlopen(argv[2], RTLD_NOW);
    if (!launches) return 3;
    auto* const beginCuda = need<int(const char*, const char*)>(launches, "beginCuda");
    auto* const launch = need<uint32_t()>(launches, "launchHere");
    if (!beginCuda || !launch || beginCuda(argv[3], argv[4]) != 0) return 4;
    launch();

    void* const python = ::dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    if (!python) return 5;
    auto* const initialize = need<void(int)>(python, "Py_InitializeEx");
    auto* const run = need<int(const char*)>(python, "PyRun_SimpleString");
    auto* const finalize = need<int()>(python, "Py_FinalizeEx");
    if (!initialize || !run || !finalize) return 6;
    initialize(0);
    const std::string begin = "import ctypes\nlibrary = ctypes.CDLL('" + std::string(argv[2]) + "')\n";
    int failed = run(begin.c_str());
    for (int i = 0; i < 60; ++i) {
        failed |= run("def work():\n    library.launchHere()\nwork()\n");
        ::usleep(50'000);
    }
    failed |= finalize();
    launch();
    return failed == 0 ? 0 : 7;
}
