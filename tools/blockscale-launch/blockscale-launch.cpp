//===- blockscale-launch.cpp - Run kernels on a CUDA card -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs the driver of the card and nothing else: neither MLIR nor LLVM nor CUDA
// is linked, so that the program can be carried to a machine without them.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/CudaExecution.h"
#include "blockscale/Runtime/Launcher.h"

#include <cstdio>

using namespace mlir::blockscale;

static Error execute(PreparedLaunch &launch, bool wantsTime,
                     bool checksMemory) {
  Result<CudaDevice> device = CudaDevice::open();
  if (!device)
    return device.error();
  Result<CudaModule> code = device->load(launch.image);
  if (!code)
    return pathError(launch.path, code.message());
  double milliseconds = 0;
  CudaRunOptions options;
  options.milliseconds = wantsTime ? &milliseconds : nullptr;
  options.checksMemory = checksMemory;
  if (Error error =
          runOnCuda(*device, *code, launch.plan, launch.arguments, options))
    return pathError(launch.path, error.message());
  if (wantsTime)
    std::printf("%.4f ms\n", milliseconds);
  return Error::success();
}

int main(int argc, char **argv) {
  bool wantsTime = false, checksMemory = false;
  Launcher launcher;
  launcher.name = "blockscale-launch";
  launcher.ownFlags = "[--time] [--check-memory]";
  launcher.device = "on the first CUDA card";
  launcher.flags = {{"time", "", "Print the median time of several runs"},
                    {"check-memory", "",
                     "Report a write just outside of a buffer as an error"}};
  launcher.takesCubins = true;
  launcher.checkFlags = [&](const CommandLine &line) {
    wantsTime = line.has("time");
    checksMemory = line.has("check-memory");
    return Error::success();
  };
  launcher.countSms = []() -> Result<uint32_t> {
    Result<CudaDevice> device = CudaDevice::open();
    if (!device)
      return device.error();
    return device->countSms();
  };
  launcher.getCapability = []() -> Result<unsigned> {
    Result<CudaDevice> device = CudaDevice::open();
    if (!device)
      return device.error();
    return device->getCapability();
  };
  launcher.execute = [&](PreparedLaunch &launch) {
    return execute(launch, wantsTime, checksMemory);
  };
  return runLauncher(launcher, std::vector<std::string>(argv + 1, argv + argc));
}
