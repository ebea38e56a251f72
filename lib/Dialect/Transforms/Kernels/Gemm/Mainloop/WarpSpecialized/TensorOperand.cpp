//===- TensorOperand.cpp - TMA operands -----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which operands a tensor map can describe, and how: rows of a stage are
// swizzle rows, and the limits are those of tensor maps (CUDA driver API,
// cuTensorMapEncodeTiled).
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/WarpSpecialized/TensorOperand.h"

#include "Utils/IndexValues.h"
#include "blockscale/Support/ScaleLayout.h"
#include "blockscale/Support/SharedLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numeric>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

namespace {
/// How a TMA copy moves elements of so many bits to a stage.
struct MovedType {
  unsigned bits;
  /// Whether the copy pads each element to a byte.
  bool isPadded;
  StringRef name;
  /// Divisors of strides in bytes, and of the elements of a row.
  int64_t strideBytes, swizzleRowElements;
};
} // namespace

static constexpr MovedType kMovedTypes[] = {
    {16, false, "u2", 16, 1},
    {8, false, "u1", 16, 1},
    {4, false, "u1", 16, 1},
    {4, true, "u4x16_align16", 32, 128},
    {6, true, "u6x16_align16", 32, 128},
};

/// Whether elements that memory holds in a byte each go to stages as they are:
/// mma.sync takes fp6 and fp4 in bytes if the other operand has 8 bits.
static bool areBytes(const KernelOperand &operand, Format format,
                     const Instruction &instruction) {
  return getPathInfo(instruction.path).isWarpLevel &&
         hasContainers(instruction.kind) && getFormatInfo(format).bits != 8 &&
         operand.bits == 8;
}

/// Sets the reason why TMA cannot bring an operand.
static bool refuse(std::string &reason, const Twine &text) {
  reason = text.str();
  return false;
}

/// How TMA copies move elements of `format`, which memory holds as `operand`
/// says, to the layout that `instruction` takes; null, with a `reason`, if they
/// cannot.
static const MovedType *findMovedType(const KernelOperand &operand,
                                      Format format,
                                      const Instruction &instruction,
                                      bool hasPaddedCopies,
                                      std::string &reason) {
  unsigned elementBits = getFormatInfo(format).bits;
  bool isK = operand.contiguity == Contiguity::Columns;
  bool isNarrow = hasContainers(instruction.kind) && elementBits != 8;
  bool isReadByWarps = getPathInfo(instruction.path).isWarpLevel;
  bool inBytes = areBytes(operand, format, instruction);
  bool isPadded = isNarrow && !inBytes;
  unsigned leastBits = isReadByWarps && isNarrow ? 4 : 8;
  const auto *type = llvm::find_if(kMovedTypes, [&](const MovedType &row) {
    return row.bits == operand.bits && row.isPadded == isPadded;
  });
  bool isTransposed =
      elementBits >= leastBits && operand.contiguity == Contiguity::Rows &&
      canLie(instruction.kind, elementBits, Major::MN, Storage::Slots);
  bool isOrdered = isK || isTransposed;
  // A copy can only add padding: packed elements in stages are packed in
  // memory.
  if (isOrdered && operand.bits != elementBits && !inBytes) {
    refuse(reason, "expected elements that are packed in memory, " +
                       Twine(elementBits) + " bits each, got " +
                       Twine(operand.bits));
    return nullptr;
  }
  if (type == std::end(kMovedTypes) || !isOrdered) {
    reason = "no copy brings such elements to the tensor core's layout";
    if (!isK)
      reason += ", expected them to be contiguous along K";
    return nullptr;
  }
  if (isPadded && !hasPaddedCopies) {
    refuse(reason, "the chip has no tensor maps of " + type->name);
    return nullptr;
  }
  int64_t rowMultiple = isK ? operand.columnMultiple : operand.rowMultiple;
  if (operand.getStrideAlignment() % type->strideBytes != 0 ||
      (isPadded && rowMultiple % type->swizzleRowElements != 0)) {
    refuse(reason, "expected rows of a multiple of " +
                       Twine(type->strideBytes) + " bytes");
    return nullptr;
  }
  return type;
}

bool blockscale::couldCopyIfPacked(const KernelOperand &operand, Format format,
                                   const KernelProblem &problem) {
  unsigned bits = getFormatInfo(format).bits;
  if (!isa_and_nonnull<WarpSpecializedScheduleAttr>(
          Attribute(problem.schedule)) ||
      operand.bits != 8 || bits == 8 || !operand.hasOwnMemory ||
      operand.contiguity != Contiguity::Columns ||
      operand.columnMultiple * bits % 8 != 0)
    return false;
  const Instruction &instruction = problem.instruction.getInstruction();
  // The MMA warps of mma.sync shift elements in bytes into position themselves.
  if (hasContainers(instruction.kind))
    return false;
  std::string reason;
  auto isMoved = [&](const KernelOperand &as) {
    return findMovedType(as, format, instruction, problem.hasPaddedCopies,
                         reason) != nullptr;
  };
  KernelOperand packed = operand;
  packed.bits = bits;
  return !isMoved(operand) && isMoved(packed);
}

/// A map of memory with `rank` sizes, from which its own `sizes` are computed.
/// It is row-major, with sizes of `bytes` in bytes. An element holds `codes`
/// elements of the instruction.
static TensorMapAttr makeMap(unsigned rank, StringRef dtype,
                             ArrayRef<AffineExpr> sizes,
                             ArrayRef<AffineExpr> bytes, ArrayRef<int64_t> box,
                             StringRef swizzle, int64_t codes) {
  MLIRContext *context = bytes.back().getContext();
  SmallVector<AffineExpr> strides(bytes.size() - 1);
  AffineExpr stride = bytes.back();
  for (size_t i = bytes.size() - 1; i-- != 0;) {
    strides[i] = stride;
    stride = stride * bytes[i];
  }
  auto toAttr = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMapAttr::get(AffineMap::get(0, rank, exprs, context));
  };
  return TensorMapAttr::get(context, dtype, toAttr(sizes), toAttr(strides), box,
                            SmallVector<int64_t>(box.size(), 1), swizzle,
                            "zero", "256", codes);
}

static SmallVector<AffineExpr> getSymbols(MLIRContext *context,
                                          unsigned count) {
  SmallVector<AffineExpr> symbols;
  for (unsigned i = 0; i != count; ++i)
    symbols.push_back(getAffineSymbolExpr(i, context));
  return symbols;
}

static StringRef getSwizzleName(int64_t rowBytes) {
  switch (rowBytes) {
  case 128:
    return "128";
  case 64:
    return "64";
  case 32:
    return "32";
  default:
    return "none";
  }
}

SmallVector<int64_t> TensorOperand::planBox(const SharedMemoryPlan &pipeline,
                                            bool isK, int64_t unit,
                                            int64_t columnBytes,
                                            unsigned outer) {
  WarpSpecializedScheduleAttr schedule = pipeline.getSchedule();
  int64_t rows = pipeline.getRows(isA());
  SmallVector<int64_t> box(operand->map.getNumResults(), 1);
  box.back() = columnBytes / unit;
  // The elements of a swizzle row: of rows, or along K.
  int64_t &boxRows = box[outer], k = pipeline.getElementsOfK(isA());
  boxRows = isK ? rows : k;
  if (!isK) {
    copies = rows * unit / columnBytes;
    copyRows = columnBytes / unit;
    copyBytes = columnBytes * k;
  } else if (pipeline.getColumns(isA()) != 1) {
    copies = pipeline.getColumns(isA());
    copyColumns = k / copies;
    copyBytes = rows * columnBytes;
  }
  int64_t parts =
      BlockCluster::getParts(schedule.getCluster(), schedule.getTwoCta(), id);
  if (!isK && copies % parts == 0) {
    copies /= parts;
    partRows = copies * copyRows;
    partBytes = copies * copyBytes;
  } else {
    boxRows /= parts;
    (isK ? partRows : partColumns) = boxRows;
    partBytes = boxRows * columnBytes;
  }
  return box;
}

bool TensorOperand::planElements(const KernelProblem &problem,
                                 const SharedMemoryPlan &pipeline,
                                 std::string &reason) {
  if (!operand->hasOwnMemory)
    return refuse(reason, "there are no tensor maps of constants, expected an "
                          "argument or what an op computes");
  const Instruction &instruction = problem.instruction.getInstruction();
  MLIRContext *context = problem.instruction.getContext();
  Format format = isA() ? instruction.a : instruction.b;
  const MovedType *type = findMovedType(*operand, format, instruction,
                                        problem.hasPaddedCopies, reason);
  if (!type)
    return false;
  bool isK = operand->contiguity == Contiguity::Columns;
  bool isReadByWarps = getPathInfo(instruction.path).isWarpLevel;
  bool isPadded = type->isPadded;
  bool inBytes = areBytes(*operand, format, instruction);
  // The dimension that is not contiguous may be in front of the batch.
  AffineExpr outer = getAffineDimExpr(isK ? 1 : 2, context);
  std::optional<unsigned> outerDim = operand->map.getResultPosition(outer);
  if (!outerDim)
    return refuse(reason, "expected a matrix whose rows and columns are "
                          "dimensions of memory");
  int64_t rows = pipeline.getRows(isA());
  int64_t unit = getElementBytes(instruction);
  int64_t columnBytes = isK ? kSwizzleRowBytes : getColumnBytes(rows * unit);
  constexpr int64_t kLeastBytes = 16;
  if (columnBytes < kLeastBytes)
    return refuse(reason,
                  "expected a tile of a multiple of " + Twine(kLeastBytes) +
                      " rows, which are contiguous, got " + Twine(rows));
  // For mma.sync a swizzle row has all rows; padded elements have one length
  // only.
  if (isReadByWarps && !isK &&
      (rows > kSwizzleRowBytes || (isPadded && rows != kSwizzleRowBytes)))
    return refuse(reason,
                  "expected a tile of " + Twine(isPadded ? "" : "at most ") +
                      Twine(kSwizzleRowBytes) +
                      " rows, which are contiguous, got " + Twine(rows));
  layout.major = isK ? Major::K : Major::MN;
  layout.storage = isPadded ? Storage::Padded : Storage::Slots;
  if (inBytes)
    layout.storage = Storage::Bytes;
  layout.isSwizzled = columnBytes > kLeastBytes;

  // Coordinates count elements in bytes, padded or not, one by one; packed
  // elements are bytes of the map.
  elementsOfUnit = isPadded ? 1 : std::max<int64_t>(8 / operand->bits, 1);
  unsigned rank = operand->map.getNumResults();
  SmallVector<AffineExpr> symbols = getSymbols(context, rank);
  SmallVector<AffineExpr> sizes = symbols;
  if (isPadded)
    sizes.back() = (sizes.back() * 8).floorDiv(operand->bits);
  SmallVector<int64_t> box =
      planBox(pipeline, isK, unit, columnBytes, *outerDim);
  symbols.back() = symbols.back() * unit;
  // How many elements of the instruction an element of the map holds; the
  // verifier of the launch compares it with the memory.
  int64_t elements = isPadded || inBytes
                         ? 1
                         : std::max<int64_t>(8 / getFormatInfo(format).bits, 1);
  map = makeMap(rank, type->name, sizes, symbols, box,
                getSwizzleName(columnBytes), elements);
  countedBytes = isPadded
                     ? rows * pipeline.getElementsOfK(isA()) * operand->bits / 8
                     : pipeline.getColumns(isA()) * rows * kSwizzleRowBytes;
  if (pipeline.getQuantizedA()) {
    copyColumns = kSwizzleRowBytes / unit;
    copies = pipeline.getSliceK() / copyColumns;
    copyBytes = rows * kSwizzleRowBytes;
    countedBytes = copies * copyBytes;
  }
  return true;
}

bool TensorOperand::planQuantized(const SharedMemoryPlan &pipeline,
                                  std::string &reason) {
  constexpr int64_t kKChunkBytes = 64, kByteBits = 8, kStrideBytes = 16;
  std::optional<unsigned> outerDim = operand->map.getResultPosition(
      getAffineDimExpr(1, operand->map.getContext()));
  int64_t bits = operand->bits;
  if (!operand->hasOwnMemory || operand->contiguity != Contiguity::Columns ||
      !outerDim || kByteBits % bits != 0 ||
      operand->getStrideAlignment() % kStrideBytes != 0)
    return refuse(reason, "expected elements of 4 or 8 bits of an argument, in "
                          "rows of a multiple of " +
                              Twine(kStrideBytes) + " bytes along K");
  MLIRContext *context = operand->map.getContext();
  unsigned rank = operand->map.getNumResults();
  SmallVector<AffineExpr> sizes = getSymbols(context, rank);
  SmallVector<int64_t> box(rank, 1);
  int64_t rows = pipeline.getSchedule().getM();
  box[*outerDim] = rows;
  box.back() = kKChunkBytes;
  elementsOfUnit = kByteBits / bits;
  copyColumns = kKChunkBytes * elementsOfUnit;
  copies = pipeline.getSliceElements(isA()) / copyColumns;
  copyBytes = rows * kKChunkBytes;
  countedBytes = copies * copyBytes;
  map = makeMap(rank, "u1", sizes, sizes, box, "none", elementsOfUnit);
  return true;
}

static constexpr int64_t kAtomUnits = kScaleAtomOuter * kScaleAtomInner / 2;

static ScaleParts divideScales(int64_t rowAtoms, int64_t columnAtoms,
                               int64_t parts) {
  ScaleParts divided;
  divided.rows = std::gcd(rowAtoms, parts);
  divided.columns = std::gcd(columnAtoms, parts / divided.rows);
  divided.units = parts / divided.rows / divided.columns;
  divided.rowAtoms = rowAtoms / divided.rows;
  divided.columnAtoms = columnAtoms / divided.columns;
  divided.atomUnits = kAtomUnits / divided.units;
  return divided;
}

/// Atoms as a tensor of u16: ..., atoms along rows, atoms along K, 256.
bool TensorOperand::planScales(const KernelProblem &problem,
                               const SharedMemoryPlan &pipeline,
                               std::string &reason) {
  if (operand->contiguity != Contiguity::Atoms)
    return refuse(reason, "expected scales in the 32x4x4 layout");
  WarpSpecializedScheduleAttr schedule = pipeline.getSchedule();
  int64_t words = pipeline.getScaleWords();
  if (pipeline.hasWordsOutside(isA())) {
    copies = words;
    copyColumns = kBlocksOfWord;
    copyBytes = pipeline.getWordBytes(isA());
    words = 1;
  }
  scaleParts = divideScales(
      pipeline.getRowAtoms(isA()), words,
      BlockCluster::getParts(schedule.getCluster(), schedule.getTwoCta(), id));
  partBytes =
      scaleParts.rowAtoms * scaleParts.columnAtoms * scaleParts.atomUnits * 2;
  MLIRContext *context = problem.instruction.getContext();
  unsigned rank = operand->map.getNumResults();
  SmallVector<AffineExpr> symbols = getSymbols(context, rank);
  // The last two sizes, 32 and 16, become one.
  SmallVector<AffineExpr> sizes(symbols.begin(), symbols.end() - 2);
  SmallVector<AffineExpr> bytes = sizes;
  sizes.push_back(getAffineConstantExpr(kAtomUnits, context));
  bytes.push_back(getAffineConstantExpr(2 * kAtomUnits, context));
  SmallVector<int64_t> box(sizes.size(), 1);
  box[box.size() - 3] = scaleParts.rowAtoms;
  box[box.size() - 2] = scaleParts.columnAtoms;
  box[box.size() - 1] = scaleParts.atomUnits;
  map = makeMap(rank, "u2", sizes, bytes, box, "none", /*codes=*/1);
  countedBytes = pipeline.getBytes(id);
  return true;
}

/// Atoms of metadata are 8 rows of 256 bytes for tensor maps, whose boxes have
/// at most so many elements along an index.
static constexpr int64_t kMetadataUnits = 8,
                         kMetadataUnitBytes = kMetadataAtomRows *
                                              kMetadataAtomBytes /
                                              kMetadataUnits;

/// Atoms as they are, or boxes of 128 rows of 16 bytes of row-major metadata,
/// which become atoms.
bool TensorOperand::planMetadata(const SharedMemoryPlan &pipeline,
                                 std::string &reason) {
  bool isAtoms = operand->contiguity == Contiguity::Atoms;
  if (!isAtoms && operand->contiguity != Contiguity::Columns)
    return refuse(reason, "expected metadata in atoms, or row-major");
  WarpSpecializedScheduleAttr schedule = pipeline.getSchedule();
  int64_t parts =
      BlockCluster::getParts(schedule.getCluster(), schedule.getTwoCta(), id);
  MLIRContext *context = operand->map.getContext();
  unsigned rank = operand->map.getNumResults();
  SmallVector<AffineExpr> sizes = getSymbols(context, rank);
  SmallVector<int64_t> box(rank, 1);
  if (isAtoms) {
    sizes[rank - 2] = getAffineConstantExpr(kMetadataUnits, context);
    sizes[rank - 1] = getAffineConstantExpr(kMetadataUnitBytes, context);
    box[rank - 2] = kMetadataUnits / parts;
    box[rank - 1] = kMetadataUnitBytes;
    partUnits = kMetadataUnits / parts;
  } else {
    partRows = kMetadataAtomRows / parts;
    box[*operand->map.getResultPosition(getAffineDimExpr(1, context))] =
        partRows;
    box[rank - 1] = kMetadataAtomBytes;
  }
  partBytes = kMetadataAtomRows * kMetadataAtomBytes / parts;
  copies = pipeline.getMetadataBytes() / kMetadataAtomBytes;
  copyColumns = kMetadataAtomBytes;
  copyBytes = kMetadataAtomRows * kMetadataAtomBytes;
  countedBytes = pipeline.getBytes(id);
  map = makeMap(rank, "u1", sizes, sizes, box, "none", /*codes=*/1);
  return true;
}

std::optional<TensorOperand>
TensorOperand::plan(const KernelProblem &problem,
                    const SharedMemoryPlan &pipeline, GemmOperand id,
                    std::string &reason) {
  TensorOperand result;
  result.operand = &problem[id];
  result.id = id;
  bool isA = result.isA(), isElements = !result.isScale();
  bool isPlanned = false;
  if (result.isMetadata())
    isPlanned = result.planMetadata(pipeline, reason);
  else if (isA && pipeline.getQuantizedA())
    isPlanned = result.planQuantized(pipeline, reason);
  else
    isPlanned = isElements ? result.planElements(problem, pipeline, reason)
                           : result.planScales(problem, pipeline, reason);
  if (!isPlanned)
    return std::nullopt;
  // If there is only one tile along N, A is read once; if there is only one
  // along M, B is. A broadcast batch reads the operand again.
  WarpSpecializedScheduleAttr schedule = pipeline.getSchedule();
  int64_t size = isA ? problem.n : problem.m;
  std::optional<int64_t> most = isA ? problem.mostN : problem.mostM;
  if (!ShapedType::isDynamic(size))
    most = size;
  int64_t tile = isA ? schedule.getN() : schedule.getM();
  result.isReadOnce =
      most && *most <= tile &&
      (!problem.hasBatch || (result.operand->map.isFunctionOfDim(0) &&
                             !result.operand->mayBroadcast));
  return result;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void TensorOperand::addScalePart(OpBuilder &b, Location loc, Value part,
                                 MutableArrayRef<Value> position) const {
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  const ScaleParts &of = scaleParts;
  AffineExpr row = d1.floorDiv(of.columns * of.units),
             column = d1.floorDiv(of.units) % of.columns, unit = d1 % of.units;
  MutableArrayRef<Value> last = position.take_back(3);
  for (auto [value, first] : {std::pair(&last[0], row * of.rowAtoms),
                              std::pair(&last[1], column * of.columnAtoms),
                              std::pair(&last[2], unit * of.atomUnits)})
    *value = applyExprs(b, loc, d0 + first, {*value, part})[0];
}

void TensorOperand::emit(OpBuilder &b, Location loc, Value mapPointer,
                         const TileOrigin &origin, Value shared, Value offset,
                         Value barriers, Value barrier,
                         const BlockCluster &cluster) const {
  auto toWord = [&](Value index) -> Value {
    return b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), index);
  };
  // Data that is read only once leaves L2 first: the constant that
  // createpolicy.fractional.L2::evict_first returns for all of it.
  constexpr int64_t kEvictFirst = 0x12F0000000000000;
  IntegerAttr hint = isReadOnce ? b.getI64IntegerAttr(kEvictFirst) : nullptr;
  Value firstRow = origin.row, column = origin.column;
  const OperandSharing &sharing = cluster.getSharing(id);
  if (sharing.parts != 1) {
    AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
    for (auto [value, distance] :
         {std::pair(&firstRow, partRows), std::pair(&column, partColumns),
          std::pair(&offset, partBytes)})
      *value =
          applyExprs(b, loc, d0 + d1 * distance, {*value, sharing.part})[0];
  }
  for (int64_t i = 0; i != copies; ++i) {
    Value row = addIndex(b, loc, firstRow, i * copyRows);
    Value at = addIndex(b, loc, column, i * copyColumns);
    if (origin.mostColumn)
      at = arith::MinUIOp::create(b, loc, at, origin.mostColumn);
    SmallVector<Value> position =
        applyMap(b, loc, operand->map, {origin.batch, row, at});
    if (isScale()) {
      // The first byte of an atom.
      position.pop_back_n(2);
      position.push_back(makeIndex(b, loc, 0));
      if (sharing.parts != 1)
        addScalePart(b, loc, sharing.part, position);
    } else if (isMetadata() && operand->contiguity == Contiguity::Atoms) {
      // The first byte of the part of an atom.
      AffineExpr d0 = b.getAffineDimExpr(0);
      Value zero = makeIndex(b, loc, 0), first = zero;
      if (sharing.parts != 1)
        first = applyExprs(b, loc, {d0 * partUnits}, sharing.part)[0];
      position.pop_back_n(2);
      position.append({first, zero});
    } else if (elementsOfUnit != 1) {
      AffineExpr d0 = b.getAffineDimExpr(0);
      position.back() =
          applyExprs(b, loc, {d0.floorDiv(elementsOfUnit)}, position.back())[0];
    }
    SmallVector<Value> coordinates = llvm::map_to_vector(position, toWord);
    Value to = addIndex(b, loc, offset, i * copyBytes);
    TensorLoadOp::create(b, loc, mapPointer, coordinates, shared, to, barriers,
                         barrier, sharing.ranks, hint,
                         cluster.hasPairs() ? 2 : 1);
  }
}
