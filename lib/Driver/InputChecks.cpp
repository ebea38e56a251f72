//===- InputChecks.cpp - What programs may contain ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Refuses programs that the verifier accepts, but that upstream passes would
// crash on or miscompile.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/InputChecks.h"

#include "blockscale/Dialect/IR/Sparse.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The bytes of a user's address space, and the most elements of a vector whose
/// unrolled code can be compiled in a useful time.
static constexpr uint64_t kMaxTensorBytes = uint64_t(1) << 47;
static constexpr uint64_t kMaxVectorElements = uint64_t(1) << 20;

static InFlightDiagnostic emitUnsupported(Operation *op) {
  return op->emitError("not supported in this version: ");
}

/// The number of elements of a static shape, or the largest integer if that
/// overflows. Dynamic sizes count as 1.
static uint64_t countElements(ShapedType type) {
  uint64_t count = 1;
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size))
      count = llvm::SaturatingMultiply(count, static_cast<uint64_t>(size));
  return count;
}

static LogicalResult checkSize(Operation *op, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return success();
  // No element has more bytes than an f64.
  bool isVector = isa<VectorType>(type);
  uint64_t limit =
      isVector ? kMaxVectorElements : kMaxTensorBytes / sizeof(double);
  if (countElements(shaped) > limit)
    return emitUnsupported(op)
           << (isVector ? "a vector" : "a tensor") << " of more than " << limit
           << " elements, " << type;
  return success();
}

static LogicalResult checkSizes(Operation *op) {
  // Upstream does not lower these, and would not name them.
  if (isa<tensor::GatherOp, tensor::ScatterOp>(op))
    return emitUnsupported(op)
           << "'" << op->getName()
           << "', expected a linalg.generic with tensor.extract, or "
              "tensor.insert_slice";
  for (Type type : op->getResultTypes())
    if (failed(checkSize(op, type)))
      return failure();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Type type : block.getArgumentTypes())
        if (failed(checkSize(op, type)))
          return failure();
  return success();
}

static LogicalResult checkSignature(func::FuncOp function) {
  auto check = [&](TypeRange types, StringRef what) -> LogicalResult {
    for (auto [i, type] : llvm::enumerate(types)) {
      Type element = getElementTypeOrSelf(type);
      bool isContainer = isa<RankedTensorType, VectorType, MemRefType>(type);
      if ((isContainer || element == type) && element.isIntOrIndexOrFloat())
        continue;
      return emitUnsupported(function)
             << what << " #" << i << " of type " << type;
    }
    return success();
  };
  // Lowered code calls these, and would call a function of the program with
  // the same name instead.
  static const llvm::StringSet<> reserved = {
      "abort",   "aligned_alloc", "free", "malloc",    "memcpy",
      "memmove", "memset",        "puts", "memrefCopy"};
  if (reserved.contains(function.getSymName()))
    return emitUnsupported(function)
           << "a function named '" << function.getSymName()
           << "', which lowered code calls";
  if (failed(check(function.getArgumentTypes(), "argument")))
    return failure();
  return check(function.getResultTypes(), "result");
}

LogicalResult blockscale::checkInput(ModuleOp module) {
  for (Operation &op : module.getBody()->getOperations()) {
    if (!isa<func::FuncOp, memref::GlobalOp>(op))
      return emitUnsupported(&op)
             << "'" << op.getName() << "' beside functions";
    auto function = dyn_cast<func::FuncOp>(op);
    if (function && failed(checkSignature(function)))
      return failure();
  }
  WalkResult result = module.walk([](Operation *op) -> WalkResult {
    if (isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()))
      return emitUnsupported(op) << "'" << op->getName() << "' in the input";
    return checkSizes(op);
  });
  return failure(result.wasInterrupted());
}

LogicalResult blockscale::checkNativeOnCpu(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) -> WalkResult {
    if (!isa<MmaScaledOp, SparseMmaScaledOp>(op))
      return WalkResult::advance();
    return op->emitOpError("no block-scaled instruction on cpu");
  });
  return failure(result.wasInterrupted());
}

/// Names that PTX can have (PTX ISA, "Identifiers").
static bool isPtxIdentifier(StringRef name) {
  auto isFollow = [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '$';
  };
  if (name.empty() || !llvm::all_of(name, isFollow) || llvm::isDigit(name[0]) ||
      name == "WARP_SZ")
    return false;
  return name.size() > 1 || llvm::isAlpha(name[0]);
}

/// Checks the name, and that kernels can take the types.
static LogicalResult checkGpuFunction(func::FuncOp function) {
  if (!isPtxIdentifier(function.getSymName()))
    return emitUnsupported(function)
           << "a function named '" << function.getSymName()
           << "', which PTX cannot have as a name";
  if (function.getNumResults() == 0)
    return emitUnsupported(function)
           << "a function without results on a GPU target, expected it to "
              "return tensors, or to write memrefs that it takes by "
              "bufferization.materialize_in_destination";
  auto check = [&](TypeRange types, StringRef what) -> LogicalResult {
    for (auto [i, type] : llvm::enumerate(types)) {
      auto tensorType = dyn_cast<RankedTensorType>(type);
      bool isScalar =
          type.isIndex() || (type.isIntOrFloat() && !type.isTF32() &&
                             llvm::is_contained({1, 8, 16, 32, 64},
                                                type.getIntOrFloatBitWidth()));
      if (!tensorType && !isScalar)
        return emitUnsupported(function) << what << " #" << i << " of type "
                                         << type << " on a GPU target";
      if (tensorType && llvm::is_contained(tensorType.getShape(), 0))
        return emitUnsupported(function)
               << "an empty tensor on a GPU target, " << type;
    }
    return success();
  };
  if (failed(check(function.getArgumentTypes(), "argument")))
    return failure();
  return check(function.getResultTypes(), "result");
}

/// Whether a launch can pass a value of type `passed` to a kernel parameter of
/// `type`.
static bool isParameterOf(Type type, Type passed) {
  auto tensor = dyn_cast<RankedTensorType>(passed);
  if (!tensor)
    return type == passed;
  Type element = tensor.getElementType();
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 8)
    element = IntegerType::get(type.getContext(), 8);
  return type == MemRefType::get(tensor.getShape(), element);
}

/// The kernel of a launch; null after an error, also if its parameters do not
/// match.
static gpu::GPUFuncOp checkLaunch(LaunchOp op) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
      op, op.getKernelAttr());
  if (!kernel || !kernel.isKernel()) {
    op.emitOpError("expected a kernel in a gpu.module, got ") << op.getKernel();
    return {};
  }
  SmallVector<Type> passed(op.getInputs().getTypes());
  llvm::append_range(passed, op.getOutputs().getTypes());
  size_t numMaps = op.getTensorMaps() ? op.getTensorMaps()->size() : 0;
  passed.append(numMaps, LLVM::LLVMPointerType::get(op.getContext()));
  TypeRange types = kernel.getArgumentTypes();
  if (types.size() != passed.size()) {
    op.emitOpError("expected a kernel of ")
        << passed.size() << " parameters, got one of " << types.size();
    return {};
  }
  for (auto [i, type] : llvm::enumerate(types))
    if (!isParameterOf(type, passed[i])) {
      op.emitOpError("expected parameter #")
          << i << " of the kernel to take " << passed[i] << ", got " << type;
      return {};
    }
  return kernel;
}

/// Checks kernels that no function launches. Their parameters become bare
/// pointers, so sizes must be in their types.
static LogicalResult checkKernel(gpu::GPUFuncOp kernel) {
  if (!isPtxIdentifier(kernel.getName()))
    return emitUnsupported(kernel) << "a kernel named '" << kernel.getName()
                                   << "', which PTX cannot have as a name";
  for (Type type : kernel.getArgumentTypes()) {
    auto memory = dyn_cast<BaseMemRefType>(type);
    auto ranked = dyn_cast<MemRefType>(type);
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!memory || (ranked && ranked.hasStaticShape() &&
                    succeeded(ranked.getStridesAndOffset(strides, offset)) &&
                    !ShapedType::isDynamic(offset) &&
                    !llvm::any_of(strides, ShapedType::isDynamic)))
      continue;
    return emitUnsupported(kernel)
           << "a parameter whose sizes are not in its type, " << type;
  }
  return success();
}

/// Refuses device functions that pass values such as descriptors and barriers.
static LogicalResult checkDeviceTypes(FunctionOpInterface function) {
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(),
                                            function.getResultTypes()))
    if (isa<BlockScaleDialect>(type.getDialect()))
      return emitUnsupported(function)
             << "a function that takes or returns " << type;
  return success();
}

/// Checks that names are unique among all kernels and the functions that become
/// kernels, since PTX has one namespace.
static LogicalResult checkKernels(ModuleOp module) {
  llvm::DenseSet<Operation *> launched;
  for (auto function : module.getOps<func::FuncOp>()) {
    WalkResult result = function.walk([&](LaunchOp op) -> WalkResult {
      gpu::GPUFuncOp kernel = checkLaunch(op);
      launched.insert(kernel);
      return WalkResult(success(kernel != nullptr));
    });
    if (result.wasInterrupted())
      return failure();
  }
  llvm::StringSet<> names;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic())
      names.insert(function.getSymName());
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    for (Operation &op : *kernels.getBody()) {
      auto symbol = dyn_cast<SymbolOpInterface>(op);
      if (symbol && isa<FunctionOpInterface>(op) &&
          !names.insert(symbol.getName()).second)
        return op.emitError("expected a name that no other kernel or function "
                            "has, got '")
               << symbol.getName() << "'";
      auto function = dyn_cast<FunctionOpInterface>(op);
      if (function && failed(checkDeviceTypes(function)))
        return failure();
      auto kernel = dyn_cast<gpu::GPUFuncOp>(op);
      if (kernel && !launched.contains(kernel) && failed(checkKernel(kernel)))
        return failure();
    }
  return success();
}

LogicalResult blockscale::checkGpuInput(ModuleOp module) {
  if (failed(checkKernels(module)))
    return failure();
  for (Operation &op : module.getBody()->getOperations()) {
    if (!isa<func::FuncOp, memref::GlobalOp, gpu::GPUModuleOp>(op))
      return emitUnsupported(&op)
             << "'" << op.getName() << "' beside functions and kernels";
    auto function = dyn_cast<func::FuncOp>(op);
    if (function && (failed(checkSignature(function)) ||
                     failed(checkGpuFunction(function))))
      return failure();
    if (function && function.isExternal())
      return emitUnsupported(function)
             << "external function '" << function.getSymName() << "'";
  }
  WalkResult result =
      module.walk<WalkOrder::PreOrder>([](Operation *op) -> WalkResult {
        // Kernels may be at any level; functions launch on tensors.
        bool isKernel = op->getParentOfType<gpu::GPUModuleOp>() != nullptr;
        bool isLow = isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()) ||
                     isa<gpu::LaunchOp, gpu::LaunchFuncOp>(op);
        if (isLow && !isKernel)
          return emitUnsupported(op)
                 << "'" << op->getName() << "' in the input";
        return checkSizes(op);
      });
  return failure(result.wasInterrupted());
}

/// Checks that all ops inside of `root` satisfy `isLowered`.
static LogicalResult checkLoweredIn(Operation *root,
                                    function_ref<bool(Operation *)> isLowered) {
  // An op that was not lowered also leaves casts around it; name the op.
  Operation *leftOver = nullptr;
  root->walk([&](Operation *op) {
    if (op == root || isLowered(op))
      return;
    if (!leftOver || isa<UnrealizedConversionCastOp>(leftOver))
      leftOver = op;
  });
  if (!leftOver)
    return success();
  return emitUnsupported(leftOver) << "'" << leftOver->getName() << "'";
}

LogicalResult blockscale::checkLowered(ModuleOp module) {
  return checkLoweredIn(module, [](Operation *op) {
    return isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect());
  });
}

/// Only functions of the driver can be called without having code (CUDA
/// programming guide, "Formatted Output", "Dynamic Global Memory Allocation").
static LogicalResult checkCalls(gpu::GPUModuleOp kernels) {
  static const llvm::StringSet<> known = {"vprintf", "malloc", "free",
                                          "__assertfail"};
  WalkResult result = kernels.walk([&](LLVM::CallOp op) -> WalkResult {
    std::optional<StringRef> callee = op.getCallee();
    auto function = callee ? kernels.lookupSymbol<LLVM::LLVMFuncOp>(*callee)
                           : LLVM::LLVMFuncOp();
    if (!function || !function.isExternal() || known.contains(*callee))
      return WalkResult::advance();
    return emitUnsupported(op)
           << "a call of '" << *callee << "', which has no code for the device";
  });
  return failure(result.wasInterrupted());
}

LogicalResult blockscale::checkLoweredKernels(ModuleOp module) {
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    if (failed(checkLoweredIn(
            kernels,
            [](Operation *op) {
              return isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(
                  op->getDialect());
            })) ||
        failed(checkCalls(kernels)))
      return failure();
  return success();
}
