// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/nvtxCallbacks.h"

#include "capture/agent/NvtxRegistry.h"
#include "capture/agent/nvtxCalls.h"
#include "capture/log/clocks.h"

namespace lanescope::agent {

namespace {

// The functions that NVTX calls; their names are those of the table slots.

void markEx(const nvtxEventAttributes_t* a) {
    recordWith(log::NvtxEvent::Mark, nullptr, a);
}
void markA(const char* text) {
    recordText(log::NvtxEvent::Mark, view(text));
}
void markW(const wchar_t* text) {
    recordText(log::NvtxEvent::Mark, text);
}
int rangePushEx(const nvtxEventAttributes_t* a) {
    return recordWith(log::NvtxEvent::Push, nullptr, a);
}
int rangePushA(const char* text) {
    return recordText(log::NvtxEvent::Push, view(text));
}
int rangePushW(const wchar_t* text) {
    return recordText(log::NvtxEvent::Push, text);
}
int rangePop() {
    return recordText(log::NvtxEvent::Pop, {});
}
nvtxRangeId_t rangeStartEx(const nvtxEventAttributes_t* a) {
    const uint64_t id = newRangeId();
    recordWith(log::NvtxEvent::Start, nullptr, a, id);
    return id;
}
nvtxRangeId_t rangeStartA(const char* text) {
    const uint64_t id = newRangeId();
    recordText(log::NvtxEvent::Start, view(text), id);
    return id;
}
nvtxRangeId_t rangeStartW(const wchar_t* text) {
    const uint64_t id = newRangeId();
    recordText(log::NvtxEvent::Start, text, id);
    return id;
}
void rangeEnd(nvtxRangeId_t id) {
    recordText(log::NvtxEvent::End, {}, id);
}

void nameCategory(nvtxDomainHandle_t domain, uint32_t category, std::string_view name) {
    nvtxRegistry().add(NvtxCategory{idOf(domain), category, std::string(name), log::eventTimeNs(),
                                    currentThreadId()});
}
void nameCategoryA(uint32_t category, const char* name) {
    guarded([&] { nameCategory(nullptr, category, view(name)); });
}
void nameCategoryW(uint32_t category, const wchar_t* name) {
    guarded([&] {
        WideText room;
        nameCategory(nullptr, category, utf8(name, room));
    });
}
void nameOsThreadA(uint32_t threadId, const char* name) {
    guarded([&] { nvtxRegistry().add(NvtxThreadName{threadId, std::string(view(name))}); });
}
void nameOsThreadW(uint32_t threadId, const wchar_t* name) {
    guarded([&] {
        WideText room;
        nvtxRegistry().add(NvtxThreadName{threadId, std::string(utf8(name, room))});
    });
}

void domainMarkEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) {
    recordWith(log::NvtxEvent::Mark, d, a);
}
nvtxRangeId_t domainRangeStartEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) {
    const uint64_t id = newRangeId();
    recordWith(log::NvtxEvent::Start, d, a, id);
    return id;
}
void domainRangeEnd(nvtxDomainHandle_t d, nvtxRangeId_t id) {
    recordWith(log::NvtxEvent::End, d, nullptr, id);
}
int domainRangePushEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) {
    return recordWith(log::NvtxEvent::Push, d, a);
}
int domainRangePop(nvtxDomainHandle_t d) {
    return recordWith(log::NvtxEvent::Pop, d, nullptr);
}
nvtxResourceHandle_t domainResourceCreate(nvtxDomainHandle_t, nvtxResourceAttributes_t*) {
    return nullptr;
}
void domainResourceDestroy(nvtxResourceHandle_t) {}
void domainNameCategoryA(nvtxDomainHandle_t d, uint32_t category, const char* name) {
    guarded([&] { nameCategory(d, category, view(name)); });
}
void domainNameCategoryW(nvtxDomainHandle_t d, uint32_t category, const wchar_t* name) {
    guarded([&] {
        WideText room;
        nameCategory(d, category, utf8(name, room));
    });
}
nvtxStringHandle_t registerString(std::string_view text) {
    const std::string* kept = nvtxRegistry().registerString(text);
    return reinterpret_cast<nvtxStringHandle_t>(const_cast<std::string*>(kept));
}
nvtxStringHandle_t domainRegisterStringA(nvtxDomainHandle_t, const char* text) {
    return guarded([&] { return registerString(view(text)); });
}
nvtxStringHandle_t domainRegisterStringW(nvtxDomainHandle_t, const wchar_t* text) {
    return guarded([&] {
        WideText room;
        return registerString(utf8(text, room));
    });
}
nvtxDomainHandle_t domainCreate(std::string_view name) {
    const NvtxDomain* domain = nvtxRegistry().domain(name, log::eventTimeNs(), currentThreadId());
    return reinterpret_cast<nvtxDomainHandle_t>(const_cast<NvtxDomain*>(domain));
}
nvtxDomainHandle_t domainCreateA(const char* name) {
    return guarded([&] { return domainCreate(view(name)); });
}
nvtxDomainHandle_t domainCreateW(const wchar_t* name) {
    return guarded([&] {
        WideText room;
        return domainCreate(utf8(name, room));
    });
}
void domainDestroy(nvtxDomainHandle_t) {}
void initialize(const void*) {}

template <class Function>
void fill(NvtxFunctionTable table, unsigned size, unsigned slot, Function* function) {
    if (slot < size && table[slot]) *table[slot] = reinterpret_cast<NvtxFunctionPointer>(function);
}

void fillCore(NvtxFunctionTable t, unsigned n) {
    fill(t, n, NVTX_CBID_CORE_MarkEx, &markEx);
    fill(t, n, NVTX_CBID_CORE_MarkA, &markA);
    fill(t, n, NVTX_CBID_CORE_MarkW, &markW);
    fill(t, n, NVTX_CBID_CORE_RangeStartEx, &rangeStartEx);
    fill(t, n, NVTX_CBID_CORE_RangeStartA, &rangeStartA);
    fill(t, n, NVTX_CBID_CORE_RangeStartW, &rangeStartW);
    fill(t, n, NVTX_CBID_CORE_RangeEnd, &rangeEnd);
    fill(t, n, NVTX_CBID_CORE_RangePushEx, &rangePushEx);
    fill(t, n, NVTX_CBID_CORE_RangePushA, &rangePushA);
    fill(t, n, NVTX_CBID_CORE_RangePushW, &rangePushW);
    fill(t, n, NVTX_CBID_CORE_RangePop, &rangePop);
    fill(t, n, NVTX_CBID_CORE_NameCategoryA, &nameCategoryA);
    fill(t, n, NVTX_CBID_CORE_NameCategoryW, &nameCategoryW);
    fill(t, n, NVTX_CBID_CORE_NameOsThreadA, &nameOsThreadA);
    fill(t, n, NVTX_CBID_CORE_NameOsThreadW, &nameOsThreadW);
}

void fillCore2(NvtxFunctionTable t, unsigned n) {
    fill(t, n, NVTX_CBID_CORE2_DomainMarkEx, &domainMarkEx);
    fill(t, n, NVTX_CBID_CORE2_DomainRangeStartEx, &domainRangeStartEx);
    fill(t, n, NVTX_CBID_CORE2_DomainRangeEnd, &domainRangeEnd);
    fill(t, n, NVTX_CBID_CORE2_DomainRangePushEx, &domainRangePushEx);
    fill(t, n, NVTX_CBID_CORE2_DomainRangePop, &domainRangePop);
    fill(t, n, NVTX_CBID_CORE2_DomainResourceCreate, &domainResourceCreate);
    fill(t, n, NVTX_CBID_CORE2_DomainResourceDestroy, &domainResourceDestroy);
    fill(t, n, NVTX_CBID_CORE2_DomainNameCategoryA, &domainNameCategoryA);
    fill(t, n, NVTX_CBID_CORE2_DomainNameCategoryW, &domainNameCategoryW);
    fill(t, n, NVTX_CBID_CORE2_DomainRegisterStringA, &domainRegisterStringA);
    fill(t, n, NVTX_CBID_CORE2_DomainRegisterStringW, &domainRegisterStringW);
    fill(t, n, NVTX_CBID_CORE2_DomainCreateA, &domainCreateA);
    fill(t, n, NVTX_CBID_CORE2_DomainCreateW, &domainCreateW);
    fill(t, n, NVTX_CBID_CORE2_DomainDestroy, &domainDestroy);
    fill(t, n, NVTX_CBID_CORE2_Initialize, &initialize);
}

}  // namespace

bool attachNvtx(const void* (*getExportTable)(uint32_t)) {
    const auto* callbacks =
        static_cast<const NvtxExportTableCallbacks*>(getExportTable(NVTX_ETID_CALLBACKS));
    if (!callbacks || callbacks->struct_size < sizeof *callbacks) return false;
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) || !table)
        return false;
    fillCore(table, size);
    if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) && table) {
        fillCore2(table, size);
    }
    return true;
}

}  // namespace lanescope::agent
