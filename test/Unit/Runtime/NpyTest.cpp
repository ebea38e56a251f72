//===- NpyTest.cpp - Tests of .npy files ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/Npy.h"
#include "TestFiles.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>

using namespace mlir::blockscale;

/// A file of version 1.0 with this dict and this data.
static std::string makeFile(std::string_view dict, std::string_view data) {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(dict.size() & 0xff);
  bytes += static_cast<char>(dict.size() >> 8);
  return bytes.append(dict).append(data);
}

/// A whole header dict with this shape.
static std::string makeDict(std::string_view descr, std::string_view shape) {
  std::string dict = "{'descr': '";
  return dict.append(descr)
      .append("', 'fortran_order': False, 'shape': ")
      .append(shape)
      .append(", }");
}

/// The message for a file with this dict and no data.
static std::string parseDict(std::string_view dict) {
  Result<NpyArray> array = parseNpy(makeFile(dict, ""));
  return array ? "no error" : array.message();
}

static std::string parseMessage(std::string_view bytes) {
  Result<NpyArray> array = parseNpy(bytes);
  return array ? "no error" : array.message();
}

static std::string readMessage(const std::string &path) {
  Result<NpyArray> array = readNpy(path);
  return array ? "no error" : array.message();
}

static void expectArray(const Result<NpyArray> &array, DType dtype,
                        const std::vector<int64_t> &shape,
                        const std::vector<uint8_t> &data) {
  ASSERT_TRUE(array) << array.message();
  EXPECT_EQ(array->dtype, dtype);
  EXPECT_EQ(array->shape, shape);
  EXPECT_EQ(array->data, data);
}

//===----------------------------------------------------------------------===//
// Types and sizes
//===----------------------------------------------------------------------===//

TEST(DTypeTest, EveryCodeHasItsSizeAndKind) {
  struct {
    const char *code;
    DType dtype;
    unsigned size;
    DTypeKind kind;
  } rows[] = {
      {"u1", DType::U1, 1, DTypeKind::Unsigned},
      {"i1", DType::I1, 1, DTypeKind::Signed},
      {"u2", DType::U2, 2, DTypeKind::Unsigned},
      {"i2", DType::I2, 2, DTypeKind::Signed},
      {"f2", DType::F2, 2, DTypeKind::Float},
      {"u4", DType::U4, 4, DTypeKind::Unsigned},
      {"i4", DType::I4, 4, DTypeKind::Signed},
      {"f4", DType::F4, 4, DTypeKind::Float},
      {"u8", DType::U8, 8, DTypeKind::Unsigned},
      {"i8", DType::I8, 8, DTypeKind::Signed},
      {"f8", DType::F8, 8, DTypeKind::Float},
  };
  for (const auto &row : rows) {
    const DTypeInfo *info = lookupDType(row.code);
    ASSERT_NE(info, nullptr) << row.code;
    EXPECT_EQ(info->dtype, row.dtype);
    EXPECT_EQ(info->size, row.size);
    EXPECT_EQ(info->kind, row.kind);
    EXPECT_EQ(&getDTypeInfo(row.dtype), info);
  }
  EXPECT_EQ(lookupDType("f16"), nullptr);
  EXPECT_EQ(lookupDType(""), nullptr);
  EXPECT_EQ(listDTypeCodes(), "u1 i1 u2 i2 f2 u4 i4 f4 u8 i8 f8");
}

TEST(NpyTest, ByteSize) {
  EXPECT_EQ(*computeByteSize(DType::F4, {}), 4);
  EXPECT_EQ(*computeByteSize(DType::F8, {2, 3}), 48);
  EXPECT_EQ(*computeByteSize(DType::U1, {5, 0, 7}), 0);
  EXPECT_EQ(*computeByteSize(DType::U1, {INT64_MAX}), INT64_MAX);
  EXPECT_EQ(computeByteSize(DType::U2, {INT64_MAX}).message(),
            "overflowing shape: expected at most 9223372036854775807 bytes, "
            "got shape (9223372036854775807,)");
  // A zero beside them does not make large dimensions harmless.
  EXPECT_FALSE(computeByteSize(DType::U1, {INT64_MAX, 2, 0}));
  EXPECT_FALSE(computeByteSize(DType::U1, {0, INT64_MAX, 2}));
  EXPECT_EQ(computeByteSize(DType::U1, {2, -3}).message(),
            "negative dimension: expected at least 0, got -3 in shape (2, -3)");
  EXPECT_TRUE(computeByteSize(DType::U1, std::vector<int64_t>(64, 1)));
  EXPECT_EQ(computeByteSize(DType::U1, std::vector<int64_t>(65, 1)).message(),
            "rank too high: expected at most 64 dimensions, got 65");
}

TEST(NpyTest, Zeros) {
  expectArray(makeZeros(DType::U2, {1, 3}), DType::U2, {1, 3},
              {0, 0, 0, 0, 0, 0});
  EXPECT_FALSE(makeZeros(DType::U2, {-1}));
}

//===----------------------------------------------------------------------===//
// What is read
//===----------------------------------------------------------------------===//

TEST(NpyTest, ReadsVersion1) {
  // As numpy 1.24 writes np.array([[1, 2, 3]], 'i2').
  std::string file("\x93NUMPY\x01\x00\x76\x00", 10);
  file += "{'descr': '<i2', 'fortran_order': False, 'shape': (1, 3), }";
  file.append(127 - file.size(), ' ').append("\n");
  file.append("\x01\x00\x02\x00\x03\x00", 6);
  expectArray(parseNpy(file), DType::I2, {1, 3}, {1, 0, 2, 0, 3, 0});
}

TEST(NpyTest, ReadsVersions2And3) {
  std::string dict = makeDict("|u1", "(2,)");
  for (char version : {'\x02', '\x03'}) {
    std::string file("\x93NUMPY", 6);
    file += version;
    file += '\0';
    file += static_cast<char>(dict.size());
    file.append(3, '\0').append(dict).append("\x07\x09");
    expectArray(parseNpy(file), DType::U1, {2}, {7, 9});
  }
}

TEST(NpyTest, ReadsAllFourBytesOfALongHeaderLength) {
  std::string dict = makeDict("|u1", "()");
  dict.append(0x010203 - dict.size(), ' ');
  std::string file("\x93NUMPY\x02\x00\x03\x02\x01\x00", 12);
  expectArray(parseNpy(file + dict + "x"), DType::U1, {}, {'x'});
}

TEST(NpyTest, ReadsEveryType) {
  for (std::string_view code :
       {"u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8"}) {
    const DTypeInfo &info = *lookupDType(code);
    std::string file = makeFile(makeDict("<" + std::string(code), "(1,)"),
                                std::string(info.size, 'x'));
    expectArray(parseNpy(file), info.dtype, {1},
                std::vector<uint8_t>(info.size, 'x'));
  }
}

TEST(NpyTest, ReadsEverySpellingOfTheDict) {
  for (const char *dict : {
           "{'shape':(2,),'fortran_order':False,'descr':'|u1'}",
           "{\"descr\": \"|u1\", 'fortran_order': False, \"shape\": (2,)}",
           " \t{ 'descr' : '<u1' ,\n'fortran_order':False , 'shape'\r: ( 2 , "
           ") , }\n\n",
           "{'descr': '=u1', 'fortran_order': False, 'shape': (2,), }",
       })
    expectArray(parseNpy(makeFile(dict, "ab")), DType::U1, {2}, {'a', 'b'});
}

TEST(NpyTest, ReadsEveryRank) {
  expectArray(parseNpy(makeFile(makeDict("|i1", "()"), "a")), DType::I1, {},
              {'a'});
  expectArray(parseNpy(makeFile(makeDict("|i1", "(1, 2)"), "ab")), DType::I1,
              {1, 2}, {'a', 'b'});
  expectArray(parseNpy(makeFile(makeDict("|i1", "(1, 1, 2,)"), "ab")),
              DType::I1, {1, 1, 2}, {'a', 'b'});
  expectArray(parseNpy(makeFile(makeDict("<f8", "(3, 0)"), "")), DType::F8,
              {3, 0}, {});
}

TEST(NpyTest, TakesFortranOrderWhereItIsCOrder) {
  expectArray(
      parseNpy(makeFile(
          "{'descr': '|u1', 'fortran_order': True, 'shape': (2,), }", "ab")),
      DType::U1, {2}, {'a', 'b'});
  expectArray(
      parseNpy(makeFile(
          "{'descr': '|u1', 'fortran_order': True, 'shape': (), }", "a")),
      DType::U1, {}, {'a'});
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

TEST(NpyTest, RefusesOtherFiles) {
  EXPECT_EQ(parseMessage(""), "not an npy file: expected it to start with 93 "
                              "4e 55 4d 50 59, got nothing");
  EXPECT_EQ(parseMessage("\x93NUM"), "not an npy file: expected it to start "
                                     "with 93 4e 55 4d 50 59, got 93 4e 55 4d");
  EXPECT_EQ(parseMessage("PK\x03\x04 and so on"),
            "not an npy file: expected it to start with 93 4e 55 4d 50 59, got "
            "50 4b 03 04 20 61");
}

TEST(NpyTest, RefusesOtherVersions) {
  std::string file = makeFile(makeDict("|u1", "()"), "a");
  file[6] = 4;
  EXPECT_EQ(parseMessage(file),
            "unsupported version: expected 1.0, 2.0 or 3.0, got 4.0");
  file[6] = 1;
  file[7] = 1;
  EXPECT_EQ(parseMessage(file),
            "unsupported version: expected 1.0, 2.0 or 3.0, got 1.1");
  EXPECT_EQ(parseMessage("\x93NUMPY\x01"),
            "truncated version: expected 2 bytes, got 1");
}

TEST(NpyTest, RefusesHeaderLongerThanFile) {
  EXPECT_EQ(parseMessage(std::string_view("\x93NUMPY\x01\x00\x80", 9)),
            "truncated header length: expected 2 bytes, got 1");
  EXPECT_EQ(parseMessage(std::string_view("\x93NUMPY\x02\x00\x80\x00", 10)),
            "truncated header length: expected 4 bytes, got 2");
  EXPECT_EQ(parseMessage(std::string_view("\x93NUMPY\x01\x00\x80\x01{}", 12)),
            "header longer than the file: expected 384 bytes, got 2");
  EXPECT_EQ(
      parseMessage(std::string_view("\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14)),
      "header longer than the file: expected 4294967295 bytes, got 2");
}

TEST(NpyTest, RefusesBadDict) {
  struct {
    const char *dict;
    const char *message;
  } rows[] = {
      {"", "bad header at byte 0: expected '{', got its end"},
      {"  [1]", "bad header at byte 2: expected '{', got '[1]'"},
      {"{", "bad header at byte 1: expected a key in quotes or '}', got its "
            "end"},
      {"{descr}",
       "bad header at byte 1: expected a key in quotes or '}', got 'descr}'"},
      {"{,}",
       "bad header at byte 1: expected a key in quotes or '}', got ',}'"},
      {"{'descr' '|u1'}", "bad header at byte 9: expected ':', got ''|u1'}'"},
      {"{'descr': '|u1' 'shape': ()}",
       "bad header at byte 16: expected ',' or '}', got ''shape': ()}'"},
      {"{'descr': '|u1'",
       "bad header at byte 15: expected ',' or '}', got its end"},
      {"{'descr': '|u1}",
       "bad header at byte 15: expected a string without escapes that ends on "
       "its line, got its end"},
      {"{'descr': '|u1\"}",
       "bad header at byte 16: expected a string without escapes that ends on "
       "its line, got its end"},
      {"{'descr': '|\\x751'}",
       "bad header at byte 12: expected a string without escapes that ends on "
       "its line, got '\\x751'}'"},
      {"{'descr': '|\nu1'}",
       "bad header at byte 12: expected a string without escapes that ends on "
       "its line, got '\\x0au1'}'"},
      {"{'descr': 7}",
       "bad header at byte 10: expected a dtype in quotes, got '7}'"},
      {"{'fortran_order': 0}",
       "bad header at byte 18: expected True or False, got '0}'"},
      {"{'shape': 3}", "bad header at byte 10: expected '(', got '3}'"},
      {"{'shape': [3]}", "bad header at byte 10: expected '(', got '[3]}'"},
      {"{'shape': (3)}", "bad header at byte 12: expected ',', got ')}'"},
      {"{'shape': (3 4)}", "bad header at byte 13: expected ',', got '4)}'"},
      {"{'shape': (3, 4 5)}",
       "bad header at byte 16: expected ',' or ')', got '5)}'"},
      {"{'shape': (,)}",
       "bad header at byte 11: expected a dimension or ')', got ',)}'"},
      {"{'shape': (3L,)}", "bad header at byte 12: expected ',', got 'L,)}'"},
      {"{'shape': (+3,)}",
       "bad header at byte 11: expected a dimension or ')', got '+3,)}'"},
      {"{'shape': (-,)}",
       "bad header at byte 11: expected a dimension or ')', got '-,)}'"},
      {"{'shape': (03,)}",
       "bad header at byte 11: expected a dimension or ')', got '03,)}'"},
      {"{'shape': (", "bad header at byte 11: expected a dimension or ')', got "
                      "its end"},
  };
  for (const auto &row : rows)
    EXPECT_EQ(parseDict(row.dict), row.message);
  EXPECT_EQ(parseDict(makeDict("|u1", "()") + "x"),
            "bad header at byte 55: expected only white space after '}', got "
            "'x'");
  EXPECT_EQ(parseDict(makeDict("|u1", "()") + std::string(1, '\0')),
            "bad header at byte 55: expected only white space after '}', got "
            "'\\x00'");
}

TEST(NpyTest, RefusesWrongKeys) {
  EXPECT_EQ(parseDict("{'descr': '|u1', 'descr': '|u1'}"),
            "bad header at byte 17: expected each key once, got ''descr': "
            "'|u1'}'");
  EXPECT_EQ(parseDict("{'descr': '|u1', 'order': False}"),
            "bad header at byte 17: expected one of the keys 'descr', "
            "'fortran_order' and 'shape', got ''order': False}'");
  const char *dicts[] = {"{'fortran_order': False, 'shape': ()}",
                         "{'descr': '|u1', 'shape': ()}",
                         "{'descr': '|u1', 'fortran_order': False}"};
  const char *names[] = {"descr", "fortran_order", "shape"};
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(parseDict(dicts[i]),
              "bad header: expected the keys 'descr', 'fortran_order' and "
              "'shape', got no '" +
                  std::string(names[i]) + "'");
}

TEST(NpyTest, RefusesFortranOrder) {
  EXPECT_EQ(
      parseDict("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}"),
      "fortran order: expected 'fortran_order': False for shape (2, 3), got "
      "True");
}

TEST(NpyTest, RefusesByteOrders) {
  EXPECT_EQ(parseDict(makeDict(">f4", "()")),
            "big-endian data: expected '<f4', got '>f4'");
  EXPECT_EQ(parseDict(makeDict("=i2", "()")),
            "unsupported byte order: expected '<i2', got '=i2'");
  EXPECT_EQ(parseDict(makeDict("|u8", "()")),
            "unsupported byte order: expected '<u8', got '|u8'");
}

TEST(NpyTest, RefusesDTypes) {
  std::string expected = "unsupported dtype: expected '<' and one of u1 i1 u2 "
                         "i2 f2 u4 i4 f4 u8 i8 f8, got ";
  for (const char *descr : {"|b1", "<c8", "<f16", "f4", "<U3", "|V1", "", "<"})
    EXPECT_EQ(parseDict(makeDict(descr, "()")), expected + "'" + descr + "'");
  EXPECT_EQ(parseDict(makeDict("\x1b[31m", "()")), expected + "'\\x1b[31m'");
  EXPECT_EQ(parseDict(makeDict("\x7f\xc3", "()")), expected + "'\\x7f\\xc3'");
  EXPECT_EQ(parseDict(makeDict(std::string(83, 'f'), "()")),
            expected + "'" + std::string(83, 'f') + "'");
  EXPECT_EQ(
      parseDict(makeDict(std::string(61, 'f') + std::string(23, 'g'), "()")),
      expected + "'" + std::string(60, 'f') + "..." + std::string(20, 'g') +
          "'");
  EXPECT_EQ(parseDict("{'descr': [('a', '<f4')], }"),
            "unsupported dtype: expected one of u1 i1 u2 i2 f2 u4 i4 f4 u8 i8 "
            "f8, got a structured dtype");
}

TEST(NpyTest, RefusesShapes) {
  EXPECT_EQ(parseDict(makeDict("|u1", "(2, -3)")),
            "negative dimension: expected at least 0, got -3 in shape (2, -3)");
  EXPECT_EQ(parseDict(makeDict("|u1", "(4294967296, 4294967296)")),
            "overflowing shape: expected at most 9223372036854775807 bytes, "
            "got shape (4294967296, 4294967296)");
  EXPECT_EQ(parseDict(makeDict("|u1", "(9223372036854775808,)")),
            "overflowing shape: expected dimensions of at most "
            "9223372036854775807, got '9223372036854775808'");
  std::string ones = "(";
  for (int i = 0; i < 65; ++i)
    ones += "1,";
  EXPECT_EQ(parseDict(makeDict("|u1", ones + ")")),
            "rank too high: expected at most 64 dimensions, got 65");
}

TEST(NpyTest, RefusesWrongSizes) {
  std::string dict = makeDict("<f4", "(2, 3)");
  EXPECT_EQ(parseMessage(makeFile(dict, std::string(23, 'x'))),
            "truncated data: expected 24 bytes, got 23");
  EXPECT_EQ(parseMessage(makeFile(dict, std::string(25, 'x'))),
            "trailing data: expected 24 bytes, got 25");
  // No memory is taken for what a shape only claims.
  EXPECT_EQ(parseDict(makeDict("|u1", "(1099511627776,)")),
            "truncated data: expected 1099511627776 bytes, got 0");
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

TEST(NpyTest, ReadsFile) {
  TestDirectory directory;
  std::string path =
      directory.write("x.npy", makeFile(makeDict("<u2", "(2,)"), "abcd"));
  expectArray(readNpy(path), DType::U2, {2}, {'a', 'b', 'c', 'd'});
}

TEST(NpyTest, MessagesOfReadStartWithPath) {
  TestDirectory directory;
  std::string path = directory / "missing.npy";
  EXPECT_EQ(readMessage(path), "'" + path + "': no such file or directory");
  path = directory.makeDirectory("folder.npy");
  EXPECT_EQ(readMessage(path), "'" + path + "': is a directory");
  path = directory.write("secret.npy", makeFile(makeDict("|u1", "()"), "a"));
  directory.setMode("secret.npy", 0);
  EXPECT_EQ(runUnprivileged([&] { return readMessage(path); }),
            "'" + path + "': permission denied");
  path = directory.write("short.npy", makeFile(makeDict("<f4", "()"), "abc"));
  EXPECT_EQ(readMessage(path),
            "'" + path + "': truncated data: expected 4 bytes, got 3");
}

/// Passes bytes through a named pipe, whose size nobody knows in advance.
static Result<NpyArray> readThroughPipe(std::string_view bytes) {
  TestDirectory directory;
  std::string path = directory / "pipe";
  ::mkfifo(path.c_str(), 0600);
  pid_t writer = ::fork();
  if (writer == 0) {
    int descriptor = ::open(path.c_str(), O_WRONLY);
    while (!bytes.empty()) {
      ssize_t size = ::write(descriptor, bytes.data(), bytes.size());
      if (size <= 0)
        break;
      bytes.remove_prefix(static_cast<size_t>(size));
    }
    ::_exit(0);
  }
  Result<NpyArray> array = readNpy(path);
  int status;
  ::waitpid(writer, &status, 0);
  if (array)
    return array;
  return Error(array.message().substr(path.size() + 4));
}

TEST(NpyTest, ReadsPipe) {
  std::string data(300000, 'x');
  data[299999] = 'y';
  Result<NpyArray> array =
      readThroughPipe(makeFile(makeDict("|u1", "(300000,)"), data));
  ASSERT_TRUE(array) << array.message();
  EXPECT_EQ(std::string(array->data.begin(), array->data.end()), data);
}

TEST(NpyTest, RefusesWrongSizesOfPipe) {
  std::string dict = makeDict("|u1", "(1099511627776,)");
  EXPECT_EQ(readThroughPipe(makeFile(dict, "abc")).message(),
            "truncated data: expected 1099511627776 bytes, got 3");
  EXPECT_EQ(readThroughPipe(makeFile(makeDict("|u1", "(2,)"), "abc")).message(),
            "trailing data: expected 2 bytes, got more");
  EXPECT_EQ(readThroughPipe(
                std::string_view("\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14))
                .message(),
            "header longer than the file: expected 4294967295 bytes, got 2");
}

TEST(NpyTest, RefusesEndlessDevice) {
  EXPECT_EQ(readMessage("/dev/zero"),
            "'/dev/zero': not an npy file: expected it to start with 93 4e 55 "
            "4d 50 59, got 00 00 00 00 00 00");
}

#ifndef __has_feature // g++ 12
#define __has_feature(x) 0
#endif

TEST(NpyTest, SaysWhenMemoryIsShort) {
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
  GTEST_SKIP() << "the address sanitizer needs unlimited address space";
#else
  TestDirectory directory;
  std::string dict = makeDict("|u1", "(17179869184,)");
  std::string path = directory.write("large.npy", makeFile(dict, ""));
  // A file with a hole takes no space on the disk.
  off_t size = static_cast<off_t>(10 + dict.size() + 17179869184);
  ASSERT_EQ(::truncate(path.c_str(), size), 0);
  EXPECT_EQ(runInChild([&] {
              rlimit limit = {1 << 30, 1 << 30};
              ::setrlimit(RLIMIT_AS, &limit);
              return readMessage(path);
            }),
            "'" + path +
                "': not enough memory: expected 17179869184 bytes, got none");
#endif
}
