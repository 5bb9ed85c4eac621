#include "capture/cupti/CuptiLibrary.h"

#include <dlfcn.h>

#include "capture/cupti/findCupti.h"

namespace lanescope::agent {

std::string CuptiLibrary::describe(CUptiResult result) const {
    const char* text = nullptr;
    if (getResultString) getResultString(result, &text);
    return std::string(text ? text : "CUPTI error") + " (" + std::to_string(result) + ")";
}

bool openCupti(const std::string& overridePath, CuptiLibrary& library, std::string& problem) {
    const OpenedCupti opened = findCupti(overridePath);
    if (!opened.handle) {
        problem =
            "No CUPTI library was found, so no CUDA activity was recorded; set LANESCOPE_CUPTI to "
            "the path of libcupti.so (tried " +
            opened.searched + ").";
        return false;
    }
    library.path = opened.path;
    bool isComplete = true;
    const auto need = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(opened.handle, name));
        isComplete = isComplete && function;
    };
    const auto want = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(opened.handle, name));
    };
    need(library.getVersion, "cuptiGetVersion");
    need(library.subscribe, "cuptiSubscribe");
    need(library.enableCallback, "cuptiEnableCallback");
    need(library.registerCallbacks, "cuptiActivityRegisterCallbacks");
    need(library.enable, "cuptiActivityEnable");
    need(library.flushAll, "cuptiActivityFlushAll");
    need(library.getNextRecord, "cuptiActivityGetNextRecord");
    need(library.getResultString, "cuptiGetResultString");
    want(library.subscribe2, "cuptiSubscribe_v2");
    want(library.disable, "cuptiActivityDisable");
    want(library.setAttribute, "cuptiActivitySetAttribute");
    want(library.setThreadIdType, "cuptiSetThreadIdType");
    want(library.enableRuntimeApi, "cuptiActivityEnableRuntimeApi");
    want(library.enableDriverApi, "cuptiActivityEnableDriverApi");
    want(library.enableAllSyncRecords, "cuptiActivityEnableAllSyncRecords");
    want(library.getNumDroppedRecords, "cuptiActivityGetNumDroppedRecords");
    want(library.getCallbackName, "cuptiGetCallbackName");
    want(library.getStreamIdEx, "cuptiGetStreamIdEx");
    want(library.getDeviceId, "cuptiGetDeviceId");
    want(library.configureUnifiedMemory, "cuptiActivityConfigureUnifiedMemoryCounter");
    if (!isComplete) {
        problem = library.path +
                  " lacks functions that CUPTI has had for years, so no CUDA activity was "
                  "recorded; set LANESCOPE_CUPTI to another libcupti.so.";
        return false;
    }
    library.getVersion(&library.version);
    if (library.version < CuptiLibrary::version11_8) {
        problem = library.path +
                  " is older than CUDA 11.8, so no CUDA activity was recorded; use a newer "
                  "CUDA toolkit.";
        return false;
    }
    return true;
}

}  // namespace lanescope::agent
