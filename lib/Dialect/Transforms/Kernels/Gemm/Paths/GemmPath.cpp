//===- GemmPath.cpp - The table of paths and their kernels ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// To add a kernel, add an entry. What decides between two kernels of a path is
// the `choose` of their choosers, in the order of the entries: the dense,
// mixed-input, sparse-input and GEMV kernels of wgmma are in
// Schedule/Wgmma*Chooser.cpp.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Paths/GemmPath.h"

#include "Kernels/Gemm/Mma/Kernels.h"
#include "Kernels/Gemm/Schedule/Choosers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::blockscale;

static ArrayRef<GemmPath> getGemmPaths() {
  static const GemmPath paths[] = {
      {Path::Decompose, {{&getReferenceKernel(), nullptr}}},
      {Path::MmaSync,
       {{&getMmaSyncDenseKernel(), &getMmaSyncDenseChooser()},
        {&getMultistageKernel(), &getMmaSyncMultistageChooser()}}},
      {Path::DequantMma,
       {{&getMultistageKernel(), &getDequantMmaMultistageChooser()}},
       /*isBest=*/nullptr,
       /*takesMixedInput=*/true,
       findDequantMmaMixedInputObstacle},
      {Path::Tcgen05,
       {{&getTcgen05DenseKernel(), &getTcgen05DenseChooser()}},
       isTcgen05Best},
      {Path::Wgmma,
       {{&getWgmmaSparseInputKernel(), &getWgmmaSparseInputChooser()},
        {&getWgmmaGemvKernel(), &getWgmmaGemvChooser()},
        {&getWgmmaMixedInputKernel(), &getWgmmaMixedInputChooser()},
        {&getWgmmaDenseKernel(), &getWgmmaDenseChooser()}},
       isWgmmaBest,
       /*takesMixedInput=*/true,
       findWgmmaMixedInputObstacle},
  };
  return paths;
}

const GemmPath *blockscale::getGemmPath(Path path) {
  for (const GemmPath &each : getGemmPaths())
    if (each.getPath() == path)
      return &each;
  return nullptr;
}

std::string blockscale::describeMixedInputPaths() {
  SmallVector<StringRef> names;
  for (const GemmPath &each : getGemmPaths())
    if (each.takesMixedInput())
      names.push_back(getPathInfo(each.getPath()).name);
  return "the path " + llvm::join(names, " or ");
}

std::string GemmPath::findMixedInputObstacle(ProductOpInterface op,
                                             const Chip &chip,
                                             bool hasWorkspace) const {
  return findObstacle ? findObstacle(op, chip, hasWorkspace)
                      : describeMixedInputPaths();
}

const PathKernel *GemmPath::find(ScheduleInterface schedule) const {
  if (!schedule)
    return &kernels.front();
  for (const PathKernel &each : kernels)
    if (each.kernel->getKind() == schedule.getKernelKind())
      return &each;
  return nullptr;
}

const GemmKernel *GemmPath::findKernel(ScheduleInterface schedule) const {
  const PathKernel *found = find(schedule);
  return found ? found->kernel : nullptr;
}

SmallVector<const ScheduleText *> GemmPath::getTexts() const {
  llvm::SmallSetVector<const ScheduleText *, 2> texts;
  for (const PathKernel &each : llvm::reverse(kernels))
    texts.insert(&each.chooser->getText());
  return texts.takeVector();
}

SmallVector<const PathKernel *>
GemmPath::getKernels(ProductOpInterface op) const {
  SmallVector<const PathKernel *> found;
  for (const PathKernel &each : kernels)
    if ((!op.getRowGroups() || each.kernel->takesGroups()) &&
        (!op.getPromotion() || each.kernel->takesPromotion()))
      found.push_back(&each);
  return found;
}

ScheduleInterface GemmPath::choose(ScheduledProduct product) const {
  for (const PathKernel *each : getKernels(product.op))
    if (ScheduleInterface schedule = each->chooser->choose(product))
      return schedule;
  assert((product.op.getRowGroups() || product.op.getPromotion()) &&
         "the last kernel of a path takes all that is left");
  return {};
}

SmallVector<AlternativeAttr>
GemmPath::getAlternatives(ScheduledProduct product) const {
  SmallVector<AlternativeAttr> alternatives;
  for (const PathKernel *each : getKernels(product.op))
    llvm::append_range(alternatives, each->chooser->getAlternatives(product));
  return alternatives;
}

SmallVector<ScheduleInterface>
GemmPath::getCandidates(ScheduledProduct product) const {
  SmallVector<ScheduleInterface> candidates;
  for (const PathKernel *each : getKernels(product.op))
    llvm::append_range(candidates, each->chooser->getCandidates(product));
  return candidates;
}

LogicalResult GemmPath::verify(ScheduledProduct product,
                               ScheduleInterface schedule,
                               EmitErrorFn emitError) const {
  SmallVector<const PathKernel *> taken = getKernels(product.op);
  if (const PathKernel *found = find(schedule);
      llvm::is_contained(taken, found))
    return found->chooser->verify(product, schedule, emitError);
  if (taken.empty())
    return emitError() << "expected another path, since "
                       << StringRef(getPathInfo(path).name)
                       << " has no kernels for "
                       << (product.op.getPromotion() ? "promoted sums"
                                                     : "groups of rows")
                       << ", got " << schedule;
  std::string names;
  for (const PathKernel *each : taken)
    names += (names.empty() ? "" : ", ") +
             stringifyKernelKind(each->kernel->getKind()).str();
  return emitError() << "expected a kernel of the path "
                     << StringRef(getPathInfo(path).name) << " (" << names
                     << "), got " << schedule;
}

void GemmPath::explain(ScheduledProduct product, ScheduleInterface schedule,
                       bool hasPictures, raw_ostream &os) const {
  if (const PathKernel *found = find(schedule))
    found->chooser->explain(product, schedule, hasPictures, os);
}

std::optional<TunedTile>
GemmPath::getTunedTile(ScheduledProduct product,
                       ScheduleInterface schedule) const {
  const PathKernel *found = find(schedule);
  return found ? found->chooser->getTunedTile(product, schedule) : std::nullopt;
}
