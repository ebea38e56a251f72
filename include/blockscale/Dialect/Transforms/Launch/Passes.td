//===- Passes.td - Passes on launches and their buffers ----*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_LAUNCH_PASSES_TD
#define BLOCKSCALE_DIALECT_TRANSFORMS_LAUNCH_PASSES_TD

include "mlir/Pass/PassBase.td"

def ProtectArgumentsPass
    : Pass<"blockscale-protect-arguments", "::mlir::func::FuncOp"> {
  let summary = "keep public functions from writing to their arguments";
  let description = [{
    Marks the tensor arguments of a public function as not writable, so that
    bufferization gives results buffers of their own. To the caller, tensors
    are values: an accumulator is the same after the call. An argument that says
    of itself whether it is writable keeps its word.

    Before:

    ```mlir
    func.func @negate(%x: tensor<4xf32>) -> tensor<4xf32> {
      %r = linalg.map { arith.negf } ins(%x : tensor<4xf32>)
           outs(%x : tensor<4xf32>)
      return %r : tensor<4xf32>
    }
    ```

    After:

    ```mlir
    func.func @negate(%x: tensor<4xf32> {bufferization.writable = false})
        -> tensor<4xf32> {
      %r = linalg.map { arith.negf } ins(%x : tensor<4xf32>)
           outs(%x : tensor<4xf32>)
      return %r : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def PackBuffersPass : Pass<"blockscale-pack-buffers", "::mlir::ModuleOp"> {
  let summary = "give arguments and results the bytes of GPU buffers";
  let description = [{
    Arguments and results of public functions become what GPU buffers hold: fp4
    two per byte along the last dimension, and fp6 four in three bytes where the
    argument has the attribute `blockscale.packed`. Other types have a byte or
    more of their own and stay.

    Before:

    ```mlir
    func.func @same(%x: tensor<3x32xf4E2M1FN>) -> tensor<3x32xf4E2M1FN> {
      return %x : tensor<3x32xf4E2M1FN>
    }
    ```

    After:

    ```mlir
    func.func @same(%bytes: tensor<3x16xi8>) -> tensor<3x16xi8> {
      %x = blockscale.unpack %bytes : tensor<3x16xi8> to tensor<3x32xf4E2M1FN>
      %r = blockscale.pack %x : tensor<3x32xf4E2M1FN> to tensor<3x16xi8>
      return %r : tensor<3x16xi8>
    }
    ```
  }];
  let dependentDialects = ["::mlir::blockscale::BlockScaleDialect"];
}

def ExplainKernelsPass
    : Pass<"blockscale-explain-kernels", "::mlir::ModuleOp"> {
  let summary = "print which kernels functions consist of";
  let description = [{
    Prints, on standard error, for each function its kernels in the order in
    which they are launched: the name, what the kernel is for, blocks, threads
    of a block, and line and column of the op that it is of. `?` stands for
    numbers of blocks that depend on arguments or on the card.

    The module stays as it is. Behind `blockscale-collect-kernels`, or on what
    `blockscale-compile --emit=kernel` prints.
  }];
}

def ScalarResultsPass : Pass<"blockscale-scalar-results", "::mlir::ModuleOp"> {
  let summary = "make scalar results tensors of one element";
  let description = [{
    A kernel leaves its results in memory: each scalar that a public function
    returns becomes a tensor of rank 0. One that was extracted from such a
    tensor is that; any other one is computed by an op of linalg without loops,
    which extracts and computes what the host would have.

    Functions with scalar results that others call are an error.

    Before:

    ```mlir
    func.func @first(%x: tensor<4xf32>) -> f32 {
      %c0 = arith.constant 0 : index
      %0 = tensor.extract %x[%c0] : tensor<4xf32>
      %1 = arith.negf %0 : f32
      return %1 : f32
    }
    ```

    After:

    ```mlir
    func.func @first(%x: tensor<4xf32>) -> tensor<f32> {
      %empty = tensor.empty() : tensor<f32>
      %r = linalg.generic {indexing_maps = [affine_map<() -> ()>],
                           iterator_types = []}
          outs(%empty : tensor<f32>) {
      ^bb0(%old: f32):
        %c0 = arith.constant 0 : index
        %0 = tensor.extract %x[%c0] : tensor<4xf32>
        %1 = arith.negf %0 : f32
        linalg.yield %1 : f32
      } -> tensor<f32>
      return %r : tensor<f32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def CheckLoopSizesPass
    : Pass<"blockscale-check-loop-sizes", "::mlir::func::FuncOp"> {
  let summary = "check dynamic sizes that loops have to agree on";
  let description = [{
    Asserts, in front of each op of linalg on tensors whose sizes are not all
    known, that each operand has the sizes that the loops over it ask for:
    kernels of their loops do not look where memory ends.

    Before:

    ```mlir
    func.func @negate(%x: tensor<?xf32>, %r: tensor<?xf32>) -> tensor<?xf32> {
      %0 = linalg.negf ins(%x : tensor<?xf32>) outs(%r : tensor<?xf32>)
           -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }
    ```

    After:

    ```mlir
    func.func @negate(%x: tensor<?xf32>, %r: tensor<?xf32>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?xf32>
      %size = tensor.dim %r, %c0 : tensor<?xf32>
      %fits = arith.cmpi eq, %size, %n : index
      cf.assert %fits, "expected size 0 of operand #1 to fit the loops over it"
      %0 = linalg.negf ins(%x : tensor<?xf32>) outs(%r : tensor<?xf32>)
           -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }
    ```

    (The message also has the op and its place, as that of a check on the CPU.)
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::tensor::TensorDialect"
  ];
}

def MarkTensorMapsPass
    : Pass<"blockscale-mark-tensor-maps", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "keep tensor maps where the launch has put them";
  let description = [{
    A parameter that is a tensor map is 128 bytes by value, and constant for the
    grid: copies read it where it is, and not in a copy of the thread's own. (The
    attributes that say so get lost before the level NVVM.)

    Before:

    ```mlir
    llvm.func @f(%map: !llvm.ptr)
        attributes {blockscale.tensor_map_params = array<i64: 0>, nvvm.kernel} {
      llvm.return
    }
    ```

    After:

    ```mlir
    llvm.func @f(%map: !llvm.ptr {llvm.align = 64 : i64,
                                  llvm.byval = !llvm.array<128 x i8>,
                                  nvvm.grid_constant})
        attributes {nvvm.kernel} {
      llvm.return
    }
    ```
  }];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

def CarryPackingPass : Pass<"blockscale-carry-packing"> {
  let summary = "move packed bytes instead of the elements in them";
  let description = [{
    Reshapes, slices and concatenations of what `blockscale.unpack` makes, and
    reshapes of what `blockscale.pack` takes, become such of the packed bytes
    where each row of the result still ends on a byte: kernels read packed codes
    where they are if nothing else is in between.

    Before:

    ```mlir
    func.func @rows(%bytes: tensor<3x8x16xi8>) -> tensor<24x32xf4E2M1FN> {
      %x = blockscale.unpack %bytes
           : tensor<3x8x16xi8> to tensor<3x8x32xf4E2M1FN>
      %r = tensor.collapse_shape %x [[0, 1], [2]]
           : tensor<3x8x32xf4E2M1FN> into tensor<24x32xf4E2M1FN>
      return %r : tensor<24x32xf4E2M1FN>
    }
    ```

    After:

    ```mlir
    func.func @rows(%bytes: tensor<3x8x16xi8>) -> tensor<24x32xf4E2M1FN> {
      %b = tensor.collapse_shape %bytes [[0, 1], [2]]
           : tensor<3x8x16xi8> into tensor<24x16xi8>
      %r = blockscale.unpack %b : tensor<24x16xi8> to tensor<24x32xf4E2M1FN>
      return %r : tensor<24x32xf4E2M1FN>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::tensor::TensorDialect"
  ];
}

def SeparateResultsPass
    : Pass<"blockscale-separate-results", "::mlir::func::FuncOp"> {
  let summary = "return each buffer once";
  let description = [{
    A buffer that a function returns twice is copied for the second result:
    each result is memory of its own. A result that is a reshape of an
    allocation is allocated as it is returned, and what was allocated is a view
    of that. Of a result of dynamic sizes, `blockscale.result_sizes` says how
    large it is; sizes that are not computed from those of the arguments, and
    from arguments that are integers, are an error.

    Before:

    ```mlir
    func.func @twice() -> (memref<4xf32>, memref<4xf32>) {
      %a = memref.alloc() : memref<4xf32>
      return %a, %a : memref<4xf32>, memref<4xf32>
    }
    ```

    After:

    ```mlir
    func.func @twice() -> (memref<4xf32>, memref<4xf32>) {
      %a = memref.alloc() : memref<4xf32>
      %b = memref.alloc() : memref<4xf32>
      memref.copy %a, %b : memref<4xf32> to memref<4xf32>
      return %a, %b : memref<4xf32>, memref<4xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::blockscale::BlockScaleDialect", "::mlir::memref::MemRefDialect"
  ];
}

def CollectKernelsPass
    : Pass<"blockscale-collect-kernels", "::mlir::ModuleOp"> {
  let summary = "one module of kernels, named and with parameters for launch";
  let description = [{
    The last step of the kernel level. Functions on the host hold allocations
    and launches only, and:

    * all kernels are in the `gpu.module` named `kernels`;
    * the first kernel whose attribute `blockscale.purpose` is "mma_scaled" or
      "matmul" has the name of its function (where there is none, the last
      kernel has), any other one is `FUNCTION__PURPOSE` ("loops" without the
      attribute);
    * a kernel's parameters are whole buffers: views of them and constants have
      moved into the kernel;
    * the kernel with the name of the function has all its arguments and then
      its results as parameters, whether or not it uses them, then all dynamic
      sizes of the arguments, as `i32`; after these come allocations. Buffers of
      dynamic sizes are passed as memrefs of rank 0 and become what they are in
      the kernel;
    * assertions of the host, about sizes, are at the start of the first kernel,
      too; where that has warpgroup products, of one made in front of it,
      `FUNCTION__checks_0`;
    * `blockscale.tensor_map_params` of a kernel are the numbers of the parameters
      that are tensor maps.

    Of an argument that is memory for a result, a `blockscale.result_sizes` says
    those sizes that are dynamic. The attribute `blockscale.code_bits` of an
    argument are the bits of a code where rows are packed and of a dynamic size:
    the parameter counts codes, the memref bytes.

    Anything else on the host is an error: it would have to run between kernels.

    Before:

    ```mlir
    module attributes {gpu.container_module} {
      func.func @f(%x: memref<8xf32>, %unused: memref<4xf32>,
                   %r: memref<8xf32>) {
        %c1 = arith.constant 1 : index
        gpu.launch_func @kernels::@f_kernel blocks in (%c1, %c1, %c1)
            threads in (%c1, %c1, %c1)
            args(%r : memref<8xf32>, %x : memref<8xf32>)
        return
      }
      gpu.module @kernels {
        gpu.func @f_kernel(%r: memref<8xf32>, %x: memref<8xf32>) kernel {
          gpu.return
        }
      }
    }
    ```

    After:

    ```mlir
    module attributes {gpu.container_module} {
      func.func @f(%x: memref<8xf32>, %unused: memref<4xf32>,
                   %r: memref<8xf32>) {
        %c1 = arith.constant 1 : index
        gpu.launch_func @kernels::@f blocks in (%c1, %c1, %c1)
            threads in (%c1, %c1, %c1)
            args(%x : memref<8xf32>, %unused : memref<4xf32>,
                 %r : memref<8xf32>)
        return
      }
      gpu.module @kernels {
        gpu.func @f(%x: memref<8xf32>, %unused: memref<4xf32>,
                    %r: memref<8xf32>) kernel {
          gpu.return
        }
      }
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect"
  ];
}

def OverlapKernelsPass
    : Pass<"blockscale-overlap-kernels", "::mlir::ModuleOp"> {
  let summary = "a kernel starts before the one in front of it has ended";
  let description = [{
    Programmatic dependent launch, for chips that have it (sm_90 and later), of
    the launches of each function behind its first one:

    * such a launch gets the attribute `blockscale.programmatic`;
    * its kernel waits with `nvvm.griddepcontrol wait` for the end of the one in
      front: where it does already, behind what touches no memory of others, or
      else at its start;
    * parameters of memory that kernels in front have, too, lose `llvm.noalias`:
      it may still change while the kernel has started.

    The kernel starts when each block of the one in front has ended. The first
    kernel does not wait: such ops of its are erased.

    Before:

    ```mlir
    module attributes {gpu.container_module,
                       blockscale.target = #blockscale.target<sm_100a>} {
      func.func @f(%x: memref<8xf32>) {
        %c1 = arith.constant 1 : index
        gpu.launch_func @kernels::@first blocks in (%c1, %c1, %c1)
            threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
        gpu.launch_func @kernels::@second blocks in (%c1, %c1, %c1)
            threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
        return
      }
      gpu.module @kernels {
        gpu.func @first(%x: memref<8xf32> {llvm.noalias}) kernel {
          gpu.return
        }
        gpu.func @second(%x: memref<8xf32> {llvm.noalias}) kernel {
          gpu.return
        }
      }
    }
    ```

    After:

    ```mlir
    module attributes {gpu.container_module,
                       blockscale.target = #blockscale.target<sm_100a>} {
      func.func @f(%x: memref<8xf32>) {
        %c1 = arith.constant 1 : index
        gpu.launch_func @kernels::@first blocks in (%c1, %c1, %c1)
            threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
        gpu.launch_func @kernels::@second blocks in (%c1, %c1, %c1)
            threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
            {blockscale.programmatic}
        return
      }
      gpu.module @kernels {
        gpu.func @first(%x: memref<8xf32> {llvm.noalias}) kernel {
          gpu.return
        }
        gpu.func @second(%x: memref<8xf32>) kernel {
          nvvm.griddepcontrol wait
          gpu.return
        }
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_LAUNCH_PASSES_TD
