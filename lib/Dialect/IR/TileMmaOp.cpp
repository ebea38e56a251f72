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

/// The columns of a tile that lie one after the other.
static int64_t getColumns(MemRefType type) {
  return type.getRank() == 3 ? type.getDimSize(0) : 1;
}

/// The elements along K of a tile of `type`.
static int64_t getTileK(MemRefType type, TileLayout layout, Slot slot) {
  if (layout.major == Major::MN)
    return type.getDimSize(0);
  return getColumns(type) * type.getShape().back() * 8 /
         getStoredBits(layout.storage, slot);
}

int64_t TileMmaOp::getNumK() {
  int64_t k =
      getTileK(getA().getType(), getLayout(Operand::A), getSlot(Operand::A));
  return getInstruction().isSparse() ? 2 * k : k;
}

static LogicalResult verifySharedMemory(Operation *op, StringRef name,
                                        MemRefType type) { // (T1)
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() ||
      !gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type))
    return op->emitOpError("expected ")
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
    return op->emitOpError("expected ")
           << name << " to have at most " << largest << " bytes, got " << type;
  return success();
}

namespace {
/// Checks one of A and B, with its scales.
class TileOperandVerifier {
public:
  TileOperandVerifier(TileMmaOp op, Operand operand)
      : TileOperandVerifier(
            op, op.getInstruction(), operand,
            operand == Operand::A ? op.getA().getType() : op.getB().getType(),
            op.getLayout(operand), cast<AccType>(op.getAcc().getType()),
            operand == Operand::A ? op.getTypes().getA()
                                  : op.getTypes().getB()) {
    order = op.getScaleOrder(operand);
    Value scale = operand == Operand::A ? op.getAScale() : op.getBScale();
    scales = dyn_cast<MemRefType>(scale.getType());
    mayHaveColumns = operand == Operand::B && op.getMetadataAtoms();
  }
  /// Without scales.
  TileOperandVerifier(Operation *op, InstructionAttr instruction,
                      Operand operand, MemRefType elements, TileLayout layout,
                      AccType acc, Format format)
      : op(op), kind(instruction.getKind()), acc(acc),
        name(operand == Operand::A ? "a" : "b"), scaleName(name + "_scale"),
        layout(layout), slot(getSlot(kind, format)), elements(elements),
        rows(operand == Operand::A ? acc.getM() : acc.getN()), format(format) {}

  LogicalResult verifyMemory() { // (T1)
    if (failed(verifySharedMemory(op, name, elements)))
      return failure();
    if (!scales)
      return success();
    if (scales.getRank() != getScaleRank(order))
      return op->emitOpError("expected ")
             << scaleName << " to have " << getScaleRank(order)
             << " dimensions for the layout <"
             << StringRef(stringifyScaleOrder(order)) << ">, got " << scales;
    return verifySharedMemory(op, scaleName, scales);
  }

  /// Elements along K.
  int64_t getNumK() { return getTileK(elements, layout, slot); }

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
    ArrayRef<int64_t> shape = elements.getShape().take_back(2);
    int64_t columns = getColumns(elements);
    bool hasColumns = elements.getRank() == 3;
    if (hasColumns && (columns != 2 || !mayHaveColumns || !isK)) // (T8)
      return op->emitOpError("expected ")
             << name << " to have two dimensions"
             << (mayHaveColumns ? ", or two columns with rows along K" : "")
             << ", got " << elements;
    int64_t bytes = (isK ? k : rows) * getStoredBits(layout.storage, slot) / 8;
    if (failed(verifyRows(name, shape[0], isK ? rows : k,
                          isK ? "rows" : "steps along K")))
      return failure();
    if (columns * shape[1] != bytes) // (T4)
      return op->emitOpError("expected ")
             << name << " to have " << bytes << " bytes per row for "
             << (isK ? k : rows) << " elements, got " << columns * shape[1];
    if (layout.isSwizzled && !canSwizzle(shape[1]))
      return op->emitOpError("expected ")
             << name
             << " to have rows of 16, 32, 64 or a multiple of 128 bytes that "
                "are swizzled, got "
             << shape[1];
    if (!scales || order != ScaleOrder::Rows)
      return success();
    return verifyRows(scaleName, scales.getDimSize(0), rows, "rows");
  }

private:
  LogicalResult verifyRows(StringRef name, int64_t got, int64_t expected,
                           StringRef what) { // (T2)
    if (got == expected)
      return success();
    return op->emitOpError("expected ")
           << name << " to have the " << expected << " " << what << " that "
           << acc << " has, got " << got;
  }

  LogicalResult verifyLayout() { // (T5)
    unsigned bits = getFormatInfo(format).bits;
    if (canLie(kind, bits, layout.major, layout.storage))
      return success();
    InFlightDiagnostic diagnostic =
        op->emitOpError("expected ")
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

  Operation *op;
  Kind kind;
  AccType acc;
  std::string name, scaleName;
  TileLayout layout;
  ScaleOrder order = ScaleOrder::Rows;
  Slot slot;
  MemRefType elements, scales;
  int64_t rows;
  Format format;
  bool mayHaveColumns = false;
};
} // namespace

static LogicalResult verifyMetadata(TileMmaOp op, int64_t k) { // (T8)
  const Instruction &instruction = op.getInstruction().getInstruction();
  bool hasMetadata = op.getMetadata() != nullptr;
  if (hasMetadata != instruction.isSparse())
    return op.emitOpError("expected metadata ")
           << (instruction.isSparse() ? "for" : "only for")
           << " a sparse instruction, got " << op.getInstruction();
  if (op.getMetadataAtoms() && !(hasMetadata && instruction.isNative()))
    return op.emitOpError("expected metadata for a block-scaled instruction "
                          "with metadata_atoms, got ")
           << op.getInstruction();
  if (!hasMetadata)
    return success();
  MemRefType type = op.getMetadata().getType();
  if (failed(verifySharedMemory(op, "metadata", type)))
    return failure();
  ArrayRef<int64_t> shape = type.getShape();
  int64_t bytes =
      k / getGranularityInfo(*instruction.sparsity).elementsPerByte();
  bool hasAtoms = op.getMetadataAtoms();
  bool hasWidth = (shape[2] == kMetadataStepBytes && !hasAtoms) ||
                  shape[2] == kMetadataChunkBytes;
  if (hasWidth && shape[0] * shape[2] == bytes &&
      shape[1] == cast<AccType>(op.getAcc().getType()).getM())
    return success();
  return op.emitOpError("expected metadata of the shape C x ")
         << cast<AccType>(op.getAcc().getType()).getM() << " x "
         << (hasAtoms ? "" : llvm::utostr(kMetadataStepBytes) + " or ")
         << kMetadataChunkBytes << ", of " << bytes
         << " bytes for each row, got " << type;
}

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
  int64_t keptK = k / instruction.k * instruction.getKeptK();
  if (failed(a.verifyShape(keptK)) || failed(b.verifyShape(k)) ||
      failed(verifyMetadata(*this, k)))
    return failure();
  return cast<AccType>(getAcc().getType()).getLayout().verifyTile(*this);
}

//===----------------------------------------------------------------------===//
// load_fragments and fragments_mma
//===----------------------------------------------------------------------===//

LogicalResult
FragmentsType::verify(function_ref<InFlightDiagnostic()> emitError,
                      int64_t registers) {
  constexpr int64_t kMost = 255;
  if (registers >= 1 && registers <= kMost)
    return success();
  return emitError() << "expected 1 to " << kMost << " registers, got "
                     << registers;
}

AccType LoadFragmentsOp::getAccType() { return cast<AccType>(getAcc()); }

int64_t LoadFragmentsOp::getNumRegisters(InstructionAttr instruction,
                                         AccType acc, Operand operand) {
  auto warps = cast<WarpsAttr>(Attribute(acc.getLayout()));
  bool isA = operand == Operand::A;
  const FragmentLayout &layout = getFragmentLayout(
      operand, getSlot(instruction.getKind(),
                       isA ? instruction.getA() : instruction.getB())
                   .bits);
  int64_t rows = isA ? warps.getShareM(acc) : warps.getShareN(acc);
  return rows / layout.rows * layout.registers;
}

/// Checks that fragments of a step for `acc` have the type `fragments`.
static LogicalResult verifyFragments(Operation *op, InstructionAttr instruction,
                                     AccType acc, FragmentsType fragments) {
  auto warps = dyn_cast<WarpsAttr>(Attribute(acc.getLayout())); // (F1)
  if (instruction.hasScales() ||
      !getPathInfo(instruction.getPath()).isWarpLevel)
    return op->emitOpError("expected an instruction of a warp without scales, "
                           "got ")
           << instruction;
  if (!warps || warps.getInterleaveM() != 1 || warps.getInterleaveN() != 1)
    return op->emitOpError("expected an accumulator in warps, without "
                           "interleaving, got ")
           << acc;
  int64_t registers = 0; // (F4)
  for (Operand operand : {Operand::A, Operand::B})
    registers += LoadFragmentsOp::getNumRegisters(instruction, acc, operand);
  if (fragments.getRegisters() == registers)
    return success();
  return op->emitOpError("expected ")
         << registers << " registers for a step of " << acc << ", got "
         << fragments;
}

LogicalResult LoadFragmentsOp::verify() {
  InstructionAttr instruction = getInstruction();
  if (failed(verifyFragments(*this, instruction, getAccType(),
                             getFragments().getType())))
    return failure();
  auto warps = cast<WarpsAttr>(Attribute(getAccType().getLayout()));
  TileOperandVerifier a(*this, instruction, Operand::A, getA().getType(),
                        getALayout().getLayout(), getAccType(),
                        instruction.getA()),
      b(*this, instruction, Operand::B, getB().getType(),
        getBLayout().getLayout(), getAccType(), instruction.getB());
  if (failed(a.verifyMemory()) || failed(b.verifyMemory())) // (F2)
    return failure();
  int64_t k = a.getNumK();
  if (k < 1 || k % instruction.getK() != 0)
    return emitOpError("expected K to be a multiple of ")
           << instruction.getK() << ", got " << k;
  if (failed(a.verifyShape(k)) || failed(b.verifyShape(k)))
    return failure();
  for (auto [name, layout, rows] :
       {std::tuple{"a", getALayout(), warps.getShareM(getAccType())},
        std::tuple{"b", getBLayout(), warps.getShareN(getAccType())}})
    if (layout.getLayout().major == Major::MN && rows % kChunkBytes != 0)
      return emitOpError("expected a warp to have a multiple of ")
             << kChunkBytes << " rows of " << name << ", which is <mn>, got "
             << rows;
  if (getStep() >= static_cast<uint64_t>(k / instruction.getK())) // (F3)
    return emitOpError("expected a step below ")
           << k / instruction.getK() << ", got "
           << static_cast<int64_t>(getStep());
  return success();
}

LogicalResult FragmentsMmaOp::verify() { // (F5)
  return verifyFragments(*this, getInstruction(),
                         cast<AccType>(getAcc().getType()),
                         getFragments().getType());
}
