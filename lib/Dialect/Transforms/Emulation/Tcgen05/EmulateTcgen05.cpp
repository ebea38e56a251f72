//===- EmulateTcgen05.cpp - Emulation of tcgen05 --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Works on the ops of NVVM, whose operands are those of the instructions, so
// that descriptors and addresses from the lowering are tested, too. A table has
// an emulation for each kind of op.
//
// An emulated instruction is complete when its function returns. It accesses
// shared memory through the generic proxy, while the tensor core uses the async
// proxy. A fence after it orders copies that may overwrite its operands.
//
//===----------------------------------------------------------------------===//

#include "Emulation/Tcgen05/SharedWork.h"
#include "Emulation/Tcgen05/SoftFunctions.h"
#include "Utils/AccFragment.h"
#include "Utils/IndexValues.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_EMULATETCGEN05PASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// One instruction to replace.
struct Site {
  Site(Operation *op, gpu::GPUModuleOp module, const SharedWork *work)
      : op(op), module(module), memory(module), work(work),
        b(op->getLoc(), op) {}

  Operation *op;
  gpu::GPUModuleOp module;
  SoftTensorMemory memory;
  /// Null if a single thread executes it.
  const SharedWork *work;
  ImplicitLocOpBuilder b;

  InFlightDiagnostic refuse(StringRef what) {
    return op->emitOpError("not supported in this version: ")
           << what << " in software";
  }
  LogicalResult checkGroup(NVVM::CTAGroupKind group) {
    if (group == NVVM::CTAGroupKind::CTA_1)
      return success();
    return refuse("cta_group::2");
  }

  /// An address in tensor memory as a word.
  Word getAddress(Value pointer) {
    return {b, LLVM::PtrToIntOp::create(b, b.getI32Type(), pointer)};
  }
  Word getLane() {
    Value lane = gpu::LaneIdOp::create(b, /*upper_bound=*/IntegerAttr());
    return {b, arith::IndexCastOp::create(b, b.getI32Type(), lane)};
  }
  void syncWarp() { NVVM::SyncWarpOp::create(b, Word(b, -1)); }
  /// Emits a memory fence in the scope of the block.
  void fence() {
    LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acq_rel, "block");
  }
  /// Calls a function whose work lanes share, or that one thread executes.
  void callShared(func::FuncOp function, SmallVector<Value> arguments);
};
} // namespace

void Site::callShared(func::FuncOp function, SmallVector<Value> arguments) {
  constexpr int64_t kWarpLanes = 32;
  if (work) {
    for (Value &argument : arguments)
      argument = work->broadcast(b, op->getLoc(), argument);
    // Lanes read what other lanes wrote for the previous instruction.
    syncWarp();
    arguments.append({getLane(), Word(b, kWarpLanes)});
  } else {
    arguments.append({Word(b, 0), Word(b, 1)});
  }
  func::CallOp::create(b, function, arguments);
  NVVM::FenceProxyOp::create(
      b,
      NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  if (work)
    syncWarp();
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

/// Runs `body` in one lane of a warp; the other lanes wait for it.
static void emitInFirstLane(Site &site, function_ref<void()> body) {
  Value isFirst = site.getLane().isEqual(0);
  auto branch = scf::IfOp::create(site.b, isFirst);
  {
    OpBuilder::InsertionGuard guard(site.b);
    site.b.setInsertionPointToStart(branch.thenBlock());
    body();
  }
  site.syncWarp();
}

/// Waits for the previous kernel, whose blocks need slots, too: otherwise
/// blocks of this one that start early could keep all of them. (Without a
/// previous kernel, the wait has no effect.)
static void emitGridWait(Site &site) {
  // The same assembly as in convert-blockscale-to-nvvm.
  LLVM::InlineAsmOp::create(site.b, /*res=*/TypeRange(),
                            /*operands=*/ValueRange(), "griddepcontrol.wait;",
                            "~{memory}", /*has_side_effects=*/true,
                            /*is_align_stack=*/false, LLVM::TailCallKind::None,
                            LLVM::AsmDialectAttr(), ArrayAttr());
}

static LogicalResult emulateAlloc(Site &site) {
  auto op = cast<NVVM::Tcgen05AllocOp>(site.op);
  if (failed(site.checkGroup(op.getGroup())))
    return failure();
  emitGridWait(site);
  emitInFirstLane(site, [&] {
    auto call =
        func::CallOp::create(site.b, site.memory.getAllocate(), ValueRange());
    LLVM::StoreOp::create(site.b, call.getResult(0), op.getAddr());
  });
  return success();
}

static LogicalResult emulateDealloc(Site &site) {
  auto op = cast<NVVM::Tcgen05DeallocOp>(site.op);
  if (failed(site.checkGroup(op.getGroup())))
    return failure();
  Value address = site.getAddress(op.getTaddr());
  emitInFirstLane(site, [&] {
    func::CallOp::create(site.b, site.memory.getFree(), address);
  });
  return success();
}

static LogicalResult emulateRelinquish(Site &site) {
  return site.checkGroup(
      cast<NVVM::Tcgen05RelinquishAllocPermitOp>(site.op).getGroup());
}

//===----------------------------------------------------------------------===//
// Instructions of one thread
//===----------------------------------------------------------------------===//

static LogicalResult emulateCopy(Site &site) {
  auto op = cast<NVVM::Tcgen05CpOp>(site.op);
  if (failed(site.checkGroup(op.getGroup())))
    return failure();
  if (op.getShape() != NVVM::Tcgen05CpShape::SHAPE_32x128b ||
      op.getMulticast() != NVVM::Tcgen05CpMulticast::WARPX4 ||
      op.getSrcFormat())
    return site.refuse("other copies than 32x128b.warpx4");
  site.callShared(getSoftCopy(site.module),
                  {site.getAddress(op.getTaddr()), op.getSmemDesc()});
  return success();
}

static std::optional<Kind> getKind(NVVM::MMABlockScaleKind kind) {
  switch (kind) {
  case NVVM::MMABlockScaleKind::MXF8F6F4:
    return Kind::MXF8F6F4;
  case NVVM::MMABlockScaleKind::MXF4:
    return Kind::MXF4;
  case NVVM::MMABlockScaleKind::MXF4NVF4:
    return Kind::MXF4NVF4;
  }
  return std::nullopt;
}

static LogicalResult emulateMma(Site &site) {
  auto op = cast<NVVM::Tcgen05MMABlockScaleOp>(site.op);
  if (failed(site.checkGroup(op.getCtaGroup())))
    return failure();
  Value a = op.getMatrixA();
  bool isInTensor = !a.getType().isInteger();
  if (isInTensor)
    a = site.getAddress(a);
  std::optional<Kind> kind = getKind(op.getKind());
  bool is16 = op.getBlockScale() == NVVM::Tcgen05MMABlockScale::BLOCK16;
  if (!kind || (is16 && *kind != Kind::MXF4NVF4))
    return site.refuse("such a kind");
  Value isAdded =
      arith::ExtUIOp::create(site.b, site.b.getI32Type(), op.getEnableInputD());
  site.callShared(getSoftMma(site.module, *kind, is16 ? 16 : 32, isInTensor),
                  {site.getAddress(op.getMatrixD()), a, op.getMatrixB(),
                   op.getIdesc(), site.getAddress(op.getScaleA()),
                   site.getAddress(op.getScaleB()), isAdded});
  return success();
}

/// Arrives at the mbarriers at the same address in the blocks of the cluster
/// whose bit is set.
static void emitArrivals(Site &site, Value barrier, Value blocks) {
  constexpr int64_t kMostBlocks = 16;
  ImplicitLocOpBuilder &b = site.b;
  Word mask(b, arith::ExtUIOp::create(b, b.getI32Type(), blocks));
  auto loop =
      scf::ForOp::create(b, Word(b, 0), Word(b, kMostBlocks), Word(b, 1));
  b.setInsertionPointToStart(loop.getBody());
  Word rank(b, loop.getInductionVar());
  auto branch = scf::IfOp::create(b, ((mask >> rank) & 1).isEqual(1));
  b.setInsertionPointToStart(branch.thenBlock());
  auto type = LLVM::LLVMPointerType::get(
      b.getContext(),
      static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
  Value mapped = NVVM::MapaOp::create(b, type, barrier, rank);
  NVVM::MBarrierArriveOp::create(b, /*resultTypes=*/TypeRange(), mapped,
                                 /*count=*/Value(), NVVM::MemScopeKind::CLUSTER,
                                 /*relaxed=*/false);
}

/// The thread arrives at once, because its earlier instructions are complete
/// and visible to it.
static LogicalResult emulateCommit(Site &site) {
  auto op = cast<NVVM::Tcgen05CommitOp>(site.op);
  if (failed(site.checkGroup(op.getGroup())))
    return failure();
  OpBuilder::InsertionGuard guard(site.b);
  if (site.work) {
    auto branch = scf::IfOp::create(site.b, site.work->isElected);
    site.b.setInsertionPointToStart(branch.thenBlock());
  }
  site.fence();
  if (Value blocks = op.getMulticastMask())
    emitArrivals(site, op.getAddr(), blocks);
  else
    NVVM::MBarrierArriveOp::create(site.b, site.b.getI64Type(), op.getAddr(),
                                   /*count=*/Value());
  return success();
}

//===----------------------------------------------------------------------===//
// Loads, stores and fences
//===----------------------------------------------------------------------===//

namespace {
/// The cells of the registers of an instruction: PTX ISA, "Data movement
/// shape".
struct MoveShape {
  NVVM::Tcgen05LdStShape shape;
  /// The lane, relative to the address, and the column of a thread's first
  /// register.
  AccPosition (*getFirst)(AffineExpr thread);
  /// The distance of a register from the first one.
  std::array<int64_t, 2> (*getOffset)(int64_t reg);
};
} // namespace

static const MoveShape kMoveShapes[] = {
    {NVVM::Tcgen05LdStShape::SHAPE_32X32B,
     [](AffineExpr thread) -> AccPosition { return {thread, thread * 0}; },
     [](int64_t reg) { return std::array<int64_t, 2>{0, reg}; }},
    {NVVM::Tcgen05LdStShape::SHAPE_16X256B,
     [](AffineExpr thread) { return getAccPosition(thread, /*reg=*/0); },
     getAccOffset},
};

/// The cells of `count` registers; empty after an error.
static SmallVector<Value> getCells(Site &site, NVVM::Tcgen05LdStShape shape,
                                   Value pointer, Value offset, int64_t count) {
  const MoveShape *found = llvm::find_if(
      kMoveShapes, [&](const MoveShape &row) { return row.shape == shape; });
  if (found == std::end(kMoveShapes) || offset) {
    site.refuse("loads and stores of other shapes than 32x32b and 16x256b");
    return {};
  }
  auto [lane, column] = found->getFirst(site.b.getAffineDimExpr(0));
  Value thread = gpu::LaneIdOp::create(site.b, /*upper_bound=*/IntegerAttr());
  SmallVector<Value> position =
      applyExprs(site.b, site.b.getLoc(), {lane, column}, thread);
  auto toWord = [&](Value index) -> Word {
    return {site.b,
            arith::IndexCastOp::create(site.b, site.b.getI32Type(), index)};
  };
  Value first = site.memory.getCell(site.getAddress(pointer),
                                    toWord(position[0]), toWord(position[1]));
  SmallVector<Value> cells;
  for (int64_t reg = 0; reg != count; ++reg) {
    auto [plusLane, plusColumn] = found->getOffset(reg);
    cells.push_back(
        SoftTensorMemory::getNeighbor(site.b, first, plusLane, plusColumn));
  }
  return cells;
}

static int64_t getCount(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

static LogicalResult emulateLoad(Site &site) {
  auto op = cast<NVVM::Tcgen05LdOp>(site.op);
  Type type = op.getType();
  if (op.getPack())
    return site.refuse("packed loads");
  SmallVector<Value> values = getCells(site, op.getShape(), op.getTmemAddr(),
                                       op.getOffset(), getCount(type));
  if (values.empty())
    return failure();
  for (Value &value : values)
    value = LLVM::LoadOp::create(site.b, site.b.getI32Type(), value);
  Value loaded = values.front();
  if (isa<VectorType>(type))
    loaded = vector::FromElementsOp::create(site.b, type, values);
  op.getResult().replaceAllUsesWith(loaded);
  return success();
}

static LogicalResult emulateStore(Site &site) {
  auto op = cast<NVVM::Tcgen05StOp>(site.op);
  Type type = op.getVal().getType();
  if (op.getUnpack())
    return site.refuse("unpacked stores");
  SmallVector<Value> cells = getCells(site, op.getShape(), op.getTmemAddr(),
                                      op.getOffset(), getCount(type));
  if (cells.empty())
    return failure();
  for (auto [i, cell] : llvm::enumerate(cells)) {
    Value value = op.getVal();
    if (isa<VectorType>(type))
      value = vector::ExtractOp::create(site.b, value, i);
    LLVM::StoreOp::create(site.b, value, cell);
  }
  return success();
}

/// Replaces waits and fences of tensor memory by memory fences.
static LogicalResult emulateFence(Site &site) {
  site.fence();
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct Row {
  StringRef name;
  LogicalResult (*emulate)(Site &site);
  /// Whether lanes can share the work.
  bool isShared;
};
} // namespace

static const Row kRows[] = {
    {NVVM::Tcgen05AllocOp::getOperationName(), emulateAlloc, false},
    {NVVM::Tcgen05DeallocOp::getOperationName(), emulateDealloc, false},
    {NVVM::Tcgen05RelinquishAllocPermitOp::getOperationName(),
     emulateRelinquish, false},
    {NVVM::Tcgen05CpOp::getOperationName(), emulateCopy, true},
    {NVVM::Tcgen05MMABlockScaleOp::getOperationName(), emulateMma, true},
    {NVVM::Tcgen05CommitOp::getOperationName(), emulateCommit, true},
    {NVVM::Tcgen05LdOp::getOperationName(), emulateLoad, false},
    {NVVM::Tcgen05StOp::getOperationName(), emulateStore, false},
    {NVVM::Tcgen05WaitOp::getOperationName(), emulateFence, false},
    {NVVM::Tcgen05FenceOp::getOperationName(), emulateFence, false},
};

static const Row *findRow(Operation *op) {
  StringRef name = op->getName().getStringRef();
  const Row *row =
      llvm::find_if(kRows, [&](const Row &r) { return r.name == name; });
  return row == std::end(kRows) ? nullptr : row;
}

namespace {
struct EmulateTcgen05Pass final
    : mlir::blockscale::impl::EmulateTcgen05PassBase<EmulateTcgen05Pass> {
  void runOnOperation() override {
    FailureOr<TargetAttr> target = lookupTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    if (!*target || !(*target).getEmulatedOn())
      return;
    WalkResult result =
        getOperation()->walk([&](gpu::GPUModuleOp module) -> WalkResult {
          return emulate(module, (*target).getFinalChip());
        });
    if (result.wasInterrupted())
      return signalPassFailure();
    getOperation()->setAttr(
        kTargetAttrName,
        TargetAttr::get(&getContext(), &(*target).getFinalChip(), nullptr));
  }

private:
  static LogicalResult emulate(gpu::GPUModuleOp module, const Chip &chip) {
    auto shared = shareElected(module, [](Operation *op) {
      const Row *row = findRow(op);
      return row && row->isShared;
    });
    SmallVector<Operation *> worklist;
    module.walk([&](Operation *op) {
      if (op->getName().getStringRef().starts_with("nvvm.tcgen05."))
        worklist.push_back(op);
    });
    if (!worklist.empty() && !hasBulkCopies(chip))
      return worklist.front()->emitOpError(
                 "expected a chip with bulk copies for what is computed in "
                 "software, got ")
             << StringRef(chip.name);
    for (Operation *op : worklist) {
      auto work = shared.find(op);
      Site site(op, module, work == shared.end() ? nullptr : &work->second);
      const Row *row = findRow(op);
      if (!row)
        return site.refuse(op->getName().stripDialect());
      if (failed(row->emulate(site)))
        return failure();
      op->erase();
    }
    return success();
  }
};
} // namespace
