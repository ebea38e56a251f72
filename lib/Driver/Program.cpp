//===- Program.cpp - A module and its entry function ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsing, picking a function and running passes, with diagnostics as all
// programs print them.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/Program.h"

#include "blockscale/Dialect/Transforms/Selection/Accumulate.h"
#include "blockscale/Driver/PassRunning.h"
#include "blockscale/Driver/SourceFile.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::blockscale;

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerPipelineDialects(registry);
  return registry;
}

Program::Program(llvm::raw_ostream &diagnostics)
    // One thread: modules are small, and results must not depend on the order
    // in which functions are compiled.
    : context(std::make_unique<MLIRContext>(makeRegistry(),
                                            MLIRContext::Threading::DISABLED)) {
  // Print one message per error, without the op in a note.
  context->printOpOnDiagnostic(false);
  diagnosticHandler = std::make_unique<SourceMgrDiagnosticHandler>(
      sourceMgr, context.get(), diagnostics);
  // Messages about options have no location.
  context->getDiagEngine().registerHandler(
      [&diagnostics](Diagnostic &diagnostic) {
        if (!isa<UnknownLoc>(diagnostic.getLocation()))
          return failure();
        bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
        diagnostics << (isError ? "error: " : "remark: ") << diagnostic << "\n";
        return success();
      });
}

Program::~Program() = default;

std::unique_ptr<Program> Program::parse(StringRef path) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> buffer = readSourceFile(path, error);
  if (!buffer) {
    llvm::errs() << error << "\n";
    return nullptr;
  }
  return parse(std::move(buffer), llvm::errs());
}

std::unique_ptr<Program>
Program::parseAgain(llvm::raw_ostream &diagnostics) const {
  const llvm::MemoryBuffer *buffer =
      sourceMgr.getMemoryBuffer(sourceMgr.getMainFileID());
  std::unique_ptr<Program> program =
      parse(llvm::MemoryBuffer::getMemBufferCopy(buffer->getBuffer(),
                                                 buffer->getBufferIdentifier()),
            diagnostics);
  if (!program)
    return nullptr;
  // Remarks about ops that are not raised were printed the first time.
  ScopedDiagnosticHandler silence(
      program->context.get(), [](Diagnostic &diagnostic) {
        return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
      });
  if (raiseOptions &&
      failed(program->raise(raiseOptions->assumePositiveScales)))
    return nullptr;
  return succeeded(program->license(licence)) ? std::move(program) : nullptr;
}

std::unique_ptr<Program>
Program::parse(std::unique_ptr<llvm::MemoryBuffer> buffer,
               llvm::raw_ostream &diagnostics) {
  std::unique_ptr<Program> program(new Program(diagnostics));
  program->sourceMgr.AddNewSourceBuffer(std::move(buffer), SMLoc());
  program->module =
      parseSourceFile<ModuleOp>(program->sourceMgr, program->context.get());
  if (!program->module)
    return nullptr;
  return program;
}

Result<func::FuncOp> Program::getEntry(StringRef name, bool &isAmbiguous) {
  isAmbiguous = false;
  SmallVector<func::FuncOp> candidates;
  for (auto function : getModule().getOps<func::FuncOp>())
    if (name.empty() ? function.isPublic() : function.getSymName() == name)
      candidates.push_back(function);
  if (candidates.size() == 1) {
    if (candidates.front().isExternal())
      return Error("function '" + candidates.front().getSymName().str() +
                   "' has no body");
    return candidates.front();
  }
  if (!name.empty())
    return Error("expected a function '" + name.str() +
                 "' in the module, got none");
  if (candidates.empty())
    return Error("expected a public function in the module, got none");
  isAmbiguous = true;
  std::string message = "expected --entry, because there are " +
                        std::to_string(candidates.size()) +
                        " public functions:";
  for (func::FuncOp candidate : candidates)
    message += " " + candidate.getSymName().str();
  return Error(message);
}

void Program::dropSchedules() {
  auto isSchedule = [](Operation &op) {
    return isa_and_nonnull<transform::TransformDialect>(op.getDialect()) ||
           (isa<ModuleOp>(op) &&
            op.hasAttr(
                transform::TransformDialect::kWithNamedSequenceAttrName));
  };
  for (Operation &op :
       llvm::make_early_inc_range(getModule().getBody()->getOperations()))
    if (isSchedule(op))
      op.erase();
}

LogicalResult Program::keepOnly(func::FuncOp entry) {
  for (auto function : getModule().getOps<func::FuncOp>())
    function.setVisibility(function == entry
                               ? SymbolTable::Visibility::Public
                               : SymbolTable::Visibility::Private);
  return run([](OpPassManager &pm) { pm.addPass(createSymbolDCEPass()); });
}

LogicalResult Program::run(function_ref<void(OpPassManager &)> build) {
  return runPasses(getModule(), build);
}

LogicalResult Program::license(const Accumulation &permitted) {
  licence = permitted;
  return attachAccumulation(getModule(), licence);
}

LogicalResult Program::raise(bool assumePositiveScales) {
  RaisePassOptions options;
  options.assumePositiveScales = assumePositiveScales;
  raiseOptions = options;
  return run([&](OpPassManager &pm) { pm.addPass(createRaisePass(options)); });
}
