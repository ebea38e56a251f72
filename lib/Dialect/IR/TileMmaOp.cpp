//===- TileMmaOp.cpp - The product of two tiles ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The constraints on the operands of a tile_mma that hold for all paths; the
// layout of its accumulator checks the others.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

TileLayout TileMmaOp::getLayout(Operand operand) {
  std::optional<TileLayoutAttr> attr =
      operand == Operand::A ? getALayout() : getBLayout();
  return attr ? attr->getLayout() : TileLayout();
}

ScaleOrder TileMmaOp::getScaleOrder(Operand operand) {
  std::optional<ScaleTileLayoutAttr> attr =
      operand == Operand::A ? getAScaleLayout() : getBScaleLayout();
  return attr ? attr->getOrder() : ScaleOrder::Rows;
}

Slot TileMmaOp::getSlot(Operand operand) {
  TypeCombinationAttr types = getTypes();
  return blockscale::getSlot(getInstruction().getKind(), operand == Operand::A
                                                             ? types.getA()
                                                             : types.getB());
}

int64_t TileMmaOp::getNumK() {
  MemRefType type = getA().getType();
  TileLayout layout = getLayout(Operand::A);
  if (layout.major == Major::MN)
    return type.getDimSize(0);
  return type.getDimSize(1) * 8 /
         getStoredBits(layout.storage, getSlot(Operand::A));
}

namespace {
/// Checks one of A and B, with its scales.
class TileOperandVerifier {
public:
  TileOperandVerifier(TileMmaOp op, Operand operand)
      : op(op), name(operand == Operand::A ? "a" : "b"),
        scaleName(name + "_scale"), layout(op.getLayout(operand)),
        order(op.getScaleOrder(operand)), slot(op.getSlot(operand)) {
    bool isA = operand == Operand::A;
    elements = isA ? op.getA().getType() : op.getB().getType();
    Value scale = isA ? op.getAScale() : op.getBScale();
    scales = dyn_cast<MemRefType>(scale.getType());
    auto acc = cast<AccType>(op.getAcc().getType());
    rows = isA ? acc.getM() : acc.getN();
    format = isA ? op.getTypes().getA() : op.getTypes().getB();
  }

  LogicalResult verifyMemory() { // (T1)
    if (failed(verifySharedMemory(name, elements)))
      return failure();
    if (!scales)
      return success();
    if (scales.getRank() != getScaleRank(order))
      return op.emitOpError("expected ")
             << scaleName << " to have " << getScaleRank(order)
             << " dimensions for the layout <"
             << StringRef(stringifyScaleOrder(order)) << ">, got " << scales;
    return verifySharedMemory(scaleName, scales);
  }

  /// The scales along K; 0 if there is one scale for all blocks.
  int64_t getNumScales() {
    if (!scales)
      return 0;
    if (order == ScaleOrder::Parts)
      return scales.getDimSize(0) * kScalesPerWord;
    if (order == ScaleOrder::Atoms)
      return scales.getDimSize(1) * kScalesPerWord;
    return scales.getShape().back();
  }

  LogicalResult verifyShape(int64_t k) {
    if (failed(verifyLayout()))
      return failure();
    bool isK = layout.major == Major::K;
    int64_t bytes = (isK ? k : rows) * getStoredBits(layout.storage, slot) / 8;
    if (failed(verifyRows(name, elements.getDimSize(0), isK ? rows : k,
                          isK ? "rows" : "steps along K")))
      return failure();
    if (elements.getDimSize(1) != bytes) // (T4)
      return op.emitOpError("expected ")
             << name << " to have " << bytes << " bytes per row for "
             << (isK ? k : rows) << " elements, got " << elements.getDimSize(1);
    if (layout.isSwizzled && !canSwizzle(bytes))
      return op.emitOpError("expected ")
             << name
             << " to have rows of 16, 32, 64 or a multiple of 128 bytes that "
                "are swizzled, got "
             << bytes;
    if (!scales || order != ScaleOrder::Rows)
      return success();
    return verifyRows(scaleName, scales.getDimSize(0), rows, "rows");
  }

private:
  LogicalResult verifySharedMemory(StringRef name, MemRefType type) { // (T1)
    if (!type.hasStaticShape() || !type.getLayout().isIdentity() ||
        !gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type))
      return op.emitOpError("expected ")
             << name
             << " to have a static shape, the identity layout and the "
                "workgroup memory space, got "
             << type;
    int64_t largest = 0;
    for (const Chip &chip : getChips())
      largest = std::max<int64_t>(largest, 1024 * chip.sharedMemoryKiB);
    int64_t bytes = 1;
    for (int64_t size : type.getShape()) {
      if (size > largest)
        bytes = largest + 1;
      if (bytes <= largest)
        bytes *= size;
    }
    if (bytes > largest)
      return op.emitOpError("expected ") << name << " to have at most "
                                         << largest << " bytes, got " << type;
    return success();
  }

  LogicalResult verifyRows(StringRef name, int64_t got, int64_t expected,
                           StringRef what) { // (T2)
    if (got == expected)
      return success();
    return op.emitOpError("expected ")
           << name << " to have the " << expected << " " << what << " that "
           << op.getAcc().getType() << " has, got " << got;
  }

  LogicalResult verifyLayout() { // (T5)
    Kind kind = op.getInstruction().getKind();
    unsigned bits = getFormatInfo(format).bits;
    if (canLie(kind, bits, layout.major, layout.storage))
      return success();
    InFlightDiagnostic diagnostic =
        op.emitOpError("expected ")
        << name
        << " to have a layout that kind::" << StringRef(stringifyKind(kind))
        << " takes for elements of " << bits << " bits, one of";
    for (unsigned major = 0; major != kNumMajors; ++major)
      for (unsigned storage = 0; storage != kNumStorages; ++storage)
        if (TileLayout other = {static_cast<Major>(major),
                                static_cast<Storage>(storage)};
            canLie(kind, bits, other.major, other.storage))
          diagnostic << " <" << StringRef(stringifyMajor(other.major)) << ", "
                     << StringRef(stringifyStorage(other.storage)) << ">";
    return diagnostic << ", got <" << StringRef(stringifyMajor(layout.major))
                      << ", " << StringRef(stringifyStorage(layout.storage))
                      << ">";
  }

  TileMmaOp op;
  std::string name, scaleName;
  TileLayout layout;
  ScaleOrder order;
  Slot slot;
  MemRefType elements, scales;
  int64_t rows;
  Format format;
};
} // namespace

LogicalResult TileMmaOp::verify() {
  TypeCombination types = getTypes().getCombination();
  const Instruction &instruction = getInstruction().getInstruction();
  if (!getRewrite(types, instruction)) // (T6)
    return emitOpError("expected an instruction that computes ")
           << getTypes() << ", got " << getInstruction();
  bool isMixedInput = instruction.scaling == Scaling::OnB;
  if (isMixedInput && isa<MemRefType>(getAScale().getType())) // (T7)
    return emitOpError("expected an i8 for a_scale with mixed input, got ")
           << getAScale().getType();
  if (getTensorScale() && !isMixedInput)
    return emitOpError("expected a tensor_scale only with mixed input, got the "
                       "types ")
           << getTypes();
  TileOperandVerifier a(*this, Operand::A), b(*this, Operand::B);
  if (failed(a.verifyMemory()) || failed(b.verifyMemory()))
    return failure();

  // (T3)
  int64_t aScales = a.getNumScales(), bScales = b.getNumScales();
  int64_t scales = std::max(aScales, bScales);
  if (scales == 0)
    scales = getNumK() / types.blockSize;
  if ((aScales != 0 && aScales != scales) ||
      (bScales != 0 && bScales != scales))
    return emitOpError("expected a_scale and b_scale to have one K_s, got ")
           << aScales << " and " << bScales;
  int64_t k = scales * types.blockSize;
  if (scales < 1 || scales % kScalesPerWord != 0 || k % instruction.k != 0)
    return emitOpError("expected K_s to be a multiple of ")
           << kScalesPerWord << " and K of " << instruction.k << ", got "
           << scales << " and " << k;
  if (failed(a.verifyShape(k)) || failed(b.verifyShape(k)))
    return failure();
  return cast<AccType>(getAcc().getType()).getLayout().verifyTile(*this);
}
