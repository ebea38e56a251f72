//===- PtxParserErrorTest.cpp - Tests of errors of the PTX parser ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every message, with its location; and the cost of parsing large texts.
//
//===----------------------------------------------------------------------===//

#include "Ptx/PtxParserTesting.h"

#include <chrono>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::ptxtest;

namespace {

struct Case {
  std::string text;
  std::string message;
};

} // namespace

static std::string repeat(const std::string &text, size_t count) {
  std::string result;
  for (size_t i = 0; i != count; ++i)
    result += text;
  return result;
}

//===----------------------------------------------------------------------===//
// Tokens and the head
//===----------------------------------------------------------------------===//

TEST(PtxParserErrorTest, Head) {
  const Case cases[] = {
      {"", "line 1:1: expected '.version', got the end of the text"},
      {".target sm_90", "line 1:1: expected '.version', got '.target'"},
      {".version 9 .target sm_90",
       "line 1:10: expected a version such as 8.7, got '9'"},
      {".version 8.x .target sm_90",
       "line 1:10: expected a version such as 8.7, got '8.x'"},
      {".version 99999999999.0 .target sm_90",
       "line 1:10: expected a version such as 8.7, got '99999999999.0'"},
      {".version 9.2 .target sm_90",
       "line 1:10: expected PTX of version 9.1 or lower, got '9.2'"},
      {".version 10.0 .target sm_90",
       "line 1:10: expected PTX of version 9.1 or lower, got '10.0'"},
      {".version 9.0\n.entry k { }", "line 2:1: expected '.target', got "
                                     "'.entry'"},
      {".version 9.0 .target compute_90",
       "line 1:22: expected a target such as sm_90a, got 'compute_90'"},
      {".version 9.0 .target sm_90b",
       "line 1:22: expected a target such as sm_90a, got 'sm_90b'"},
      {".version 9.0 .target sm_90, map_f64_to_f32",
       "line 1:29: expected an option of a target, got 'map_f64_to_f32'"},
      {".version 9.0 .target sm_90 .address_size 32",
       "line 1:42: expected an address size of 64, got '32'"},
      {".version 9.0 .target sm_90 .address_size 128",
       "line 1:42: expected an integer from 32 to 64, got '128'"},
      {".version 9.0 .target sm_90 .address_size x",
       "line 1:42: expected an integer from 32 to 64, got 'x'"},
      {".version 9.0 .target sm_90 .target sm_90",
       "line 1:28: expected a function or a variable of the module, got "
       "'.target'"},
  };
  for (const Case &test : cases)
    EXPECT_EQ(getMessage(test.text), test.message);
}

TEST(PtxParserErrorTest, Tokens) {
  const Case cases[] = {
      {"/* x\n * y", "line 2:1: expected '*/', got the end of the text"},
      {".pragma \"x\n\";", "line 2:9: expected '\"', got the end of the line"},
      {".pragma \"x\\\n\";",
       "line 2:9: expected '\"', got the end of the line"},
      {".pragma \"x", "line 2:9: expected '\"', got the end of the line"},
      {"\x01", "line 2:1: expected a token, got '\\x01'"},
      {std::string(1, '\0'), "line 2:1: expected a token, got '\\x00'"},
      {"\xff", "line 2:1: expected a token, got '\\xff'"},
      {"#define x", "line 2:1: expected a token, got '#'"},
      {".global .b32 x; # 1", "line 2:17: expected a token, got '#'"},
      {"$", "line 2:1: expected a token, got '$'"},
      {".", "line 2:1: expected a token, got '.'"},
      {"/* \n\n */ .global\r\n\t.b32 5", "line 5:7: expected the name of a "
                                         "variable, got '5'"},
      {".global .b32 " + repeat("a", 50) + " 5",
       "line 2:65: expected ',' or ';', got '5'"},
      {repeat("a", 64) + repeat("b", 20),
       "line 2:1: expected a directive, got '" + repeat("a", 60) + "..." +
           repeat("b", 20) + "'"},
  };
  for (const Case &test : cases)
    EXPECT_EQ(getModuleMessage(test.text), test.message);
}

TEST(PtxParserErrorTest, ModuleDirectives) {
  const Case cases[] = {
      {";", "line 2:1: expected a directive, got ';'"},
      {".visible x", "line 2:10: expected a directive, got 'x'"},
      {".foo", "line 2:1: expected a function or a variable of the module, got "
               "'.foo'"},
      {".local .b32 x;", "line 2:1: expected a function or a variable of the "
                         "module, got '.local'"},
      {".reg .b32 x;", "line 2:1: expected a function or a variable of the "
                       "module, got '.reg'"},
      {".alias f, g;", "line 2:1: not supported in this version: .alias"},
      {".tex .u32 x;", "line 2:1: not supported in this version: .tex"},
      {".sampler x;", "line 2:1: not supported in this version: .sampler"},
      {".surf .u32 x;", "line 2:1: not supported in this version: .surf"},
      {".global .texref x;",
       "line 2:9: not supported in this version: .texref"},
      {".global .samplerref x;",
       "line 2:9: not supported in this version: .samplerref"},
      {".entry k(.param .surfref x) { }",
       "line 2:17: not supported in this version: .surfref"},
      {".file x", "line 2:7: expected an integer from 0 to 4294967295, got "
                  "'x'"},
      {".file 1 x", "line 2:9: expected a string, got 'x'"},
      {".file 1 \"x\", y", "line 2:14: expected an integer from 0 to "
                           "18446744073709551615, got 'y'"},
      {".pragma x;", "line 2:9: expected a string, got 'x'"},
      {".pragma \"x\" }", "line 2:13: expected ';', got '}'"},
      {".loc 1 2 x", "line 2:10: expected an integer from 0 to 4294967295, got "
                     "'x'"},
      {".loc 1 2 3, ;", "line 2:13: expected function_name or inlined_at, got "
                        "';'"},
      {".loc 1 2 3, function_name 4", "line 2:27: expected a label of a debug "
                                      "section, got '4'"},
      {".section 5 { }", "line 2:10: expected the name of a section, got '5'"},
      {".section .x 5", "line 2:13: expected '{', got '5'"},
      {".section .x { { }", "line 2:18: expected '}', got the end of the text"},
  };
  for (const Case &test : cases)
    EXPECT_EQ(getModuleMessage(test.text), test.message);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

TEST(PtxParserErrorTest, Variables) {
  const Case cases[] = {
      {".global x;", "line 2:9: expected a type, got 'x'"},
      {".global .b33 x;", "line 2:9: expected a type, got '.b33'"},
      {".global .v8 .b32 x;", "line 2:9: expected a type, got '.v8'"},
      {".global .bf16x2 x;", "line 2:9: expected a type, got '.bf16x2'"},
      {".global .pred x;", "line 2:15: expected a type of a variable before "
                           "the name, got 'x'"},
      {".global .v4 .b64 x;", "line 2:13: expected a type of a vector of at "
                              "most 128 bits, got '.b64'"},
      {".global .align 0 .b8 x;", "line 2:16: expected an integer from 1 to "
                                  "2147483648, got '0'"},
      {".global .align 3 .b8 x;", "line 2:16: expected a power of two, got "
                                  "'3'"},
      {".global .attribute x", "line 2:20: expected '(', got 'x'"},
      {".global .b32 5;", "line 2:14: expected the name of a variable, got "
                          "'5'"},
      {".global .b32 ;", "line 2:14: expected the name of a variable, got "
                         "';'"},
      {".global .b32 x,;", "line 2:16: expected the name of a variable, got "
                           "';'"},
      {".global .b32 x }", "line 2:16: expected ',' or ';', got '}'"},
      {".global .b32 x[0];", "line 2:16: expected an integer from 1 to "
                             "9223372036854775807, got '0'"},
      {".global .b32 x[2][];", "line 2:19: expected an integer from 1 to "
                               "9223372036854775807, got ']'"},
      {".global .b32 x[2;", "line 2:17: expected ']', got ';'"},
      {".global .b32 x" + repeat("[1]", 65) + ";",
       "line 2:208: expected at most 64 dimensions, got '1'"},
      {".global .b32 x[9223372036854775807];",
       "line 2:14: expected a size of at most 9223372036854775807 bytes for "
       "'x', got more"},
      {".global .b8 x[4294967296][4294967296];",
       "line 2:13: expected a size of at most 9223372036854775807 bytes for "
       "'x', got more"},
      {".global .b8 x; .global .b8 x;",
       "line 2:28: expected a name that is not declared yet, got 'x'"},
      {".func f; .global .b8 f;",
       "line 2:22: expected a name that is not declared yet, got 'f'"},
      {".global .b8 _;",
       "line 2:13: expected a name that is not declared yet, got '_'"},
      {".global .b8 WARP_SZ;",
       "line 2:13: expected a name that is not declared yet, got 'WARP_SZ'"},
      {".extern .global .b8 x; .global .b16 x;",
       "line 2:37: expected the type and size of the first declaration for "
       "'x', got others"},
      {".extern .global .b8 x[2]; .global .b8 x[3];",
       "line 2:39: expected the type and size of the first declaration for "
       "'x', got others"},
      {".global .b8 x[];", "line 2:16: expected an initializer of an array "
                           "without a size, got ';'"},
      {".shared .b8 x[];", "line 2:16: expected an initializer of an array "
                           "without a size, got ';'"},
      {".shared .b8 x = 1;", "line 2:15: expected no initializer outside of "
                             ".global and .const, got '='"},
      {".extern .global .b8 x = 1;", "line 2:23: expected no initializer of an "
                                     ".extern variable, got '='"},
  };
  for (const Case &test : cases)
    EXPECT_EQ(getModuleMessage(test.text), test.message);
}

TEST(PtxParserErrorTest, Initializers) {
  const std::pair<const char *, const char *> messages[] = {
      {".b8 x = ;", "22: expected a constant, got ';'"},
      {".b8 x = {1};", "22: expected a constant, got '{'"},
      {".b8 x[2] = 1;", "25: expected '{', got '1'"},
      {".b8 x[2] = {1, 2, 3};", "32: expected at most 2 elements, got '3'"},
      {".b8 x[2] = {1, };", "29: expected a constant, got '}'"},
      {".b8 x[2] = {1 2};", "28: expected ',' or '}', got '2'"},
      {".b8 x[2][2] = {1, 2};", "29: expected '{', got '1'"},
      {".v2 .b8 x = {1, 2, 3};", "33: expected at most 2 elements, got '3'"},
      {".f32 x = 1;", "23: expected a floating-point number, got '1'"},
      {".u32 x = 1.5;", "23: expected an integer, got '1.5'"},
      {".f64 x = 0f3F800000;", "23: expected a number of 64 bits, got "
                               "'0f3F800000'"},
      {".f16 x = 1.5;", "23: not supported in this version: initializers of "
                        ".f16"},
      {".f16x2 x = 1.5;", "25: not supported in this version: initializers of "
                          ".f16x2"},
      {".b128 x = 1;", "24: not supported in this version: initializers of "
                       ".b128"},
      {".b8 x[] = {};", "24: expected an initializer of 1 to "
                        "9223372036854775807 bytes, got 0"},
      {".b8 x[][9223372036854775807] = {{},{}};",
       "45: expected an initializer of 1 to 9223372036854775807 bytes, got "
       "18446744073709551614"},
      {".b8 x[1000000000000] = {1, 2", "42: expected ',' or '}', got the end "
                                       "of the text"},
      {".u64 x = y;", "23: expected a function, got 'y'"},
      {".u64 x[2] = {x, y};", "30: expected a function, got 'y'"},
      {".u64 x = generic(5);", "31: expected a variable or a function, got "
                               "'5'"},
      {".u64 x = generic(x;", "32: expected ')', got ';'"},
      {".u64 x = x+1.5;", "25: expected an integer, got '1.5'"},
      {".u16 x = x;", "23: expected an address in a variable of 32 or 64 bits, "
                      "got 'x'"},
      {".f64 x = x;", "23: expected an address in a variable of 32 or 64 bits, "
                      "got 'x'"},
      {".u16 x = 0xFF(x);", "28: expected an address with a mask in a variable "
                            "of bytes, got 'x'"},
      {".u8 x = 0xFFFF(x);", "29: expected an address behind a mask of one "
                             "byte, got 'x'"},
      {".u8 x = 0xFF(x;", "28: expected ')', got ';'"},
  };
  for (auto [text, message] : messages)
    EXPECT_EQ(getModuleMessage(std::string(".global      ") + text),
              std::string("line 2:") + message)
        << text;
}

TEST(PtxParserErrorTest, Functions) {
  const Case cases[] = {
      {".func 5", "line 2:7: expected the name of a function, got '5'"},
      {".entry (.param .b32 r) k { }", "line 2:8: expected the name of a "
                                       "function, got '('"},
      {".func f", "line 2:8: expected '{' or ';', got the end of the text"},
      {".func f .foo", "line 2:9: expected a directive of a function, '{' or "
                       "';', got '.foo'"},
      {".func f .maxntid 1", "line 2:9: expected a directive of a function, "
                             "'{' or ';', got '.maxntid'"},
      {".entry k .foo", "line 2:10: expected a directive of an entry, '{' or "
                        "';', got '.foo'"},
      {".entry k .maxntid 0 { }", "line 2:19: expected an integer from 1 to "
                                  "4294967295, got '0'"},
      {".entry k .maxntid 1,2,3,4 { }", "line 2:24: expected '{' or ';', got "
                                        "','"},
      {".entry k .maxntid 1 .maxntid 2 { }", "line 2:30: expected each "
                                             "directive once, got '2'"},
      {".entry k .maxnreg 1 .maxnreg 2 { }", "line 2:30: expected each "
                                             "directive once, got '2'"},
      {".entry k .maxnreg 4294967296 { }",
       "line 2:19: expected an integer from 0 to 4294967295, got '4294967296'"},
      {".entry k .blocksareclusters { }",
       "line 2:10: not supported in this version: .blocksareclusters"},
      {".entry k(.reg .b32 x) { }", "line 2:10: expected '.param', got '.reg'"},
      {".func f(.local .b32 x) { }", "line 2:9: expected '.param' or '.reg', "
                                     "got '.local'"},
      {".func f(.reg .b32 5) { }", "line 2:19: expected the name of a "
                                   "register, got '5'"},
      {".func f(.param .b32 x .b32 y) { }", "line 2:23: expected ',' or ')', "
                                            "got '.b32'"},
      {".entry k(.param .b8 x[]) { }", "line 2:24: expected a size of the "
                                       "parameter of an entry, got ')'"},
      {".entry k(.param .u64 .ptr .align 3 x) { }",
       "line 2:34: expected a power of two, got '3'"},
      {".func (.reg .b32 x) f(.reg .b32 x) { }",
       "line 2:33: expected a name that is not declared yet, got 'x'"},
      {".func f(.reg .b32 _) { }",
       "line 2:19: expected a name that is not declared yet, got '_'"},
      {".func f { } .func f { }",
       "line 2:19: expected one definition of 'f', got another"},
      {".func f; .entry f { }", "line 2:17: expected the parameters of the "
                                "first declaration for 'f', got others"},
      {".func f(.reg .b32 x); .func f(.reg .b64 x) { }",
       "line 2:29: expected the parameters of the first declaration for 'f', "
       "got others"},
      {".func f(.param .b32 x); .func f(.param .align 8 .b32 x) { }",
       "line 2:31: expected the parameters of the first declaration for 'f', "
       "got others"},
      {".func f(.param .b32 x); .func f(.reg .b32 x) { }",
       "line 2:31: expected the parameters of the first declaration for 'f', "
       "got others"},
      {".func (.reg .b32 x) f; .func f { }",
       "line 2:30: expected the parameters of the first declaration for 'f', "
       "got others"},
      {".global .b32 f; .func f { }",
       "line 2:23: expected a name that is not declared yet, got 'f'"},
      {".extern .func f { }",
       "line 2:17: expected no body of an .extern function, got '{'"},
      {".func f { ", "line 2:11: expected a statement or '}', got the end of "
                     "the text"},
      {".func f { } }", "line 2:13: expected a directive, got '}'"},
  };
  for (const Case &test : cases)
    EXPECT_EQ(getModuleMessage(test.text), test.message);
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

TEST(PtxParserErrorTest, Statements) {
  const Case cases[] = {
      {";", "expected a statement or '}', got ';'"},
      {".foo", "expected a directive of a function, got '.foo'"},
      {".extern .shared .b8 x[];", "expected a directive of a function, got "
                                   "'.extern'"},
      {".branchtargets x;", "expected a label before the directive, got "
                            "'.branchtargets'"},
      {"%r1 = 5;", "expected an instruction, got '%r1'"},
      {"Add 5;", "expected an instruction, got 'Add'"},
  };
  for (const Case &test : cases)
    EXPECT_EQ(getBodyMessage(test.text),
              std::string("line 3:1: ") + test.message);
  const Case others[] = {
      {"x: .branchtargets ;", "line 3:19: expected a label, got ';'"},
      {"x: .branchtargets y;", "line 3:19: expected a label, got 'y'"},
      {"x: .branchtargets P;", "line 3:19: expected a label, got 'P'"},
      {"x: .branchtargets y }", "line 3:21: expected ',' or ';', got '}'"},
      {"x: .branchtargets x;", "line 3:19: expected a label, got 'x'"},
      {"x: .calltargets 5;", "line 3:17: expected a function, got '5'"},
      {"x: .calltargets y;", "line 3:17: expected a function, got 'y'"},
      {"x: .calltargets x;", "line 3:17: expected a function, got 'x'"},
      {"x: .callprototype 5;", "line 3:19: expected '_', got '5'"},
      {"x: .callprototype _ () 5;", "line 3:24: expected ';', got '5'"},
      {"x: x:", "line 3:4: expected a name that is not declared yet, got 'x'"},
      {"P:", "line 3:1: expected a name that is not declared yet, got 'P'"},
      {"x: x: .calltargets k;",
       "line 3:4: expected a name that is not declared yet, got 'x'"},
      {".reg .b32 P;",
       "line 3:11: expected a name that is not declared yet, got 'P'"},
      {".reg .b32 ;", "line 3:11: expected the name of a register, got ';'"},
      {".reg .b32 a b;", "line 3:13: expected ',' or ';', got 'b'"},
      {".reg .b32 %r<3;", "line 3:15: expected '>', got ';'"},
      {".reg .b32 %r<-1>;",
       "line 3:14: expected an integer from 0 to 4294967295, got '-'"},
      {".reg .b32 %r<4294967296>;",
       "line 3:14: expected an integer from 0 to 4294967295, got '4294967296'"},
      {".reg .v2 .pred p;", "line 3:10: expected a type of a vector of at most "
                            "128 bits, got '.pred'"},
      {".reg .b32 %r<3>; .reg .f32 %r<5>;",
       "line 3:28: expected a name that is not declared yet, got '%r'"},
      {".reg .b32 %r<3>; .reg .f32 %r2;",
       "line 3:28: expected a name that is not declared yet, got '%r2'"},
      {".reg .b32 %r<20>, %r1<5>; op %r11;",
       "line 3:30: expected a name that is declared once, got '%r11'"},
      {".reg .b32 %r1, %r<5>; op %r1;",
       "line 3:26: expected a name that is declared once, got '%r1'"},
      {".reg .b32 a; @a ret;", "line 3:15: expected a predicate register, got "
                               "'a'"},
      {"@!P ret;", "line 3:3: expected a predicate register, got 'P'"},
      {"@%q ret;", "line 3:2: expected a predicate register, got '%q'"},
      {".reg .pred p; @p { }", "line 3:18: expected an instruction, got '{'"},
      {".reg .pred p; @p x: ret;", "line 3:19: expected an operand, got ':'"},
  };
  for (const Case &test : others)
    EXPECT_EQ(getBodyMessage(test.text), test.message);
}

TEST(PtxParserErrorTest, Operands) {
  const std::string start = ".reg .b32 a; .reg .pred p, q; .reg .v2 .f32 v;\n"
                            ".reg .b32 %r<10>; .shared .b32 x[4]; t:\n"
                            "u: .branchtargets t; w: .callprototype _;\n";
  const Case cases[] = {
      {"op a", "1:expected ',' or ';', got '}'"},
      {"op", "1:expected an operand, got '}'"},
      {"op }", "4:expected an operand, got '}'"},
      {"op a b;", "6:expected ',' or ';', got 'b'"},
      {"op a,;", "6:expected an operand, got ';'"},
      {"op ,;", "4:expected an operand, got ','"},
      {"op .5x;", "4:expected a number, got '.5x'"},
      {"op \"x\";", "4:expected an operand, got '\"x\"'"},
      {"op y;", "4:expected a declared name, got 'y'"},
      {"op x, %r10;", "7:expected a declared name, got '%r10'"},
      {"op %r01;", "4:expected a declared name, got '%r01'"},
      {"op %tidx;", "4:expected a declared name, got '%tidx'"},
      {"op %envreg32;", "4:expected a declared name, got '%envreg32'"},
      {"op {y};", "5:expected a declared name, got 'y'"},
      {"op {{y}};", "6:expected a declared name, got 'y'"},
      {"op {{{y}}};", "7:expected a declared name, got 'y'"},
      {"op {{a, {1}}, s}; s:", "0:no error"},
      {"op u;", "0:no error"},
      {"op a.x;", "5:expected a vector before a component, got '.x'"},
      {"op v.z;", "5:expected a component of a vector of 2, got '.z'"},
      {"op v.b0;", "5:expected a component of a vector of 2, got '.b0'"},
      {"op %tid.q;", "8:expected a component of a vector of 4, got '.q'"},
      {"op %laneid.x;", "11:expected a vector before a component, got '.x'"},
      {"op %tid .x;", "9:expected no space before '.x'"},
      {"op x[1];", "5:not supported in this version: an element of a "
                   "variable"},
      {"op x+a;", "6:expected a constant, got 'a'"},
      {"op x+1.5;", "6:expected an integer, got '1.5'"},
      {"op -L;", "5:expected a register, got 'L'"},
      {"op !x;", "5:expected a register, got 'x'"},
      {"op !y;", "5:expected a register, got 'y'"},
      {"op p|1;", "6:expected a register or _, got '1'"},
      {"op p|!q;", "6:expected a register or _, got '!'"},
      {"op !p|q;", "6:expected ',' or ';', got '|'"},
      {"op 1|p;", "6:expected a constant, got 'p'"},
      {"op [];", "5:expected an address, got ']'"},
      {"op [{a}];", "5:expected a register, a variable or an integer, got "
                    "'{'"},
      {"op [!p];", "5:expected a register, a variable or an integer, got '!'"},
      {"op [y];", "5:expected a register, a variable or an integer, got 'y'"},
      {"op [1.5];", "5:expected a register, a variable or an integer, got "
                    "'1.5'"},
      {"op [a+x];", "7:expected a constant, got 'x'"},
      {"op [a;", "6:expected ',' or ']', got ';'"},
      {"op {a;", "6:expected ',' or '}', got ';'"},
      {"bra;", "0:no error"},
      {"bra 5;", "5:expected a label, got '5'"},
      {"bra y;", "5:expected a label, got 'y'"},
      {"bra a;", "5:expected a label, got 'a'"},
      {"bra u;", "5:expected a label, got 'u'"},
      {"bra k;", "5:expected a label, got 'k'"},
      {"bra z; { z: }", "5:expected a label, got 'z'"},
      {"brx.idx a, t;", "12:expected a label of .branchtargets, got 't'"},
      {"brx.idx a, y;", "12:expected a label of .branchtargets, got 'y'"},
      {"call y;", "6:expected a function, got 'y'"},
      {"call t;", "6:expected a function or a register, got 't'"},
      {"call x;", "6:expected a function or a register, got 'x'"},
      {"call 5;", "6:expected a function or a register, got '5'"},
      {"call a|a;", "7:expected ',' or ';', got '|'"},
      {"call (a) y;", "10:expected ',', got 'y'"},
      {"call (a), (a), y;", "11:expected a function or a register, got '('"},
      {"call a, w, w;", "10:expected ',' or ';', got ','"},
      {"call a, (a), 5;", "14:expected a label, got '5'"},
      {"call a, (a), t;",
       "14:expected a label of .callprototype or .calltargets, got 't'"},
      {"call a, y;",
       "9:expected a label of .callprototype or .calltargets, got 'y'"},
      {"call a, (a;", "11:expected ',' or ')', got ';'"},
  };
  for (const Case &test : cases) {
    auto [column, message] = llvm::StringRef(test.message).split(':');
    // Where the body has ended, the brace is on the next line.
    std::string location =
        test.text == "op a" || test.text == "op" ? "7:" : "6:";
    std::string expected = column == "0" ? "no error"
                                         : "line " + location + column.str() +
                                               ": " + message.str();
    EXPECT_EQ(getBodyMessage(start + test.text), expected) << test.text;
  }
}

TEST(PtxParserErrorTest, Constants) {
  const Case cases[] = {
      {"12abc", "4: expected an integer of at most 64 bits, got '12abc'"},
      {"019", "4: expected an integer of at most 64 bits, got '019'"},
      {"0x", "4: expected an integer of at most 64 bits, got '0x'"},
      {"0b2", "4: expected an integer of at most 64 bits, got '0b2'"},
      {"18446744073709551616", "4: expected an integer of at most 64 bits, got "
                               "'18446744073709551616'"},
      {"0f3F8", "4: expected 0f and 8 hexadecimal digits, got '0f3F8'"},
      {"0f3F80000G", "4: expected 0f and 8 hexadecimal digits, got "
                     "'0f3F80000G'"},
      {"0D3F8", "4: expected 0D and 16 hexadecimal digits, got '0D3F8'"},
      {"1.2.3", "4: expected a number, got '1.2.3'"},
      {"1e", "4: expected a number, got '1e'"},
      {"1e+", "4: expected a number, got '1e+'"},
      {"1e999", "4: expected a number in the range of f64, got '1e999'"},
      {"1." + repeat("1", 1023),
       "4: expected a number of at most 1024 characters, got '1." +
           repeat("1", 58) + "..." + repeat("1", 20) + "'"},
      {"1/0", "5: expected a divisor, got 0"},
      {"1 % (2-2)", "6: expected a divisor, got 0"},
      {"1.5/0", "7: expected a divisor, got 0"},
      {"1<<64", "5: expected a shift by 0 to 63, got 64"},
      {"1>>-1", "5: expected a shift by 0 to 63, got -1"},
      {"1<<0xFFFFFFFFFFFFFFFF",
       "5: expected a shift by 0 to 63, got 18446744073709551615"},
      {"1.5 % 2", "8: expected an operator of floating-point numbers, got '%'"},
      {"1.5 & 2", "8: expected an operator of floating-point numbers, got '&'"},
      {"!1.5", "4: expected an operator of floating-point numbers, got '!'"},
      {"~1.5", "4: expected an operator of floating-point numbers, got '~'"},
      {"(1", "6: expected ')', got ';'"},
      {"(.s32)1", "5: expected .s64 or .u64, got '.s32'"},
      {"(.s64 1", "10: expected ')', got '1'"},
      {"(.s64)1.5", "10: expected an integer, got '1.5'"},
      {"1 ? 2", "9: expected ':', got ';'"},
      {"1+", "6: expected a constant, got ';'"},
      {"()", "5: expected a constant, got ')'"},
  };
  for (const Case &test : cases)
    EXPECT_EQ(getBodyMessage("op " + test.text + ";"),
              std::string("line 3:") + test.message);
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

TEST(PtxParserErrorTest, Nesting) {
  const Case cases[] = {{"(", ")"}, {"{", "}"}, {"[", "]"},
                        {"-", ""},  {"!", ""},  {"1?", ":2"}};
  for (const Case &test : cases) {
    std::string message = getBodyMessage("op " + repeat(test.text, 100000));
    EXPECT_NE(message.find("expected at most 256 levels of nesting, got more"),
              std::string::npos)
        << message;
    std::string shallow =
        "op " + repeat(test.text, 256) + "1" + repeat(test.message, 256) + ";";
    // An address in an address is no base.
    if (test.text != "[") {
      EXPECT_EQ(getBodyMessage(shallow), "no error");
    }
  }
  EXPECT_EQ(getBodyMessage(repeat("{", 256) + repeat("}", 256)), "no error");
  EXPECT_EQ(getBodyMessage(repeat("{", 257) + repeat("}", 257)),
            "line 3:257: expected at most 256 levels of nesting, got more");
  EXPECT_EQ(getModuleMessage(".section .x " + repeat("{", 100000) +
                             repeat("}", 100000)),
            "no error");
  EXPECT_EQ(getModuleMessage(".global .b8 x" + repeat("[1]", 64) + " = " +
                             repeat("{", 65)),
            "line 2:273: expected a constant, got '{'");
}

TEST(PtxParserErrorTest, BytesOfInitializers) {
  const char *message =
      "expected at most 268435456 bytes of initializers, got more";
  EXPECT_EQ(getModuleMessage(".global .b8 x[3][1000000000000] = {{1}, {2}};"),
            std::string("line 2:42: ") + message);
  EXPECT_EQ(getModuleMessage(
                ".global .b8 x[][9223372036854775807] = {{}, {}, {}, {1}};"),
            std::string("line 2:54: ") + message);
  // The sum of all variables counts.
  EXPECT_EQ(getModuleMessage(".global .b8 x[2][268435455] = {{1}, {}};\n"
                             ".global .b8 y[2][268435455] = {{1}, {1}};\n"),
            std::string("line 3:38: ") + message);
}

TEST(PtxParserErrorTest, BytesOfText) {
  std::string text = makeModule("");
  text.resize((size_t(256) << 20) + 1, ' ');
  EXPECT_EQ(getMessage(text),
            "line 1:1: expected at most 268435456 bytes of text, got "
            "268435457");
}

/// Texts that would take minutes if a name were looked for in all scopes, all
/// names, or all labels.
TEST(PtxParserErrorTest, TimeIsLinear) {
  constexpr size_t count = 50000;
  std::string declarations, uses, labels,
      digits = ".reg .b32 %" + repeat("1", count) + "<9>;";
  for (size_t i = 0; i != count; ++i) {
    std::string number = std::to_string(i);
    declarations += ".reg .b32 a" + number + ";";
    uses += "op a" + number + ", %r" + number + "; bra L" + number + ";";
    labels += "L" + number + ":";
  }
  std::string ranges = ".reg .b32 %r<50000>;";
  std::string body = declarations + ranges + repeat("{", 256) + uses +
                     repeat("}", 256) + labels;
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(getBodyMessage(body), "no error");
  EXPECT_EQ(getBodyMessage(repeat("{bra x;", 256) + repeat("bra x;", count) +
                           repeat("}", 256) + "x:"),
            "no error");
  EXPECT_EQ(getBodyMessage(digits + "op %" + repeat("1", count) + "8;"),
            "no error");
  EXPECT_EQ(getModuleMessage(repeat(".func f(.reg .b32 x);", count)),
            "no error");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

/// No prefix of a text crashes; each is an error with a location, or a module.
TEST(PtxParserErrorTest, Prefixes) {
  std::string text = makeModule(
      ".file 1 \"x\"\n.global .v2 .b32 x[2] = {{1, 0x2}, {3}};\n"
      ".global .u64 y = generic(x)+4; /* c */ .extern .shared .b8 z[];\n"
      ".func (.reg .b32 r) f(.param .b64 .ptr .global .align 8 p);\n"
      ".entry k(.param .u64 p) .maxntid 1,2,3 {\n.reg .pred %p<2>;\n"
      ".reg .b32 %r<4>; .loc 1 2 3, function_name a, inlined_at 1 2 3\n"
      "L: @!%p1 bra L; t: .branchtargets L; brx.idx %r1, t;\n"
      "{ .param .b64 q; call (%r1), f, (q); } op [%r1+4, {_, %tid.x}], "
      "%p0|%p1, !%p1, (.s64)1+2*3 ? 1.5 : 0f3F800000;\n}\n");
  EXPECT_EQ(getMessage(text), "no error");
  for (size_t size = 0; size != text.size(); ++size) {
    std::string message = getMessage(text.substr(0, size));
    EXPECT_TRUE(message == "no error" || message.rfind("line ", 0) == 0);
    std::string changed = text;
    for (char c : {'\0', '}', '9', '.', ','}) {
      changed[size] = c;
      message = getMessage(changed);
      EXPECT_TRUE(message == "no error" || message.rfind("line ", 0) == 0);
    }
  }
}
