//===- Backend.h - What a path brings to kernels ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A path moves in with a row of Paths.h, rows of the instruction table, and one
// of these. select-schedule and form-kernels know nothing else of it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_BACKEND_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_BACKEND_H

#include "Kernels/Gemm/Problem/KernelProblem.h"
#include "Kernels/Gemm/Schedule/ScheduleText.h"
#include "blockscale/Support/TunedRows.h"

namespace mlir::blockscale {

/// How kernels divide K, which others add the sums of (SplitKProblem.h).
struct SplitKRule {
  /// At most so many parts.
  int64_t parts = 1;
  /// Elements of K that all parts but the last one are a multiple of.
  int64_t unit = 1;
};

/// How a path divides a matrix multiply: its attributes, with their texts,
/// their choice and their limits.
class ScheduleRules {
public:
  using EmitErrorFn = ScheduleText::EmitErrorFn;

  virtual ~ScheduleRules() = default;

  /// The texts of the attributes that its kernels take.
  virtual SmallVector<const ScheduleText *> getTexts() const = 0;
  /// The schedule for `op` on tensors, which `instruction` computes;
  /// `hasWorkspace`: there may be memory beside arguments and results.
  virtual ScheduleInterface choose(ProductOpInterface op,
                                   InstructionAttr instruction,
                                   const Chip &chip,
                                   bool hasWorkspace) const = 0;
  /// Schedules that may be better than the one of `choose`, for who can measure
  /// them; `verify` says which of them there can be.
  virtual SmallVector<ScheduleInterface>
  getCandidates(ProductOpInterface op, InstructionAttr instruction,
                const Chip &chip, bool hasWorkspace) const = 0;
  /// Checks that `chip` can run a kernel of `instruction` for `op` with
  /// `schedule`, one of these: shared memory and registers.
  virtual LogicalResult verify(ProductOpInterface op,
                               InstructionAttr instruction,
                               ScheduleInterface schedule, const Chip &chip,
                               EmitErrorFn emitError) const = 0;
  /// Prints what the choice for `op` goes by, for people, and what `schedule`
  /// comes to; with `hasPictures`, what is where, too.
  virtual void explain(ProductOpInterface op, InstructionAttr instruction,
                       ScheduleInterface schedule, const Chip &chip,
                       bool hasPictures, raw_ostream &os) const = 0;
  /// The row of the table of tiles that would choose `schedule` for products
  /// such as `op`; nullopt where no such row is asked.
  virtual std::optional<TunedTile> getTunedTile(ProductOpInterface op,
                                                ScheduleInterface schedule,
                                                const Chip &chip) const {
    return std::nullopt;
  }

protected:
  /// Checks that K of `op` has as many parts as `schedule` divides it into,
  /// which is `split`; a dynamic one has.
  static LogicalResult verifyParts(ProductOpInterface op,
                                   const SplitKRule &split,
                                   ScheduleInterface schedule,
                                   EmitErrorFn emitError);
};

/// What a block stores of the result, and how it has that.
struct ResultTile {
  int64_t m, n;
  /// The accumulators, of one or more parts of the tile, that sums end in.
  SmallVector<AccType> parts;
};

/// The paths with kernels that take codes of y beside numbers of x, for people.
std::string describeMixedInputPaths();

class KernelBackend {
public:
  virtual ~KernelBackend() = default;

  /// Null if there is one way only.
  virtual const ScheduleRules *getScheduleRules() const { return nullptr; }
  /// Whether its kernels take over elementwise ops around the product, and
  /// operands that are splats.
  virtual bool takesOverSurroundings() const = 0;
  /// Whether its kernels are the best for `op`, which another path of `chip`
  /// has an instruction for, too; `hasWorkspace`: there may be memory beside
  /// arguments and results.
  virtual bool isBestFor(ProductOpInterface op, const Chip &chip,
                         bool hasWorkspace) const {
    return true;
  }
  /// Whether its kernels of `schedule` take scales in the 32x4x4 layout alone:
  /// others are swizzled by a kernel in front of it.
  virtual bool wantsScaleAtoms(ScheduleInterface schedule) const {
    return false;
  }
  /// Whether its kernel for `problem` reads operands through tensor maps alone:
  /// an operand that no tensor map can be of is copied first. Only the row, the
  /// instruction and the schedule of `problem` are known by then.
  virtual bool needsTensorMaps(const KernelProblem &problem) const {
    return false;
  }
  /// Whether bulk copies of its kernel for `problem` would bring the elements
  /// of `operand`, quantized ones of `format` which memory has in bytes of
  /// their own, as the instruction takes them, if they were packed.
  virtual bool wantsPackedElements(const KernelOperand &operand, Format format,
                                   const KernelProblem &problem) const {
    return false;
  }
  /// Of which operands its kernels of `instruction` and `schedule` take codes,
  /// though they multiply numbers: the other ones are decoded before, or are
  /// numbers.
  virtual DequantizedOperands
  getDequantizedOperands(InstructionAttr instruction,
                         ScheduleInterface schedule) const {
    return DequantizedOperands::None;
  }
  /// What has to be for its kernels to take codes of y of `op`, which a
  /// `dequantize` makes numbers of, and is not; empty if they do.
  virtual std::string findMixedInputObstacle(ProductOpInterface op,
                                             const Chip &chip,
                                             bool hasWorkspace) const {
    return describeMixedInputPaths();
  }
  /// Whether some of its kernels take codes of y beside numbers of x.
  virtual bool takesMixedInput() const { return false; }
  /// What of the kernel for `problem` may surprise; empty for nothing.
  virtual std::string getRemark(const KernelProblem &problem) const {
    return {};
  }
  /// With more parts than one, what follows is asked for a problem of
  /// getPartialProducts.
  virtual SplitKRule getSplit(const KernelProblem &problem) const { return {}; }
  /// What `build` stores the sums of a tile from; nullopt where sums are stored
  /// one by one.
  virtual std::optional<ResultTile>
  getResultTile(const KernelProblem &problem) const {
    return std::nullopt;
  }
  /// What one block takes, and how the kernel is launched.
  virtual KernelShape getShape(const KernelProblem &problem) const = 0;
  /// Fills in the body of `kernel`, which is empty, at its start. Adds
  /// workgroup memory to it.
  virtual void build(gpu::GPUFuncOp kernel,
                     const KernelProblem &problem) const = 0;
};

/// The backend of `path`; null if this version has none.
const KernelBackend *getKernelBackend(Path path);

/// The backends, one a folder.
const KernelBackend &getReferenceBackend();
const KernelBackend &getMmaSyncBackend();
const KernelBackend &getDequantMmaBackend();
const KernelBackend &getTcgen05Backend();
const KernelBackend &getWgmmaBackend();

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_BACKEND_H
