//===- MatrixKernelsTest.cpp - Matrix instructions in kernels -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs each instruction as PTX text in a kernel that loads its registers,
// against the exact reference. The block-scaled instructions come from the
// table of the lowering: the test fails if a new row is not executed here.
//
//===----------------------------------------------------------------------===//

#include "KernelTesting.h"
#include "Mma/MatrixTesting.h"

#include "blockscale/Support/InstructionTable.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;
using namespace mlir::blockscale::sim::mmatest;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
/// The registers of an instruction in a buffer: 32 lanes of 8 bytes each.
using Registers = std::vector<std::array<uint64_t, 32>>;

/// The indices of the first registers of the operands.
struct Layout {
  explicit Layout(const Mma &mma) {
    a = 0;
    b = a + mma.registers.a;
    c = b + mma.registers.b;
    metadata = c + mma.registers.c;
    scaleA = metadata + mma.d.isSparse;
    scaleB = scaleA + (mma.d.scaleVec ? 1 : 0);
    count = scaleB + (mma.d.scaleVec ? 1 : 0);
  }
  unsigned a, b, c, metadata, scaleA, scaleB, count;
};

struct Selectors {
  unsigned byteA = 0, threadA = 0, byteB = 0, threadB = 0;
};
} // namespace

static Registers collect(const Mma &mma) {
  Registers registers;
  auto add = [&](const Lanes &lanes) {
    std::array<uint64_t, 32> words;
    for (unsigned lane = 0; lane != 32; ++lane)
      words[lane] = lanes.value[lane];
    registers.push_back(words);
  };
  for (const auto *operand : {&mma.a, &mma.b, &mma.c})
    for (const Lanes &lanes : *operand)
      add(lanes);
  if (mma.d.isSparse)
    add(mma.metadata);
  if (mma.d.scaleVec) {
    add(mma.scaleA);
    add(mma.scaleB);
  }
  return registers;
}

static std::string listRegisters(unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = first; i != first + count; ++i)
    text += (i == first ? "%x" : ", %x") + std::to_string(i);
  return text + "}";
}

static std::string makeKernel(const Mma &mma, const Selectors &selectors) {
  Layout layout(mma);
  bool isDouble = mma.registers.dType == Type::F64;
  const std::string bits = isDouble ? "64" : "32";
  unsigned numResults = mma.registers.d;
  std::string text = "mov.u32 %r0, %tid.x; mul.wide.u32 %d0, %r0, 8; "
                     "add.u64 %d1, %buf0, %d0; add.u64 %d2, %buf1, %d0; "
                     ".reg .b" +
                     bits + " %x<" + std::to_string(layout.count + numResults) +
                     ">;\n";
  for (unsigned i = 0; i != layout.count; ++i)
    text += "ld.global.b" + bits + " %x" + std::to_string(i) + ", [%d1 + " +
            std::to_string(256 * i) + "];\n";
  text += "mma." + mma.text + " " + listRegisters(layout.count, numResults) +
          ", " + listRegisters(layout.a, mma.registers.a) + ", " +
          listRegisters(layout.b, mma.registers.b) + ", " +
          listRegisters(layout.c, mma.registers.c);
  if (mma.d.isSparse)
    text += ", %x" + std::to_string(layout.metadata) + ", " +
            std::to_string(mma.selector);
  auto addScale = [&](unsigned reg, unsigned byte, unsigned thread) {
    text += ", " + listRegisters(reg, 1) + ", {" + std::to_string(byte) + ", " +
            std::to_string(thread) + "}";
  };
  if (mma.d.scaleVec) {
    addScale(layout.scaleA, selectors.byteA, selectors.threadA);
    addScale(layout.scaleB, selectors.byteB, selectors.threadB);
  }
  text += ";\n";
  for (unsigned i = 0; i != numResults; ++i)
    text += "st.global.b" + bits + " [%d2 + " + std::to_string(256 * i) +
            "], %x" + std::to_string(layout.count + i) + ";\n";
  return text;
}

/// The results, register by register.
static std::vector<uint64_t> execute(const Mma &mma, const Registers &registers,
                                     const Selectors &selectors) {
  KernelRun run;
  run.target = mma.d.scaleVec || mma.text.find("kind") != std::string::npos
                   ? "sm_120a"
                   : "sm_90";
  run.body = makeKernel(mma, selectors);
  run.buffers = {std::vector<uint8_t>(registers.size() * 256),
                 std::vector<uint8_t>(mma.registers.d * 256)};
  std::memcpy(run.buffers[0].data(), registers.data(), run.buffers[0].size());
  KernelResult result = runKernel(run);
  EXPECT_EQ(result.error, "") << mma.text;
  if (!result.error.empty())
    return {};
  return result.get<uint64_t>(1);
}

static void expectResults(Mma &mma, const std::vector<uint64_t> &got) {
  if (got.empty())
    return;
  for (unsigned reg = 0; reg != mma.registers.d; ++reg)
    for (unsigned lane = 0; lane != 32; ++lane)
      mma.result[reg].value[lane] = got[32 * reg + lane];
  for (unsigned m = 0; m != mma.d.m; ++m)
    for (unsigned n = 0; n != 8; ++n)
      ASSERT_EQ(mma.getD(m, n), mma.getExpected(m, n))
          << mma.text << " at " << m << ", " << n;
}

TEST(MatrixKernelsTest, EveryInstruction) {
  std::mt19937 random(1);
  std::vector<std::string> instructions = listInstructions();
  EXPECT_EQ(instructions.size(), 322u);
  for (const std::string &text : instructions) {
    Mma mma(text);
    mma.randomize(random, /*withSpecials=*/false);
    expectResults(mma, execute(mma, collect(mma), Selectors()));
  }
}

//===----------------------------------------------------------------------===//
// The rows of the lowering's table
//===----------------------------------------------------------------------===//

/// The modifiers of a row's instruction.
static std::string getText(const Instruction &instruction) {
  auto name = [](Format format) {
    return std::string(getFormatInfo(format).ptxName);
  };
  return "sync.aligned.m16n8k" + std::to_string(instruction.k) +
         ".row.col.kind::" + std::string(stringifyKind(instruction.kind)) +
         ".block_scale.scale_vec::" + std::to_string(instruction.scaleVec) +
         "X.f32." + name(instruction.a) + "." + name(instruction.b) + ".f32." +
         name(instruction.scale);
}

static std::vector<Instruction> getMmaSyncRows() {
  std::vector<Instruction> rows;
  for (const Instruction &instruction : getInstructions())
    if (instruction.path == Path::MmaSync && !instruction.isSparse())
      rows.push_back(instruction);
  return rows;
}

/// A code of a type whose magnitude is from 0.5 to 7.5.
static uint64_t drawMedium(const std::string &type, std::mt19937 &random) {
  while (true) {
    uint64_t code = random() % (1u << getElementBits(type));
    double magnitude = std::abs(decodeElement(type, code));
    if (magnitude >= 0.5 && magnitude <= 7.5)
      return code;
  }
}

/// Scales that all differ: in every row, column and block.
static void fillScales(Mma &mma) {
  bool isPower = mma.d.scale == "ue8m0";
  for (unsigned block = 0; block != mma.d.scaleVec; ++block) {
    for (unsigned m = 0; m != 16; ++m)
      mma.setScaleA(m, block, (isPower ? 127 - 32 : 0x18) + m + 16 * block);
    for (unsigned n = 0; n != 8; ++n)
      mma.setScaleB(n, block, (isPower ? 127 - 16 : 0x28) + n + 8 * block);
  }
}

/// Values of about the same size, so that no rounding hides a difference:
/// scales differ in neighbouring rows, columns and blocks.
static void fillMedium(Mma &mma, std::mt19937 &random) {
  for (unsigned m = 0; m != 16; ++m)
    for (unsigned k = 0; k != mma.d.k; ++k)
      mma.setA(m, k, drawMedium(mma.d.a, random));
  for (unsigned k = 0; k != mma.d.k; ++k)
    for (unsigned n = 0; n != 8; ++n)
      mma.setB(k, n, drawMedium(mma.d.b, random));
  unsigned one = mma.d.scale == "ue8m0" ? 127 : 0x38;
  for (unsigned block = 0; block != mma.d.scaleVec; ++block) {
    for (unsigned m = 0; m != 16; ++m)
      mma.setScaleA(m, block, one - 5 + (m + 3 * block) % 11);
    for (unsigned n = 0; n != 8; ++n)
      mma.setScaleB(n, block, one - 3 + (n + 2 * block) % 7);
  }
  for (unsigned m = 0; m != 16; ++m)
    for (unsigned n = 0; n != 8; ++n)
      mma.setC(m, n, llvm::bit_cast<uint32_t>(256.0f * (m * 8 + n)));
}

TEST(MatrixKernelsTest, EveryRowOfTheTable) {
  std::vector<Instruction> rows = getMmaSyncRows();
  // 28 that LLVM 22 emits, and that of PTX 9.1.
  EXPECT_EQ(rows.size(), 29u);
  std::mt19937 random(2);
  for (const Instruction &row : rows)
    for (unsigned i = 0; i != 4; ++i) {
      Mma mma(getText(row));
      Selectors selectors;
      selectors.threadA = i % 2;
      selectors.threadB = i;
      // Bytes come in units of the scale vector.
      selectors.byteA = i * row.scaleVec % 4;
      selectors.byteB = (i + 1) * row.scaleVec % 4;
      mma.setSelectors(selectors.byteA, selectors.threadA, selectors.byteB,
                       selectors.threadB);
      mma.randomize(random, /*withSpecials=*/false);
      fillScales(mma);
      expectResults(mma, execute(mma, collect(mma), selectors));
    }
}

//===----------------------------------------------------------------------===//
// Mutations: each change of what an instruction reads is visible
//===----------------------------------------------------------------------===//

namespace {
class Mutations {
public:
  explicit Mutations(const Instruction &row)
      : row(row), mma(getText(row)), layout(mma) {
    std::mt19937 random(3);
    selectors.threadA = 1;
    selectors.threadB = 2;
    mma.setSelectors(0, selectors.threadA, 0, selectors.threadB);
    fillMedium(mma, random);
    // Scales that no selector names also differ.
    for (unsigned lane = 0; lane != 32; ++lane)
      for (Lanes *scales : {&mma.scaleA, &mma.scaleB})
        for (unsigned byte = 0; byte != 4; ++byte)
          if (!(scales->value[lane] >> 8 * byte & 0xFF))
            scales->value[lane] |= uint64_t(0x30 + (lane + 8 * byte) % 64)
                                   << 8 * byte;
    registers = collect(mma);
    baseline = execute(mma, registers, selectors);
  }

  void expectChange(const Registers &changed, const std::string &what,
                    bool changes = true) {
    EXPECT_EQ(execute(mma, changed, selectors) != baseline, changes)
        << mma.text << ": " << what;
  }

  void swapRegisters();
  void swapLanes();
  void changeScaleBytes();
  void changeSelectors();

private:
  const Instruction &row;
  Mma mma;
  Layout layout;
  Selectors selectors;
  Registers registers;
  std::vector<uint64_t> baseline;
};
} // namespace

void Mutations::swapRegisters() {
  for (unsigned i = 0; i != layout.count; ++i)
    for (unsigned j = i + 1; j != layout.count; ++j) {
      Registers changed = registers;
      std::swap(changed[i], changed[j]);
      expectChange(changed, "registers " + std::to_string(i) + " and " +
                                std::to_string(j));
    }
}

/// A's scales are read in two lanes of each quad, B's in one (PTX
/// ISA 9.7.14.3).
void Mutations::swapLanes() {
  for (unsigned reg = 0; reg != layout.count; ++reg)
    for (unsigned lane = 0; lane != 32; ++lane) {
      bool isRead = reg == layout.scaleA   ? lane % 4 / 2 == selectors.threadA
                    : reg == layout.scaleB ? lane % 4 == selectors.threadB
                                           : true;
      unsigned other = lane ^ 4;
      Registers changed = registers;
      std::swap(changed[reg][lane], changed[reg][other]);
      expectChange(changed,
                   "lanes " + std::to_string(lane) + " and " +
                       std::to_string(other) + " of register " +
                       std::to_string(reg),
                   isRead);
    }
}

void Mutations::changeScaleBytes() {
  for (unsigned reg : {layout.scaleA, layout.scaleB})
    for (unsigned lane = 0; lane != 32; ++lane)
      for (unsigned byte = 0; byte != 4; ++byte) {
        bool isLaneRead = reg == layout.scaleA
                              ? lane % 4 / 2 == selectors.threadA
                              : lane % 4 == selectors.threadB;
        Registers changed = registers;
        changed[reg][lane] ^= uint64_t(0x04) << 8 * byte;
        expectChange(changed,
                     "byte " + std::to_string(byte) + " of lane " +
                         std::to_string(lane) + " of register " +
                         std::to_string(reg),
                     isLaneRead && byte < row.scaleVec);
      }
}

void Mutations::changeSelectors() {
  auto expectChanged = [&](const Selectors &changed, const char *what) {
    EXPECT_NE(execute(mma, registers, changed), baseline)
        << mma.text << ": " << what;
  };
  for (unsigned thread = 0; thread != 4; ++thread) {
    Selectors changed = selectors;
    changed.threadB = thread;
    if (thread != selectors.threadB)
      expectChanged(changed, "thread-id-b");
  }
  Selectors changed = selectors;
  changed.threadA = 0;
  expectChanged(changed, "thread-id-a");
  for (unsigned byte = row.scaleVec; byte < 4; byte += row.scaleVec) {
    changed = selectors;
    changed.byteA = byte;
    expectChanged(changed, "byte-id-a");
    changed = selectors;
    changed.byteB = byte;
    expectChanged(changed, "byte-id-b");
  }
}

TEST(MatrixKernelsTest, EveryMutationShows) {
  for (const Instruction &row : getMmaSyncRows()) {
    Mutations mutations(row);
    mutations.swapRegisters();
    mutations.swapLanes();
    mutations.changeScaleBytes();
    mutations.changeSelectors();
  }
}

/// Every bit of a fragment of A and B that an element uses affects the result.
TEST(MatrixKernelsTest, EveryBitOfElementsShows) {
  for (const Instruction &row : getMmaSyncRows()) {
    Mma mma(getText(row));
    std::mt19937 random(4);
    fillMedium(mma, random);
    Registers registers = collect(mma);
    std::vector<uint64_t> baseline = execute(mma, registers, Selectors());
    unsigned numRegisters = mma.registers.a + mma.registers.b;
    for (unsigned i = 0; i != 32 * numRegisters; ++i) {
      unsigned reg = i / 32, bit = i % 32, lane = (7 * i + 3) % 32;
      const std::string &type = reg < mma.registers.a ? mma.d.a : mma.d.b;
      unsigned first = getShift(type, mma.d.slotBits);
      unsigned inSlot = bit % mma.d.slotBits;
      if (inSlot < first || inSlot >= first + getElementBits(type))
        continue;
      Registers changed = registers;
      changed[reg][lane] ^= uint64_t(1) << bit;
      EXPECT_NE(execute(mma, changed, Selectors()), baseline)
          << mma.text << ": bit " << bit << " of register " << reg;
    }
  }
}
