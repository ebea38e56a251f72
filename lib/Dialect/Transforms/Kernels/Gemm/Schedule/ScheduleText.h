//===- ScheduleText.h - The text of schedules -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each schedule attribute has a table of fields, in ScheduleText.cpp. One
// interpreter recognizes, parses and prints texts by it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_SCHEDULETEXT_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_SCHEDULETEXT_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

using FieldNumbers = SmallVector<int64_t, 3>;

/// A field of the text: a parameter of the attribute.
struct ScheduleField {
  /// As in "tile=MxNxK": the name, and a letter for each integer.
  StringRef form;
  /// Whether its value is 0 or 1.
  bool isFlag;
  /// Names that stand for the integers from 0 on, if it has names.
  ArrayRef<StringRef> names;
  /// The default of the field; nullopt if it must be given.
  std::optional<FieldNumbers> usual;
  std::function<FieldNumbers(ScheduleInterface)> get;

  StringRef getName() const { return form.split('=').first; }
  size_t getCount() const { return form.split('=').second.count('x') + 1; }
};

class ScheduleText {
public:
  using EmitErrorFn = function_ref<InFlightDiagnostic()>;
  using MakeFn = ScheduleInterface (*)(EmitErrorFn, MLIRContext *,
                                       ArrayRef<FieldNumbers>);

  /// `make` takes the values of all fields, and checks them together.
  ScheduleText(std::vector<ScheduleField> fields, MakeFn make);

  /// The form, such as "tile=MxNxK,stages=S[,split_k=N]".
  StringRef getForm() const { return form; }
  /// Whether `text` has the form; does not check its values.
  bool hasForm(StringRef text) const { return takeFields(text).has_value(); }
  /// The schedule of `text`, which has the form; null after an error about its
  /// values.
  ScheduleInterface parse(MLIRContext *context, StringRef text,
                          EmitErrorFn emitError) const;
  /// The text that `parse` reads `schedule` from, without fields that have
  /// their defaults.
  std::string print(ScheduleInterface schedule) const;

private:
  std::optional<std::vector<FieldNumbers>> takeFields(StringRef text) const;

  std::vector<ScheduleField> fields;
  MakeFn make;
  std::string form;
};

/// The texts of MultistageScheduleAttr and of WarpSpecializedScheduleAttr.
const ScheduleText &getMultistageScheduleText();
const ScheduleText &getWarpSpecializedScheduleText();

/// The one whose form `text` has; null if there is none.
const ScheduleText *findScheduleText(StringRef text);

std::string joinForms(ArrayRef<const ScheduleText *> texts,
                      StringRef separator);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_SCHEDULETEXT_H
