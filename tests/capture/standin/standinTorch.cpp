// SPDX-License-Identifier: Apache-2.0
//
// SIMULATED: represents PyTorch in a process, which is detected by its library name.
extern "C" int simulatedTorch() { return 0; }
