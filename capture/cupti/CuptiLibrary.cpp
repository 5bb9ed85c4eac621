// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/CuptiLibrary.h"

#include "capture/cupti/findCupti.h"

namespace lanescope::agent {

std::string CuptiLibrary::describe(CUptiResult result) const {
    const char* text = nullptr;
    if (getResultString) getResultString(result, &text);
    return std::string(text ? text : "CUPTI error") + " (" + std::to_string(result) + ")";
}

bool openCupti(const std::string& overridePath, CuptiLibrary& library, std::string& problem) {
    OpenedCupti opened = findCupti(overridePath);
    if (!opened.handle) {
        problem =
            "No CUPTI library was found, so no CUDA activity was recorded; set LANESCOPE_CUPTI to "
            "the path of libcupti.so (tried " +
            opened.searched + ").";
        return false;
    }
    library.path = opened.path;
    capture::DynamicLibrary& cupti = opened.handle;
    cupti.need(library.getVersion, "cuptiGetVersion");
    cupti.need(library.subscribe, "cuptiSubscribe");
    cupti.need(library.enableCallback, "cuptiEnableCallback");
    cupti.need(library.registerCallbacks, "cuptiActivityRegisterCallbacks");
    cupti.need(library.enable, "cuptiActivityEnable");
    cupti.need(library.flushAll, "cuptiActivityFlushAll");
    cupti.need(library.getNextRecord, "cuptiActivityGetNextRecord");
    cupti.need(library.getResultString, "cuptiGetResultString");
    cupti.find(library.subscribe2, "cuptiSubscribe_v2");
    cupti.find(library.disable, "cuptiActivityDisable");
    cupti.find(library.setAttribute, "cuptiActivitySetAttribute");
    cupti.find(library.setThreadIdType, "cuptiSetThreadIdType");
    cupti.find(library.registerTimestamps, "cuptiActivityRegisterTimestampCallback");
    cupti.find(library.enableRuntimeApi, "cuptiActivityEnableRuntimeApi");
    cupti.find(library.enableDriverApi, "cuptiActivityEnableDriverApi");
    cupti.find(library.enableAllSyncRecords, "cuptiActivityEnableAllSyncRecords");
    cupti.find(library.getNumDroppedRecords, "cuptiActivityGetNumDroppedRecords");
    cupti.find(library.getCallbackName, "cuptiGetCallbackName");
    cupti.find(library.getStreamIdEx, "cuptiGetStreamIdEx");
    cupti.find(library.getDeviceId, "cuptiGetDeviceId");
    cupti.find(library.getGraphNodeId, "cuptiGetGraphNodeId");
    cupti.find(library.configureUnifiedMemory, "cuptiActivityConfigureUnifiedMemoryCounter");
    const bool isComplete = cupti.missing() == nullptr;
    cupti.stay();  // it may be the program's own, and calls us back to the end
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
