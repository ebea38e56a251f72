//===- PackBuffers.cpp - The bytes of GPU buffers -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPU buffers hold packed fp4 and fp6. In the function they stay tensors of
// elements, between ops that unpack and pack them.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Launch/DynamicSizes.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Transforms.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_PACKBUFFERSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

/// The type of the buffer that holds `type`: `type` itself unless its elements
/// share bytes. Emits an error if rows do not end with a whole byte.
static FailureOr<Type> getBufferType(func::FuncOp function, Type type,
                                     bool wantsPacked, const Twine &what) {
  auto tensorType = dyn_cast<RankedTensorType>(type);
  Type element = tensorType ? tensorType.getElementType() : Type();
  std::optional<Format> format =
      element ? getElementFormat(element) : std::nullopt;
  unsigned bits = format ? getFormatInfo(*format).bits : 8;
  if (wantsPacked && bits != 6)
    return function.emitError() << what << ": expected a tensor of fp6 for '"
                                << kPackedAttrName << "', got " << type;
  if (bits != 4 && !wantsPacked)
    return type;
  std::optional<int64_t> bytes;
  if (tensorType.getRank() != 0) {
    int64_t count = tensorType.getShape().back();
    bytes = ShapedType::isDynamic(count) ? count : getPackedBytes(count, bits);
  }
  if (!bytes)
    return function.emitError()
           << what << ": expected rows that end on a byte when packed, got "
           << type;
  SmallVector<int64_t> shape(tensorType.getShape());
  shape.back() = *bytes;
  return Type(
      RankedTensorType::get(shape, IntegerType::get(type.getContext(), 8)));
}

/// Changes arguments to packed buffers, which are unpacked at the entry.
static LogicalResult packArguments(func::FuncOp function) {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    bool wantsPacked = function.getArgAttr(i, kPackedAttrName) != nullptr;
    Type type = argument.getType();
    FailureOr<Type> bufferType =
        getBufferType(function, type, wantsPacked, "argument #" + Twine(i));
    if (failed(bufferType))
      return failure();
    if (*bufferType == type)
      continue;
    argument.setType(*bufferType);
    auto unpack = UnpackOp::create(builder, function.getLoc(), type, argument);
    argument.replaceAllUsesExcept(unpack.getResult(), unpack);
    function.removeArgAttr(i, builder.getStringAttr(kPackedAttrName));
    auto buffer = cast<RankedTensorType>(*bufferType);
    if (buffer.isDynamicDim(buffer.getRank() - 1))
      function.setArgAttr(
          i, kCodeBitsAttrName,
          builder.getI64IntegerAttr(unpack.getType().getElementTypeBitWidth()));
  }
  return success();
}

static LogicalResult packResults(func::FuncOp function) {
  SmallVector<Type> bufferTypes;
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    FailureOr<Type> bufferType = getBufferType(
        function, type, /*wantsPacked=*/false, "result #" + Twine(i));
    if (failed(bufferType))
      return failure();
    bufferTypes.push_back(*bufferType);
  }
  function.walk([&](func::ReturnOp op) {
    OpBuilder builder(op);
    for (auto [operand, bufferType] :
         llvm::zip_equal(op->getOpOperands(), bufferTypes))
      if (operand.get().getType() != bufferType)
        operand.set(
            PackOp::create(builder, op.getLoc(), bufferType, operand.get()));
  });
  function.setFunctionType(FunctionType::get(
      function.getContext(), function.getBody().front().getArgumentTypes(),
      bufferTypes));
  return success();
}

namespace {

struct PackBuffersPass final
    : mlir::blockscale::impl::PackBuffersPassBase<PackBuffersPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function.isPublic() || function.isExternal())
        continue;
      if (failed(packArguments(function)) || failed(packResults(function)))
        return signalPassFailure();
    }
  }
};

} // namespace
