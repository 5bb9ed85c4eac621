// SPDX-License-Identifier: Apache-2.0
// SIMULATED: stands for PyTorch in a process, which is known by the name of its library.
extern "C" int simulatedTorch() {
    return 0;
}
