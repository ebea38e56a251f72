//===- LayoutPrinting.cpp - Layouts as text and JSON ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts as text for terminals. The JSON includes the text, so that programs
// that draw pictures can show it.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/KernelLayouts.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// The prefix of each coordinate of a position.
static StringRef getMark(StringRef coordinate) {
  static constexpr struct {
    StringRef coordinate, mark;
  } marks[] = {{"block", "B"}, {"lane", "T"},   {"register", "r"},
               {"slot", "s"},  {"column", "c"}, {"byte", "b"}};
  for (const auto &row : marks)
    if (row.coordinate == coordinate)
      return row.mark;
  return "";
}

/// Whether the last coordinate of each cell is 0: then it is not printed.
static bool isLastZero(const LayoutGrid &grid) {
  return grid.coordinates.size() > 1 && grid.run > 1 &&
         llvm::all_of(grid.cells, [](const Position &position) {
           return position.back() == 0;
         });
}

static std::string printPosition(const LayoutGrid &grid,
                                 const Position &position) {
  std::string text;
  size_t shown = position.size() - isLastZero(grid);
  for (size_t i = 0; i != shown; ++i) {
    StringRef mark = shown == 1 && grid.coordinates[i] == "byte"
                         ? StringRef()
                         : getMark(grid.coordinates[i]);
    text += (i == 0 ? "" : " ") + mark.str() + std::to_string(position[i]);
  }
  return text;
}

/// The contents of a cell, such as "a cell is 4 of k".
static std::string describeCells(const LayoutGrid &grid) {
  std::string text = "a cell is " + std::to_string(grid.unit * grid.run) +
                     " of " + grid.columnName + ": ";
  size_t shown = grid.coordinates.size() - isLastZero(grid);
  for (size_t i = 0; i != shown; ++i)
    text += (i == 0 ? "" : ", ") + grid.coordinates[i];
  if (grid.run > 1)
    text += "; the next is one " + grid.coordinates.back() + " further";
  return text;
}

static void printGrid(raw_ostream &os, const LayoutGrid &grid) {
  os << "  " << grid.title << "; " << grid.rowName << " x " << grid.columnName
     << " = " << grid.rows << " x " << grid.columns * grid.unit << "; "
     << describeCells(grid) << '\n';
  SmallVector<std::string> cells;
  size_t width = 0;
  for (const Position &position : grid.cells)
    width = std::max(width,
                     cells.emplace_back(printPosition(grid, position)).size());
  size_t perRow = grid.columns / grid.run;
  auto printHead = [&](StringRef text, size_t cell) {
    os << llvm::left_justify(text, 6);
    for (size_t i = 0; i != cell; ++i)
      os << "  "
         << llvm::left_justify(std::to_string(i * grid.run * grid.unit),
                               i + 1 == cell ? 0 : width);
    os << '\n';
  };
  printHead(grid.rowName + "\\" + grid.columnName, perRow);
  for (int64_t row = 0; row != grid.rows; ++row) {
    os << llvm::right_justify(std::to_string(row), 6);
    for (size_t i = 0; i != perRow; ++i)
      os << "  "
         << llvm::left_justify(cells[row * perRow + i],
                               i + 1 == perRow ? 0 : width);
    os << '\n';
  }
}

static void printRegion(raw_ostream &os, const TensorRegion &region) {
  os << "  " << region.name << ": columns " << region.first << " to "
     << region.first + region.columns - 1;
  if (region.step != 0)
    os << ", the next " << region.step << " further";
  os << '\n';
}

static void printLayout(raw_ostream &os, const KernelLayouts &kernel,
                        const KernelLayout &layout) {
  os << layout.name << " of @" << kernel.kernel << ", " << kernel.instruction
     << " " << kernel.m << "x" << kernel.n << "x" << kernel.k << '\n';
  for (const LayoutGrid &grid : layout.grids)
    printGrid(os, grid);
  if (!layout.regions.empty())
    os << "  " << kTensorLanes << " lanes of " << kTensorColumns
       << " columns of " << kTensorColumnBytes << " bytes\n";
  for (const TensorRegion &region : layout.regions)
    printRegion(os, region);
}

/// Calls `body` for each requested layout.
static void forEachLayout(const KernelLayouts &kernel, StringRef name,
                          llvm::function_ref<void(const KernelLayout &)> body) {
  for (const KernelLayout &layout : kernel.layouts)
    if (name.empty() || layout.name == name)
      body(layout);
}

void blockscale::printLayouts(raw_ostream &os, ArrayRef<KernelLayouts> kernels,
                              StringRef name) {
  for (const KernelLayouts &kernel : kernels)
    forEachLayout(kernel, name, [&](const KernelLayout &layout) {
      printLayout(os, kernel, layout);
    });
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void printGrid(llvm::json::OStream &json, const LayoutGrid &grid) {
  json.object([&] {
    json.attribute("title", grid.title);
    auto printAxis = [&](StringRef key, StringRef name, int64_t size) {
      json.attributeObject(key, [&] {
        json.attribute("name", name);
        json.attribute("size", size);
      });
    };
    printAxis("rows", grid.rowName, grid.rows);
    printAxis("columns", grid.columnName, grid.columns);
    json.attribute("unit", grid.unit);
    json.attribute("run", grid.run);
    json.attributeArray("coordinates", [&] {
      for (const std::string &coordinate : grid.coordinates)
        json.value(coordinate);
    });
    json.attributeArray("cells", [&] {
      for (const Position &position : grid.cells)
        json.array([&] {
          for (int64_t number : position)
            json.value(number);
        });
    });
  });
}

static void printRegion(llvm::json::OStream &json, const TensorRegion &region) {
  json.object([&] {
    json.attribute("name", region.name);
    json.attribute("first", region.first);
    json.attribute("columns", region.columns);
    json.attribute("step", region.step);
  });
}

static void printLayout(llvm::json::OStream &json, const KernelLayouts &kernel,
                        const KernelLayout &layout) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printLayout(stream, kernel, layout);
  json.object([&] {
    json.attribute("name", layout.name);
    json.attribute("text", text);
    json.attributeArray("grids", [&] {
      for (const LayoutGrid &grid : layout.grids)
        printGrid(json, grid);
    });
    json.attributeArray("regions", [&] {
      for (const TensorRegion &region : layout.regions)
        printRegion(json, region);
    });
  });
}

void blockscale::printLayoutsAsJson(raw_ostream &os,
                                    ArrayRef<KernelLayouts> kernels,
                                    StringRef name) {
  llvm::json::OStream json(os);
  json.object([&] {
    json.attribute("version", 1);
    json.attribute("tensor_columns", kTensorColumns);
    json.attributeArray("kernels", [&] {
      for (const KernelLayouts &kernel : kernels)
        json.object([&] {
          json.attribute("name", kernel.kernel);
          json.attribute("instruction", kernel.instruction);
          json.attributeArray("shape", [&] {
            for (int64_t size : {kernel.m, kernel.n, kernel.k})
              json.value(size);
          });
          json.attributeArray("layouts", [&] {
            forEachLayout(kernel, name, [&](const KernelLayout &layout) {
              printLayout(json, kernel, layout);
            });
          });
        });
    });
  });
  os << '\n';
}
