//===- LaunchJson.h - Launch infos in a file --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_LAUNCHJSON_H
#define BLOCKSCALE_LIB_RUNTIME_LAUNCHJSON_H

#include "JsonNode.h"
#include "blockscale/Runtime/LaunchInfo.h"

namespace mlir::blockscale {

/// Reads {"arg": i, "dim": d}, and for a packed dimension {..., "packed":
/// [elements, bytes]}.
Error readSize(const JsonNode &node, ArgumentSize &size);

/// Reads [elements, bytes].
Error readPackedUnit(const JsonNode &node, uint32_t &elements, uint32_t &bytes);

/// Reads a number from `min` to `max`, or an expression.
Error readExpr(const JsonNode &node, int64_t min, int64_t max,
               LaunchExpr &expr);

/// Reads a parameter of a kernel that has a workspace of this size.
Error readParam(const JsonNode &node, const LaunchExpr &workspace,
                LaunchParam &param);

/// The versions of launch infos. The newest one has conditions and selects.
inline constexpr uint32_t firstLaunchInfoVersion = 1;
inline constexpr uint32_t newestLaunchInfoVersion = 2;

/// Reads a launch info, whose text `checkJsonText` accepts.
Error readLaunchInfo(const JsonNode &node, LaunchInfo &info);

/// An empty object with room for `members`: one that grows copies all that it
/// holds, since the names in it are constant.
nlohmann::ordered_json makeObject(size_t members);

nlohmann::ordered_json makeSize(const ArgumentSize &size);
nlohmann::ordered_json makeExpr(const LaunchExpr &expr);
nlohmann::ordered_json makeParam(const LaunchParam &param);
nlohmann::ordered_json makeLaunchInfo(const LaunchInfo &info);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_RUNTIME_LAUNCHJSON_H
