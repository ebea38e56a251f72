//===- Compilation.cpp - From a module to PTX in C ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale-c/Compilation.h"
#include "blockscale/Driver/GpuCompilation.h"
#include "blockscale/Driver/GpuOptions.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// What a BlockScaleGpuCode points to.
struct Code {
  GpuCode code;
  std::string launchInfo;
};
} // namespace

static const Code &get(BlockScaleGpuCode code) {
  return *static_cast<const Code *>(code.ptr);
}

BlockScaleGpuCode blockscaleCompileForGpu(MlirModule module, intptr_t nOptions,
                                          const BlockScaleOption *options) {
  ModuleOp op = unwrap(module);
  Location loc = UnknownLoc::get(op.getContext());
  GpuCompileOptions parsed;
  for (const BlockScaleOption &option : ArrayRef(options, nOptions))
    if (Error error =
            setGpuOption(parsed, unwrap(option.name), unwrap(option.value))) {
      emitError(loc) << error.message();
      return {nullptr};
    }
  if (!parsed.target) {
    emitError(loc) << "expected the option target, the chip to compile for";
    return {nullptr};
  }
  FailureOr<GpuCode> code = compileForGpu(op, parsed);
  if (failed(code))
    return {nullptr};
  std::string info;
  if (code->launchInfo)
    info = serializeLaunchInfo(*code->launchInfo);
  return {new Code{std::move(*code), std::move(info)}};
}

bool blockscaleGpuCodeIsNull(BlockScaleGpuCode code) { return !code.ptr; }
void blockscaleGpuCodeDestroy(BlockScaleGpuCode code) {
  delete static_cast<Code *>(code.ptr);
}

MlirStringRef blockscaleGpuCodeGetText(BlockScaleGpuCode code) {
  return wrap(StringRef(get(code).code.text));
}
MlirStringRef blockscaleGpuCodeGetLaunchInfo(BlockScaleGpuCode code) {
  return wrap(StringRef(get(code).launchInfo));
}

intptr_t blockscaleGpuCodeGetNumRemarks(BlockScaleGpuCode code) {
  return get(code).code.remarks.size();
}
MlirStringRef blockscaleGpuCodeGetRemark(BlockScaleGpuCode code,
                                         intptr_t index) {
  return wrap(StringRef(get(code).code.remarks[index].message));
}
MlirLocation blockscaleGpuCodeGetRemarkLocation(BlockScaleGpuCode code,
                                                intptr_t index) {
  return wrap(get(code).code.remarks[index].location);
}

MlirStringRef blockscaleGetGpuOptionNames() {
  static const std::string names = llvm::join(
      llvm::map_range(getGpuOptions(),
                      [](const GpuOption &option) { return option.name; }),
      " ");
  return wrap(StringRef(names));
}
