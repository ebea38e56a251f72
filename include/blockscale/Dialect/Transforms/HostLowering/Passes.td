//===- Passes.td - Passes between levels -------------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What upstream passes do not do on the way from one level to the next, and the
// check of all levels.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_HOSTLOWERING_PASSES_TD
#define BLOCKSCALE_DIALECT_TRANSFORMS_HOSTLOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandCastsPass : Pass<"blockscale-expand-casts"> {
  let summary = "make casts of narrow floats exact arithmetic";
  let description = [{
    `arith.extf`, `arith.truncf`, `arith.scaling_extf` and
    `arith.scaling_truncf` between floats of at most 8 bits (f8E4M3FN, f8E5M2,
    f6E3M2FN, f6E2M3FN, f4E2M1FN, f8E8M0FNU), f16, bf16, f32 and f64 become
    arithmetic on the code, which `arith.bitcast` takes out of the float or puts
    into it. So do the truncations of f64 to f16 and bf16. Every result is
    rounded once, to nearest, ties to even; docs/Numerics.md has the rules for
    NaN, infinity and numbers out of range.

    A cast of a tensor becomes a `linalg.generic` first, unless its operands are
    constants of at most 65536 elements. This runs before anything that folds
    constants: upstream's folders make an infinity of the NaN of f8E8M0FNU, and
    zeros of infinity and NaN in types that have neither.

    Errors: another rounding mode than `to_nearest_even`, and scales that are
    neither f8E8M0FNU nor wider than 8 bits. Casts of other types stay as they
    are.

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
    ... // Sign, exponent and mantissa move to their places in an f32.
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
    On a CPU. Upstream's `convert-math-to-llvm` has `exp` and `log` instead,
    near 0 without any digit that is right; other functions are left to it. f16
    and bf16 go through f32, vectors through their elements.

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
  let summary = "make functions of math arithmetic and instructions";
  let description = [{
    On a GPU there is no library of functions. Those of `math` that have an
    instruction become LLVM's intrinsic for it, the others arithmetic that
    approximates them within the errors of `blockscale/Support/MathErrors.h`.
    Numbers of f16 and bf16 go through f32. Vectors of one dimension become
    their elements first. What has neither, such as functions of f64, is an
    error that names the op and its type; ops on integers stay as they are.

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
    function types and constants; the code is in the low bits. Memory of fp4 or
    fp6 elements has no one layout upstream, so this runs before bufferization.

    `arith.bitcast` becomes the truncation or extension of the code. Ops that
    move elements without looking at them keep their form. Any other op on such
    a type is an error: `blockscale-expand-casts` comes first, and arithmetic on
    these types is not lowered. A `gpu.module` stays as it is.

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
    two, becomes memory of the next width that is one, at least 8: values are
    extended when they are stored, and truncated when they are loaded. This runs
    when nothing but loads and stores looks at elements; another op that does is
    an error. A `gpu.module` stays as it is.

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
    In front of each `tensor.expand_shape` of a dynamic size, an assertion that
    the sizes of a group multiply to the size that they are made of: what has
    other sizes would be read beyond its end. No upstream check does so.

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
    A splat tensor constant of more than 1024 elements becomes a `linalg.fill`:
    written out as data it would make the program as large as the tensor.

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
    A `memref.copy` between buffers with the identity layout becomes `memcpy`,
    and one of unknown rank is left as it is. Any other one
    would become a call to a run-time library that users need not have, so it
    is rewritten as a `linalg.generic`. With `all`, contiguous copies are too:
    on a GPU a copy is a kernel.

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
    An op of `linalg` on memrefs that has no parallel loop, on scalars or to
    one, gets an `scf.parallel` of one iteration around it: what is not in a
    parallel loop would stay on the host. So would reduction loops around
    parallel ones: of a `linalg.generic`, these go inside, in their order. Ops
    inside of loops stay.

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
  let summary = "make parallel loops one loop over blocks of threads";
  let description = [{
    Collapses each outermost `scf.parallel` into one dimension and tiles that by
    256 iterations, mapped to the threads of a block along x. The limits of a
    grid along y and z do not matter then.

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

def LowerLeftoversPass
    : Pass<"blockscale-lower-leftovers", "::mlir::gpu::GPUModuleOp"> {
  let summary = "run upstream passes on the kernels that need them";
  let description = [{
    Kernels of users, and those that became kernels from loops, may have vector
    transfers, views of memory, affine ops and arithmetic that LLVM has no
    instruction for. Where a `gpu.module` has them, this runs
    `convert-vector-to-scf`, `expand-strided-metadata`, `lower-affine` and
    `arith-expand`; each looks at every op for a long time, so that a module
    without them is better off.

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
    unrolled and what comes of it canonicalized. One whose bounds are not
    constant is refused, as is one that would become more than 4096 ops.

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
    Fails, at the op, where the module is not what the level promises. Which ops
    of the dialect are of which level, the reference of the dialect says:

    | stage    | ops of the dialect on the host           | in kernels                          |
    |----------|------------------------------------------|-------------------------------------|
    | `tile`   | tile level, `mma_scaled` with a path; host | kernel level, instruction level; tile level on vectors |
    | `kernel` | host                                     | the same                            |
    | `instr`  | host                                     | instruction level                   |
    | `nvvm`   | host                                     | none                                |

    Of other dialects the host has launches, allocations, views, run-time checks
    and arithmetic of sizes from the stage `kernel` on. Kernels have ops of all
    dialects up to `instr`, and at `nvvm` those of `llvm` and `nvvm`.

    It changes nothing.
  }];
  let options = [
    Option<"stage", "stage", "std::string", "", "tile, kernel, instr or nvvm">
  ];
}

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_HOSTLOWERING_PASSES_TD
