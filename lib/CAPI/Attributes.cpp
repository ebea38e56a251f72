//===- Attributes.cpp - Attributes of the tile level in C -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale-c/Attributes.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/CAPI/IR.h"

using namespace mlir;
using namespace mlir::blockscale;

template <typename T>
static T get(MlirAttribute attr) {
  return cast<T>(unwrap(attr));
}

static_assert(BlockScaleAll == ScaleBlock::kAll, "the header names a number");

MlirAttribute blockscaleScaleBlockAttrGet(MlirLocation location, int64_t rows,
                                          int64_t k) {
  Location loc = unwrap(location);
  return wrap(ScaleBlockAttr::getChecked([&] { return emitError(loc); },
                                         loc.getContext(), rows, k));
}
bool blockscaleAttributeIsAScaleBlock(MlirAttribute attr) {
  return !mlirAttributeIsNull(attr) && isa<ScaleBlockAttr>(unwrap(attr));
}
int64_t blockscaleScaleBlockAttrGetRows(MlirAttribute attr) {
  return get<ScaleBlockAttr>(attr).getRows();
}
int64_t blockscaleScaleBlockAttrGetK(MlirAttribute attr) {
  return get<ScaleBlockAttr>(attr).getK();
}

MlirAttribute blockscaleAccumulateAttrGet(MlirLocation location, int64_t chunk,
                                          bool rebase) {
  Location loc = unwrap(location);
  return wrap(AccumulateAttr::getChecked([&] { return emitError(loc); },
                                         loc.getContext(), chunk, rebase));
}
bool blockscaleAttributeIsAnAccumulate(MlirAttribute attr) {
  return !mlirAttributeIsNull(attr) && isa<AccumulateAttr>(unwrap(attr));
}
int64_t blockscaleAccumulateAttrGetChunk(MlirAttribute attr) {
  return get<AccumulateAttr>(attr).getChunk();
}
bool blockscaleAccumulateAttrGetRebase(MlirAttribute attr) {
  return get<AccumulateAttr>(attr).getRebase();
}
