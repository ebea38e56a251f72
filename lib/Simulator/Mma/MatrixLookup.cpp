//===- MatrixLookup.cpp - The form that modifiers name --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Modifiers are read in the order that ptxas accepts: `sync`, `aligned`; then
// shape and `row.col`, and kind, `block_scale` and `scale_vec`, of which
// either group may come first; then `satfinite`, the types and `.rn` (fact
// sheet, section 1). The sparsity may stand anywhere, once: the PTX ISA has it
// in front, CUTLASS behind the kind. The candidate forms are narrowed down one
// property at a time; if a property leaves none, the message is about it.
//
//===----------------------------------------------------------------------===//

#include "Mma/MatrixForm.h"

#include "llvm/ADT/STLExtras.h"

#include <cctype>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {

/// The modifiers by meaning; empty if there is no such modifier.
struct Spelling {
  llvm::StringRef sparsity, shape, kind, scaleVec;
  llvm::StringRef d, a, b, c, scale;
  bool hasBlockScale = false, isSatfinite = false;
};

/// Reads modifiers one after the other.
class Reader {
public:
  explicit Reader(llvm::ArrayRef<llvm::StringRef> modifiers)
      : dense(modifiers) {}

  Result<Spelling> read();

private:
  llvm::StringRef peek() const {
    return rest.empty() ? llvm::StringRef() : rest.front();
  }
  llvm::StringRef take() {
    llvm::StringRef modifier = peek();
    if (!rest.empty())
      rest = rest.drop_front();
    return modifier;
  }
  bool consume(llvm::StringRef modifier) {
    bool found = !rest.empty() && rest.front() == modifier;
    if (found)
      take();
    return found;
  }

  Error require(llvm::StringRef modifier, llvm::StringRef expected);
  Error takeSparsity(Spelling &spelling);
  Error readShape(Spelling &spelling);
  void readKind(Spelling &spelling);
  Error readTypes(Spelling &spelling);

  /// The modifiers, from the beginning of `read` on without the sparsity.
  llvm::SmallVector<llvm::StringRef> dense;
  llvm::ArrayRef<llvm::StringRef> rest;
};

} // namespace

/// A modifier as messages show it: '.m16n8k32', or "nothing".
static std::string show(llvm::StringRef modifier) {
  if (modifier.empty())
    return "nothing";
  return quoteForMessage("." + modifier.str());
}

static Error expected(llvm::StringRef what, llvm::StringRef got) {
  return Error("mma: expected " + what.str() + ", got " + show(got));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Error Reader::require(llvm::StringRef modifier, llvm::StringRef what) {
  if (!consume(modifier))
    return expected(what, peek());
  return Error::success();
}

static bool isSparsity(llvm::StringRef modifier) {
  return modifier == "sp" || modifier == "sp::ordered_metadata";
}

Error Reader::takeSparsity(Spelling &spelling) {
  auto *found = llvm::find_if(dense, isSparsity);
  if (found == dense.end())
    return Error::success();
  spelling.sparsity = *found;
  dense.erase(found);
  found = llvm::find_if(dense, isSparsity);
  if (found != dense.end())
    return expected("one modifier of sparsity", *found);
  return Error::success();
}

static bool isShape(llvm::StringRef modifier) {
  return modifier.size() > 1 && modifier[0] == 'm' &&
         std::isdigit(static_cast<unsigned char>(modifier[1]));
}

Error Reader::readShape(Spelling &spelling) {
  if (!isShape(peek()))
    return expected("a shape such as '.m16n8k32'", peek());
  spelling.shape = take();
  // No simulated instruction has another layout.
  if (Error error = require("row", "'.row' as the layout of A"))
    return error;
  return require("col", "'.col' as the layout of B");
}

void Reader::readKind(Spelling &spelling) {
  if (!peek().starts_with("kind::"))
    return;
  spelling.kind = take();
  spelling.hasBlockScale = consume("block_scale");
  if (peek().starts_with("scale_vec::"))
    spelling.scaleVec = take();
}

Error Reader::readTypes(Spelling &spelling) {
  spelling.isSatfinite = consume("satfinite");
  struct {
    llvm::StringRef what;
    llvm::StringRef &name;
  } types[] = {{"the type of D", spelling.d},
               {"the type of A", spelling.a},
               {"the type of B", spelling.b},
               {"the type of C", spelling.c},
               {"the type of the scales", spelling.scale}};
  unsigned numTypes = spelling.hasBlockScale ? 5 : 4;
  for (auto &[what, name] : llvm::ArrayRef(types).take_front(numTypes)) {
    if (!lookupType(std::string_view(peek().data(), peek().size())))
      return expected(what, peek());
    name = take();
  }
  return Error::success();
}

Result<Spelling> Reader::read() {
  Spelling spelling;
  if (Error error = takeSparsity(spelling))
    return error;
  rest = dense;
  if (Error error = require("sync", "'.sync'"))
    return error;
  if (Error error = require("aligned", "'.aligned'"))
    return error;

  readKind(spelling);
  if (Error error = readShape(spelling))
    return error;
  if (spelling.kind.empty())
    readKind(spelling);
  if (Error error = readTypes(spelling))
    return error;

  // PTX ISA, 9.7.14.5.14: only f64 has a rounding mode, and .rn is the default.
  if (spelling.d == "f64") {
    consume("rn");
    for (llvm::StringRef rounding : {"rz", "rm", "rp"})
      if (peek() == rounding)
        return Error("mma: expected '.rn' or no rounding modifier, got " +
                     show(rounding) + ", which is not simulated");
  }
  if (!rest.empty() && spelling.a != "b1")
    return expected("no more modifiers", peek());
  return spelling;
}

//===----------------------------------------------------------------------===//
// Finding the form
//===----------------------------------------------------------------------===//

static std::string getScaleVecName(const MmaForm &form) {
  if (!form.isBlockScaled())
    return "";
  return "scale_vec::" + std::to_string(form.scaleVec) + "X";
}

static std::string getTypeName(Type type) { return std::string(getName(type)); }

/// A property by which forms differ, and how it is written.
namespace {
struct Property {
  llvm::StringRef what;
  llvm::StringRef Spelling::*written;
  std::string (*get)(const MmaForm &form);
};
} // namespace

static const Property kProperties[] = {
    {"the kind", &Spelling::kind,
     [](const MmaForm &form) { return getKindName(form.kind).str(); }},
    {"sparsity", &Spelling::sparsity,
     [](const MmaForm &form) { return getSparsityName(form.sparsity).str(); }},
    {"the shape", &Spelling::shape, getShapeName},
    {"the type of D", &Spelling::d,
     [](const MmaForm &form) { return getTypeName(form.c); }},
    {"the type of A", &Spelling::a,
     [](const MmaForm &form) { return getTypeName(form.a); }},
    {"the type of B", &Spelling::b,
     [](const MmaForm &form) { return getTypeName(form.b); }},
    {"the type of C", &Spelling::c,
     [](const MmaForm &form) { return getTypeName(form.c); }},
    {"the type of the scales", &Spelling::scale,
     [](const MmaForm &form) {
       return form.isBlockScaled() ? getTypeName(form.scale) : "";
     }},
};

using Forms = llvm::SmallVector<const MmaForm *, 0>;

/// "'.a'", "'.a' or '.b'", "'.a', '.b' or '.c'".
static std::string join(llvm::ArrayRef<std::string> names) {
  std::string text;
  for (size_t i = 0; i != names.size(); ++i) {
    if (i)
      text += i + 1 == names.size() ? " or " : ", ";
    text += show(names[i]);
  }
  return text;
}

/// Keeps the forms with this property; if there are none, a message lists the
/// properties of the forms.
static Error narrow(Forms &forms, llvm::StringRef what, llvm::StringRef written,
                    llvm::function_ref<std::string(const MmaForm &)> get,
                    llvm::StringRef context) {
  llvm::SmallVector<std::string> possible;
  Forms kept;
  for (const MmaForm *form : forms) {
    std::string value = get(*form);
    if (value == written)
      kept.push_back(form);
    if (!llvm::is_contained(possible, value))
      possible.push_back(value);
  }
  forms = std::move(kept);
  if (!forms.empty())
    return Error::success();
  return Error("mma" + context.str() + ": expected " + join(possible) + " as " +
               what.str() + ", got " + show(written));
}

/// Instructions of the PTX ISA that the simulator does not have.
static Error checkSimulated(const Spelling &spelling) {
  if (spelling.a == "b1" || spelling.b == "b1")
    return Error("mma: expected elements of 4 bits or more, got '.b1': "
                 "single-bit mma is not simulated");
  if (spelling.shape == "m8n8k4" && spelling.a == "f16")
    return Error("mma: expected '.m16n8k8' or '.m16n8k16' as the shape of f16, "
                 "got '.m8n8k4': the form for sm_70 is not simulated");
  return Error::success();
}

/// PTX ISA, 9.7.14.3: which kinds have `.block_scale`, and which may leave out
/// `.scale_vec`.
static Error checkScaling(Forms &forms, const Spelling &spelling,
                          llvm::StringRef context) {
  bool isBlockScaled = forms.front()->isBlockScaled();
  if (isBlockScaled != spelling.hasBlockScale)
    return Error("mma" + context.str() + ": expected " +
                 (isBlockScaled ? "'.block_scale', got nothing"
                                : "no '.block_scale', got it"));
  if (spelling.scaleVec.empty() && forms.front()->isScaleVecOptional)
    return Error::success();
  return narrow(forms, "the scale vector", spelling.scaleVec, getScaleVecName,
                context);
}

Result<const MmaForm *>
sim::lookupMma(llvm::ArrayRef<llvm::StringRef> modifiers) {
  // The layouts of m8n8k4 are not always `row.col`.
  if (llvm::is_contained(modifiers, "m8n8k4") &&
      llvm::is_contained(modifiers, "f16"))
    return checkSimulated({"", "m8n8k4", "", "", "", "f16", "", "", ""});
  Result<Spelling> read = Reader(modifiers).read();
  if (!read)
    return read.error();
  const Spelling &spelling = *read;
  if (Error error = checkSimulated(spelling))
    return error;

  Forms forms;
  for (const MmaForm &form : getMmaForms())
    forms.push_back(&form);
  // The modifiers that have matched so far, for the message about the next
  // property.
  std::string context;
  for (const Property &property : kProperties) {
    llvm::StringRef written = spelling.*property.written;
    if (property.written == &Spelling::scale) {
      if (Error error = checkScaling(forms, spelling, context))
        return error;
      if (!spelling.scaleVec.empty())
        context += "." + spelling.scaleVec.str();
    }
    if (Error error =
            narrow(forms, property.what, written, property.get, context))
      return error;
    if (!written.empty())
      context += "." + written.str();
  }

  llvm::erase_if(forms, [&](const MmaForm *form) {
    return form->isSatfinite != spelling.isSatfinite;
  });
  if (forms.empty())
    return Error("mma" + context +
                 ": expected '.satfinite' only with s32, got it with " +
                 show(spelling.d));
  return forms.front();
}
