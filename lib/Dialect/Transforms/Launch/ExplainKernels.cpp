//===- ExplainKernels.cpp - Description of kernels ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lists all kernels of a function, not only the matmuls, which have schedules,
// and the op that each kernel computes, which its name does not say.
//
//===----------------------------------------------------------------------===//

#include "Launch/KernelPurpose.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_EXPLAINKERNELSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// The printed columns of one launch.
struct KernelLine {
  std::string name, purpose, blocks, threads, position;
};
} // namespace

/// "4", or "?" if it depends on the arguments or on the card.
static std::string printExtent(Value extent) {
  std::optional<int64_t> number = getConstantIntValue(extent);
  return number ? std::to_string(*number) : "?";
}

static std::string printExtents(gpu::KernelDim3 extents) {
  return printExtent(extents.x) + " x " + printExtent(extents.y) + " x " +
         printExtent(extents.z);
}

/// The threads of a block, which are constant.
static std::string countThreads(gpu::KernelDim3 block) {
  int64_t threads = 1;
  for (Value extent : {block.x, block.y, block.z}) {
    std::optional<int64_t> number = getConstantIntValue(extent);
    if (!number)
      return "?";
    threads *= *number;
  }
  return std::to_string(threads);
}

/// Line and column of the op that a kernel computes, if it is from a file.
static std::string printLineAndColumn(Location location) {
  std::string position;
  location->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file)
      return WalkResult::advance();
    position = "of " + std::to_string(file.getLine()) + ":" +
               std::to_string(file.getColumn());
    return WalkResult::interrupt();
  });
  return position;
}

static KernelLine describe(gpu::LaunchFuncOp launch) {
  StringRef purpose = kLoopsPurpose;
  auto kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
      launch, launch.getKernel());
  if (kernel)
    if (auto attr = kernel->getAttrOfType<StringAttr>(kPurposeAttrName))
      purpose = attr.getValue();
  return {launch.getKernelName().str(), purpose.str(),
          printExtents(launch.getGridSizeOperandValues()),
          countThreads(launch.getBlockSizeOperandValues()),
          printLineAndColumn(launch.getLoc())};
}

static void print(raw_ostream &os, func::FuncOp function) {
  SmallVector<KernelLine> lines;
  size_t name = 0, purpose = 0, blocks = 0, threads = 0;
  function.walk([&](gpu::LaunchFuncOp launch) {
    KernelLine line = describe(launch);
    name = std::max(name, line.name.size());
    purpose = std::max(purpose, line.purpose.size());
    blocks = std::max(blocks, line.blocks.size());
    threads = std::max(threads, line.threads.size());
    lines.push_back(std::move(line));
  });
  os << '@' << function.getName() << ": " << lines.size()
     << (lines.size() == 1 ? " kernel\n" : " kernels, in this order\n");
  for (const KernelLine &line : lines) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "  " << llvm::left_justify(line.name, name) << "  "
        << llvm::left_justify(line.purpose, purpose) << "  "
        << llvm::left_justify(line.blocks, blocks) << " blocks of "
        << llvm::right_justify(line.threads, threads) << " threads  "
        << line.position;
    os << StringRef(text).rtrim() << '\n';
  }
}

namespace {

struct ExplainKernelsPass final
    : mlir::blockscale::impl::ExplainKernelsPassBase<ExplainKernelsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        print(llvm::errs(), function);
    markAllAnalysesPreserved();
  }
};

} // namespace
