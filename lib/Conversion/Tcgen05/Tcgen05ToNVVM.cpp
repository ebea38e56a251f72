//===- Tcgen05ToNVVM.cpp - tcgen05 to NVVM --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts types of tensor memory (their columns and lanes) to address
// arithmetic.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Conversion/Tcgen05ToNVVM.h"

#include "Tcgen05/Predicates.h"
#include "Tcgen05/SharedAddress.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// The address of a value of tensor memory, plus some columns.
static Value getAddress(OpBuilder &b, Location loc, Value tmem,
                        int64_t columns = 0) {
  Value address =
      UnrealizedConversionCastOp::create(b, loc, b.getI32Type(), tmem)
          .getResult(0);
  if (columns == 0)
    return address;
  return arith::AddIOp::create(b, loc, address, makeI32(b, loc, columns));
}

/// The same for a column that is a value.
static Value getAddress(OpBuilder &b, Location loc, Value tmem, Value column) {
  Value address = getAddress(b, loc, tmem);
  Value columns =
      b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), column);
  return b.createOrFold<arith::AddIOp>(loc, address, columns);
}

static Value toPointer(OpBuilder &b, Location loc, Value address) {
  auto type = LLVM::LLVMPointerType::get(
      b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Tensor));
  return LLVM::IntToPtrOp::create(b, loc, type, address);
}

static NVVM::CTAGroupKind getGroup(int64_t group) {
  return group == 2 ? NVVM::CTAGroupKind::CTA_2 : NVVM::CTAGroupKind::CTA_1;
}

/// A form of `tcgen05.cp`.
struct CopyForm {
  StringRef text;
  NVVM::Tcgen05CpShape shape;
  NVVM::Tcgen05CpMulticast multicast;
};

/// The form that copies atoms of scales to lanes for a number of copies.
struct ScaleCopyForm {
  int64_t copies;
  CopyForm form;
};
static constexpr ScaleCopyForm kScaleCopyForms[] = {
    {4,
     {".32x128b.warpx4", NVVM::Tcgen05CpShape::SHAPE_32x128b,
      NVVM::Tcgen05CpMulticast::WARPX4}},
    {2,
     {".64x128b.warpx2::01_23", NVVM::Tcgen05CpShape::SHAPE_64x128b,
      NVVM::Tcgen05CpMulticast::WARPX2_01_23}},
};

/// The one that copies atoms of metadata: a row to a lane.
static constexpr CopyForm kMetadataCopyForm = {
    ".128x128b", NVVM::Tcgen05CpShape::SHAPE_128x128b,
    NVVM::Tcgen05CpMulticast::NONE};

/// The PTX text of a CTA group.
static std::string getGroupText(int64_t group) {
  return ".cta_group::" + std::to_string(group);
}

/// Replaces `op` by the instruction `text` with a predicate.
static LogicalResult replaceByPtx(PatternRewriter &rewriter, Operation *op,
                                  Value predicate, StringRef text,
                                  ValueRange operands) {
  rewriter.replaceOpWithNewOp<NVVM::InlinePtxOp>(
      op, /*resultTypes=*/TypeRange(), operands, /*readWriteArgs=*/ValueRange(),
      text, predicate);
  return success();
}

//===----------------------------------------------------------------------===//
// Allocation and regions
//===----------------------------------------------------------------------===//

static LogicalResult convertTmemAlloc(TmemAllocOp op, PatternRewriter &rewriter,
                                      const LLVMTypeConverter &converter) {
  Location loc = op.getLoc();
  Value slot = getSharedPointer(rewriter, loc, converter, op.getSlot());
  Value columns = makeI32(rewriter, loc, static_cast<int64_t>(op.getColumns()));
  rewriter.replaceOpWithNewOp<NVVM::Tcgen05AllocOp>(op, slot, columns,
                                                    getGroup(op.getGroup()));
  return success();
}

static LogicalResult convertTmemRelinquish(TmemRelinquishOp op,
                                           PatternRewriter &rewriter) {
  rewriter.replaceOpWithNewOp<NVVM::Tcgen05RelinquishAllocPermitOp>(
      op, getGroup(op.getGroup()));
  return success();
}

static LogicalResult convertTmemBase(TmemBaseOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value address =
      memref::LoadOp::create(rewriter, loc, op.getSlot(), ValueRange{zero});
  rewriter.replaceOpWithNewOp<UnrealizedConversionCastOp>(op, op.getType(),
                                                          address);
  return success();
}

static LogicalResult convertTmemDealloc(TmemDeallocOp op,
                                        PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  Value address = getAddress(rewriter, loc, op.getTmem());
  Value pointer = toPointer(rewriter, loc, address);
  Value columns = makeI32(rewriter, loc, op.getTmem().getType().getColumns());
  rewriter.replaceOpWithNewOp<NVVM::Tcgen05DeallocOp>(op, pointer, columns,
                                                      getGroup(op.getGroup()));
  return success();
}

/// tmem_acc, tmem_scales, tmem_operand and tmem_metadata.
template <typename Op>
static LogicalResult convertTmemRegion(Op op, PatternRewriter &rewriter) {
  Value address =
      getAddress(rewriter, op.getLoc(), op.getTmem(), op.getColumn());
  rewriter.replaceOpWithNewOp<UnrealizedConversionCastOp>(op, op.getType(),
                                                          address);
  return success();
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

static LogicalResult convertInstructionDescriptor(InstructionDescriptorOp op,
                                                  PatternRewriter &rewriter) {
  rewriter.replaceOp(op, makeI32(rewriter, op.getLoc(), op.getWord()));
  return success();
}

static LogicalResult
convertMatrixDescriptor(MatrixDescriptorOp op, PatternRewriter &rewriter,
                        const LLVMTypeConverter &converter) {
  std::optional<uint64_t> word = encodeMatrixDescriptor(
      op.getMatrixShape(),
      op.getWgmma() ? DescriptorUser::Wgmma : DescriptorUser::Tcgen05);
  if (!word)
    return rewriter.notifyMatchFailure(op, "expected a matrix that can be "
                                           "described");
  rewriter.replaceOp(op,
                     addSharedAddress(rewriter, op.getLoc(), converter, *word,
                                      op.getMemory(), op.getOffset()));
  return success();
}

//===----------------------------------------------------------------------===//
// Asynchronous instructions
//===----------------------------------------------------------------------===//

/// Replaces `op`, which copies an atom at an offset of shared memory, by the
/// `form` of `tcgen05.cp` that copies it to `region`, some columns further.
/// Atoms of scales and of metadata are 16 bytes side by side.
template <typename CopyOp>
static LogicalResult replaceCopy(CopyOp op, PatternRewriter &rewriter,
                                 const LLVMTypeConverter &converter,
                                 const CopyForm &form, Value region,
                                 int64_t columns) {
  Location loc = op.getLoc();
  std::optional<uint64_t> word = encodeScaleAtomDescriptor();
  if (!word)
    return rewriter.notifyMatchFailure(op, "expected a descriptor");
  Value descriptor = addSharedAddress(rewriter, loc, converter, *word,
                                      op.getMemory(), op.getOffset());
  Value address = getAddress(rewriter, loc, region, columns);
  if (Value predicate = getPredicate(op))
    return replaceByPtx(rewriter, op, predicate,
                        "tcgen05.cp" + getGroupText(op.getGroup()) +
                            form.text.str() + " [$0], $1;",
                        {address, descriptor});
  Value pointer = toPointer(rewriter, loc, address);
  rewriter.replaceOpWithNewOp<NVVM::Tcgen05CpOp>(
      op, form.shape, getGroup(op.getGroup()), form.multicast,
      NVVM::Tcgen05CpSrcFormatAttr(), pointer, descriptor);
  return success();
}

static LogicalResult convertCopyMetadata(CopyMetadataOp op,
                                         PatternRewriter &rewriter,
                                         const LLVMTypeConverter &converter) {
  constexpr int64_t kColumnsOfAtom = kMetadataAtomBytes / kTensorColumnBytes;
  return replaceCopy(op, rewriter, converter, kMetadataCopyForm,
                     op.getMetadata(),
                     static_cast<int64_t>(op.getAtom()) * kColumnsOfAtom);
}

static LogicalResult convertCopyScales(CopyScalesOp op,
                                       PatternRewriter &rewriter,
                                       const LLVMTypeConverter &converter) {
  constexpr int64_t kColumnsOfAtom = kScaleAtomRows / kTensorWarpLanes;
  auto atom = static_cast<int64_t>(op.getRowAtom());
  auto number = static_cast<int64_t>(op.getWord());
  int64_t columns = number * op.getScales().getType().getColumnsOfWord() +
                    atom * kColumnsOfAtom;
  const auto *row =
      llvm::find_if(kScaleCopyForms, [&](const ScaleCopyForm &of) {
        return of.copies == op.getScales().getType().getCopies();
      });
  return replaceCopy(op, rewriter, converter, row->form, op.getScales(),
                     columns);
}

/// ptxas rematerializes constants for each instruction, two for this one. A
/// value that it cannot fold stays in a register. So the word is combined
/// with the highest bits of an address of tensor memory, which are 0: it has
/// 7 bits of lanes above 16 bits of columns.
static Value makeWord(OpBuilder &b, Location loc, uint32_t word,
                      Value address) {
  constexpr int64_t kUnusedShift = 30;
  Value shift = makeI32(b, loc, kUnusedShift);
  Value zero = arith::ShRUIOp::create(b, loc, address, shift);
  Value constant = makeI32(b, loc, word);
  return arith::AddIOp::create(b, loc, zero, constant);
}

/// The address of the word with a block; the scale id selects its byte.
static Value getScales(OpBuilder &b, Location loc, Value scales,
                       uint64_t block) {
  auto type = cast<TmemScalesType>(scales.getType());
  int64_t word = static_cast<int64_t>(block) / kBlocksOfWord;
  return getAddress(b, loc, scales, word * type.getColumnsOfWord());
}

/// Moves `value` to a register by `text`, so that LLVM does not fold what it
/// knows of the value into an operand.
static Value makeRegister(OpBuilder &b, Location loc, Value value,
                          StringRef text, StringRef constraints) {
  return LLVM::InlineAsmOp::create(
             b, loc, value.getType(), value, text, constraints,
             /*has_side_effects=*/false, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getRes();
}

/// ptxas accepts a mask of blocks only in a register (13.0: "Arguments
/// mismatch"), but LLVM would emit a constant as an immediate.
static Value makeMaskRegister(OpBuilder &b, Location loc, Value blocks) {
  if (!blocks || !getConstantIntValue(blocks))
    return blocks;
  return makeRegister(b, loc, blocks, "mov.b16 $0, $1;", "=h,h");
}

namespace {
/// The operands that instructions with and without scales have.
struct MmaOperands {
  Value acc, a, b, descriptor, accumulate;
  bool isTmem;

  /// Their PTX text, in which they are $0 to $3.
  std::string getText() const {
    return std::string(isTmem ? " [$0], [$1]" : " [$0], $1") + ", $2, $3";
  }
  /// A as NVVM ops take it.
  Value getA(OpBuilder &b, Location loc) const {
    return isTmem ? toPointer(b, loc, a) : a;
  }
};
} // namespace

static LogicalResult convertUnscaled(Tcgen05MmaOp op, const MmaOperands &of,
                                     PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  if (Value predicate = getPredicate(op))
    return replaceByPtx(rewriter, op, predicate,
                        "tcgen05.mma" + getGroupText(op.getGroup()) +
                            ".kind::f16" + of.getText() + ", $4;",
                        {of.acc, of.a, of.b, of.descriptor, of.accumulate});
  // LLVM 22 takes the descriptor of B for an address, and would emit the sum of
  // a register and a constant, which PTX allows for addresses only.
  Value b = makeRegister(rewriter, loc, of.b, "mov.b64 $0, $1;", "=l,l");
  rewriter.replaceOpWithNewOp<NVVM::Tcgen05MMAOp>(
      op, NVVM::Tcgen05MMAKind::F16, getGroup(op.getGroup()),
      NVVM::Tcgen05MMACollectorOp::DISCARD, /*aShift=*/false,
      toPointer(rewriter, loc, of.acc), of.getA(rewriter, loc), b,
      of.descriptor, of.accumulate, /*scaleInputD=*/Value(),
      /*disableOutputLane=*/Value());
  return success();
}

namespace {
/// What block-scaled instructions have beside MmaOperands.
struct ScaledForm {
  NVVM::MMABlockScaleKind kind;
  NVVM::Tcgen05MMABlockScale block;
  Value aScale, bScale;

  /// The qualifiers of the opcode.
  std::string getText() const {
    return ".kind::" + NVVM::stringifyMMABlockScaleKind(kind).str() +
           ".block_scale." + NVVM::stringifyTcgen05MMABlockScale(block).str();
  }
};
} // namespace

static LogicalResult convertSparse(Tcgen05MmaOp op, const MmaOperands &of,
                                   const ScaledForm &form,
                                   PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  constexpr int64_t kColumnsOfStep = kMetadataStepBytes / kTensorColumnBytes;
  Value metadata =
      getAddress(rewriter, loc, op.getMetadata(),
                 static_cast<int64_t>(op.getMetadataStep()) * kColumnsOfStep);
  if (Value predicate = getPredicate(op))
    return replaceByPtx(rewriter, op, predicate,
                        "tcgen05.mma.sp" + getGroupText(op.getGroup()) +
                            form.getText() +
                            " [$0], $1, $2, [$4], $3, [$5], [$6], $7;",
                        {of.acc, of.a, of.b, of.descriptor, metadata,
                         form.aScale, form.bScale, of.accumulate});
  rewriter.replaceOpWithNewOp<NVVM::Tcgen05MMASparseBlockScaleOp>(
      op, form.kind, getGroup(op.getGroup()), form.block,
      NVVM::Tcgen05MMACollectorOp::DISCARD, toPointer(rewriter, loc, of.acc),
      of.a, of.b, of.descriptor, of.accumulate,
      toPointer(rewriter, loc, metadata), toPointer(rewriter, loc, form.aScale),
      toPointer(rewriter, loc, form.bScale));
  return success();
}

static LogicalResult convertScaled(Tcgen05MmaOp op, const MmaOperands &of,
                                   PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  const Instruction &instruction = op.getInstruction().getInstruction();
  // The NVVM dialect has the names of kinds and blocks of PTX, which count the
  // kept elements of a sparse A.
  auto kind = NVVM::symbolizeMMABlockScaleKind(stringifyKind(instruction.kind));
  auto block = NVVM::symbolizeTcgen05MMABlockScale(
      "block" + std::to_string(getKeptElements(instruction.blockSize,
                                               instruction.sparsity)));
  if (!kind || !block)
    return rewriter.notifyMatchFailure(op, "expected an instruction that the "
                                           "NVVM dialect has");
  Value aScale = getScales(rewriter, loc, op.getAScale(), op.getABlock());
  Value bScale = getScales(rewriter, loc, op.getBScale(), op.getBBlock());
  ScaledForm form = {*kind, *block, aScale, bScale};
  if (instruction.isSparse())
    return convertSparse(op, of, form, rewriter);
  if (Value predicate = getPredicate(op))
    return replaceByPtx(
        rewriter, op, predicate,
        "tcgen05.mma" + getGroupText(op.getGroup()) + form.getText() +
            of.getText() + ", [$4], [$5], $6;",
        {of.acc, of.a, of.b, of.descriptor, aScale, bScale, of.accumulate});
  rewriter.replaceOpWithNewOp<NVVM::Tcgen05MMABlockScaleOp>(
      op, *kind, getGroup(op.getGroup()), *block,
      NVVM::Tcgen05MMACollectorOp::DISCARD, toPointer(rewriter, loc, of.acc),
      of.getA(rewriter, loc), of.b, of.descriptor, of.accumulate,
      toPointer(rewriter, loc, aScale), toPointer(rewriter, loc, bScale));
  return success();
}

static LogicalResult convertTcgen05Mma(Tcgen05MmaOp op,
                                       PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  std::optional<uint32_t> word = encodeInstructionDescriptor(op.getFields());
  if (!word)
    return rewriter.notifyMatchFailure(op, "expected an instruction that has a "
                                           "descriptor");
  Value acc = getAddress(rewriter, loc, op.getAcc());
  Value descriptor = makeWord(rewriter, loc, *word, acc);
  Value a = op.getA();
  bool isTmem = isa<TmemOperandType>(a.getType());
  if (isTmem)
    a = getAddress(rewriter, loc, a);
  MmaOperands operands = {acc,   a, op.getB(), descriptor, op.getAccumulate(),
                          isTmem};
  return op.getAScale() ? convertScaled(op, operands, rewriter)
                        : convertUnscaled(op, operands, rewriter);
}

static LogicalResult convertTcgen05Commit(Tcgen05CommitOp op,
                                          PatternRewriter &rewriter,
                                          const LLVMTypeConverter &converter) {
  Location loc = op.getLoc();
  Value barrier = getSharedElement(rewriter, loc, converter, op.getBarriers(),
                                   op.getIndex());
  Value blocks = makeMaskRegister(rewriter, loc, op.getBlocks());
  if (Value predicate = getPredicate(op)) {
    Value address =
        LLVM::PtrToIntOp::create(rewriter, loc, rewriter.getI32Type(), barrier);
    std::string text = "tcgen05.commit" + getGroupText(op.getGroup()) +
                       ".mbarrier::arrive::one.shared::cluster";
    if (blocks)
      return replaceByPtx(rewriter, op, predicate,
                          text + ".multicast::cluster.b64 [$0], $1;",
                          {address, blocks});
    return replaceByPtx(rewriter, op, predicate, text + ".b64 [$0];",
                        {address});
  }
  rewriter.replaceOpWithNewOp<NVVM::Tcgen05CommitOp>(op, barrier, blocks,
                                                     getGroup(op.getGroup()));
  return success();
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// The address of the lanes of the own warp: bits 5 and 6 of the thread index
/// are the warp modulo 4, times 32.
static Value getWindow(OpBuilder &b, Location loc, Value region, Value column,
                       uint64_t firstLane = 0) {
  constexpr int64_t kWindows = kTensorLanes - kTensorWarpLanes;
  Value address = getAddress(b, loc, region, column);
  if (firstLane != 0)
    address = arith::AddIOp::create(
        b, loc, address,
        makeI32(b, loc, static_cast<int64_t>(firstLane << kTensorLaneShift)));
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  thread = arith::IndexCastOp::create(b, loc, b.getI32Type(), thread);
  Value mask = makeI32(b, loc, kWindows);
  Value lane = arith::AndIOp::create(b, loc, thread, mask);
  Value shift = makeI32(b, loc, kTensorLaneShift);
  lane = arith::ShLIOp::create(b, loc, lane, shift);
  return toPointer(b, loc, arith::AddIOp::create(b, loc, address, lane));
}

/// NVVM has no vector of one column.
static Type getMovedType(OpBuilder &b, VectorType type) {
  if (type.getNumElements() == 1)
    return b.getI32Type();
  return type.clone(b.getI32Type());
}

static LogicalResult convertTmemLoad(TmemLoadOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  Value pointer = getWindow(rewriter, loc, op.getAcc(), op.getColumn(),
                            op.getFirstLane().value_or(0));
  auto type = cast<VectorType>(op.getType());
  auto shape = op.getFirstLane() ? NVVM::Tcgen05LdStShape::SHAPE_16X256B
                                 : NVVM::Tcgen05LdStShape::SHAPE_32X32B;
  Value loaded = NVVM::Tcgen05LdOp::create(
      rewriter, loc, getMovedType(rewriter, type), /*pack=*/false, shape,
      pointer, /*offset=*/Value());
  if (!isa<VectorType>(loaded.getType()))
    loaded = vector::FromElementsOp::create(
        rewriter, loc, type.clone(rewriter.getI32Type()), loaded);
  if (loaded.getType() != type)
    loaded = arith::BitcastOp::create(rewriter, loc, type, loaded);
  rewriter.replaceOp(op, loaded);
  return success();
}

static LogicalResult convertTmemStore(TmemStoreOp op,
                                      PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  Value pointer = getWindow(rewriter, loc, op.getAcc(), op.getColumn());
  Value stored = op.getValue();
  auto type = cast<VectorType>(stored.getType());
  Type bits = type.clone(rewriter.getI32Type());
  if (bits != type)
    stored = arith::BitcastOp::create(rewriter, loc, bits, stored);
  if (type.getNumElements() == 1)
    stored = vector::ExtractOp::create(rewriter, loc, stored, 0);
  rewriter.replaceOpWithNewOp<NVVM::Tcgen05StOp>(
      op, /*unpack=*/false, NVVM::Tcgen05LdStShape::SHAPE_32X32B, pointer,
      stored, /*offset=*/Value());
  return success();
}

static LogicalResult convertTmemWait(TmemWaitOp op, PatternRewriter &rewriter) {
  rewriter.replaceOpWithNewOp<NVVM::Tcgen05WaitOp>(
      op, op.getKind() == TmemWaitKind::Load ? NVVM::Tcgen05WaitKind::LOAD
                                             : NVVM::Tcgen05WaitKind::STORE);
  return success();
}

static LogicalResult convertTcgen05Fence(Tcgen05FenceOp op,
                                         PatternRewriter &rewriter) {
  rewriter.replaceOpWithNewOp<NVVM::Tcgen05FenceOp>(
      op, op.getKind() == Tcgen05FenceKind::Before
              ? NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC
              : NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
  return success();
}

void blockscale::populateTcgen05ToNVVMConversionPatterns(
    const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add(convertTmemRelinquish)
      .add(convertTmemBase)
      .add(convertTmemDealloc)
      .add(convertTmemRegion<TmemAccOp>)
      .add(convertTmemRegion<TmemScalesOp>)
      .add(convertTmemRegion<TmemOperandOp>)
      .add(convertTmemRegion<TmemMetadataOp>)
      .add(convertInstructionDescriptor)
      .add(convertTcgen05Mma)
      .add(convertTmemLoad)
      .add(convertTmemStore)
      .add(convertTmemWait)
      .add(convertTcgen05Fence);
  addPatterns(patterns, converter, convertTmemAlloc, convertMatrixDescriptor,
              convertCopyScales, convertCopyMetadata, convertTcgen05Commit);
}
