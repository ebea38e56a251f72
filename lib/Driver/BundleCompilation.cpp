//===- BundleCompilation.cpp - Functions for several chips ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions are compiled separately, so that a runner loads only what it
// launches, and from the source for each chip, since lowering works in place.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/BundleCompilation.h"

#include "PtxEmission.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Driver/Destinations.h"
#include "blockscale/Runtime/CodeDigest.h"
#include "blockscale/Runtime/PtxSummary.h"
#include "blockscale/Support/TunedRows.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/ThreadPool.h"

#include <atomic>

using namespace mlir;
using namespace mlir::blockscale;

static BundleImage makeImage(BundleImage::Kind kind, std::string bytes,
                             std::string ptxVersion) {
  BundleImage image;
  image.kind = kind;
  image.ptxVersion = std::move(ptxVersion);
  image.size = bytes.size();
  image.stored = std::move(bytes);
  // Without zlib in LLVM, images are not compressed.
  if (!llvm::compression::zlib::isAvailable())
    return image;
  SmallVector<uint8_t, 0> compressed;
  // For PTX, higher levels take twice the time and spare 0.5 %.
  llvm::compression::zlib::compress(llvm::arrayRefFromStringRef(image.stored),
                                    compressed, /*Level=*/7);
  image.stored.assign(compressed.begin(), compressed.end());
  image.isCompressed = true;
  return image;
}

/// The names of the element types of arguments and results.
static std::vector<std::string> nameTypes(FunctionType type) {
  std::vector<std::string> names;
  for (Type each :
       llvm::concat<const Type>(type.getInputs(), type.getResults()))
    llvm::raw_string_ostream(names.emplace_back())
        << getElementTypeOrSelf(each);
  return names;
}

/// The names of the functions to compile into a bundle.
static Result<SmallVector<std::string>> listFunctions(Program &program,
                                                      StringRef entry) {
  SmallVector<std::string> names;
  if (!entry.empty()) {
    bool isAmbiguous;
    Result<func::FuncOp> function = program.getEntry(entry, isAmbiguous);
    if (!function)
      return function.error();
    names.push_back(entry.str());
    return names;
  }
  for (auto function : program.getModule().getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      names.push_back(function.getSymName().str());
  if (names.empty())
    return Error("expected a public function in the module, got none");
  return names;
}

static FailureOr<BundleEntry> compileEntry(const Program &source,
                                           StringRef name, const Chip &target,
                                           const BundleOptions &options,
                                           raw_ostream &diagnostics) {
  std::unique_ptr<Program> program = source.parseAgain(diagnostics);
  if (!program)
    return failure();
  program->dropSchedules();
  bool isAmbiguous;
  Result<func::FuncOp> function = program->getEntry(name, isAmbiguous);
  if (!function || failed(program->keepOnly(*function)) ||
      failed(returnDestinations(program->getModule())))
    return failure();
  BundleEntry entry;
  entry.function = name.str();
  entry.types = nameTypes(function->getFunctionType());
  // The verifier has checked that its value is the name of a table row.
  if (auto rows = (*function)->getAttrOfType<StringAttr>(kRowsAttrName))
    if (auto tuned = lookupTunedRows(target.capability, rows.getValue()))
      entry.mostRows = tuned->mostM;
  Location location = function->getLoc();

  GpuCompileOptions compile = options.compile;
  compile.target = &target;
  compile.stage = GpuStage::PTX;
  FailureOr<GpuCode> code = compileForGpu(program->getModule(), compile);
  if (failed(code))
    return failure();
  entry.info = std::move(*code->launchInfo);
  if (entry.info.operands.size() != entry.types.size()) {
    emitError(location, "not supported in this version: a function in a bundle "
                        "with an argument or a result that no numpy array can "
                        "hold");
    return failure();
  }
  std::string version = summarizePtx(code->text).version;
  if (options.makesCubins) {
    Result<std::string> cubin = assemblePtx(code->text, compile.getFinalChip());
    if (!cubin) {
      emitError(UnknownLoc::get(program->getModule().getContext()))
          << cubin.message();
      return failure();
    }
    attachCodeDigest(entry.info, *cubin);
    entry.images.push_back(
        makeImage(BundleImage::Kind::Cubin, std::move(*cubin), version));
  }
  entry.images.insert(
      entry.images.begin(),
      makeImage(BundleImage::Kind::Ptx, std::move(code->text), version));
  return entry;
}

namespace {
/// One function for one chip, and the diagnostics about it.
struct Job {
  StringRef function;
  const Chip *target;
  std::string said = {};
  FailureOr<BundleEntry> entry = failure();
};
} // namespace

/// Runs all `jobs` in parallel, since each has its own program; after a
/// failure, later ones may be skipped.
static void runJobs(const Program &program, const BundleOptions &options,
                    MutableArrayRef<Job> jobs) {
  std::atomic<size_t> firstFailure = jobs.size();
  auto run = [&](size_t number) {
    if (number > firstFailure)
      return;
    Job &job = jobs[number];
    llvm::raw_string_ostream said(job.said);
    job.entry = compileEntry(program, job.function, *job.target, options, said);
    size_t first = firstFailure;
    while (failed(job.entry) && number < first &&
           !firstFailure.compare_exchange_weak(first, number)) {
    }
  };
  auto count = static_cast<unsigned>(jobs.size());
  llvm::ThreadPoolStrategy threads = llvm::hardware_concurrency(count);
  threads.Limit = true; // At most one per core.
  llvm::DefaultThreadPool pool(threads);
  for (size_t number = 0; number != jobs.size(); ++number)
    pool.async(run, number);
  pool.wait();
}

FailureOr<Bundle> blockscale::compileBundle(Program &program, StringRef entry,
                                            const BundleOptions &options) {
  Result<SmallVector<std::string>> names = listFunctions(program, entry);
  if (!names) {
    emitError(UnknownLoc::get(program.getModule().getContext()))
        << names.message();
    return failure();
  }
  std::vector<Job> jobs;
  for (const std::string &name : *names)
    for (const Chip *target : options.targets)
      jobs.push_back({name, target});
  runJobs(program, options, jobs);
  Bundle bundle;
  for (Job &job : jobs) {
    llvm::errs() << job.said;
    if (failed(job.entry))
      return failure();
    bundle.entries.push_back(std::move(*job.entry));
  }
  return bundle;
}
