//===- NarrowFloatsToBytes.cpp - One byte per narrow float ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM has no floats below 16 bits, and upstream defines no memory of fp4 or
// fp6. So they are bytes below the tile level.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_NARROWFLOATSTOBYTESPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Which ops keep their semantics with bytes
//===----------------------------------------------------------------------===//

static bool isNarrowFloat(Type type) {
  auto floatType = dyn_cast<FloatType>(type);
  return floatType && floatType.getWidth() <= 8;
}

/// A complex number of narrow floats cannot become one of bytes.
static bool isNarrowComplex(Type type) {
  auto complexType = dyn_cast<ComplexType>(type);
  return complexType && isNarrowFloat(complexType.getElementType());
}

/// The first type in `attrOrType` of which `predicate` holds, or null.
template <typename T>
static Type findType(T attrOrType, function_ref<bool(Type)> predicate) {
  Type found;
  attrOrType.walk([&](Type type) {
    if (!predicate(type))
      return WalkResult::advance();
    found = type;
    return WalkResult::interrupt();
  });
  return found;
}

/// The same for the types of `op`, its block arguments and its attributes.
static Type findType(Operation *op, function_ref<bool(Type)> predicate) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::append_range(types, block.getArgumentTypes());
  for (Type type : types)
    if (Type found = findType(type, predicate))
      return found;
  return findType(Attribute(op->getAttrDictionary()), predicate);
}

/// Whether `op` only moves elements. These are ops of `func`, `scf`, `cf`,
/// `tensor`, `memref`, `bufferization` and `builtin`, and some others.
static bool isMovement(Operation *op) {
  static const llvm::StringSet<> dialects = {
      "builtin", "func", "scf", "cf", "tensor", "memref", "bufferization"};
  static const llvm::StringSet<> ops = {"arith.constant",
                                        "arith.select",
                                        "blockscale.launch",
                                        "linalg.broadcast",
                                        "linalg.copy",
                                        "linalg.fill",
                                        "linalg.generic",
                                        "linalg.map",
                                        "linalg.transpose",
                                        "linalg.yield",
                                        "ub.poison",
                                        "vector.broadcast",
                                        "vector.extract",
                                        "vector.extract_strided_slice",
                                        "vector.from_elements",
                                        "vector.insert",
                                        "vector.insert_strided_slice",
                                        "vector.load",
                                        "vector.shape_cast",
                                        "vector.shuffle",
                                        "vector.store",
                                        "vector.to_elements",
                                        "vector.transfer_read",
                                        "vector.transfer_write",
                                        "vector.transpose",
                                        "vector.yield"};
  // These compute with elements, or read them as another type.
  static const llvm::StringSet<> exceptions = {"memref.atomic_rmw",
                                               "memref.view", "tensor.bitcast"};
  StringRef name = op->getName().getStringRef();
  if (exceptions.contains(name))
    return false;
  // A named op that converts elements would convert bytes in another way.
  auto elementOf = [](Type type) { return getElementTypeOrSelf(type); };
  if (isa<linalg::CopyOp, linalg::FillOp>(op) &&
      !llvm::all_equal(llvm::map_range(op->getOperandTypes(), elementOf)))
    return false;
  return dialects.contains(op->getName().getDialectNamespace()) ||
         ops.contains(name);
}

/// The op that accesses the bits of an element, which this pass rewrites.
static bool isRewritten(Operation *op) {
  return isa<arith::BitcastOp>(op) &&
         !isa<BaseMemRefType>(op->getOperand(0).getType());
}

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

static DenseElementsAttr convertElements(DenseElementsAttr attr) {
  auto type = attr.getType().clone(IntegerType::get(attr.getContext(), 8));
  auto toByte = [](const APFloat &value) {
    return static_cast<uint8_t>(value.bitcastToAPInt().getZExtValue());
  };
  if (attr.isSplat())
    return DenseElementsAttr::get(type, toByte(attr.getSplatValue<APFloat>()));
  SmallVector<uint8_t> bytes;
  bytes.reserve(attr.getNumElements());
  for (APFloat value : attr.getValues<APFloat>())
    bytes.push_back(toByte(value));
  return DenseElementsAttr::get(type, ArrayRef<uint8_t>(bytes));
}

static AttrTypeReplacer makeReplacer(MLIRContext *context) {
  AttrTypeReplacer replacer;
  Type byte = IntegerType::get(context, 8);
  replacer.addReplacement([=](FloatType type) -> std::optional<Type> {
    if (isNarrowFloat(type))
      return byte;
    return std::nullopt;
  });
  using Replaced = std::optional<std::pair<Attribute, WalkResult>>;
  replacer.addReplacement([=](FloatAttr attr) -> Replaced {
    if (!isNarrowFloat(attr.getType()))
      return std::nullopt;
    APInt bits = attr.getValue().bitcastToAPInt().zext(8);
    return {{IntegerAttr::get(byte, bits), WalkResult::skip()}};
  });
  replacer.addReplacement([=](DenseElementsAttr attr) -> Replaced {
    if (!isNarrowFloat(attr.getElementType()))
      return std::nullopt;
    return {{convertElements(attr), WalkResult::skip()}};
  });
  return replacer;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct NarrowFloatsToBytesPass final
    : mlir::blockscale::impl::NarrowFloatsToBytesPassBase<
          NarrowFloatsToBytesPass> {
  void runOnOperation() override {
    SmallVector<Operation *> bitcasts;
    auto checkOp = [&](Operation *op) -> WalkResult {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      Type narrow = findType(op, isNarrowFloat);
      bool isComplex = findType(op, isNarrowComplex) != nullptr;
      if (!narrow || (isMovement(op) && !isComplex))
        return verifyAttributes(op);
      if (!isRewritten(op) || isComplex) {
        op->emitError("not supported in this version: '")
            << op->getName() << "' on " << narrow;
        return WalkResult::interrupt();
      }
      bitcasts.push_back(op);
      return WalkResult::advance();
    };
    if (getOperation()->walk<WalkOrder::PreOrder>(checkOp).wasInterrupted())
      return signalPassFailure();

    AttrTypeReplacer replacer = makeReplacer(&getContext());
    for (Operation &op : *getOperation().getBody())
      if (!isa<gpu::GPUModuleOp>(op))
        replacer.recursivelyReplaceElementsIn(&op, /*replaceAttrs=*/true,
                                              /*replaceLocs=*/false,
                                              /*replaceTypes=*/true);
    for (Operation *op : bitcasts)
      rewrite(op);
  }

private:
  /// Constants in resource blobs are not rewritten.
  static WalkResult verifyAttributes(Operation *op) {
    bool hasNarrowResource = false;
    Attribute(op->getAttrDictionary())
        .walk([&](DenseResourceElementsAttr attr) {
          hasNarrowResource |= isNarrowFloat(attr.getElementType());
        });
    if (!hasNarrowResource)
      return WalkResult::advance();
    op->emitError("not supported in this version: a dense resource of floats "
                  "of 8 bits or less");
    return WalkResult::interrupt();
  }

  static void rewrite(Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Value input = op->getOperand(0);
    Type type = op->getResult(0).getType();
    // The code in a byte and the code in its own width.
    unsigned from =
        getElementTypeOrSelf(input.getType()).getIntOrFloatBitWidth();
    unsigned to = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    Value result = input;
    if (from > to)
      result = arith::TruncIOp::create(builder, loc, type, input);
    else if (from < to)
      result = arith::ExtUIOp::create(builder, loc, type, input);
    else if (input.getType() != type)
      result = arith::BitcastOp::create(builder, loc, type, input);
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
};

} // namespace
