//===- GemmPath.h - The kernels of a path -----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A path lists its kernels in order of preference, each with its two halves: a
// KernelChooser and a GemmKernel. The first chooser that offers a schedule
// decides which kernel computes a GEMM; from then on the schedule names the
// kernel.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PATHS_GEMMPATH_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PATHS_GEMMPATH_H

#include "Kernels/Gemm/GemmKernel.h"
#include "Kernels/Gemm/Schedule/KernelChooser.h"

namespace mlir::blockscale {

struct PathKernel {
  const GemmKernel *kernel;
  /// Null for a kernel without schedules.
  const KernelChooser *chooser;
};

class GemmPath {
public:
  using EmitErrorFn = KernelChooser::EmitErrorFn;
  /// Whether, of all paths of `chip` that have an instruction for `op`, this is
  /// the best one.
  using IsBestFn = bool (*)(ProductOpInterface op, const Chip &chip,
                            bool hasWorkspace);
  /// Why no kernel of the path takes `op` as a mixed-input product, whose y a
  /// `dequantize` makes; empty if one does.
  using FindObstacleFn = std::string (*)(ProductOpInterface op,
                                         const Chip &chip, bool hasWorkspace);

  GemmPath(Path path, std::vector<PathKernel> kernels,
           IsBestFn isBest = nullptr, bool takesMixedInput = false,
           FindObstacleFn findObstacle = nullptr)
      : path(path), kernels(std::move(kernels)), isBest(isBest),
        mixedInput(takesMixedInput), findObstacle(findObstacle) {}

  Path getPath() const { return path; }
  bool hasSchedules() const { return kernels.front().chooser != nullptr; }
  /// Whether some kernel takes a quantized y and a high-precision x.
  bool takesMixedInput() const { return mixedInput; }
  /// Whether some kernel computes products of groups of rows.
  bool takesGroups() const {
    return llvm::any_of(kernels, [](const PathKernel &each) {
      return each.kernel->takesGroups();
    });
  }
  bool isBestFor(ProductOpInterface op, const Chip &chip,
                 bool hasWorkspace) const {
    return !isBest || isBest(op, chip, hasWorkspace);
  }
  std::string findMixedInputObstacle(ProductOpInterface op, const Chip &chip,
                                     bool hasWorkspace) const;

  /// The kernel that `schedule` names, null for none; without a schedule, the
  /// only one.
  const GemmKernel *findKernel(ScheduleInterface schedule) const;

  /// The texts of the attributes of its schedules.
  SmallVector<const ScheduleText *> getTexts() const;
  /// See KernelChooser: these give the schedule of the first kernel that offers
  /// one (null if none does, for groups of rows or promoted sums), the
  /// candidates of all that compute the product, and the answers of the kernel
  /// that `schedule` names.
  ScheduleInterface choose(ScheduledProduct product) const;
  SmallVector<AlternativeAttr> getAlternatives(ScheduledProduct product) const;
  SmallVector<ScheduleInterface> getCandidates(ScheduledProduct product) const;
  LogicalResult verify(ScheduledProduct product, ScheduleInterface schedule,
                       EmitErrorFn emitError) const;
  void explain(ScheduledProduct product, ScheduleInterface schedule,
               bool hasPictures, raw_ostream &os) const;
  std::optional<TunedTile> getTunedTile(ScheduledProduct product,
                                        ScheduleInterface schedule) const;

private:
  const PathKernel *find(ScheduleInterface schedule) const;
  /// The kernels that compute `op`: those for groups of rows, those that
  /// promote sums, or all.
  SmallVector<const PathKernel *> getKernels(ProductOpInterface op) const;

  Path path;
  std::vector<PathKernel> kernels;
  IsBestFn isBest;
  bool mixedInput;
  FindObstacleFn findObstacle;
};

/// The kernels of `path`; null if this version has none.
const GemmPath *getGemmPath(Path path);

/// The paths with kernels for mixed input, for people.
std::string describeMixedInputPaths();

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PATHS_GEMMPATH_H
