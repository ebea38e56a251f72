//===- KernelOps.cpp - Ops in kernels -------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constraints of the kernel and instruction levels, numbered as in their
// descriptions.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// tile_mma
//===----------------------------------------------------------------------===//

TileLayout TileMmaOp::getLayout(Operand operand) {
  std::optional<TileLayoutAttr> attr =
      operand == Operand::A ? getALayout() : getBLayout();
  return attr ? attr->getLayout() : TileLayout();
}

int64_t TileMmaOp::getNumK() {
  MemRefType type = getA().getType();
  TileLayout layout = getLayout(Operand::A);
  if (layout.major == Major::MN)
    return type.getDimSize(0);
  OpRow row = getRow().getRow();
  Slot slot = getSlot(getEmittedInstruction(row, Path::MmaSync).kind, row.lhs);
  return type.getDimSize(1) * 8 / getStoredBits(layout.storage, slot);
}

namespace {
/// Checks one of A and B, with its scales.
class TileOperandVerifier {
public:
  TileOperandVerifier(TileMmaOp op, Operand operand)
      : op(op), name(operand == Operand::A ? "a" : "b"),
        scaleName(name + "_scale"), layout(op.getLayout(operand)) {
    bool isA = operand == Operand::A;
    elements = isA ? op.getA().getType() : op.getB().getType();
    Value scale = isA ? op.getAScale() : op.getBScale();
    scales = dyn_cast<MemRefType>(scale.getType());
    auto acc = cast<AccType>(op.getAcc().getType());
    rows = isA ? acc.getM() : acc.getN();
    warpRows = isA ? acc.getWarpM() : acc.getWarpN();
    OpRow row = op.getRow().getRow();
    kind = getEmittedInstruction(row, Path::MmaSync).kind;
    format = isA ? row.lhs : row.rhs;
  }

  LogicalResult verifyMemory() { // (T1)
    if (failed(verifySharedMemory(name, elements)))
      return failure();
    return success(!scales || succeeded(verifySharedMemory(scaleName, scales)));
  }

  /// The scales along K; 0 where they are one value.
  int64_t getNumScales() {
    if (!scales)
      return 0;
    if (scales.getRank() == 4)
      return scales.getDimSize(0) * kScalesPerWord;
    return scales.getShape().back();
  }

  LogicalResult verifyShape(int64_t k) {
    if (failed(verifyLayout()))
      return failure();
    Slot slot = getSlot(kind, format);
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
    return success(!scales || succeeded(verifyScales()));
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
    bool hasContainers = kind == Kind::MXF8F6F4;
    bool isPadded = layout.storage == Storage::Padded;
    if (!hasContainers &&
        (layout.major != Major::K || layout.storage != Storage::Slots))
      return op.emitOpError("expected ")
             << name
             << " to have the layout <k, slots> for an instruction that takes "
                "packed fp4";
    if (layout.major == Major::MN && warpRows % kChunkBytes != 0)
      return op.emitOpError("expected a warp to have a multiple of ")
             << kChunkBytes << " rows of " << name << ", which is <mn>, got "
             << warpRows;
    if (isPadded && getFormatInfo(format).bits == 8)
      return op.emitOpError("expected ")
             << name << " not to be padded: its elements have 8 bits";
    return success();
  }

  LogicalResult verifyScales() {
    if (scales.getRank() == 2)
      return verifyRows(scaleName, scales.getDimSize(0), rows, "rows");
    ArrayRef<int64_t> shape = scales.getShape();
    constexpr int64_t kLines = kWarpLanes;
    int64_t numRows = llvm::alignTo(rows, kLines);
    int64_t perPart = kLines;
    if (scales.getRank() == 4)
      perPart *= shape.back() / kScalesPerWord;
    if (shape[shape.size() - 2] != kLines ||
        (scales.getRank() == 4 && shape.back() != 4 && shape.back() != 8 &&
         shape.back() != 16) ||
        shape[shape.size() - 3] * perPart != numRows) // (T2)
      return op.emitOpError("expected ")
             << scaleName
             << " to be of the shape G x 32 x 4W or W x P x 32 x 4Q, with 32 G "
                "or 32 P Q the "
             << numRows << " rows, and Q 1, 2 or 4, got " << scales;
    if (warpRows % perPart != 0 &&
        (perPart != kLines || kLines % warpRows != 0)) // (T6)
      return op.emitOpError("expected ")
             << scaleName << " to have parts of " << perPart
             << " rows that divide the " << warpRows << " rows of a warp";
    return success();
  }

  TileMmaOp op;
  std::string name, scaleName;
  TileLayout layout;
  MemRefType elements, scales;
  int64_t rows, warpRows;
  Kind kind;
  Format format;
};
} // namespace

LogicalResult TileMmaOp::verify() {
  TileOperandVerifier a(*this, Operand::A), b(*this, Operand::B);
  if (failed(a.verifyMemory()) || failed(b.verifyMemory()))
    return failure();

  // (T3)
  OpRow row = getRow().getRow();
  const Instruction &instruction = getEmittedInstruction(row, Path::MmaSync);
  int64_t aScales = a.getNumScales(), bScales = b.getNumScales();
  int64_t scales = std::max(aScales, bScales);
  if (scales == 0)
    scales = getNumK() / row.blockSize;
  if ((aScales != 0 && aScales != scales) ||
      (bScales != 0 && bScales != scales))
    return emitOpError("expected a_scale and b_scale to have one K_s, got ")
           << aScales << " and " << bScales;
  int64_t k = scales * row.blockSize;
  if (scales < 1 || scales % kScalesPerWord != 0 || k % instruction.k != 0)
    return emitOpError("expected K_s to be a multiple of ")
           << kScalesPerWord << " and K of " << instruction.k << ", got "
           << scales << " and " << k;
  return success(succeeded(a.verifyShape(k)) && succeeded(b.verifyShape(k)));
}

//===----------------------------------------------------------------------===//
// acc_load and acc_store
//===----------------------------------------------------------------------===//

template <typename AccOp>
static LogicalResult verifyIndices(AccOp op) {
  int64_t rank = op.getMemory().getType().getRank();
  if (static_cast<int64_t>(op.getIndices().size()) != rank)
    return op.emitOpError("expected one index for each of ")
           << rank << " dimensions, got " << op.getIndices().size();
  return success();
}

LogicalResult AccLoadOp::verify() { return verifyIndices(*this); }
LogicalResult AccStoreOp::verify() { return verifyIndices(*this); }

//===----------------------------------------------------------------------===//
// acc_generate and acc_for_each
//===----------------------------------------------------------------------===//

/// Checks the arguments of a body, and whether it yields a value.
static LogicalResult verifyBody(Operation *op, Block &body,
                                ArrayRef<Type> arguments, bool yieldsValue) {
  if (body.getArgumentTypes() != TypeRange(arguments))
    return op->emitOpError("expected a body with arguments of types ")
           << TypeRange(arguments) << ", got " << body.getArgumentTypes();
  auto yield = dyn_cast<YieldOp>(body.back());
  if (yield && (yield.getValue() != nullptr) == yieldsValue)
    return success();
  return op->emitOpError(
             "expected a body that ends with a blockscale.yield of ")
         << (yieldsValue ? "an f32" : "nothing");
}

LogicalResult AccGenerateOp::verifyRegions() { // (G1)
  Type index = IndexType::get(getContext());
  return verifyBody(*this, getBody().front(), {index, index},
                    /*yieldsValue=*/true);
}

LogicalResult AccForEachOp::verifyRegions() { // (G2)
  Type index = IndexType::get(getContext());
  return verifyBody(*this, getBody().front(),
                    {Float32Type::get(getContext()), index, index},
                    /*yieldsValue=*/false);
}

//===----------------------------------------------------------------------===//
// load_matrix
//===----------------------------------------------------------------------===//

const MatrixLoad &LoadMatrixOp::getForm() {
  return *lookupMatrixLoad(getCodeBits(), getTransposed());
}

LogicalResult LoadMatrixOp::verify() {
  MemRefType type = getMemory().getType(); // (D1)
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() ||
      !gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type))
    return emitOpError("expected memory of a static shape, the identity layout "
                       "and the workgroup memory space, got ")
           << type;
  if (!lookupMatrixLoad(getCodeBits(), getTransposed())) // (D2)
    return emitOpError("expected code_bits to be 4, 6 or 8, got ")
           << getCodeBits();
  return success();
}

//===----------------------------------------------------------------------===//
// mma_sync
//===----------------------------------------------------------------------===//

LogicalResult MmaSyncOp::verify() { // (M2)
  unsigned scaleVec = getInstruction().getScaleVec();
  struct Selectors {
    StringRef name;
    Operand operand;
    uint64_t byte;
    uint64_t thread;
  };
  for (const Selectors &s :
       {Selectors{"a_scale", Operand::A, getAByte(), getAThread()},
        Selectors{"b_scale", Operand::B, getBByte(), getBThread()}}) {
    auto byte = static_cast<int64_t>(s.byte);
    auto thread = static_cast<int64_t>(s.thread);
    if (!isLegalByteSelector(scaleVec, byte))
      return emitOpError("expected the byte selector of ")
             << s.name << " to be one of " << describeByteSelectors(scaleVec)
             << " for scale_vec::" << scaleVec << "X, got " << byte;
    int64_t tiles = getScaleFragment(s.operand).tiles;
    if (thread < 0 || thread >= tiles)
      return emitOpError("expected the thread selector of ")
             << s.name << " to be 0 to " << tiles - 1 << ", got " << thread;
  }
  return success();
}
