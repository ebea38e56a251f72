//===- SelectSchedule.cpp - Schedules of kernels --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_SELECTSCHEDULEPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Takes `name=AxBx...` off `text`, with a comma behind it if there is more.
static bool takeNumbers(StringRef &text, StringRef name,
                        MutableArrayRef<int64_t> numbers) {
  if (!text.consume_front(name) || !text.consume_front("="))
    return false;
  for (auto [i, number] : llvm::enumerate(numbers))
    if ((i != 0 && !text.consume_front("x")) || text.starts_with("-") ||
        text.consumeInteger(10, number))
      return false;
  return text.empty() || (text.consume_front(",") && !text.empty());
}

std::optional<ScheduleText> blockscale::parseSchedule(StringRef text) {
  ScheduleText schedule;
  if (!takeNumbers(text, "tile", schedule.tile) ||
      !takeNumbers(text, "warps", schedule.warps) ||
      !takeNumbers(text, "stages", schedule.stages) || !text.empty())
    return std::nullopt;
  return schedule;
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

int64_t blockscale::getSharedBytes(const OpRow &row, ScheduleAttr schedule) {
  Kind kind = getEmittedInstruction(row, Path::MmaSync).kind;
  int64_t bytes = 0;
  for (auto [rows, format] : {std::make_pair(schedule.getM(), row.lhs),
                              std::make_pair(schedule.getN(), row.rhs)}) {
    int64_t scaleRows = llvm::alignTo(rows, kWarpLanes);
    bytes += rows * schedule.getK() * getSlot(kind, format).bits / 8;
    bytes += llvm::alignTo(scaleRows * schedule.getK() / row.blockSize,
                           kBankLineBytes);
  }
  return bytes * schedule.getStages();
}

LogicalResult
blockscale::verifySchedule(const OpRow &row, ScheduleAttr schedule,
                           const Chip &chip,
                           function_ref<InFlightDiagnostic()> emitError) {
  StringRef name(chip.name.data(), chip.name.size());
  int64_t bytes = getSharedBytes(row, schedule);
  int64_t mostBytes = int64_t(1024) * chip.sharedMemoryKiB;
  if (bytes > mostBytes)
    return emitError() << "expected a schedule that needs at most " << mostBytes
                       << " bytes of shared memory on " << name << ", got "
                       << schedule << ", which needs " << bytes;
  // Sums, one step of both operands, and what addresses need at least. A block
  // has 64 Ki registers (all chips from sm_80 on), a lane 255.
  constexpr int64_t kMostRegisters = 255, kBlockRegisters = 64 * 1024;
  constexpr int64_t kAddresses = 32;
  int64_t lanes = schedule.getNumThreads();
  int64_t registers = schedule.getM() * schedule.getN() / lanes +
                      schedule.getWarpM() / 4 + schedule.getWarpN() / 4 +
                      kAddresses;
  int64_t most = std::min(kMostRegisters, kBlockRegisters / lanes);
  if (registers > most)
    return emitError() << "expected a schedule that needs at most " << most
                       << " registers in each of " << lanes << " lanes, got "
                       << schedule << ", which needs about " << registers;
  return success();
}

ScheduleAttr blockscale::chooseSchedule(MmaScaledOp op, const Chip &chip) {
  auto type = cast<ShapedType>(op.getType());
  constexpr int64_t kLarge = int64_t(1) << 20;
  auto sizeOr = [](int64_t size) {
    return ShapedType::isDynamic(size) ? kLarge : size;
  };
  int64_t m = sizeOr(type.getDimSize(type.getRank() - 2));
  int64_t n = sizeOr(type.getDimSize(type.getRank() - 1));
  int64_t batch = type.getRank() == 3 ? sizeOr(type.getDimSize(0)) : 1;
  ShapedType x = op.getMatrixType(Side::X);
  int64_t k = sizeOr(x.getDimSize(MmaScaledOp::getKDim(Side::X, x.getRank())));

  auto fit = [](int64_t size, int64_t least, int64_t most) {
    return std::clamp<int64_t>(llvm::PowerOf2Ceil(size), least, most);
  };
  constexpr int64_t kLeast = 32, kMost = 128, kHalf = 64;
  SmallVector<int64_t> tile = {fit(m, kLeast, kMost), fit(n, kLeast, kMost)};
  // Chips have up to 188 multiprocessors.
  constexpr int64_t kWantedBlocks = 128;
  auto countBlocks = [&] {
    return batch * llvm::divideCeilSigned(m, tile[0]) *
           llvm::divideCeilSigned(n, tile[1]);
  };
  while (countBlocks() < kWantedBlocks && std::max(tile[0], tile[1]) > kHalf)
    (tile[0] >= tile[1] ? tile[0] : tile[1]) /= 2;

  OpRow row = op.getRow();
  Kind kind = getEmittedInstruction(row, Path::MmaSync).kind;
  int64_t rowElements = kBankLineBytes * 8 / getSlot(kind, row.lhs).bits;
  tile.push_back(fit(k, kBankLineBytes, rowElements));

  constexpr int64_t kMostStages = 4;
  int64_t steps = llvm::divideCeilSigned(k, tile[2]);
  auto make = [&](int64_t stages) {
    return ScheduleAttr::get(op.getContext(), tile, {2, 2}, stages);
  };
  int64_t stages = std::min(kMostStages, steps);
  while (stages > 1 && getSharedBytes(row, make(stages)) >
                           int64_t(1024) * chip.sharedMemoryKiB)
    --stages;
  return make(stages);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct SelectSchedulePass final
    : mlir::blockscale::impl::SelectSchedulePassBase<SelectSchedulePass> {
  using Base::Base;

  void runOnOperation() override {
    Location loc = getOperation()->getLoc();
    const Chip *chip = lookupChip(target);
    if (!chip || chip->isCpu()) {
      emitError(loc,
                chip ? "expected a GPU, got cpu" : describeUnknownChip(target));
      return signalPassFailure();
    }
    ScheduleAttr wanted;
    if (!schedule.empty()) {
      std::optional<ScheduleText> text = parseSchedule(schedule);
      if (!text) {
        emitError(loc, "expected a schedule of the form ")
            << kScheduleForm << ", got '" << schedule << "'";
        return signalPassFailure();
      }
      if (failed(ScheduleAttr::verify([&] { return emitError(loc); },
                                      text->tile, text->warps, text->stages)))
        return signalPassFailure();
      wanted = ScheduleAttr::get(&getContext(), text->tile, text->warps,
                                 text->stages);
    }
    WalkResult result = getOperation()->walk([&](MmaScaledOp op) -> WalkResult {
      return select(op, wanted, *chip);
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  static LogicalResult select(MmaScaledOp op, ScheduleAttr wanted,
                              const Chip &chip) {
    auto path = op->getAttrOfType<PathAttr>(kPathAttrName);
    if (!op.hasTensorSemantics() || !path || path.getValue() != Path::MmaSync)
      return success();
    if (!wanted) {
      FailureOr<ScheduleAttr> found = findAttr(op);
      if (failed(found))
        return failure();
      wanted = *found;
    }
    if (!wanted) {
      op->setAttr(kScheduleAttrName, chooseSchedule(op, chip));
      return success();
    }
    if (failed(verifySchedule(op.getRow(), wanted, chip,
                              [&] { return op.emitOpError(); })))
      return failure();
    op->setAttr(kScheduleAttrName, wanted);
    return success();
  }

  /// The schedule that the op or else its function asks for; null for none.
  static FailureOr<ScheduleAttr> findAttr(MmaScaledOp op) {
    Operation *places[] = {op, op->getParentOfType<func::FuncOp>()};
    for (Operation *place : places) {
      Attribute attr = place ? place->getAttr(kScheduleAttrName) : Attribute();
      if (!attr)
        continue;
      if (auto schedule = dyn_cast<ScheduleAttr>(attr))
        return schedule;
      return place->emitOpError("expected the attribute '")
             << kScheduleAttrName << "' to be a #blockscale.schedule, got "
             << attr;
    }
    return ScheduleAttr();
  }
};

} // namespace
