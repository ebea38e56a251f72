//===- LaunchInfoJson.h - Launch infos in a file ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_LAUNCHINFOJSON_H
#define BLOCKSCALE_LIB_RUNTIME_LAUNCHINFOJSON_H

#include "JsonNode.h"
#include "blockscale/Runtime/LaunchInfo.h"

namespace mlir::blockscale {

/// Reads a launch info, whose text `checkJsonText` accepts.
inline constexpr uint64_t launchInfoVersion = 1;

Error readLaunchInfo(const JsonNode &node, LaunchInfo &info);

nlohmann::ordered_json makeLaunchInfo(const LaunchInfo &info);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_RUNTIME_LAUNCHINFOJSON_H
