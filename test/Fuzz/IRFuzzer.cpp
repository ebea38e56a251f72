//===- IRFuzzer.cpp - Fuzzes the dialect and its passes -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A libFuzzer target. An input is the text of a module, or, if its first byte
// is not ASCII, a recipe from which ModuleGenerator makes such a text. Whatever
// the text is:
//
//   * it is refused with a message, or it parses, and what it prints as parses
//     again to the same text;
//   * each pass gives valid IR or a message, and tiling valid IR;
//   * so does each pass of the lowering for GPUs, alone and in its pipeline.
//
// Without seeds it starts with recipes; with -only_ascii=1 and programs as
// seeds it keeps to texts. With BLOCKSCALE_FUZZ_PRINT set, each text goes to
// standard error first: so one gets at the text of a recipe that crashes.
//
// Packages of LLVM have no sanitizers, but its headers poison memory for them:
// run it with ASAN_OPTIONS=allow_user_poisoning=0.
//
//===----------------------------------------------------------------------===//

#include "IRSession.h"
#include "ModuleGenerator.h"
#include "TextMutator.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Driver/SourceFile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// Swallows messages, and keeps the last error.
class ErrorCatcher {
public:
  explicit ErrorCatcher(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            error = diagnostic.str();
          return success();
        }) {}

  /// Empty if there was none.
  std::string error;

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Prints `text` to standard error if that was asked for.
static void trace(const Twine &text) {
  static const bool isPrinting = std::getenv("BLOCKSCALE_FUZZ_PRINT");
  if (isPrinting)
    llvm::errs() << "// ----- " << text << "\n";
}

[[noreturn]] static void fail(StringRef what, StringRef text) {
  llvm::errs() << "IRFuzzer: " << what << "\n" << text << "\n";
  std::abort();
}

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

static OwningOpRef<ModuleOp> parse(StringRef text, MLIRContext *context) {
  ErrorCatcher errors(context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      text, ParserConfig(context, /*verifyAfterParse=*/true));
  if (!module && errors.error.empty())
    fail("refused without a message", text);
  return module;
}

/// Whether sizes disagree that were dynamic, so that only a check at run time
/// would have found it, and that have become static: upstream folds a
/// `tensor.cast` into the operands of any destination-style op, and tiling
/// folds constants. Slices of negative sizes come from the program, too.
static bool isFoldedMismatch(StringRef error) {
  return error.starts_with("expected sizes to be non-negative") ||
         error.starts_with("expected offsets to be non-negative") ||
         error.contains(" runs out-of-bounds: ") ||
         error.contains(" is out-of-bounds: ") ||
         error.contains(" are cast incompatible") ||
         error.starts_with("'blockscale.mma_scaled' op expected ") ||
         (error.starts_with("'linalg.") &&
          (error.contains("inferred input/output operand") ||
           error.contains("doesn't match dim(input")));
}

/// False if `module` is invalid, but for a reason that only `mayFoldSizes`
/// allows.
static bool checkValid(ModuleOp module, StringRef when, bool mayFoldSizes) {
  ErrorCatcher errors(module.getContext());
  if (succeeded(verify(module)))
    return true;
  if (mayFoldSizes && isFoldedMismatch(errors.error))
    return false;
  fail(("invalid after " + when + ": " + errors.error).str(), print(module));
}

static void checkRoundTrip(ModuleOp module) {
  std::string text = print(module);
  // Upstream's parser has no least integer in maps.
  if (StringRef(text).contains("-9223372036854775808"))
    return;
  OwningOpRef<ModuleOp> again = parse(text, module.getContext());
  if (!again)
    fail("what was printed does not parse", text);
  // Upstream gives a resource another name each time that it is parsed, and a
  // parsed map may have another form of the same expression.
  bool isStable = !StringRef(text).contains("dense_resource") &&
                  !StringRef(text).contains("affine_map");
  if (isStable && print(*again) != text)
    fail("printed differently the second time", text);
}

/// Runs the passes of `manager`; false if they failed, with a message.
static bool runPass(PassRunner &manager, ModuleOp module, StringRef name = "") {
  if (name.empty())
    name = manager.begin()->getName();
  ErrorCatcher errors(module.getContext());
  if (succeeded(manager.run(module)))
    return checkValid(module, name, name == "Canonicalizer");
  if (errors.error.empty())
    fail((name + " failed without a message").str(), print(module));
  // The message may be that of the verifier within a pipeline, about what one
  // of the passes left.
  ErrorCatcher invalid(module.getContext());
  if (failed(verify(module)) && invalid.error == errors.error &&
      !isFoldedMismatch(errors.error))
    fail(("invalid within " + name + ": " + errors.error).str(), print(module));
  return false;
}

static void lowerToLoops(IRSession &session, ModuleOp module) {
  OwningOpRef<ModuleOp> clone = module.clone();
  if (runPass(session.decompose, *clone) &&
      runPass(session.narrowToBytes, *clone))
    checkRoundTrip(*clone);
}

static void checkFolds(IRSession &session, ModuleOp module) {
  OwningOpRef<ModuleOp> clone = module.clone();
  if (!runPass(session.canonicalize, *clone))
    return;
  lowerToLoops(session, *clone);
  runPass(session.resolveSizes, *clone);
}

static void checkRuntimeVerification(IRSession &session, ModuleOp module) {
  OwningOpRef<ModuleOp> clone = module.clone();
  if (runPass(session.verifySizes, *clone))
    runPass(session.canonicalize, *clone);
}

/// Each pass alone, and one of the pipelines, which take longer.
static void lowerToKernels(IRSession &session, ModuleOp module, size_t choice) {
  auto run = [&](PassRunner &manager, StringRef name) {
    trace(name);
    OwningOpRef<ModuleOp> clone = module.clone();
    runPass(manager, *clone, name);
  };
  for (auto [pass, name] : llvm::zip_equal(session.gpuPasses, kGpuPasses))
    run(*pass, name);
  choice %= std::size(kGpuPipelines);
  run(*session.gpuPipelines[choice], kGpuPipelines[choice]);
}

/// What may be the size of a tile of `op`: the values of type index that are
/// defined before it, in its block. Constants among them may be negative,
/// which no size is.
static SmallVector<Value> findIndices(Operation *op) {
  SmallVector<Value> indices;
  for (Operation &other : *op->getBlock()) {
    if (&other == op)
      break;
    for (Value result : other.getResults())
      if (result.getType().isIndex() && !matchPattern(result, m_Constant()))
        indices.push_back(result);
  }
  return indices;
}

/// Whether all that `op` uses is defined before it, and it may be executed:
/// elsewhere uses may come first, and loops cannot be put around them.
static bool isTileable(MmaScaledOp op, DominanceInfo &dominance) {
  if (!op->getParentOfType<func::FuncOp>() ||
      !dominance.isReachableFromEntry(op->getBlock()))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return dominance.properlyDominates(operand, op);
  });
}

static LogicalResult tile(RewriterBase &rewriter, MmaScaledOp op,
                          ByteReader &in) {
  static constexpr int64_t sizes[] = {0, 32, 16, 1, 64, 7, 128, 1 << 30};
  SmallVector<Value> indices = findIndices(op);
  SmallVector<OpFoldResult> tileSizes;
  unsigned numLoops = cast<ShapedType>(op.getAcc().getType()).getRank() + 1;
  for (unsigned loop = 0; loop != numLoops; ++loop) {
    if (!indices.empty() && in.oneIn(4))
      tileSizes.push_back(
          indices[in.below(std::min<size_t>(indices.size(), 256))]);
    else
      tileSizes.push_back(rewriter.getIndexAttr(in.pick(sizes)));
  }
  scf::SCFTilingOptions options;
  options.setTileSizes(tileSizes);
  if (in.oneIn(4)) {
    // A loop that runs in parallel cannot carry the sum along K.
    tileSizes.back() = rewriter.getIndexAttr(0);
    options.setTileSizes(tileSizes);
    options.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  }
  rewriter.setInsertionPoint(op);
  FailureOr<scf::SCFTilingResult> result = scf::tileUsingSCF(
      rewriter, cast<TilingInterface>(op.getOperation()), options);
  if (failed(result))
    return failure();
  rewriter.replaceOp(op, result->replacements);
  return success();
}

static void checkTiling(IRSession &session, ModuleOp module, ByteReader &in) {
  OwningOpRef<ModuleOp> clone = module.clone();
  DominanceInfo dominance(*clone);
  SmallVector<MmaScaledOp> products;
  SmallVector<tensor::ExtractSliceOp> slices;
  clone->walk([&](Operation *op) {
    auto product = dyn_cast<MmaScaledOp>(op);
    if (product && isTileable(product, dominance))
      products.push_back(product);
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      slices.push_back(slice);
  });
  if (products.empty())
    return;

  ErrorCatcher errors(module.getContext());
  IRRewriter rewriter(module.getContext());
  for (tensor::ExtractSliceOp slice : slices) {
    auto producer = slice.getSource().getDefiningOp<MmaScaledOp>();
    if (!llvm::is_contained(products, producer))
      continue;
    rewriter.setInsertionPoint(slice);
    FailureOr<TilingResult> result =
        tensor::replaceExtractSliceWithTiledProducer(
            rewriter, slice, cast<OpResult>(producer.getResult()));
    if (succeeded(result) &&
        result->tiledValues[0].getType() == slice.getType())
      rewriter.replaceOp(slice, result->tiledValues[0]);
  }
  bool hasDynamicSizes = llvm::any_of(products, [](MmaScaledOp product) {
    return product.getSpeculatability() == Speculation::NotSpeculatable;
  });
  // A failure may leave loops that are not finished.
  for (MmaScaledOp product : products)
    if (failed(tile(rewriter, product, in)))
      return;
  if (checkValid(*clone, "tiling", hasDynamicSizes) &&
      runPass(session.canonicalize, *clone))
    lowerToLoops(session, *clone);
}

/// Whether `text` is known to meet a bug of upstream's: the canonicalizer
/// crashes on slices at a poisoned index, the parser where one of these lists
/// of linalg's is not a list of integers; strings of bytes give small integers
/// values that they cannot have; verifiers of ops on huge vectors overflow, and
/// those of casts of unranked tensors read a shape.
static bool meetsUpstreamBug(StringRef text) {
  static const llvm::Regex bytes(
      "\"0x[0-9A-Fa-f]*\"> *: *[a-z]*<[^>]*xi[1-7]>");
  static const llvm::Regex hugeVector("vector<[^>]*[0-9]{11}");
  static const llvm::Regex unrankedCast("arith\\.[^\n]*<[*]x");
  if (text.contains("poison : index") || unrankedCast.match(text) ||
      bytes.match(text) || hugeVector.match(text))
    return true;
  static const llvm::Regex list(
      "^ *= *\\[( *[0-9]{1,9} *(, *[0-9]{1,9} *)*)?\\]");
  for (StringRef name : {"permutation", "dimensions"})
    for (StringRef rest = text; rest.contains(name);) {
      rest = rest.split(name).second;
      if (!list.match(rest.take_front(64)))
        return true;
    }
  return false;
}

static void checkText(const std::string &text, ByteReader &in) {
  // As the tools do: upstream's parser recurses.
  if (findTooDeepNesting(text) || meetsUpstreamBug(text))
    return;
  IRSession &session = getIRSession();
  OwningOpRef<ModuleOp> module = parse(text, &session.context);
  if (!module)
    return;
  checkRoundTrip(*module);
  checkFolds(session, *module);
  checkRuntimeVerification(session, *module);
  lowerToLoops(session, *module);
  checkTiling(session, *module, in);
  lowerToKernels(session, *module, llvm::xxh3_64bits(text));
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

static bool isRecipe(const uint8_t *bytes, size_t size) {
  return size != 0 && bytes[0] >= 0x80;
}

/// The first bytes choose tile sizes, the others the module.
static std::string readRecipe(const uint8_t *bytes, size_t size,
                              ByteReader &tiling) {
  constexpr size_t numTilingBytes = 9;
  size_t header = std::min(size, numTilingBytes);
  tiling = ByteReader(bytes, header);
  ByteReader in(bytes + header, size - header);
  return generateModule(in);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  // A text has its tile sizes from its last bytes.
  ByteReader tiling(bytes + size - std::min<size_t>(size, 8),
                    std::min<size_t>(size, 8));
  std::string text = isRecipe(bytes, size) ? readRecipe(bytes, size, tiling)
                                           : std::string(bytes, bytes + size);
  trace("\n" + text);
  checkText(text, tiling);
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t maxSize);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size,
                                          size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  auto store = [&](const std::string &text) {
    size_t newSize = std::min(text.size(), maxSize);
    std::memcpy(bytes, text.data(), newSize);
    return newSize;
  };
  if (size < 2 && maxSize > 1) { // Without seeds, start with recipes.
    size = std::min<size_t>(maxSize, 256);
    for (size_t i = 0; i != size; ++i)
      bytes[i] = random() >> 8;
    bytes[0] |= 0x80;
    return size;
  }
  if (!isRecipe(bytes, size)) {
    if (random() % 4 == 0)
      return LLVMFuzzerMutate(bytes, size, maxSize);
    return store(mutateText(std::string(bytes, bytes + size), random));
  }
  if (random() % 16 == 0) {
    ByteReader tiling(bytes, 0);
    std::string text = readRecipe(bytes, size, tiling);
    if (text.size() <= maxSize)
      return store(mutateText(text, random));
  }
  size = LLVMFuzzerMutate(bytes, size, maxSize);
  if (size != 0)
    bytes[0] |= 0x80;
  return size;
}
