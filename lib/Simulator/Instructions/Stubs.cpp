#include "../Translator.h"
#include "Arithmetic.h"
using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
void sim::addCopyInstructions(InstructionTable &table) {}
void sim::addWarpInstructions(InstructionTable &table) {}
void sim::translateFloatArithmetic(Translator &, Modifiers &, Type) {}
void sim::translateFloatExtremum(Translator &, Modifiers &, Type) {}
void sim::translateFloatSign(Translator &, Modifiers &, Type) {}
void sim::translateCopySign(Translator &, Modifiers &, Type) {}
void sim::translateApproximation(Translator &, Modifiers &, Type) {}
