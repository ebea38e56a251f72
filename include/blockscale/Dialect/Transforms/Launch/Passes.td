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
    are values: an accumulator is the same after the call. An argument that has
    the attribute already keeps its value.

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
  let summary = "pack fp4 and fp6 arguments and results into bytes";
  let description = [{
    Arguments and results of public functions become packed GPU buffers: two fp4
    elements per byte along the last dimension, and four fp6 elements in three
    bytes if the argument has the attribute `blockscale.packed`. Elements of
    other types have whole bytes and stay.

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
    which they are launched: the name, the purpose, blocks, threads of a block,
    and line and column of the op that the kernel computes. `?` stands for a
    number of blocks that depends on arguments or on the card.

    The module does not change. The pass runs after
    `blockscale-collect-kernels`, or on the output of `blockscale-compile
    --emit=kernel`.
  }];
}

def ScalarResultsPass : Pass<"blockscale-scalar-results", "::mlir::ModuleOp"> {
  let summary = "make scalar results tensors of one element";
  let description = [{
    Kernels write results to memory, so each scalar that a public function
    returns becomes a tensor of rank 0. If it was extracted from such a tensor,
    that tensor is returned. Any other scalar is computed by an op of linalg
    without loops, whose body has the ops that the host would execute.

    A function with scalar results that other functions call is an error.

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
    Asserts, in front of each op of linalg on tensors with dynamic sizes, that
    each operand has the sizes of the loops over it: kernels made from the loops
    do not check bounds.

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

    (The message also has the op and its location, as that of a check on the
    CPU.)
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::tensor::TensorDialect"
  ];
}

def MarkTensorMapsPass
    : Pass<"blockscale-mark-tensor-maps", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "make tensor maps grid constants";
  let description = [{
    A parameter that is a tensor map is 128 bytes by value, and a grid constant:
    copies read it from parameter memory, without a copy for each thread. (The
    attributes that say so would not survive to the level NVVM.)

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
    Reshapes, slices and concatenations of results of `blockscale.unpack`, and
    reshapes of operands of `blockscale.pack`, become such ops on the packed
    bytes if each row still ends with a whole byte. Kernels read packed elements
    directly if they find `unpack` right in front of them.

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
    A buffer that a function returns twice is copied for the second result, so
    that each result has its own memory. If a result is a reshape of an
    allocation, it is allocated with the shape of the result, and the former
    allocation becomes a view of it. `blockscale.result_sizes` states the
    dynamic sizes of a result; they must be computed from sizes of the arguments
    and from integer arguments, anything else is an error.

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
  let summary = "collect kernels in one module, with names and parameters";
  let description = [{
    The last step of the kernel level. Functions on the host hold allocations
    and launches only, and:

    * all kernels are in the `gpu.module` named `kernels`;
    * the main kernel has the name of its function: the first one whose
      attribute `blockscale.purpose` is "mma_scaled" or "matmul", or the last
      kernel if there is no such one. Other kernels are named
      `FUNCTION__PURPOSE` ("loops" without the attribute);
    * a kernel's parameters are whole buffers: views of them and constants have
      moved into the kernel;
    * the main kernel has all arguments and then all results of the function as
      parameters, whether or not it uses them, then all dynamic sizes of the
      arguments, as `i32`; after these come allocations. Buffers of dynamic
      sizes are passed as memrefs of rank 0, and the kernel restores their
      shape;
    * the first kernel also has the host's assertions about sizes at its start.
      If it uses warpgroup products, they are in a kernel in front of it,
      `FUNCTION__checks_0`;
    * `blockscale.tensor_map_params` of a kernel lists the positions of the
      parameters that are tensor maps.

    `blockscale.result_sizes` states the dynamic sizes of an argument that is
    memory for a result. The attribute `blockscale.code_bits` of an argument is
    the width of its packed elements, if rows have a dynamic size: the size
    parameter counts elements, and the memref has bytes.

    Any other op on the host is an error: it would have to run between kernels.

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
  let summary = "start kernels before the previous one has ended";
  let description = [{
    Programmatic dependent launch, on chips that have it (sm_90 and later), for
    all launches of a function except the first:

    * such a launch gets the attribute `blockscale.programmatic`;
    * its kernel waits with `nvvm.griddepcontrol wait` for the end of the
      previous one. If the kernel has such an op already, after code that
      touches no memory of other kernels, it stays there; else it is inserted at
      the start;
    * parameters for memory that earlier kernels use, too, lose `llvm.noalias`:
      that memory may still change while the kernel runs.

    A kernel starts when each block of the previous one has ended. The first
    kernel does not wait; its waits are erased.

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
