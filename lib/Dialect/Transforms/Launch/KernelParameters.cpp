//===- KernelParameters.cpp - Parameters of kernels -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parameters of a kernel are whole buffers; views, sizes, constants and checks
// of the host move into the kernel.
//
//===----------------------------------------------------------------------===//

#include "Launch/KernelParameters.h"

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Launch/DynamicSizes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Asserts that a row of `size` elements of an argument ends with a whole byte.
static void checkPacked(OpBuilder &builder, Location loc, Value size,
                        Value unit, DynamicSize where) {
  Value rest = arith::RemUIOp::create(builder, loc, size, unit);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value isWhole =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest, zero);
  cf::AssertOp::create(builder, loc, isWhole,
                       "expected rows of argument #" +
                           std::to_string(where.argument) +
                           " that end on a byte when packed");
}

/// Copies a constant that `getGlobal` in a kernel names to device memory.
static LogicalResult moveGlobal(memref::GetGlobalOp getGlobal,
                                gpu::GPUFuncOp kernel, GlobalMap &globals) {
  auto kernels = kernel->getParentOfType<gpu::GPUModuleOp>();
  auto module = kernels->getParentOfType<ModuleOp>();
  auto global = module.lookupSymbol<memref::GlobalOp>(getGlobal.getName());
  if (!global)
    return getGlobal.emitError("expected the global '")
           << getGlobal.getName() << "' in the module";
  if (global.isExternal() || global.isUninitialized())
    return global.emitError("expected an initial value of a global that a "
                            "function uses on a GPU target");
  // The module of kernels may have another symbol of this name.
  memref::GlobalOp &copy = globals[global];
  if (!copy) {
    copy = cast<memref::GlobalOp>(global->clone());
    copy.setPrivate();
    // Copies of 16 bytes need it.
    constexpr uint64_t kAlignment = 16;
    if (copy.getAlignment().value_or(0) < kAlignment)
      copy.setAlignment(kAlignment);
    SymbolTable(kernels).insert(copy, kernels.getBody()->begin());
  }
  getGlobal.setName(copy.getSymName());
  return success();
}

/// The strides of row-major memory.
static SmallVector<OpFoldResult>
computeStrides(OpBuilder &builder, Location loc, ArrayRef<OpFoldResult> shape) {
  SmallVector<OpFoldResult> strides(shape.size());
  OpFoldResult stride = builder.getIndexAttr(1);
  for (size_t i = strides.size(); i-- != 0;) {
    strides[i] = stride;
    Value lhs = getValueOrCreateConstantIndexOp(builder, loc, stride);
    Value rhs = getValueOrCreateConstantIndexOp(builder, loc, shape[i]);
    stride =
        getAsOpFoldResult(builder.createOrFold<arith::MulIOp>(loc, lhs, rhs));
  }
  return strides;
}

/// Sets the attribute of `kernel` that lists the parameters that are tensor
/// maps.
static void markTensorMaps(gpu::GPUFuncOp kernel, ArrayRef<Value> parameters) {
  SmallVector<int64_t> maps;
  for (auto [i, parameter] : llvm::enumerate(parameters))
    if (parameter.getDefiningOp<TensorMapOp>())
      maps.push_back(static_cast<int64_t>(i));
  if (!maps.empty())
    kernel->setAttr(kTensorMapParamsAttrName,
                    DenseI64ArrayAttr::get(kernel.getContext(), maps));
}

/// Erases the first `count` parameters. The op's own method has a bit for each
/// parameter, but reads one for each argument of the block, and there are more
/// of these with workgroup memory.
static void eraseFirstArguments(gpu::GPUFuncOp kernel, unsigned count) {
  FunctionType type = kernel.getFunctionType();
  SmallVector<DictionaryAttr> attributes;
  for (unsigned i = count; i != type.getNumInputs(); ++i)
    attributes.push_back(kernel.getArgAttrDict(i));
  kernel.setType(FunctionType::get(kernel.getContext(),
                                   type.getInputs().drop_front(count),
                                   type.getResults()));
  kernel.getBody().front().eraseArguments(0, count);
  kernel.setAllArgAttrs(attributes);
}

namespace {

class ParameterRewriter {
public:
  ParameterRewriter(func::FuncOp function, gpu::LaunchFuncOp launch,
                    gpu::GPUFuncOp kernel, GlobalMap &globals,
                    RowChecks rowChecks)
      : function(function), launch(launch), kernel(kernel), globals(globals),
        rowChecks(rowChecks),
        builder(OpBuilder::atBlockBegin(&kernel.getBody().front())),
        dynamicSizes(getDynamicSizes(function)), sizes(dynamicSizes.size()) {}

  LogicalResult rewrite(bool takesAll, ArrayRef<cf::AssertOp> checks) {
    unsigned numOld = kernel.getNumArguments();
    if (takesAll) {
      for (Value argument : function.getArguments())
        if (failed(addBuffer(argument)))
          return failure();
      for (unsigned i = 0; i != sizes.size(); ++i)
        if (failed(addSize(i)))
          return failure();
    }
    if (rowChecks == RowChecks::All)
      for (auto [i, size] : llvm::enumerate(dynamicSizes))
        if (!sizes[i] && getElementsAndBytes(function, size).first != 1 &&
            failed(addSize(i)))
          return failure();
    for (cf::AssertOp check : checks) {
      if (failed(moveInside(check.getArg())))
        return failure();
      builder.clone(*check, mapping);
    }
    SmallVector<Value> operands(launch.getKernelOperands());
    for (auto [i, operand] : llvm::enumerate(operands)) {
      if (failed(moveInside(operand)))
        return failure();
      kernel.getArgument(i).replaceAllUsesWith(mapping.lookup(operand));
    }
    joinChecks();
    eraseFirstArguments(kernel, numOld);
    launch.getKernelOperandsMutable().assign(parameters);
    markTensorMaps(kernel, parameters);
    return success();
  }

private:
  /// Branches once for all checks, which usually hold. Where they do not, the
  /// first one that fails speaks, and the last one if no other does: so LLVM
  /// knows behind the branch that all hold.
  void joinChecks() {
    SmallVector<cf::AssertOp> checks;
    for (Operation &op : llvm::make_range(builder.getBlock()->begin(),
                                          builder.getInsertionPoint()))
      if (auto check = dyn_cast<cf::AssertOp>(op))
        checks.push_back(check);
    if (checks.size() < 2)
      return;
    Location loc = kernel.getLoc();
    Value holds = checks.front().getArg();
    for (cf::AssertOp check : ArrayRef(checks).drop_front())
      holds = arith::AndIOp::create(builder, loc, holds, check.getArg());
    auto branch =
        scf::IfOp::create(builder, loc, holds, /*withElseRegion=*/true);
    for (cf::AssertOp check : checks)
      check->moveBefore(branch.elseYield());
    OpBuilder last(checks.back());
    checks.back().getArgMutable().assign(
        arith::ConstantIntOp::create(last, loc, /*value=*/0, /*width=*/1));
  }

  /// Adds a parameter of `type` for `value` of the host.
  FailureOr<Value> addParameter(Value value, Type type) {
    unsigned index = kernel.getNumArguments();
    // Buffers are aligned, and results do not alias arguments.
    constexpr int64_t kAlignment = 16;
    SmallVector<NamedAttribute> attrs;
    if (isa<MemRefType>(type)) {
      attrs.emplace_back(LLVM::LLVMDialect::getAlignAttrName(),
                         builder.getI64IntegerAttr(kAlignment));
      attrs.emplace_back(LLVM::LLVMDialect::getNoAliasAttrName(),
                         builder.getUnitAttr());
    }
    if (failed(kernel.insertArgument(
            index, type, builder.getDictionaryAttr(attrs), kernel.getLoc())))
      return failure();
    parameters.push_back(value);
    return Value(kernel.getArgument(index));
  }

  /// Adds a parameter for a buffer, a scalar or a tensor map. A buffer of
  /// dynamic sizes is passed as the address of its first element; the first use
  /// restores its shape.
  LogicalResult addBuffer(Value value) {
    auto type = dyn_cast<MemRefType>(value.getType());
    if (!type || type.hasStaticShape()) {
      FailureOr<Value> parameter = addParameter(value, value.getType());
      if (succeeded(parameter))
        mapping.map(value, *parameter);
      return parameter;
    }
    OpBuilder host(launch);
    auto addressType =
        MemRefType::get({}, type.getElementType(), MemRefLayoutAttrInterface(),
                        type.getMemorySpace());
    Value address = memref::ReinterpretCastOp::create(
        host, launch.getLoc(), addressType, value, /*offset=*/int64_t(0),
        ArrayRef<int64_t>(), ArrayRef<int64_t>());
    FailureOr<Value> parameter = addParameter(address, addressType);
    if (succeeded(parameter))
      addresses.map(value, *parameter);
    return parameter;
  }

  /// Adds a parameter for dynamic size `i`: 32 bits, which count elements if a
  /// row is packed.
  LogicalResult addSize(unsigned i) {
    DynamicSize size = dynamicSizes[i];
    auto [elements, bytes] = getElementsAndBytes(function, size);
    auto constant = [](OpBuilder &b, Location loc, int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    OpBuilder host(launch);
    Location loc = launch.getLoc();
    Value dim = memref::DimOp::create(
        host, loc, function.getArgument(size.argument), size.dim);
    if (bytes != 1)
      dim = arith::DivUIOp::create(host, loc, dim, constant(host, loc, bytes));
    if (elements != 1)
      dim =
          arith::MulIOp::create(host, loc, dim, constant(host, loc, elements));
    Type i32 = builder.getI32Type();
    FailureOr<Value> parameter =
        addParameter(arith::IndexCastUIOp::create(host, loc, i32, dim), i32);
    if (failed(parameter))
      return failure();
    loc = kernel.getLoc();
    Value inside = arith::IndexCastUIOp::create(
        builder, loc, builder.getIndexType(), *parameter);
    if (elements != 1) {
      Value divisor = constant(builder, loc, elements);
      if (rowChecks != RowChecks::None)
        checkPacked(builder, loc, inside, divisor, size);
      inside = arith::DivUIOp::create(builder, loc, inside, divisor);
    }
    if (bytes != 1)
      inside = arith::MulIOp::create(builder, loc, inside,
                                     constant(builder, loc, bytes));
    sizes[i] = inside;
    return success();
  }

  /// Size `dim`, in the kernel, of `buffer`, an argument that is not a result.
  FailureOr<OpFoldResult> getSize(BlockArgument buffer, int64_t dim) {
    int64_t known = cast<MemRefType>(buffer.getType()).getDimSize(dim);
    if (!ShapedType::isDynamic(known))
      return OpFoldResult(builder.getIndexAttr(known));
    for (auto [i, size] : llvm::enumerate(dynamicSizes))
      if (size.argument == buffer.getArgNumber() && size.dim == dim) {
        if (!sizes[i] && failed(addSize(i)))
          return failure();
        return getAsOpFoldResult(sizes[i]);
      }
    return failure();
  }

  /// The sizes, in the kernel, of the argument `buffer`.
  FailureOr<SmallVector<OpFoldResult>> getSizes(BlockArgument buffer) {
    if (auto ofResult = getResultSizes(function, buffer)) {
      for (OpFoldResult &size : *ofResult)
        if (auto value = dyn_cast<Value>(size)) {
          if (failed(moveInside(value)))
            return failure();
          size = getAsOpFoldResult(mapping.lookup(value));
        }
      return *ofResult;
    }
    SmallVector<OpFoldResult> result;
    for (int64_t dim = 0; dim != cast<MemRefType>(buffer.getType()).getRank();
         ++dim) {
      FailureOr<OpFoldResult> size = getSize(buffer, dim);
      if (failed(size))
        return failure();
      result.push_back(*size);
    }
    return result;
  }

  /// The sizes, in the kernel, of `buffer`: an argument, or an allocation whose
  /// dynamic sizes are mapped.
  FailureOr<SmallVector<OpFoldResult>> getSizesOf(Value buffer) {
    if (auto argument = dyn_cast<BlockArgument>(buffer))
      return getSizes(argument);
    SmallVector<OpFoldResult> shape =
        buffer.getDefiningOp<memref::AllocOp>().getMixedSizes();
    for (OpFoldResult &size : shape)
      if (auto value = dyn_cast<Value>(size))
        size = mapping.lookup(value);
    return shape;
  }

  /// Makes `buffer`, which has dynamic sizes, from its address and its sizes.
  LogicalResult makeView(Value buffer) {
    if (!addresses.contains(buffer) && failed(addBuffer(buffer)))
      return failure();
    FailureOr<SmallVector<OpFoldResult>> shape = getSizesOf(buffer);
    if (failed(shape))
      return failure();
    auto type = cast<MemRefType>(buffer.getType());
    // A static size of a result may be dynamic in its type.
    for (auto [size, known] : llvm::zip_equal(*shape, type.getShape()))
      if (ShapedType::isDynamic(known))
        size = getValueOrCreateConstantIndexOp(builder, kernel.getLoc(), size);
    SmallVector<OpFoldResult> strides =
        computeStrides(builder, kernel.getLoc(), *shape);
    mapping.map(buffer,
                memref::ReinterpretCastOp::create(
                    builder, kernel.getLoc(), type, addresses.lookup(buffer),
                    builder.getIndexAttr(0), *shape, strides));
    return success();
  }

  /// Maps `value`, of the host, to a value in the kernel. (Uses a stack instead
  /// of recursion, because chains of views may be long.)
  LogicalResult moveInside(Value value) {
    SmallVector<Value> pending = {value};
    while (!pending.empty()) {
      Value next = pending.back();
      if (mapping.contains(next)) {
        pending.pop_back();
        continue;
      }
      Operation *producer = next.getDefiningOp();
      bool isPassed = !producer || isa<TensorMapOp>(producer);
      if (isPassed || isSizeOfArgument(producer)) {
        if (failed(isPassed ? passBuffer(next)
                            : moveSize(cast<memref::DimOp>(producer))))
          return failure();
        continue;
      }
      if (!isa<memref::AllocOp, ViewLikeOpInterface, memref::GetGlobalOp,
               memref::DimOp>(producer) &&
          !isa_and_nonnull<affine::AffineDialect, arith::ArithDialect>(
              producer->getDialect()))
        return producer->emitError("not supported in this version: '")
               << producer->getName() << "' between kernels on a GPU target";
      size_t numPending = pending.size();
      for (Value operand : producer->getOperands())
        if (!mapping.contains(operand))
          pending.push_back(operand);
      if (pending.size() != numPending)
        continue;
      if (failed(isa<memref::AllocOp>(producer) ? passBuffer(next)
                                                : cloneInside(producer)))
        return failure();
    }
    return success();
  }

  /// Maps a buffer, a scalar or a tensor map to a parameter.
  LogicalResult passBuffer(Value value) {
    auto type = dyn_cast<MemRefType>(value.getType());
    return type && !type.hasStaticShape() ? makeView(value) : addBuffer(value);
  }

  /// Whether `op` reads a size of an argument that the kernel does not have
  /// (yet): then the argument need not be passed.
  bool isSizeOfArgument(Operation *op) {
    auto dim = dyn_cast<memref::DimOp>(op);
    if (!dim || mapping.contains(dim.getSource()) ||
        addresses.contains(dim.getSource()))
      return false;
    auto type = dyn_cast<MemRefType>(dim.getSource().getType());
    std::optional<int64_t> index = dim.getConstantIndex();
    return isa<BlockArgument>(dim.getSource()) && type && index &&
           *index >= 0 && *index < type.getRank();
  }

  LogicalResult moveSize(memref::DimOp dim) {
    auto buffer = cast<BlockArgument>(dim.getSource());
    int64_t index = *dim.getConstantIndex();
    FailureOr<OpFoldResult> size = failure();
    if (!getResultSizes(function, buffer)) {
      size = getSize(buffer, index);
    } else if (FailureOr<SmallVector<OpFoldResult>> shape = getSizes(buffer);
               succeeded(shape)) {
      size = (*shape)[index];
    }
    if (failed(size))
      return failure();
    mapping.map(dim.getResult(), getValueOrCreateConstantIndexOp(
                                     builder, kernel.getLoc(), *size));
    return success();
  }

  LogicalResult cloneInside(Operation *op) {
    Operation *clone = builder.clone(*op, mapping);
    auto getGlobal = dyn_cast<memref::GetGlobalOp>(clone);
    return getGlobal ? moveGlobal(getGlobal, kernel, globals) : success();
  }

  func::FuncOp function;
  gpu::LaunchFuncOp launch;
  gpu::GPUFuncOp kernel;
  GlobalMap &globals;
  RowChecks rowChecks;
  OpBuilder builder;
  SmallVector<DynamicSize> dynamicSizes;
  /// The dynamic sizes in the kernel, in elements of memrefs; null for those
  /// that are not passed yet.
  SmallVector<Value> sizes;
  SmallVector<Value> parameters;
  /// From values of the host to those of the kernel, and from buffers of
  /// dynamic sizes to their first elements.
  IRMapping mapping, addresses;
};

} // namespace

LogicalResult blockscale::rewriteKernelParameters(
    func::FuncOp function, gpu::LaunchFuncOp launch, gpu::GPUFuncOp kernel,
    GlobalMap &globals, bool takesAll, ArrayRef<cf::AssertOp> checks,
    RowChecks rowChecks) {
  return ParameterRewriter(function, launch, kernel, globals, rowChecks)
      .rewrite(takesAll, checks);
}
