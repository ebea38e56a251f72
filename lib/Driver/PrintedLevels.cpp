//===- PrintedLevels.cpp - Levels as text, and back -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A level can be printed, changed by hand, and lowered further. Attributes hold
// what later levels need and the ops no longer have. Options that are already
// decided at the level are refused.
//
//===----------------------------------------------------------------------===//

#include "PrintedLevels.h"

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/IR/PrintedLevel.h"
#include "blockscale/Driver/LevelPrinting.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr struct {
  StringLiteral name;
  GpuStage stage;
} levels[] = {
    {"tile", GpuStage::Tile},
    {"kernel", GpuStage::Kernel},
    {"instr", GpuStage::Instruction},
    {"nvvm", GpuStage::NVVM},
};

StringRef blockscale::getLevelName(GpuStage stage) {
  for (const auto &level : levels)
    if (level.stage == stage)
      return level.name;
  return "";
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// Whether kernels of `module` have checks whose messages include a location in
/// the program.
static bool hasLocations(ModuleOp module, StringRef level) {
  // On the CPU, the locations are part of the message from the start.
  if (!module->hasAttr(kTargetAttrName) || level == "nvvm")
    return false;
  auto isIndex = [](Type type) { return type.isIndex(); };
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    bool isChecked =
        isa<RuntimeVerifiableOpInterface>(op) &&
        op->getParentOfType<func::FuncOp>() &&
        (!hasStaticShapes(op) || llvm::any_of(op->getOperandTypes(), isIndex));
    return isChecked || isa<cf::AssertOp>(op) ? WalkResult::interrupt()
                                              : WalkResult::advance();
  });
  return result.wasInterrupted();
}

std::string blockscale::printLevel(ModuleOp module, StringRef level) {
  Builder builder(module.getContext());
  module->setAttr(kLevelAttrName, builder.getStringAttr(level));
  // Handwritten kernels.
  module.walk([&](nvgpu::DeviceAsyncCreateGroupOp op) {
    if (op.getInputTokens().empty())
      op->setAttr(kNoTokensAttrName, builder.getUnitAttr());
  });
  OpPrintingFlags flags;
  if (hasLocations(module, level))
    flags.enableDebugInfo();
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, flags);
  stream << "\n";
  return text;
}

FailureOr<StringRef> blockscale::getPrintedLevel(ModuleOp module) {
  Attribute attr = module->getAttr(kLevelAttrName);
  if (!attr)
    return StringRef();
  auto name = dyn_cast<StringAttr>(attr);
  if (name && llvm::any_of(levels, [&](const auto &level) {
        return level.name == name.getValue();
      }))
    return name.getValue();
  return module.emitError("expected the attribute '")
         << kLevelAttrName << "' to be one of tile kernel instr nvvm, got "
         << attr;
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

void blockscale::attachSignature(ModuleOp module, const Signature &signature) {
  auto function = module.lookupSymbol<func::FuncOp>(signature.name);
  function->setAttr(kSignatureAttrName, TypeAttr::get(signature.type));
  if (!signature.schedules.empty())
    function->setAttr(kSchedulesAttrName, StringAttr::get(module.getContext(),
                                                          signature.schedules));
}

func::FuncOp blockscale::findOnlyFunction(ModuleOp module) {
  func::FuncOp found;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    if (found)
      return {};
    found = function;
  }
  return found;
}

FailureOr<std::optional<Signature>> blockscale::readSignature(ModuleOp module) {
  func::FuncOp found = findOnlyFunction(module);
  if (!found || !found->hasAttr(kSignatureAttrName))
    return std::optional<Signature>();
  auto attr = found->getAttrOfType<TypeAttr>(kSignatureAttrName);
  auto type = attr ? dyn_cast<FunctionType>(attr.getValue()) : FunctionType();
  if (!type)
    return found.emitError("expected the attribute '")
           << kSignatureAttrName << "' to be the type of a function";
  auto types = llvm::to_vector(
      llvm::concat<const Type>(type.getInputs(), type.getResults()));
  bool isSame = types.size() == found.getNumArguments();
  for (size_t i = 0; isSame && i != types.size(); ++i) {
    auto tensor = dyn_cast<RankedTensorType>(types[i]);
    auto memory = dyn_cast<MemRefType>(found.getArgumentTypes()[i]);
    // Scalars are results in memory.
    isSame = tensor ? memory && memory.getRank() == tensor.getRank()
                    : memory || i < type.getNumInputs();
  }
  if (!isSame)
    return found.emitError("expected parameters for the arguments and results "
                           "of the attribute '")
           << kSignatureAttrName << "', got " << found.getFunctionType();
  auto schedules = found->getAttrOfType<StringAttr>(kSchedulesAttrName);
  return std::optional(Signature{found.getSymName().str(), type,
                                 schedules ? schedules.str() : ""});
}

//===----------------------------------------------------------------------===//
// Going on
//===----------------------------------------------------------------------===//

InFlightDiagnostic blockscale::emitOptionError(ModuleOp module) {
  return emitError(UnknownLoc::get(module.getContext()));
}

/// Checks that the chips of the options are those of the module.
static LogicalResult checkTarget(ModuleOp module, GpuCompileOptions &options) {
  FailureOr<TargetAttr> target = lookupTarget(module);
  if (failed(target))
    return failure();
  auto expectTarget = [&](StringRef name) -> LogicalResult {
    return emitOptionError(module)
           << "expected " << name
           << " as target, for which the input was lowered, got "
           << StringRef(options.target->name);
  };
  if (!*target)
    return expectTarget("cpu");
  if ((*target).getChip() != options.target)
    return expectTarget((*target).getChip()->name);
  const Chip *other = (*target).getEmulatedOn();
  if (options.emulateOn && options.emulateOn != other)
    return emitOptionError(module)
           << "expected " << (other ? StringRef(other->name) : "no chip")
           << " to emulate on, for which the input was lowered, got "
           << StringRef(options.emulateOn->name);
  options.emulateOn = other;
  return success();
}

FailureOr<std::optional<GpuStage>>
blockscale::readLevel(ModuleOp module, GpuCompileOptions &options) {
  FailureOr<StringRef> name = getPrintedLevel(module);
  if (failed(name))
    return failure();
  if (name->empty())
    return std::optional<GpuStage>();
  if (failed(checkTarget(module, options)))
    return failure();
  const auto *level =
      llvm::find_if(levels, [&](const auto &row) { return row.name == *name; });
  if (options.stage < level->stage)
    return emitOptionError(module)
           << "expected the stage " << level->name
           << " or a later one for a program at that level, got "
           << getLevelName(options.stage);
  const std::pair<bool, StringLiteral> decided[] = {
      {options.nativeOnly, "--native-only"},
      {options.accumulation.chunk != 0, "--accumulate"},
      {options.noWorkspace, "--no-workspace"},
      {options.explain, "--explain"},
      {!options.schedule.empty(), "--schedule"},
  };
  for (auto [isGiven, flag] : decided)
    if (isGiven && level->stage > GpuStage::Tile)
      return emitOptionError(module)
             << "expected no " << flag << " for a program at the level "
             << level->name << ", where this is already decided";
  // Only the level tile is lowered through again.
  for (GpuStage stage : options.printAfter)
    if (stage <= level->stage && level->stage != GpuStage::Tile)
      return emitOptionError(module)
             << "expected a level after " << level->name
             << ", the level of the program, for --print-ir-after, got "
             << getLevelName(stage);
  return std::optional(level->stage);
}

unsigned blockscale::getAttachedPtx(ModuleOp module) {
  unsigned version = 0;
  for (auto kernels : module.getOps<gpu::GPUModuleOp>()) {
    ArrayAttr targets = kernels.getTargetsAttr();
    for (Attribute attr :
         targets ? targets.getValue() : ArrayRef<Attribute>()) {
      auto target = dyn_cast<NVVM::NVVMTargetAttr>(attr);
      StringRef features = target ? target.getFeatures() : "";
      unsigned number;
      if (features.consume_front("+ptx") && !features.getAsInteger(10, number))
        version = std::max(version, number);
    }
  }
  return version;
}
