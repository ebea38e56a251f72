//===- TensorMemory.cpp - Tensor memory in software -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slots of one variable, and their owners. A slot changes its owner with
// acquire and release in the scope of the device, so the new owner sees all
// accesses of the last one as complete.
//
//===----------------------------------------------------------------------===//

#include "Emulation/Tcgen05/TensorMemory.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr StringLiteral kDeviceScope = "device";

//===----------------------------------------------------------------------===//
// Functions and variables
//===----------------------------------------------------------------------===//

func::FuncOp blockscale::getSoftFunction(
    gpu::GPUModuleOp module, StringRef name, TypeRange arguments,
    TypeRange results,
    function_ref<void(ImplicitLocOpBuilder &, func::FuncOp)> body) {
  if (auto function = module.lookupSymbol<func::FuncOp>(name))
    return function;
  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  auto function =
      func::FuncOp::create(b, name, b.getFunctionType(arguments, results));
  function.setPrivate();
  // As for mma.sync in software, see EmulateMmaFunction.cpp.
  function.setNoInline(true);
  function->setAttr("passthrough", b.getStrArrayAttr({"noinline"}));
  function->setAttr("llvm.bareptr", b.getUnitAttr());
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  SymbolTable(module).insert(function);
  b.setInsertionPointToStart(function.addEntryBlock());
  body(b, function);
  return function;
}

LLVM::GlobalOp blockscale::addSoftVariable(gpu::GPUModuleOp module,
                                           StringRef name, Type type,
                                           bool isConstant,
                                           Attribute initializer) {
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  constexpr uint64_t kAlignment = 128;
  auto variable = LLVM::GlobalOp::create(
      b, module.getLoc(), type, isConstant, LLVM::Linkage::Internal, name,
      initializer, kAlignment,
      static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
  if (initializer)
    return variable;
  b.createBlock(&variable.getInitializer());
  Value zero = LLVM::ZeroOp::create(b, module.getLoc(), type);
  LLVM::ReturnOp::create(b, module.getLoc(), zero);
  return variable;
}

Value blockscale::getSoftPointer(ImplicitLocOpBuilder &b,
                                 LLVM::GlobalOp variable) {
  return LLVM::AddressOfOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), variable.getAddrSpace()),
      variable.getSymName());
}

LLVM::GlobalOp SoftTensorMemory::getVariable(StringRef name, int64_t words) {
  if (auto variable = module.lookupSymbol<LLVM::GlobalOp>(name))
    return variable;
  auto i32 = IntegerType::get(module.getContext(), 32);
  return addSoftVariable(module, name, LLVM::LLVMArrayType::get(i32, words),
                         /*isConstant=*/false, /*initializer=*/{});
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

static Value getElement(ImplicitLocOpBuilder &b, Value base, Value index) {
  // Indices of cells fit into 32 bits, but are unsigned.
  Value wide = b.createOrFold<arith::ExtUIOp>(b.getI64Type(), index);
  return LLVM::GEPOp::create(b, base.getType(), b.getI32Type(), base, wide);
}

Value SoftTensorMemory::getCell(const Word &address, const Word &lanes,
                                const Word &columns) {
  ImplicitLocOpBuilder &b = *address.b;
  constexpr unsigned kLaneBits = kSlotShift - kLaneShift;
  static_assert(kLanes == int64_t(1) << kLaneBits);
  Word at = address + (lanes << kLaneShift) + columns;
  Word index = (at >> kSlotShift) * (kLanes * kColumns) +
               at.field(0, kLaneShift) * kLanes +
               at.field(kLaneShift, kLaneBits);
  Value base = getSoftPointer(
      b, getVariable("__blockscale_tensor_memory", kSlots * kLanes * kColumns));
  return getElement(b, base, index);
}

Value SoftTensorMemory::getNeighbor(ImplicitLocOpBuilder &b, Value cell,
                                    int64_t lanes, int64_t columns) {
  return LLVM::GEPOp::create(
      b, cell.getType(), b.getI32Type(), cell,
      LLVM::GEPArg(static_cast<int32_t>(columns * kLanes + lanes)));
}

//===----------------------------------------------------------------------===//
// Owners
//===----------------------------------------------------------------------===//

Value SoftTensorMemory::getOwner(ImplicitLocOpBuilder &b, Value slot) {
  Value base = getSoftPointer(
      b, getVariable("__blockscale_tensor_memory_owners", kSlots));
  return getElement(b, base, slot);
}

func::FuncOp SoftTensorMemory::getAllocate() {
  auto i32 = IntegerType::get(module.getContext(), 32);
  return getSoftFunction(
      module, "emulated_tcgen05_alloc", {}, {i32},
      [&](ImplicitLocOpBuilder &b, func::FuncOp) {
        // Blocks start their search at different slots.
        Value block = gpu::BlockIdOp::create(b, gpu::Dimension::x);
        Word first =
            Word(b, arith::IndexCastOp::create(b, i32, block)) & (kSlots - 1);
        auto loop = scf::WhileOp::create(
            b, TypeRange(i32), ValueRange{first},
            [&](OpBuilder &, Location, ValueRange values) {
              Word free(b, 0), owned(b, 1);
              Value old = LLVM::AtomicCmpXchgOp::create(
                  b, getOwner(b, values[0]), free, owned,
                  LLVM::AtomicOrdering::acquire, LLVM::AtomicOrdering::acquire,
                  kDeviceScope);
              Word owner(b, LLVM::ExtractValueOp::create(b, old, 0));
              Value isOwned = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                                    owner, free);
              scf::ConditionOp::create(b, isOwned, values[0]);
            },
            [&](OpBuilder &, Location, ValueRange values) {
              Word next = (Word(b, values[0]) + 1) & (kSlots - 1);
              scf::YieldOp::create(b, next.value);
            });
        Word slot(b, loop.getResult(0));
        func::ReturnOp::create(b, (slot << kSlotShift).value);
      });
}

func::FuncOp SoftTensorMemory::getFree() {
  auto i32 = IntegerType::get(module.getContext(), 32);
  return getSoftFunction(
      module, "emulated_tcgen05_dealloc", {i32}, {},
      [&](ImplicitLocOpBuilder &b, func::FuncOp function) {
        Word slot = Word(b, function.getArgument(0)) >> kSlotShift;
        constexpr unsigned kWordBytes = 4;
        LLVM::StoreOp::create(b, Word(b, 0), getOwner(b, slot), kWordBytes,
                              /*isVolatile=*/false, /*isNonTemporal=*/false,
                              /*isInvariantGroup=*/false,
                              LLVM::AtomicOrdering::release, kDeviceScope);
        func::ReturnOp::create(b);
      });
}
