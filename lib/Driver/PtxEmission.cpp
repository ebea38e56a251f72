//===- PtxEmission.cpp - From kernels to PTX ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls LLVM as a library, with its options per chip, and ptxas as a program,
// whose messages become errors.
//
//===----------------------------------------------------------------------===//

#include "PtxEmission.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"

#include <cstdlib>
#include <mutex>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// LLVM's errors
//===----------------------------------------------------------------------===//

/// LLVM's fatal errors, which would otherwise call exit() or abort().
namespace {
struct Complaints {
  void add(StringRef message) {
    if (first.empty())
      first = message.split('\n').first.str();
  }

  std::string first;
  llvm::CrashRecoveryContext recovery;
};
} // namespace

/// The complaints of this thread, while it generates code.
static thread_local Complaints *currentComplaints = nullptr;

/// Replaces abort(): leaves the code generator.
static void onFatalError(void *, const char *reason, bool) {
  if (!currentComplaints) { // Another thread: let LLVM end the process.
    llvm::errs() << "error: " << reason << "\n";
    return;
  }
  currentComplaints->add(reason);
  currentComplaints->recovery.HandleExit(EXIT_FAILURE);
}

namespace {
/// While an object exists, fatal errors and signals of a thread are collected
/// as its complaints. LLVM has one handler for all threads.
class Recovery {
public:
  explicit Recovery(Complaints &complaints) {
    currentComplaints = &complaints;
    std::lock_guard<std::mutex> lock(mutex);
    if (count++ != 0)
      return;
    llvm::install_fatal_error_handler(onFatalError);
    llvm::CrashRecoveryContext::Enable();
  }
  ~Recovery() {
    currentComplaints = nullptr;
    std::lock_guard<std::mutex> lock(mutex);
    if (--count != 0)
      return;
    llvm::CrashRecoveryContext::Disable();
    llvm::remove_fatal_error_handler();
  }

private:
  static std::mutex mutex;
  static unsigned count;
};
std::mutex Recovery::mutex;
unsigned Recovery::count = 0;
} // namespace

/// Replaces exit(), which LLVM calls if the code generator fails.
static void onDiagnostic(const llvm::DiagnosticInfo *info, void *data) {
  if (info->getSeverity() != llvm::DS_Error)
    return;
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::DiagnosticPrinterRawOStream printer(stream);
  info->print(printer);
  static_cast<Complaints *>(data)->add(text);
}

/// Runs `work`. If LLVM tries to end the process, returns an error instead;
/// then objects that `work` has made are not destroyed.
static Error runGuarded(llvm::LLVMContext &context, function_ref<void()> work) {
  Complaints complaints;
  context.setDiagnosticHandlerCallBack(onDiagnostic, &complaints);
  {
    Recovery recovery(complaints);
    if (!complaints.recovery.RunSafely(work))
      complaints.add("it stopped");
  }
  context.setDiagnosticHandlerCallBack(nullptr);
  if (complaints.first.empty())
    return Error::success();
  return Error("the code generator failed: " + complaints.first);
}

//===----------------------------------------------------------------------===//
// LLVM IR
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<llvm::TargetMachine>>
blockscale::makePtxTargetMachine(const Chip &chip, unsigned ptxVersion) {
  // Once, since several threads may ask for one at the same time.
  [[maybe_unused]] static const bool isInitialized = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return Error(error);
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, std::string(chip.name), "+ptx" + std::to_string(ptxVersion),
      llvm::TargetOptions(), /*RM=*/std::nullopt, /*CM=*/std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return Error("LLVM has no code generator for " + std::string(chip.name));
  return machine;
}

/// Marks calls convergent: LLVM does not know that all lanes must execute mma
/// instructions together, and could move them under a condition.
static void markConvergent(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (!function.getName().starts_with("llvm.nvvm.mma."))
      continue;
    for (llvm::User *user : function.users())
      if (auto *call = dyn_cast<llvm::CallInst>(user))
        call->addFnAttr(llvm::Attribute::Convergent);
  }
}

/// The passes of LLVM's -O1 that matter for kernels, each once or twice instead
/// of up to five times: this takes half of the time for the same code.
static constexpr StringLiteral kPipeline =
    "always-inline,inferattrs,cgscc(inline),"
    "function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,"
    "instcombine<no-verify-fixpoint>,reassociate,loop-mssa(loop-rotate,licm),"
    "loop(indvars,loop-idiom,loop-deletion,loop-unroll-full),"
    "sroa<modify-cfg>,early-cse<memssa>,sccp,adce,simplifycfg,"
    "instcombine<no-verify-fixpoint>),cgscc(function-attrs),globaldce";

static void optimize(llvm::Module &module, llvm::TargetMachine &targetMachine) {
  llvm::PassBuilder builder(&targetMachine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::ModulePassManager passes;
  llvm::cantFail(builder.parsePassPipeline(passes, kPipeline));
  passes.run(module, modules);
}

std::unique_ptr<llvm::Module>
blockscale::translateKernels(ModuleOp module, llvm::LLVMContext &context,
                             llvm::TargetMachine &targetMachine) {
  std::unique_ptr<llvm::Module> linked;
  auto prepare = [&](std::unique_ptr<llvm::Module> made) {
    made->setTargetTriple(targetMachine.getTargetTriple());
    made->setDataLayout(targetMachine.createDataLayout());
    return made;
  };
  for (auto kernels : module.getOps<gpu::GPUModuleOp>()) {
    std::unique_ptr<llvm::Module> translated =
        translateModuleToLLVMIR(kernels, context, kernels.getName());
    if (!translated)
      return nullptr;
    translated = prepare(std::move(translated));
    // Most modules have one kernel module, which need not be copied.
    if (!linked) {
      linked = std::move(translated);
    } else if (llvm::Linker::linkModules(*linked, std::move(translated))) {
      kernels.emitError("expected names that no other gpu.module has");
      return nullptr;
    }
  }
  if (!linked)
    linked = prepare(std::make_unique<llvm::Module>("kernels", context));
  markConvergent(*linked);
  if (Error error =
          runGuarded(context, [&] { optimize(*linked, targetMachine); })) {
    emitError(UnknownLoc::get(module.getContext())) << error.message();
    return nullptr;
  }
  return linked;
}

//===----------------------------------------------------------------------===//
// PTX and cubin
//===----------------------------------------------------------------------===//

Result<std::string> blockscale::emitPtx(llvm::Module &module,
                                        llvm::TargetMachine &targetMachine) {
  SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  bool isUnknown = false;
  if (Error error = runGuarded(module.getContext(), [&] {
        llvm::legacy::PassManager passes;
        isUnknown = targetMachine.addPassesToEmitFile(
            passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile);
        if (!isUnknown)
          passes.run(module);
      }))
    return error;
  if (isUnknown)
    return Error("the code generator writes no PTX");
  return std::string(text.str());
}

static Result<std::string> findPtxas() {
  auto path = llvm::sys::findProgramByName("ptxas");
  if (!path)
    path = llvm::sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"});
  if (!path)
    return Error("cannot find ptxas on the path or in /usr/local/cuda/bin");
  return *path;
}

static std::string readWhole(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

Result<std::string> blockscale::assemblePtx(const std::string &ptx,
                                            const Chip &chip) {
  Result<std::string> ptxas = findPtxas();
  if (!ptxas)
    return ptxas;
  // Input, output and messages are temporary files.
  SmallString<128> paths[3];
  llvm::SmallVector<std::unique_ptr<llvm::FileRemover>> removers;
  for (auto [path, suffix] : llvm::zip_equal(
           paths, std::array<const char *, 3>{"ptx", "cubin", "log"})) {
    if (std::error_code code =
            llvm::sys::fs::createTemporaryFile("blockscale", suffix, path))
      return Error("cannot make a temporary file: " + code.message());
    removers.push_back(std::make_unique<llvm::FileRemover>(path));
  }
  std::error_code code;
  {
    llvm::raw_fd_ostream stream(paths[0], code);
    stream << ptx;
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  if (code)
    return Error("cannot write a temporary file: " + code.message());
  std::string arch = "-arch=" + std::string(chip.name);
  StringRef arguments[] = {*ptxas, arch, paths[0], "-o", paths[1]};
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(paths[2]),
                                          StringRef(paths[2])};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(*ptxas, arguments, std::nullopt,
                                         redirects, 0, 0, &message);
  if (status != 0) {
    std::string log = message.empty() ? readWhole(paths[2]) : message;
    return Error("ptxas failed: " + StringRef(log).split('\n').first.str());
  }
  return readWhole(paths[1]);
}
