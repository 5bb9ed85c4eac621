// SPDX-License-Identifier: Apache-2.0
//
// Storage for the exceptions of a thread, in place of that of the C++ library. The library's own is
// thread-local memory that glibc takes from the allocator at the first use. Without memory glibc
// ends the program there, before our handler for that exception. Ours is part of each thread from
// its beginning (see `-ftls-model` in capture/CMakeLists.txt). The library is linked into the agent
// and not exported, so these two functions replace its own.

namespace __cxxabiv1 {

struct __cxa_eh_globals;  // two words, by the Itanium C++ ABI

namespace {

constinit thread_local void* globals[4] = {};

__cxa_eh_globals* ofThisThread() { return reinterpret_cast<__cxa_eh_globals*>(globals); }

}  // namespace

extern "C" {
__attribute__((visibility("hidden"))) __cxa_eh_globals* __cxa_get_globals() noexcept { return ofThisThread(); }
__attribute__((visibility("hidden"))) __cxa_eh_globals* __cxa_get_globals_fast() noexcept { return ofThisThread(); }
}

}  // namespace __cxxabiv1
