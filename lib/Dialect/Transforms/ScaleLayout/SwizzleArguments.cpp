//===- SwizzleArguments.cpp - Swizzled scales as arguments ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First decides about all arguments, callees before callers, because an
// argument that is passed on can be swizzled only if the callee's argument is.
// Then changes functions, and then calls, so that a caller can pass on a
// swizzled argument.
//
//===----------------------------------------------------------------------===//

#include "ScaleLayout/ScaleTrace.h"
#include "ScaleLayout/ScaleUses.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {

class ArgumentSwizzler {
public:
  ArgumentSwizzler(ModuleOp module,
                   function_ref<bool(MmaScaledOp)> wantsSwizzled)
      : module(module), wantsSwizzled(wantsSwizzled) {}

  void run() {
    for (auto function : module.getOps<func::FuncOp>())
      functions[function.getSymNameAttr()] = function;
    if (failed(findCalls())) {
      module.emitRemark("signatures stay: there is an op of no known dialect "
                        "with a region, which may call anything");
      return;
    }
    for (func::FuncOp function : sortCalleesFirst())
      decide(function);
    for (auto &[argument, rowsLast] : swizzled)
      change(cast<func::FuncOp>(argument.first), argument.second, rowsLast);
    for (auto &[function, callers] : calls)
      for (func::CallOp call : callers)
        change(call, function);
  }

private:
  //===--------------------------------------------------------------------===//
  // Calls
  //===--------------------------------------------------------------------===//

  LogicalResult findCalls() {
    std::optional<SymbolTable::UseRange> uses =
        SymbolTable::getSymbolUses(&module.getBodyRegion());
    if (!uses)
      return failure();
    for (const SymbolTable::SymbolUse &use : *uses) {
      auto found = functions.find(use.getSymbolRef().getRootReference());
      if (found == functions.end())
        continue;
      auto call = dyn_cast<func::CallOp>(use.getUser());
      if (!call || call.getCalleeAttr() != use.getSymbolRef()) {
        otherUsers.try_emplace(found->second, use.getUser());
        continue;
      }
      // The callee may also appear in an attribute of the call.
      SmallVector<func::CallOp> &callers = calls[found->second];
      if (callers.empty() || callers.back() != call)
        callers.push_back(call);
    }
    return success();
  }

  /// Functions in an order with callees before callers, except for recursion.
  SmallVector<func::FuncOp> sortCalleesFirst() {
    DenseMap<Operation *, SmallVector<Operation *>> callees;
    for (auto &[function, callers] : calls)
      for (func::CallOp call : callers)
        if (auto caller = call->getParentOfType<func::FuncOp>())
          callees[caller].push_back(function);

    SmallVector<func::FuncOp> sorted;
    DenseSet<Operation *> visited;
    for (auto root : module.getOps<func::FuncOp>()) {
      // Not recursive, because chains of calls may be long.
      SmallVector<std::pair<Operation *, size_t>> stack;
      if (visited.insert(root).second)
        stack.push_back({root, 0});
      while (!stack.empty()) {
        auto &[function, next] = stack.back();
        ArrayRef<Operation *> called = callees[function];
        if (next == called.size()) {
          sorted.push_back(cast<func::FuncOp>(function));
          stack.pop_back();
        } else if (Operation *callee = called[next++];
                   visited.insert(callee).second) {
          stack.push_back({callee, 0});
        }
      }
    }
    return sorted;
  }

  //===--------------------------------------------------------------------===//
  // Decisions
  //===--------------------------------------------------------------------===//

  void decide(func::FuncOp function) {
    if (function.isExternal())
      return;
    for (BlockArgument argument : function.getArguments()) {
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      if (!type || (type.getRank() != 2 && type.getRank() != 3) ||
          !getScaleFormat(type.getElementType()))
        continue;
      ScaleUses uses = inspectScaleUses(
          argument, wantsSwizzled, [&](func::CallOp call, unsigned number) {
            return getSwizzledOrder(call, number);
          });
      if (!uses.holdsScales)
        continue;
      findOtherObstacle(function, argument, uses);
      if (uses.reason.empty())
        swizzled[{function, argument.getArgNumber()}] = uses.rowsLast;
      else
        refuse(function, argument, uses);
    }
  }

  /// Whether the callee has the rows of this operand last; nullopt if its
  /// argument is not swizzled.
  std::optional<bool> getSwizzledOrder(func::CallOp call, unsigned number) {
    Operation *callee = functions.lookup(call.getCalleeAttr().getAttr());
    auto found = swizzled.find({callee, number});
    if (found == swizzled.end())
      return std::nullopt;
    return found->second;
  }

  /// Finds what prevents a change of an argument that holds only scales.
  void findOtherObstacle(func::FuncOp function, BlockArgument argument,
                         ScaleUses &uses) {
    if (Operation *user = otherUsers.lookup(function))
      uses.setObstacle(user, "what refers to the function is no call");
    else if (!cast<ShapedType>(argument.getType()).hasStaticShape())
      uses.setObstacle(function, "expected static sizes, as atoms do not tell "
                                 "where scales end");
    else if (function.getArgAttr(
                 argument.getArgNumber(),
                 bufferization::BufferizationDialect::kBufferLayoutAttrName))
      uses.setObstacle(function, "it has a buffer layout of its own");
  }

  static void refuse(func::FuncOp function, BlockArgument argument,
                     const ScaleUses &uses) {
    InFlightDiagnostic remark = function.emitRemark("argument ")
                                << argument.getArgNumber()
                                << " stays row-major: " << uses.reason;
    if (uses.obstacle != function)
      remark.attachNote(uses.obstacle->getLoc()) << "see here";
  }

  //===--------------------------------------------------------------------===//
  // Changes
  //===--------------------------------------------------------------------===//

  static void change(func::FuncOp function, unsigned number, bool rowsLast) {
    BlockArgument argument = function.getArgument(number);
    auto type = cast<RankedTensorType>(argument.getType());
    RankedTensorType rowsFirst = getRowsFirstType(type, rowsLast);
    SmallVector<OpOperand *> uses =
        llvm::to_vector(llvm::make_pointer_range(argument.getUses()));

    argument.setType(getSwizzledType(rowsFirst));
    function.setFunctionType(FunctionType::get(
        function.getContext(), function.getBody().getArgumentTypes(),
        function.getResultTypes()));
    function.setArgAttr(number, kSwizzledAttrName, TypeAttr::get(rowsFirst));
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    Value scales = getUnswizzled(
        builder, argument.getLoc(), argument, type, rowsLast,
        getAsIndexOpFoldResult(function.getContext(), type.getShape()));
    for (OpOperand *use : uses)
      use->set(scales);
  }

  void change(func::CallOp call, Operation *function) {
    OpBuilder builder(call);
    for (OpOperand &operand : call->getOpOperands()) {
      auto found = swizzled.find({function, operand.getOperandNumber()});
      if (found == swizzled.end())
        continue;
      Operation *producer = operand.get().getDefiningOp();
      operand.set(
          getSwizzled(builder, call.getLoc(), operand.get(), found->second));
      if (producer && isOpTriviallyDead(producer))
        producer->erase();
    }
  }

  ModuleOp module;
  function_ref<bool(MmaScaledOp)> wantsSwizzled;
  DenseMap<StringAttr, Operation *> functions;
  llvm::MapVector<Operation *, SmallVector<func::CallOp>> calls;
  /// For each function with a use other than a call, that use.
  DenseMap<Operation *, Operation *> otherUsers;
  /// The arguments that change, and whether they had their rows last.
  llvm::MapVector<std::pair<Operation *, unsigned>, bool> swizzled;
};

} // namespace

void blockscale::swizzleArguments(
    ModuleOp module, function_ref<bool(MmaScaledOp)> wantsSwizzled) {
  ArgumentSwizzler(module, wantsSwizzled).run();
}
