//===- CollectKernels.cpp - Kernels as they are launched ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After upstream's passes, kernels have arbitrary names, and parameters in any
// order. This pass gives them those of the launch info.
//
//===----------------------------------------------------------------------===//

#include "Launch/KernelModule.h"
#include "Launch/KernelParameters.h"
#include "Launch/KernelPurpose.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Launch/ConditionalLaunch.h"
#include "blockscale/Dialect/Transforms/Launch/DynamicSizes.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_COLLECTKERNELSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

/// Whether `kernel` has instructions (wgmma) that would wait for each other if
/// the kernel had a call, such as that of a check that fails: ptxas 13.0 makes
/// each wgmma wait for the previous one then (C7510). The checks of such a
/// kernel are in a separate kernel in front of it.
static bool isSlowedByCalls(gpu::GPUFuncOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<WarpgroupMmaOp, WarpgroupMmaMixedOp, WarpgroupMmaGemvOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Creates, in front of `first`, the launch of a new kernel of one thread in
/// `kernels`, for checks only.
static gpu::LaunchFuncOp createChecksLaunch(gpu::LaunchFuncOp first,
                                            gpu::GPUModuleOp kernels) {
  Location loc = first.getLoc();
  auto function = first->getParentOfType<func::FuncOp>();
  OpBuilder b = OpBuilder::atBlockEnd(kernels.getBody());
  auto kernel = gpu::GPUFuncOp::create(
      b, loc, (function.getSymName() + "__" + kChecksPurpose).str(),
      b.getFunctionType({}, {}));
  SymbolTable(kernels).insert(kernel); // Renames it if needed.
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  kernel->setAttr(kPurposeAttrName, b.getStringAttr(kChecksPurpose));
  kernel.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({1, 1, 1}));
  b.setInsertionPointToEnd(&kernel.getBody().front());
  gpu::ReturnOp::create(b, loc);

  b.setInsertionPoint(first);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  gpu::KernelDim3 single = {one, one, one};
  return gpu::LaunchFuncOp::create(b, loc, kernel, single, single,
                                   /*dynamicSharedMemorySize=*/Value(),
                                   /*kernelOperands=*/ValueRange());
}

namespace {

struct CollectKernelsPass final
    : mlir::blockscale::impl::CollectKernelsPassBase<CollectKernelsPass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        functions.push_back(function);
    if (functions.empty())
      return;
    if (failed(collect(functions)))
      signalPassFailure();
  }

private:
  struct Launch {
    gpu::LaunchFuncOp op;
    gpu::GPUFuncOp kernel;
  };

  LogicalResult collect(ArrayRef<func::FuncOp> functions) {
    SmallVector<SmallVector<Launch>> launches;
    llvm::DenseSet<Operation *> seen;
    for (func::FuncOp function : functions) {
      FailureOr<SmallVector<Launch>> found = findLaunches(function, seen);
      if (failed(found))
        return failure();
      launches.push_back(*found);
    }

    SymbolTableCollection symbols;
    gpu::GPUModuleOp kernels = getKernelModule(getOperation(), symbols);
    GlobalMap globals;
    for (auto &ofFunction : launches)
      for (Launch &launch : ofFunction)
        moveKernel(launch.kernel, kernels);
    for (size_t f = 0; f != functions.size(); ++f) {
      func::FuncOp function = functions[f];
      SmallVector<Launch> &ofFunction = launches[f];
      auto checks = llvm::to_vector(function.getOps<cf::AssertOp>());
      // If a kernel must not have calls, the first kernel has all checks. Of
      // alternatives, each has a first kernel.
      auto isSlowed = [](const Launch &launch) {
        return isSlowedByCalls(launch.kernel);
      };
      bool isFirstAlone = llvm::any_of(ofFunction, isSlowed);
      SmallVector<bool> isFirst = findFirst(ofFunction);
      bool isFirstSlowed = llvm::any_of(
          llvm::zip_equal(ofFunction, isFirst), [&](const auto &each) {
            return std::get<1>(each) && isSlowed(std::get<0>(each));
          });
      if (isFirstSlowed && (!checks.empty() || hasPackedSizes(function))) {
        addChecksKernel(ofFunction, kernels);
        isFirst = findFirst(ofFunction);
      }
      size_t main = getMainKernel(ofFunction);
      for (auto [i, launch] : llvm::enumerate(ofFunction)) {
        RowChecks rowChecks = RowChecks::Passed;
        if (isFirstAlone)
          rowChecks = isFirst[i] ? RowChecks::All : RowChecks::None;
        if (failed(rewriteKernelParameters(
                function, launch.op, launch.kernel, globals,
                /*takesAll=*/i == main,
                isFirst[i] ? ArrayRef(checks) : ArrayRef<cf::AssertOp>(),
                rowChecks)))
          return failure();
      }
    }
    for (func::FuncOp function : functions)
      eraseDeadOps(function);
    for (auto global :
         llvm::make_early_inc_range(getOperation().getOps<memref::GlobalOp>()))
      global.erase();
    return nameKernels(functions, launches, kernels);
  }

  /// Whether `type` is contiguous memory whose size follows from its type.
  static bool isWorkspace(MemRefType type) {
    Type element = type.getElementType();
    bool isWhole =
        element.isIndex() || element.isInteger(1) ||
        (element.isIntOrFloat() &&
         llvm::is_contained({8, 16, 32, 64}, element.getIntOrFloatBitWidth()));
    return type.getLayout().isIdentity() && isWhole;
  }

  /// Returns the launches of a function. Emits an error at other ops, except
  /// the few that may remain.
  FailureOr<SmallVector<Launch>>
  findLaunches(func::FuncOp function, llvm::DenseSet<Operation *> &seen) {
    SmallVector<Launch> launches;
    for (Operation &op : function.getBody().front()) {
      if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op)) {
        auto kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
            launch, launch.getKernel());
        if (!kernel || !seen.insert(kernel).second)
          return launch.emitError("expected a kernel of its own, got ")
                 << launch.getKernel();
        if (failed(verifyPurpose(kernel)))
          return failure();
        launches.push_back({launch, kernel});
        continue;
      }
      bool isAllowed =
          isa<memref::AllocOp, memref::GetGlobalOp, memref::DimOp, cf::AssertOp,
              SmCountOp, ResultSizesOp, TensorMapOp, ViewLikeOpInterface>(op) ||
          isa_and_nonnull<affine::AffineDialect, arith::ArithDialect>(
              op.getDialect());
      if (op.getNumRegions() != 0)
        isAllowed = false;
      if (isa<func::ReturnOp>(op))
        isAllowed = op.getNumOperands() == 0;
      if (auto alloc = dyn_cast<memref::AllocOp>(op);
          alloc && !isWorkspace(alloc.getType()))
        return alloc.emitError("not supported in this version: elements of ")
               << alloc.getType().getElementType()
               << " between ops on a GPU target, expected those of 1, 8, 16, "
                  "32 or 64 bits in row-major order";
      if (!isAllowed)
        return op.emitError("not supported in this version: '")
               << op.getName() << "' outside of kernels on a GPU target";
    }
    return launches;
  }

  static LogicalResult verifyPurpose(gpu::GPUFuncOp kernel) {
    constexpr StringLiteral names[] = {
        kMmaScaledPurpose,        kSparseMmaScaledPurpose,
        kGroupedMmaScaledPurpose, kGroupedMatmulPurpose,
        kMatmulPurpose,           kSwizzleScalesPurpose,
        kDecompressPurpose,       kTransposePurpose,
        kQuantizePurpose,         kDequantizePurpose,
        kRebasePurpose,           kReducePurpose,
        kSoftmaxPurpose,          kRoutePurpose,
        kSortRoutesPurpose,       kCombineRowsPurpose,
        kSplitKReductionPurpose,  kDequantizeOperandPurpose,
        kPermutePurpose,          kExactRecomputationPurpose,
        kChecksPurpose,           kLoopsPurpose};
    Attribute purpose = kernel->getAttr(kPurposeAttrName);
    auto name = dyn_cast_or_null<StringAttr>(purpose);
    if (!purpose || (name && llvm::is_contained(names, name.getValue())))
      return success();
    return kernel.emitError("expected one of \"")
           << llvm::join(ArrayRef(names), "\" \"") << "\" as '"
           << kPurposeAttrName << "', got " << purpose;
  }

  static void moveKernel(gpu::GPUFuncOp kernel, gpu::GPUModuleOp kernels) {
    auto home = kernel->getParentOfType<gpu::GPUModuleOp>();
    if (home == kernels)
      return;
    kernel->remove();
    SymbolTable(kernels).insert(kernel);
    if (home.getBody()->without_terminator().empty())
      home.erase();
  }

  static bool hasPackedSizes(func::FuncOp function) {
    return llvm::any_of(getDynamicSizes(function), [&](DynamicSize size) {
      return getElementsAndBytes(function, size).first != 1;
    });
  }

  /// For each launch, whether it may be the first one that runs: whether none
  /// in front of it runs for all of its sizes.
  static SmallVector<bool> findFirst(ArrayRef<Launch> launches) {
    SmallVector<bool> isFirst;
    SmallVector<gpu::LaunchFuncOp> inFront;
    for (const Launch &launch : launches) {
      isFirst.push_back(llvm::none_of(inFront, [&](gpu::LaunchFuncOp other) {
        return runsWheneverOther(other, launch.op);
      }));
      if (isFirst.back())
        inFront.push_back(launch.op);
    }
    return isFirst;
  }

  /// Adds a kernel for checks in front of `launches`.
  static void addChecksKernel(SmallVector<Launch> &launches,
                              gpu::GPUModuleOp kernels) {
    gpu::LaunchFuncOp op = createChecksLaunch(launches.front().op, kernels);
    auto kernel = cast<gpu::GPUFuncOp>(
        SymbolTable::lookupSymbolIn(kernels, op.getKernelName()));
    launches.insert(launches.begin(), Launch{op, kernel});
  }

  /// Erases views and constants that have been copied to kernels.
  static void eraseDeadOps(func::FuncOp function) {
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  static LogicalResult nameKernels(ArrayRef<func::FuncOp> functions,
                                   ArrayRef<SmallVector<Launch>> launches,
                                   gpu::GPUModuleOp kernels) {
    llvm::StringSet<> taken;
    for (func::FuncOp function : functions)
      taken.insert(function.getSymName());
    llvm::DenseSet<Operation *> renamed;
    for (ArrayRef<Launch> ofFunction : launches)
      for (const Launch &launch : ofFunction)
        renamed.insert(launch.kernel);
    auto program = kernels->getParentOfType<ModuleOp>();
    for (auto module : program.getOps<gpu::GPUModuleOp>())
      for (auto symbol : module.getOps<SymbolOpInterface>())
        if (!renamed.contains(symbol))
          taken.insert(symbol.getName());
    // In two steps, so that no new name conflicts with an old one.
    SmallVector<std::pair<Launch, std::string>> names;
    for (size_t f = 0; f != functions.size(); ++f) {
      func::FuncOp function = functions[f];
      ArrayRef<Launch> ofFunction = launches[f];
      size_t main = getMainKernel(ofFunction);
      for (auto [i, launch] : llvm::enumerate(ofFunction)) {
        std::string name = function.getSymName().str();
        if (i != main) {
          name += "__" + getPurpose(launch).str() + "_" + std::to_string(i);
          while (!taken.insert(name).second)
            name += "_";
        }
        names.push_back({launch, name});
      }
    }
    for (auto &[launch, name] : names)
      rename(launch, "__blockscale_" + name);
    for (auto &[launch, name] : names)
      rename(launch, name);
    return success();
  }

  /// The op that form-kernels made the kernel for; "loops" for other kernels.
  static StringRef getPurpose(const Launch &launch) {
    auto purpose = launch.kernel->getAttrOfType<StringAttr>(kPurposeAttrName);
    return purpose ? purpose.getValue() : StringRef(kLoopsPurpose);
  }

  static size_t getMainKernel(ArrayRef<Launch> launches) {
    constexpr StringLiteral kProducts[] = {
        kMmaScaledPurpose, kSparseMmaScaledPurpose, kMatmulPurpose};
    for (auto [i, launch] : llvm::enumerate(launches))
      if (llvm::is_contained(kProducts, getPurpose(launch)))
        return i;
    return launches.empty() ? 0 : launches.size() - 1;
  }

  static void rename(Launch launch, StringRef name) {
    launch.kernel.setName(name);
    auto kernels = launch.kernel->getParentOfType<gpu::GPUModuleOp>();
    launch.op.setKernelAttr(SymbolRefAttr::get(
        kernels.getNameAttr(),
        FlatSymbolRefAttr::get(launch.kernel.getNameAttr())));
  }
};

} // namespace
