#include "../Translator.h"
#include "Arithmetic.h"
using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
void sim::addCopyInstructions(InstructionTable &table) {}
void sim::addWarpInstructions(InstructionTable &table) {}
