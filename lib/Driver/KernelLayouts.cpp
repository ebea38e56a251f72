//===- KernelLayouts.cpp - How kernels lay out their operands -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything is read from the ops of the level `kernel`: the instructions, the
// layouts and types of operands, and the offsets of views and regions. So the
// layouts are those of the compiled code.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/KernelLayouts.h"

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blockscale;

ArrayRef<StringRef> blockscale::getLayoutNames() {
  static constexpr StringRef names[] = {"a",      "metadata", "scale_a",
                                        "b",      "scale_b",  "accumulator",
                                        "shared", "tmem"};
  return names;
}

const KernelLayout *KernelLayouts::lookup(StringRef name) const {
  for (const KernelLayout &layout : layouts)
    if (layout.name == name)
      return &layout;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Offsets
//===----------------------------------------------------------------------===//

namespace {
/// The offset of the first stage or tile, and the step to the next one; 0 if
/// the offset is not a linear function of the stage.
struct Offset {
  int64_t first = 0, step = 0;
};
} // namespace

/// Splits an offset into constants and terms that depend on the stage, which
/// are 0 for the first stage.
static Offset getOffset(Value value) {
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return {*number, 0};
  if (auto add = value.getDefiningOp<arith::AddIOp>()) {
    Offset lhs = getOffset(add.getLhs()), rhs = getOffset(add.getRhs());
    return {lhs.first + rhs.first, lhs.step == 0 ? rhs.step : lhs.step};
  }
  if (auto multiply = value.getDefiningOp<arith::MulIOp>())
    if (std::optional<int64_t> step = getConstantIntValue(multiply.getRhs()))
      return {0, *step};
  return {};
}

/// The first byte of a view of shared memory.
static int64_t getFirstByte(Value memory) {
  int64_t first = 0;
  while (auto view = memory.getDefiningOp<memref::ViewOp>()) {
    first += getOffset(view.getByteShift()).first;
    memory = view.getSource();
  }
  return first;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The columns, rows and bytes of a tile of rank 2 or 3.
static TileShape getTileShape(Value memory) {
  ArrayRef<int64_t> shape = cast<MemRefType>(memory.getType()).getShape();
  ArrayRef<int64_t> rows = shape.take_back(2);
  return {shape.size() == 3 ? shape.front() : 1, rows[0], rows[1]};
}

static LayoutGrid getTile(Operand operand, TileLayout layout, Slot slot,
                          Value memory) {
  return getTileGrid(operand, layout, slot, getTileShape(memory),
                     getFirstByte(memory));
}

/// Scales that are in shared memory; nullopt if one constant stands for all.
static std::optional<LayoutGrid> getScaleTile(Operand operand, ScaleOrder order,
                                              Value memory) {
  auto type = dyn_cast<MemRefType>(memory.getType());
  if (!type)
    return std::nullopt;
  return getScaleTileGrid(operand, order, type.getShape().vec(),
                          getFirstByte(memory));
}

static KernelLayouts makeKernel(Operation *op, InstructionAttr instruction) {
  KernelLayouts kernel;
  kernel.kernel = op->getParentOfType<gpu::GPUFuncOp>().getName().str();
  kernel.instruction = getOpcode(instruction.getInstruction());
  kernel.m = instruction.getM();
  kernel.n = instruction.getN();
  kernel.k = instruction.getK();
  return kernel;
}

static Format getFormat(TypeCombinationAttr types, Operand operand) {
  return operand == Operand::A ? types.getA() : types.getB();
}

static Format getFormat(InstructionAttr instruction, Operand operand) {
  return operand == Operand::A ? instruction.getA() : instruction.getB();
}

/// The accumulator in registers of warps: tiles of 16 x 8, side by side. Their
/// rows and columns of the result depend on the interleaving.
static KernelLayout getWarpSums(AccType type) {
  LayoutGrid grid = getFragmentGrid(Operand::C, {kSumBits, 0});
  if (auto warps = dyn_cast<WarpsAttr>(Attribute(type.getLayout()))) {
    grid.title += "; a warp has " + std::to_string(warps.getShareM(type)) +
                  " x " + std::to_string(warps.getShareN(type)) +
                  " sums in such tiles";
    if (warps.getInterleaveM() != 1 || warps.getInterleaveN() != 1)
      grid.title += ", interleaved " + std::to_string(warps.getInterleaveM()) +
                    " x " + std::to_string(warps.getInterleaveN());
  }
  return {"accumulator", {std::move(grid)}, {}};
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// mma.sync: operands in registers of warps. Those that are dequantized in
/// registers are shown as bf16 or f16 values.
static KernelLayouts getLayouts(TileMmaOp op) {
  InstructionAttr instruction = op.getInstruction();
  KernelLayouts kernel = makeKernel(op, instruction);
  bool isNative = instruction.getInstruction().isNative();
  PairOrder order = getPairOrder(
      instruction.getKind(), op.getLayout(Operand::A).major == Major::MN ||
                                 op.getLayout(Operand::B).major == Major::MN);
  KernelLayout shared = {"shared", {}, {}};
  for (Operand operand : {Operand::A, Operand::B}) {
    bool isA = operand == Operand::A;
    Slot slot = op.getSlot(operand);
    std::optional<LayoutGrid> scales =
        getScaleTile(operand, op.getScaleOrder(operand),
                     isA ? op.getAScale() : op.getBScale());
    shared.grids.push_back(getTile(operand, op.getLayout(operand), slot,
                                   isA ? op.getA() : op.getB()));
    Slot inRegister =
        getSlot(instruction.getKind(), getFormat(op.getTypes(), operand));
    LayoutGrid grid = isNative ? getFragmentGrid(operand, inRegister)
                               : getPairGrid(operand, order);
    if (std::optional<Granularity> sparsity = instruction.getSparsity()) {
      if (!isNative)
        grid = getSparsePairGrid(operand, *sparsity);
      else if (!isA)
        grid = getSparseBGrid(inRegister);
    }
    if (unsigned turns =
            getInterleave(instruction.getKind(), op.getLayout(operand), slot);
        turns != 1)
      grid.title += "; the tile interleaves " + std::to_string(turns) +
                    " groups of 8 rows";
    kernel.layouts.push_back({isA ? "a" : "b", {std::move(grid)}, {}});
    if (isA && op.getMetadata()) {
      kernel.layouts.push_back(
          {"metadata",
           {isNative ? getMetadataGrid(kernel.k)
                     : getPairMetadataGrid(*instruction.getSparsity())},
           {}});
      shared.grids.push_back(getMetadataTileGrid(
          getTileShape(op.getMetadata()),
          kMetadataStepBytes *
              getGranularityInfo(*instruction.getSparsity()).elementsPerByte(),
          /*isSwapped=*/!op.getMetadataAtoms(),
          getFirstByte(op.getMetadata())));
    }
    if (scales)
      kernel.layouts.push_back(
          {isA ? "scale_a" : "scale_b", {getScaleFragmentGrid(operand)}, {}});
    if (scales)
      shared.grids.push_back(std::move(*scales));
  }
  kernel.layouts.push_back(getWarpSums(cast<AccType>(op.getAcc().getType())));
  kernel.layouts.push_back(std::move(shared));
  return kernel;
}

/// wgmma: operands in shared memory, the accumulator in registers. Each warp
/// has tiles of 16 x 8 side by side, as those of mma.sync.
static KernelLayouts getLayouts(WarpgroupMmaOp op) {
  KernelLayouts kernel = makeKernel(op, op.getInstruction());
  KernelLayout shared = {"shared", {}, {}};
  for (Operand operand : {Operand::A, Operand::B}) {
    bool isA = operand == Operand::A;
    Slot slot = getSlot(op.getInstruction().getKind(),
                        getFormat(op.getInstruction(), operand));
    TileLayoutAttr layout = isA ? op.getALayout() : op.getBLayout();
    shared.grids.push_back(getTile(operand, layout.getLayout(), slot,
                                   isA ? op.getA() : op.getB()));
  }
  kernel.layouts.push_back(getWarpSums(cast<AccType>(op.getAcc().getType())));
  kernel.layouts.push_back(std::move(shared));
  return kernel;
}

/// Mixed-input wgmma: quantized y in shared memory, which is dequantized to A
/// in registers. Its registers and those of the transposed accumulator are in
/// no table.
static KernelLayouts getLayouts(WarpgroupMmaMixedOp op) {
  InstructionAttr instruction = op.getInstruction();
  KernelLayouts kernel = makeKernel(op, instruction);
  // The quantized elements are those of y, as they are in memory.
  bool areNibbles = getFormatInfo(op.getTypes().getB()).storedBits() == 4;
  TileLayout quantized = {Major::K,
                          areNibbles ? Storage::Packed : Storage::Bytes,
                          /*isSwizzled=*/false};
  Slot slot = getSlot(instruction.getKind(), instruction.getB());
  LayoutGrid a = getTile(Operand::A, quantized, slot, op.getElements());
  a.title += ": quantized elements";
  LayoutGrid b =
      getTile(Operand::B, op.getLayout().getLayout(), slot, op.getB());
  kernel.layouts.push_back({"shared", {std::move(a), std::move(b)}, {}});
  return kernel;
}

/// Adds `region` of the allocation, with a name for users, unless it is there.
static void addRegion(std::vector<TensorRegion> &regions, StringRef name,
                      Offset column, int64_t columns) {
  for (const TensorRegion &region : regions)
    if (region.name == name && region.first == column.first)
      return;
  regions.push_back({name.str(), column.first, columns, column.step});
}

template <typename RegionOp>
static Offset getColumn(Value region) {
  auto op = region.getDefiningOp<RegionOp>();
  return op ? getOffset(op.getColumn()) : Offset();
}

/// The atoms of scales that the kernel copies to the columns of `scales`.
static void addAtoms(std::vector<LayoutGrid> &grids, Operand operand,
                     Value scales) {
  Block *block = scales.getParentBlock();
  for (auto copy : block->getOps<CopyScalesOp>()) {
    auto type = copy.getScales().getType();
    if (type != scales.getType() ||
        getColumn<TmemScalesOp>(copy.getScales()).first !=
            getColumn<TmemScalesOp>(scales).first)
      continue;
    int64_t first =
        getFirstByte(copy.getMemory()) + getOffset(copy.getOffset()).first;
    // Two copies have two atoms, one after the other.
    int64_t atoms = type.getCopies() == kScaleCopies ? 1 : 2;
    LayoutGrid grid =
        getScaleTileGrid(operand, ScaleOrder::Atoms, {atoms, 1}, first);
    grid.title +=
        ": from row " + std::to_string(copy.getRowAtom() * kScaleAtomRows) +
        ", block " + std::to_string(copy.getWord() * kBlocksOfWord) + " on";
    grids.push_back(std::move(grid));
  }
}

/// The same for the atoms of metadata that an instruction with this K reads.
static void addAtoms(std::vector<LayoutGrid> &grids,
                     TypedValue<TmemMetadataType> metadata, int64_t k) {
  constexpr TileShape kAtom = {1, kMetadataAtomRows, kMetadataAtomBytes};
  for (auto copy : metadata.getParentBlock()->getOps<CopyMetadataOp>()) {
    if (getColumn<TmemMetadataOp>(copy.getMetadata()).first !=
        getColumn<TmemMetadataOp>(metadata).first)
      continue;
    LayoutGrid grid = getMetadataTileGrid(
        kAtom, k, /*isSwapped=*/false,
        getFirstByte(copy.getMemory()) + getOffset(copy.getOffset()).first);
    grid.title += ": atom " + std::to_string(copy.getAtom());
    grids.push_back(std::move(grid));
  }
}

/// The columns of all MMAs of a kernel: loops over stages may be unrolled.
static KernelLayout getTensorMemory(gpu::GPUFuncOp function) {
  KernelLayout tmem = {"tmem", {}, {}};
  std::vector<TensorRegion> scalesOfA, scalesOfB, metadata;
  function.walk([&](AsyncTileMmaOp op) {
    addRegion(tmem.regions, "sums", getColumn<TmemAccOp>(op.getAcc()),
              op.getAcc().getType().getNumColumns());
    if (!op.getAScale())
      return;
    addRegion(scalesOfA, "scales of A", getColumn<TmemScalesOp>(op.getAScale()),
              op.getAScale().getType().getNumColumns());
    addRegion(scalesOfB, "scales of B", getColumn<TmemScalesOp>(op.getBScale()),
              op.getBScale().getType().getNumColumns());
    if (op.getMetadata())
      addRegion(metadata, "metadata of A",
                getColumn<TmemMetadataOp>(op.getMetadata()),
                op.getMetadata().getType().getNumColumns());
  });
  for (const auto &regions : {scalesOfA, scalesOfB, metadata})
    tmem.regions.insert(tmem.regions.end(), regions.begin(), regions.end());
  return tmem;
}

/// tcgen05: the accumulator and scales in tensor memory.
static KernelLayouts getLayouts(AsyncTileMmaOp op) {
  InstructionAttr instruction = op.getInstruction();
  KernelLayouts kernel = makeKernel(op, instruction);
  kernel.k = op.getInstructionK().value_or(kernel.k);
  KernelLayout shared = {"shared", {}, {}};
  for (Operand operand : {Operand::A, Operand::B}) {
    bool isA = operand == Operand::A;
    TileLayoutAttr layout = isA ? op.getALayout() : op.getBLayout();
    Slot slot = getSlot(instruction.getKind(), getFormat(instruction, operand));
    shared.grids.push_back(getTile(operand, layout.getLayout(), slot,
                                   isA ? op.getA() : op.getB()));
    TypedValue<TmemScalesType> scales = isA ? op.getAScale() : op.getBScale();
    if (!scales)
      continue;
    addAtoms(shared.grids, operand, scales);
    TmemScalesType type = scales.getType();
    kernel.layouts.push_back(
        {isA ? "scale_a" : "scale_b",
         {getTensorScaleGrid(operand, type.getRows(), type.getBlocks(),
                             type.getCopies(),
                             getColumn<TmemScalesOp>(scales).first)},
         {}});
  }
  if (TypedValue<TmemMetadataType> metadata = op.getMetadata()) {
    addAtoms(shared.grids, metadata, kernel.k);
    kernel.layouts.push_back(
        {"metadata",
         {getTensorMetadataGrid(metadata.getType().getNumColumns(), kernel.k,
                                getColumn<TmemMetadataOp>(metadata).first)},
         {}});
  }
  TmemAccType sums = op.getAcc().getType();
  kernel.layouts.push_back(
      {"accumulator",
       {getTensorAccGrid(sums.getLayout(), sums.getN(),
                         getColumn<TmemAccOp>(op.getAcc()).first)},
       {}});
  kernel.layouts.push_back(std::move(shared));
  kernel.layouts.push_back(
      getTensorMemory(op->getParentOfType<gpu::GPUFuncOp>()));
  return kernel;
}

std::vector<KernelLayouts> blockscale::getKernelLayouts(ModuleOp module) {
  std::vector<KernelLayouts> kernels;
  module.walk([&](gpu::GPUFuncOp function) {
    function.walk([&](Operation *op) {
      auto add = [&](auto product) {
        kernels.push_back(getLayouts(product));
        return WalkResult::interrupt();
      };
      return TypeSwitch<Operation *, WalkResult>(op)
          .Case<TileMmaOp, WarpgroupMmaOp, WarpgroupMmaMixedOp, AsyncTileMmaOp>(
              add)
          .Default([](Operation *) { return WalkResult::advance(); });
    });
  });
  return kernels;
}
