//===- CudaRun.cpp - A CUDA card as a device ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CUDA card as a device of blockscale-run. The default target comes from its
// compute capability, since code for another chip would not load.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/GpuRun.h"
#include "blockscale/Runtime/PtxSummary.h"

using namespace mlir;
using namespace mlir::blockscale;

/// 90 -> "9.0".
static std::string formatCapability(unsigned capability) {
  return std::to_string(capability / 10) + "." +
         std::to_string(capability % 10);
}

Result<const Chip *> blockscale::getChipOfCard(unsigned capability) {
  const Chip *best = nullptr;
  std::string known;
  unsigned last = 0;
  for (const Chip &chip : getChips()) {
    if (chip.isCpu())
      continue;
    // Targets with the letter 'a' have all features of this one chip.
    if (chip.capability == capability &&
        (!best || (chip.name.back() == 'a' && best->name.back() != 'a')))
      best = &chip;
    if (chip.capability != last)
      known += " " + formatCapability(chip.capability);
    last = chip.capability;
  }
  if (!best)
    return Error("expected --target, or a card of one of the compute "
                 "capabilities" +
                 known + ", got one of " + formatCapability(capability));
  return best;
}

namespace {
class CudaCard : public GpuDevice {
public:
  CudaCard(CudaDevice device, const CudaRunOptions &options)
      : device(std::move(device)), options(options) {}

  Result<const Chip *> chooseTarget(const Chip *wanted) override {
    unsigned capability = device.getCapability();
    if (!wanted)
      return getChipOfCard(capability);
    if (!isTargetOfCard(wanted->name, capability))
      return Error("expected a target that runs on the card's sm_" +
                   std::to_string(capability) + ", got " +
                   std::string(wanted->name));
    return wanted;
  }

  Result<uint32_t> countSms() override { return device.countSms(); }

  Error execute(const std::string &ptx, const LaunchPlan &plan,
                std::vector<LaunchArgument> &arguments) override {
    Result<CudaModule> module = device.load(ptx);
    if (!module)
      return module.error();
    return runOnCuda(device, *module, plan, arguments, options);
  }

private:
  CudaDevice device;
  CudaRunOptions options;
};
} // namespace

Result<std::unique_ptr<GpuDevice>>
blockscale::openCudaDevice(const CudaRunOptions &options) {
  Result<CudaDevice> device = CudaDevice::open();
  if (!device)
    return device.error();
  std::unique_ptr<GpuDevice> card =
      std::make_unique<CudaCard>(std::move(*device), options);
  return card;
}
