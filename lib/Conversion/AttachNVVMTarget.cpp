//===- AttachNVVMTarget.cpp - The target of kernels -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The NVVM dialect's verification accepts tcgen05 only on sm_100a (and partly
// on others), and its own pass that attaches a target cannot disable it. The
// code generator supports all chips of the table. So this pass checks what the
// dialect would check, with the table for tcgen05.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Conversion/BlockScaleToNVVM.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_ATTACHNVVMTARGETPASS
#include "blockscale/Conversion/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

static bool isTcgen05(Operation *op) {
  return op->getName().getStringRef().starts_with("nvvm.tcgen05.");
}

/// Checks ops that require a chip. Returns whether there are any of tcgen05;
/// emits an error if a check fails.
static FailureOr<bool> checkKernels(gpu::GPUModuleOp kernels,
                                    const Chip &chip) {
  bool hasTcgen05 = false;
  auto version = NVVM::NVVMCheckSMVersion::getTargetSMVersionFromStr(chip.name);
  WalkResult result = kernels.walk([&](Operation *op) -> WalkResult {
    if (isTcgen05(op)) {
      hasTcgen05 = true;
      if (!hasTensorMemory(chip))
        return op->emitOpError("expected a chip with tcgen05, got ")
               << StringRef(chip.name);
      return WalkResult::advance();
    }
    auto
      requires
    = dyn_cast<NVVM::RequiresSMInterface>(op);
    if (!requires ||
        requires.getRequiredMinSMVersion().isCompatibleWith(version))
      return WalkResult::advance();
    return op->emitOpError("is not supported on ") << StringRef(chip.name);
  });
  if (result.wasInterrupted())
    return failure();
  return hasTcgen05;
}

namespace {

struct AttachNVVMTargetPass final
    : mlir::blockscale::impl::AttachNVVMTargetPassBase<AttachNVVMTargetPass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<TargetAttr> target = getTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    const Chip &chip = (*target).getFinalChip();
    std::string features =
        ptxVersion == 0 ? "" : "+ptx" + std::to_string(ptxVersion);
    WalkResult result =
        getOperation()->walk([&](gpu::GPUModuleOp kernels) -> WalkResult {
          FailureOr<bool> hasTcgen05 = checkKernels(kernels, chip);
          if (failed(hasTcgen05))
            return WalkResult::interrupt();
          attach(kernels, chip, features, /*isVerified=*/!*hasTcgen05);
          return WalkResult::skip();
        });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  static void attach(gpu::GPUModuleOp kernels, const Chip &chip,
                     StringRef features, bool isVerified) {
    MLIRContext *context = kernels.getContext();
    auto target = NVVM::NVVMTargetAttr::get(
        context, /*optLevel=*/2, "nvptx64-nvidia-cuda", chip.name, features,
        /*targetFlags=*/nullptr, /*linkFiles=*/nullptr, isVerified);
    SmallVector<Attribute> targets;
    if (std::optional<ArrayAttr> old = kernels.getTargets())
      llvm::append_range(targets, *old);
    if (!llvm::is_contained(targets, target))
      targets.push_back(target);
    kernels.setTargetsAttr(ArrayAttr::get(context, targets));
  }
};

} // namespace
