//===- LaunchParamJson.h - Parameters of kernels in a file ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_LAUNCHPARAMJSON_H
#define BLOCKSCALE_LIB_RUNTIME_LAUNCHPARAMJSON_H

#include "JsonNode.h"
#include "blockscale/Runtime/LaunchInfo.h"

namespace mlir::blockscale {

/// Reads a parameter of a kernel that has a workspace of this size.
Error readParam(const JsonNode &node, const LaunchExpr &workspace,
                LaunchParam &param);

nlohmann::ordered_json makeParam(const LaunchParam &param);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_RUNTIME_LAUNCHPARAMJSON_H
