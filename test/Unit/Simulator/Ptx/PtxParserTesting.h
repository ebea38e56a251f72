//===- PtxParserTesting.h - PTX texts for tests of the parser ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_SIMULATOR_PTX_PTXPARSERTESTING_H
#define BLOCKSCALE_TEST_UNIT_SIMULATOR_PTX_PTXPARSERTESTING_H

#include "Ptx/Parser.h"

#include "gtest/gtest.h"

namespace mlir::blockscale::sim::ptxtest {

/// A module of these directives. They start on line 2.
inline std::string makeModule(const std::string &directives) {
  return ".version 9.0 .target sm_120a .address_size 64\n" + directives;
}

/// A module of one entry `k` with this body. The body starts on line 3.
inline std::string makeBody(const std::string &body) {
  return makeModule(".entry k(.param .u64 P) {\n" + body + "\n}\n");
}

/// The message for a text; "no error" if it is parsed.
inline std::string getMessage(const std::string &text) {
  Result<Module> module = parsePtx(text);
  return module ? "no error" : module.message();
}

inline std::string getModuleMessage(const std::string &directives) {
  return getMessage(makeModule(directives));
}

inline std::string getBodyMessage(const std::string &body) {
  return getMessage(makeBody(body));
}

/// The module of a text that is right; an empty one if it is not.
inline Module parse(const std::string &text) {
  Result<Module> module = parsePtx(text);
  EXPECT_TRUE(bool(module)) << module.message() << "\n" << text;
  return module ? std::move(*module) : Module();
}

inline Module parseModule(const std::string &directives) {
  return parse(makeModule(directives));
}

/// The module of one entry; the entry is the first function.
inline Module parseBody(const std::string &body) {
  Module module = parse(makeBody(body));
  if (module.functions.empty())
    module.functions.emplace_back();
  return module;
}

} // namespace mlir::blockscale::sim::ptxtest

#endif // BLOCKSCALE_TEST_UNIT_SIMULATOR_PTX_PTXPARSERTESTING_H
