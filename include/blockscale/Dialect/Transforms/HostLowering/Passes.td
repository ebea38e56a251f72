//===- Passes.td - Passes for host code and loops ----------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowerings between levels that upstream passes lack, and the pass that checks
// the contract of each level.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_HOSTLOWERING_PASSES_TD
#define BLOCKSCALE_DIALECT_TRANSFORMS_HOSTLOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandCastsPass : Pass<"blockscale-expand-casts"> {
  let summary = "expand casts of narrow floats into exact arithmetic";
  let description = [{
    `arith.extf`, `arith.truncf`, `arith.scaling_extf` and
    `arith.scaling_truncf` between floats of at most 8 bits (f8E4M3FN, f8E5M2,
    f6E3M2FN, f6E2M3FN, f4E2M1FN, f8E8M0FNU), f16, bf16, f32 and f64 become
    arithmetic on the code, an integer to and from which `arith.bitcast` casts
    the float. So do truncations of f64 to f16 and bf16. Every result is rounded
    once, to nearest, ties to even; docs/Numerics.md has the rules for NaN,
    infinity and values out of range.

    A cast of a tensor becomes a `linalg.generic` first, unless its operands are
    constants of at most 65536 elements. The pass must run before any pass that
    folds constants: upstream's folders turn the NaN of f8E8M0FNU into infinity,
    and infinity and NaN into zero in types that have neither.

    A rounding mode other than `to_nearest_even` is an error, and so are scales
    that are neither f8E8M0FNU nor wider than 8 bits. Casts of other types stay.

    Before:

    ```mlir
    func.func @widen(%x: f4E2M1FN) -> f32 {
      %0 = arith.extf %x : f4E2M1FN to f32
      return %0 : f32
    }
    ```

    After, in short:

    ```
    %0 = arith.bitcast %x : f4E2M1FN to i4
    %1 = arith.extui %0 : i4 to i8
    ... // Sign, exponent and mantissa are shifted to their position in an f32.
    return %9 : f32
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def CallMathLibraryPass
    : Pass<"blockscale-call-math-library", "::mlir::ModuleOp"> {
  let summary = "call the C library for expm1 and log1p";
  let description = [{
    For CPUs. Upstream's `convert-math-to-llvm` computes these two by `exp` and
    `log`, which has no correct digit near 0; it lowers the other functions. f16
    and bf16 are computed in f32, vectors element by element.

    Before:

    ```mlir
    func.func @growth(%x: f32) -> f32 {
      %0 = math.expm1 %x : f32
      return %0 : f32
    }
    ```

    After:

    ```mlir
    func.func private @expm1f(f32) -> f32 attributes {llvm.readnone}

    func.func @growth(%x: f32) -> f32 {
      %0 = call @expm1f(%x) : (f32) -> f32
      return %0 : f32
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def ExpandMathPass : Pass<"blockscale-expand-math"> {
  let summary = "expand math functions into arithmetic and instructions";
  let description = [{
    For GPUs, which have no math library. Ops of `math` that have an instruction
    become LLVM's intrinsic for it, and others become arithmetic that
    approximates them within the errors of `blockscale/Support/MathErrors.h`.
    f16 and bf16 are computed in f32, vectors of one dimension element by
    element. An op that has neither, such as a function of f64, is an error that
    names the op and its type. Ops on integers stay.

    Before:

    ```mlir
    gpu.module @kernels {
      gpu.func @root(%x: f32, %to: memref<f32>) kernel {
        %0 = math.sqrt %x : f32
        memref.store %0, %to[] : memref<f32>
        gpu.return
      }
    }
    ```

    After:

    ```mlir
    gpu.module @kernels {
      gpu.func @root(%x: f32, %to: memref<f32>) kernel {
        %0 = llvm.call_intrinsic "llvm.sqrt"(%x) : (f32) -> f32
        memref.store %0, %to[] : memref<f32>
        gpu.return
      }
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def NarrowFloatsToBytesPass
    : Pass<"blockscale-narrow-floats-to-bytes", "::mlir::ModuleOp"> {
  let summary = "store every float of at most 8 bits as one byte";
  let description = [{
    Replaces each fp8, fp6, fp4 and e8m0 element type by `i8`, in values,
    function types and constants; the code is in the low bits. This runs before
    bufferization, because upstream defines no memory layout of fp4 and fp6
    elements.

    `arith.bitcast` becomes a truncation or extension of the code. Ops that only
    move elements keep their form. Any other op on such a type is an error:
    `blockscale-expand-casts` comes first, and arithmetic on these types is not
    lowered. A `gpu.module` does not change.

    Before:

    ```mlir
    func.func @decode(%x: tensor<8xf4E2M1FN>, %i: index) -> i4 {
      %e = tensor.extract %x[%i] : tensor<8xf4E2M1FN>
      %c = arith.bitcast %e : f4E2M1FN to i4
      return %c : i4
    }
    ```

    After:

    ```mlir
    func.func @decode(%x: tensor<8xi8>, %i: index) -> i4 {
      %e = tensor.extract %x[%i] : tensor<8xi8>
      %c = arith.trunci %e : i8 to i4
      return %c : i4
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def NarrowIntegersToBytesPass
    : Pass<"blockscale-narrow-integers-to-bytes", "::mlir::ModuleOp"> {
  let summary = "store every integer in whole bytes";
  let description = [{
    Memory of integers of 2 to 7 bits, and of other widths that are no power of
    two, becomes memory of the next power of two, at least 8. Values are
    extended when they are stored, and truncated when they are loaded. When this
    runs, only loads and stores may access elements; any other op that does is
    an error. A `gpu.module` does not change.

    Before:

    ```mlir
    func.func @copy(%x: memref<4xi4>, %y: memref<4xi4>, %i: index) {
      %v = memref.load %x[%i] : memref<4xi4>
      memref.store %v, %y[%i] : memref<4xi4>
      return
    }
    ```

    After:

    ```mlir
    func.func @copy(%x: memref<4xi8>, %y: memref<4xi8>, %i: index) {
      %b = memref.load %x[%i] : memref<4xi8>
      %v = arith.trunci %b : i8 to i4
      %w = arith.extui %v : i4 to i8
      memref.store %w, %y[%i] : memref<4xi8>
      return
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"
  ];
}

def CheckReshapesPass
    : InterfacePass<"blockscale-check-reshapes", "::mlir::FunctionOpInterface"> {
  let summary = "assert that expanded tensors have as many elements as before";
  let description = [{
    Inserts an assertion in front of each `tensor.expand_shape` of a dynamic
    size: the product of the sizes of a group is the size that is expanded.
    Otherwise the result would be read beyond its end. No upstream check does
    this.

    Before:

    ```mlir
    func.func @rows(%x: tensor<?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
      %r = tensor.expand_shape %x [[0, 1]] output_shape [%n, %m]
           : tensor<?xf32> into tensor<?x?xf32>
      return %r : tensor<?x?xf32>
    }
    ```

    After, in short:

    ```
    %size = tensor.dim %x, %c0 : tensor<?xf32>
    %product = affine.apply affine_map<()[s0, s1] -> (s0 * s1)>()[%n, %m]
    %fits = arith.cmpi eq, %product, %size : index
    cf.assert %fits, "..."
    %r = tensor.expand_shape %x ...
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::tensor::TensorDialect"
  ];
}

def StoreBitsPass : Pass<"blockscale-store-bits"> {
  let summary = "store floats that are made of integers as integers";
  let description = [{
    A `llvm.store` of a float that a `llvm.bitcast` makes of an integer stores
    the integer. Between the two, LLVM could make constants of bf16, which not
    all versions of the compiler's library support.

    Before:

    ```mlir
    llvm.func @bits(%bits: i16, %to: !llvm.ptr) {
      %value = llvm.bitcast %bits : i16 to bf16
      llvm.store %value, %to : bf16, !llvm.ptr
      llvm.return
    }
    ```

    After:

    ```mlir
    llvm.func @bits(%bits: i16, %to: !llvm.ptr) {
      %value = llvm.bitcast %bits : i16 to bf16
      llvm.store %bits, %to : i16, !llvm.ptr
      llvm.return
    }
    ```
  }];
}

def ExpandsToCastsPass : Pass<"blockscale-expands-to-casts"> {
  let summary = "lower memref.expand_shape of groups with several dynamic sizes";
  let description = [{
    A `memref.expand_shape` that has two dynamic sizes or more in one group
    becomes a `memref.reinterpret_cast`, with strides that are computed from its
    sizes. `expand-strided-metadata`, which comes behind, takes one at most.

    Before:

    ```mlir
    func.func @rows(%x: memref<?xf32>, %n: index, %m: index) -> memref<?x?xf32> {
      %r = memref.expand_shape %x [[0, 1]] output_shape [%n, %m]
           : memref<?xf32> into memref<?x?xf32>
      return %r : memref<?x?xf32>
    }
    ```

    After:

    ```mlir
    func.func @rows(%x: memref<?xf32>, %n: index, %m: index) -> memref<?x?xf32> {
      %base, %offset, %size, %stride = memref.extract_strided_metadata %x
          : memref<?xf32> -> memref<f32>, index, index, index
      %r = memref.reinterpret_cast %base to offset: [0], sizes: [%n, %m],
           strides: [%m, 1] : memref<f32> to memref<?x?xf32>
      return %r : memref<?x?xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"
  ];
}

def SplatsToFillsPass : Pass<"blockscale-splats-to-fills"> {
  let summary = "fill large splat constants at run time";
  let description = [{
    A splat tensor constant of more than 1024 elements becomes a `linalg.fill`.
    As data, it would make the program as large as the tensor.

    Before:

    ```mlir
    func.func @ones() -> tensor<64x64xf32> {
      %c = arith.constant dense<1.0> : tensor<64x64xf32>
      return %c : tensor<64x64xf32>
    }
    ```

    After:

    ```mlir
    func.func @ones() -> tensor<64x64xf32> {
      %one = arith.constant 1.0 : f32
      %e = tensor.empty() : tensor<64x64xf32>
      %c = linalg.fill ins(%one : f32) outs(%e : tensor<64x64xf32>)
           -> tensor<64x64xf32>
      return %c : tensor<64x64xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def StridedCopiesToLoopsPass : Pass<"blockscale-strided-copies-to-loops"> {
  let summary = "copy memrefs that are not contiguous by loops";
  let description = [{
    Upstream lowers a `memref.copy` between buffers with the identity layout to
    `memcpy`, and any other one to a call of a run-time library that users may
    not have. The pass rewrites the latter as a `linalg.generic`, except copies
    of unknown rank. With `all`, it rewrites contiguous copies, too: on a GPU a
    copy is a kernel.

    Before:

    ```mlir
    func.func @copy(%from: memref<4x4xi8, strided<[8, 1]>>,
                    %to: memref<4x4xi8>) {
      memref.copy %from, %to
          : memref<4x4xi8, strided<[8, 1]>> to memref<4x4xi8>
      return
    }
    ```

    After, in short:

    ```
    linalg.generic ... ins(%from) outs(%to) {
    ^bb0(%in: i8, %out: i8):
      linalg.yield %in : i8
    }
    ```
  }];
  let options = [
    Option<"all", "all", "bool", "false", "Rewrite contiguous copies too">
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def WrapScalarOpsPass
    : Pass<"blockscale-wrap-scalar-ops", "::mlir::func::FuncOp"> {
  let summary = "make a parallel loop the outermost one of each linalg op";
  let description = [{
    An op of `linalg` on memrefs without a parallel loop (on scalars, or a
    reduction to one) is wrapped in an `scf.parallel` of one iteration: code
    that is not in a parallel loop would stay on the host. Reduction loops
    around parallel ones would stay there, too, so those of a `linalg.generic`
    are moved inside, in their order. Ops inside of loops stay.

    Before:

    ```mlir
    func.func @negate(%x: memref<f32>, %r: memref<f32>) {
      linalg.map { arith.negf } ins(%x : memref<f32>) outs(%r : memref<f32>)
      return
    }
    ```

    After:

    ```mlir
    func.func @negate(%x: memref<f32>, %r: memref<f32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.parallel (%i) = (%c0) to (%c1) step (%c1) {
        linalg.map { arith.negf } ins(%x : memref<f32>) outs(%r : memref<f32>)
        scf.reduce
      }
      return
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"
  ];
}

def FlattenParallelLoopsPass
    : Pass<"blockscale-flatten-parallel-loops", "::mlir::func::FuncOp"> {
  let summary = "flatten parallel loops into one over blocks of threads";
  let description = [{
    Collapses each outermost `scf.parallel` into one dimension and tiles it by
    256 iterations, which are mapped to the threads of a block along x. So the
    limits of a grid along y and z do not matter.

    Before:

    ```mlir
    func.func @copy(%from: memref<30x20xf32>, %to: memref<30x20xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c20 = arith.constant 20 : index
      %c30 = arith.constant 30 : index
      scf.parallel (%i, %j) = (%c0, %c0) to (%c30, %c20) step (%c1, %c1) {
        %v = memref.load %from[%i, %j] : memref<30x20xf32>
        memref.store %v, %to[%i, %j] : memref<30x20xf32>
        scf.reduce
      }
      return
    }
    ```

    After, in short:

    ```
    scf.parallel (%block) = (%c0) to (%c600) step (%c256) {
      scf.parallel (%thread) = (%c0) to (%size) step (%c1) {
        ...
      } {mapping = [#gpu.loop_dim_map<processor = thread_x, ...>]}
    } {mapping = [#gpu.loop_dim_map<processor = block_x, ...>]}
    ```

    A loop of one iteration becomes a `gpu.launch` of one thread.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect"
  ];
}

def NestChecksPass : Pass<"blockscale-nest-checks", "::mlir::func::FuncOp"> {
  let summary = "put checks of parallel loops into branches";
  let description = [{
    Moves each `cf.assert` that is directly in an `scf.parallel` into a branch
    that is taken where it fails: `convert-parallel-loops-to-gpu` refuses a loop
    with a check outside of branches, which canonicalization makes of one in a
    branch that is always taken.

    Before:

    ```mlir
    func.func @check(%from: memref<8xi1>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
        %v = memref.load %from[%i] : memref<8xi1>
        cf.assert %v, "expected only true ones"
        scf.reduce
      }
      return
    }
    ```

    After:

    ```mlir
    func.func @check(%from: memref<8xi1>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
        %v = memref.load %from[%i] : memref<8xi1>
        %true = arith.constant true
        %fails = arith.xori %v, %true : i1
        scf.if %fails {
          cf.assert %v, "expected only true ones"
        }
        scf.reduce
      }
      return
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"
  ];
}

def LowerLeftoversPass
    : Pass<"blockscale-lower-leftovers", "::mlir::gpu::GPUModuleOp"> {
  let summary = "run upstream passes on the kernels that need them";
  let description = [{
    Kernels that users wrote, and kernels made from loops, may have vector
    transfers, views of memory, affine ops and arithmetic that LLVM has no
    instruction for. If a `gpu.module` has such ops, this runs
    `convert-vector-to-scf`, `expand-strided-metadata`, `lower-affine` and
    `arith-expand`. A module without them skips these passes, which are slow.

    Before:

    ```mlir
    gpu.module @kernels {
      gpu.func @twice(%i: index, %m: memref<8xf32>) {
        %j = affine.apply affine_map<(i) -> (i * 2)>(%i)
        %v = memref.load %m[%j] : memref<8xf32>
        memref.store %v, %m[%i] : memref<8xf32>
        gpu.return
      }
    }
    ```

    After:

    ```mlir
    gpu.module @kernels {
      gpu.func @twice(%i: index, %m: memref<8xf32>) {
        %c2 = arith.constant 2 : index
        %j = arith.muli %i, %c2 overflow<nsw> : index
        %v = memref.load %m[%j] : memref<8xf32>
        memref.store %v, %m[%i] : memref<8xf32>
        gpu.return
      }
    }
    ```
  }];
}

def UnrollHostLoopsPass
    : Pass<"blockscale-unroll-host-loops", "::mlir::func::FuncOp"> {
  let summary = "unroll loops around kernels";
  let description = [{
    A function on tensors becomes a sequence of launches, which has no loops.
    Every `scf.for` of the function that is not inside of a structured op is
    unrolled, and the result is canonicalized. Bounds that are not constant are
    an error, and so are loops that would become more than 4096 ops.

    Before:

    ```mlir
    func.func @twice(%a: tensor<4xf32>) -> tensor<4xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %a) -> tensor<4xf32> {
        %y = arith.addf %x, %a : tensor<4xf32>
        scf.yield %y : tensor<4xf32>
      }
      return %r : tensor<4xf32>
    }
    ```

    After:

    ```mlir
    func.func @twice(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = arith.addf %a, %a : tensor<4xf32>
      %1 = arith.addf %0, %a : tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    ```
  }];
}

def VerifyStagePass : Pass<"blockscale-verify-stage", "::mlir::ModuleOp"> {
  let summary = "check the contract of a level";
  let description = [{
    Emits an error at each op that violates the contract of the level. The
    reference of the dialect lists the ops of each level:

    | stage    | ops of the dialect on the host           | in kernels                          |
    |----------|------------------------------------------|-------------------------------------|
    | `tile`   | tile level, `mma_scaled` with a path; host | kernel level, instruction level; tile level on vectors |
    | `kernel` | host                                     | the same                            |
    | `instr`  | host                                     | instruction level                   |
    | `nvvm`   | host                                     | none                                |

    From the stage `kernel` on, the host has only launches, allocations, views,
    run-time checks and arithmetic of sizes from other dialects. Kernels may
    have ops of all other dialects up to `instr`, and at `nvvm` only those of
    `llvm` and `nvvm`.

    The module does not change.
  }];
  let options = [
    Option<"stage", "stage", "std::string", "", "tile, kernel, instr or nvvm">
  ];
}

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_HOSTLOWERING_PASSES_TD
