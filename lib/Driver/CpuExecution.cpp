//===- CpuExecution.cpp - Compile for this machine and run ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The caller of JIT-compiled code knows only one kind of signature, so each
// function gets a wrapper that takes and returns only descriptors of tensors.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/CpuExecution.h"

#include "SignalGuard.h"
#include "blockscale/Driver/ElementStorage.h"
#include "blockscale/Driver/InputChecks.h"
#include "blockscale/Driver/ProgramOps.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

static FailureOr<std::vector<RankedTensorType>>
getTensorTypes(func::FuncOp function, TypeRange types, StringRef what) {
  std::vector<RankedTensorType> result;
  for (auto [i, type] : llvm::enumerate(types)) {
    auto tensorType = dyn_cast<RankedTensorType>(type);
    if (!tensorType && type.isIntOrIndexOrFloat())
      tensorType = RankedTensorType::get({}, type);
    if (!tensorType || tensorType.getEncoding() ||
        !getElementStorage(tensorType.getElementType()))
      return function.emitError("not supported in this version: ")
             << what << " #" << i << " of type " << type;
    result.push_back(tensorType);
  }
  return result;
}

FailureOr<std::vector<RankedTensorType>>
blockscale::getArgumentTypes(func::FuncOp function) {
  return getTensorTypes(function, function.getArgumentTypes(), "argument");
}

FailureOr<std::vector<RankedTensorType>>
blockscale::getResultTypes(func::FuncOp function) {
  return getTensorTypes(function, function.getResultTypes(), "result");
}

/// Makes a function that calls `entry` and has tensors of rank 0 for scalars.
static func::FuncOp makeWrapper(ModuleOp module, func::FuncOp entry,
                                ArrayRef<RankedTensorType> arguments,
                                ArrayRef<RankedTensorType> results) {
  OpBuilder builder(module.getContext());
  Location loc = entry.getLoc();
  auto type = builder.getFunctionType(llvm::to_vector_of<Type>(arguments),
                                      llvm::to_vector_of<Type>(results));
  auto wrapper = func::FuncOp::create(loc, "blockscale_entry", type);
  SymbolTable(module).insert(wrapper); // Renames it if necessary.
  wrapper->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                   builder.getUnitAttr());
  builder.setInsertionPointToStart(wrapper.addEntryBlock());

  SmallVector<Value> operands;
  for (auto [argument, wanted] :
       llvm::zip_equal(wrapper.getArguments(), entry.getArgumentTypes())) {
    if (argument.getType() == wanted)
      operands.push_back(argument);
    else
      operands.push_back(
          tensor::ExtractOp::create(builder, loc, argument, ValueRange()));
  }
  auto call = func::CallOp::create(builder, loc, entry, operands);
  SmallVector<Value> values;
  for (auto [value, wanted] : llvm::zip_equal(call.getResults(), results)) {
    if (value.getType() == wanted)
      values.push_back(value);
    else
      values.push_back(
          tensor::FromElementsOp::create(builder, loc, wanted, value));
  }
  func::ReturnOp::create(builder, loc, values);
  return wrapper;
}

//===----------------------------------------------------------------------===//
// Memref descriptors
//===----------------------------------------------------------------------===//

namespace {
/// Memref descriptors in the C interface of the LLVM dialect: allocated and
/// aligned pointer, offset, sizes, strides; 8 bytes each.
class Descriptors {
public:
  static unsigned getWords(unsigned rank) { return 3 + 2 * rank; }

  /// Appends one for `array`, whose data must not move.
  void append(NpyArray &array) {
    auto address = reinterpret_cast<uint64_t>(array.data.data());
    words.append({address, address, 0});
    for (int64_t size : array.shape)
      words.push_back(static_cast<uint64_t>(size));
    uint64_t stride = 1;
    SmallVector<uint64_t> strides(array.shape.size());
    for (size_t dim = array.shape.size(); dim-- != 0;) {
      strides[dim] = stride;
      stride *= static_cast<uint64_t>(array.shape[dim]);
    }
    words.append(strides);
  }

  /// Appends an empty one, which the program fills in.
  void appendEmpty(unsigned rank) { words.append(getWords(rank), 0); }

  uint64_t *at(size_t word) { return words.data() + word; }

private:
  SmallVector<uint64_t> words;
};
} // namespace

/// Copies a result out of its buffer, and adds the buffer to `buffers`. (Two
/// results may share a buffer.)
static Result<NpyArray> copyResult(const uint64_t *descriptor,
                                   RankedTensorType type,
                                   llvm::SmallPtrSetImpl<void *> &buffers) {
  buffers.insert(reinterpret_cast<void *>(descriptor[0]));
  auto *data = reinterpret_cast<const uint8_t *>(descriptor[1]);
  std::vector<int64_t> shape(descriptor + 3, descriptor + 3 + type.getRank());
  DType dtype = getElementStorage(type.getElementType())->dtype;
  Result<NpyArray> array = makeZeros(dtype, std::move(shape));
  if (array && !array->data.empty())
    std::memcpy(array->data.data(), data + descriptor[2] * array->elementSize(),
                array->data.size());
  return array;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

// A failed check calls `puts` and then `abort`. These replacements report an
// error instead of raising a signal.

static int printFailedCheck(const char *text) {
  StringRef message(text);
  message.consume_front("ERROR: Runtime op verification failed\n");
  llvm::errs() << "error: check failed at run time:\n" << message << "\n";
  return 0;
}

[[noreturn]] static void exitWithFailure() {
  llvm::errs().flush();
  std::_Exit(EXIT_FAILURE);
}

static void *allocate(size_t size) {
  void *buffer = std::malloc(size);
  if (!buffer && size != 0) {
    llvm::errs() << "error: not enough memory for a buffer of " << size
                 << " bytes\n";
    exitWithFailure();
  }
  return buffer;
}

static llvm::Expected<std::unique_ptr<ExecutionEngine>>
makeEngine(ModuleOp module) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  auto targetMachine = builder->createTargetMachine();
  if (!targetMachine)
    return targetMachine.takeError();

  auto optimize = makeOptimizingTransformer(/*optLevel=*/3, /*sizeLevel=*/0,
                                            targetMachine->get());
  ExecutionEngineOptions options;
  options.transformer = optimize;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Aggressive;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  auto engine =
      ExecutionEngine::create(module, options, std::move(*targetMachine));
  if (!engine)
    return engine;
  (*engine)->registerSymbols([](llvm::orc::MangleAndInterner interner) {
    auto symbol = [](auto *function) {
      return llvm::orc::ExecutorSymbolDef(
          llvm::orc::ExecutorAddr::fromPtr(function),
          llvm::JITSymbolFlags::Exported);
    };
    llvm::orc::SymbolMap symbols;
    symbols[interner("malloc")] = symbol(&allocate);
    symbols[interner("puts")] = symbol(&printFailedCheck);
    symbols[interner("abort")] = symbol(&exitWithFailure);
    return symbols;
  });
  return engine;
}

/// Refuses functions that the program calls but does not define.
static LogicalResult checkNoExternals(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isExternal())
      return function.emitError("not supported in this version: external "
                                "function '")
             << function.getSymName() << "'";
  return success();
}

FailureOr<std::vector<NpyArray>>
blockscale::runOnCpu(Program &program, func::FuncOp entry,
                     std::vector<NpyArray> arguments) {
  auto fail = [](const std::string &message) -> LogicalResult {
    llvm::errs() << "error: " << message << "\n";
    return failure();
  };
  ModuleOp module = program.getModule();
  module.getContext()->loadDialect<func::FuncDialect, tensor::TensorDialect>();
  FailureOr<std::vector<RankedTensorType>> argumentTypes =
      getArgumentTypes(entry);
  FailureOr<std::vector<RankedTensorType>> resultTypes = getResultTypes(entry);
  if (failed(argumentTypes) || failed(resultTypes))
    return failure();

  func::FuncOp wrapper =
      makeWrapper(module, entry, *argumentTypes, *resultTypes);
  std::string name = wrapper.getSymName().str();
  program.dropSchedules();
  ProgramOps words(module);
  if (failed(program.keepOnly(wrapper)) || failed(checkInput(module)) ||
      failed(checkNoExternals(module)) ||
      failed(program.run(buildCpuPipeline)) || failed(checkLowered(module)))
    return failure();
  auto engine = makeEngine(module);
  if (!engine)
    return fail(llvm::toString(engine.takeError()));

  // The C interface takes a pointer to the results, if there are any, and a
  // pointer to the descriptor of each argument.
  Descriptors results;
  std::vector<Descriptors> inputs(arguments.size());
  SmallVector<void *> pointers;
  for (RankedTensorType type : *resultTypes)
    results.appendEmpty(type.getRank());
  if (!resultTypes->empty())
    pointers.push_back(results.at(0));
  for (auto [input, argument] : llvm::zip_equal(inputs, arguments)) {
    input.append(argument);
    pointers.push_back(input.at(0));
  }
  SmallVector<void *> packed;
  for (void *&pointer : pointers)
    packed.push_back(static_cast<void *>(&pointer));
  {
    SignalGuard guard;
    if (llvm::Error error =
            (*engine)->invokePacked("_mlir_ciface_" + name, packed))
      return fail(llvm::toString(std::move(error)));
  }

  llvm::SmallPtrSet<void *, 4> buffers;
  llvm::scope_exit freeBuffers([&] {
    for (void *buffer : buffers)
      std::free(buffer);
  });
  std::vector<NpyArray> outputs;
  size_t word = 0;
  for (RankedTensorType type : *resultTypes) {
    Result<NpyArray> output = copyResult(results.at(word), type, buffers);
    if (!output)
      return fail(output.message());
    outputs.push_back(std::move(*output));
    word += Descriptors::getWords(type.getRank());
  }
  return outputs;
}
