// Kernels after the first one start early and wait; memory that they share with those
// before them may change meanwhile.

// RUN: blockscale-opt %s --blockscale-overlap-kernels -split-input-file | FileCheck %s

// A kernel waits at its own wait, or else at its start; the first one, which
// starts the second one early, at its start, so that memory that it shares with those
// in front of the function is not noalias. Memory that kernels have in common is
// not noalias in the later one, be it through a view or a tensor map.

// CHECK-LABEL: func.func @f(
// CHECK:         gpu.launch_func @kernels::@first
// CHECK-SAME:      {blockscale.programmatic}
// CHECK:         gpu.launch_func @kernels::@second
// CHECK-SAME:      {blockscale.programmatic}
// CHECK:         gpu.launch_func @kernels::@third
// CHECK-SAME:      {blockscale.programmatic}
// CHECK:       gpu.func @first(%{{.*}}: memref<8xf32>, %{{.*}}: memref<16xf32>) kernel {
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    gpu.return
// CHECK:       gpu.func @second(%{{.*}}: memref<f32>, %{{.*}}: memref<8xf32> {llvm.noalias}) kernel {
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    gpu.return
// CHECK:       gpu.func @third(%{{.*}}: memref<8xf32>, %{{.*}}: !llvm.ptr) kernel {
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    gpu.return
module attributes {gpu.container_module, blockscale.target = #blockscale.target<sm_90a>} {
  func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    %t = memref.alloc() : memref<16xf32>
    gpu.launch_func @kernels::@first blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<8xf32>, %t : memref<16xf32>)
    %start = memref.reinterpret_cast %t to offset: [0], sizes: [], strides: [] : memref<16xf32> to memref<f32>
    gpu.launch_func @kernels::@second blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%start : memref<f32>, %y : memref<8xf32>)
    %map = blockscale.tensor_map %t : memref<16xf32> with #blockscale.tensor_map<
        "f4", sizes = affine_map<()[n] -> (n)>, strides = affine_map<()[n] -> ()>, box = [8],
         element_strides = [1], swizzle = "none", fill = "zero", l2 = "none">
    gpu.launch_func @kernels::@third blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<8xf32>, %map : !llvm.ptr)
    return
  }
  gpu.module @kernels {
    gpu.func @first(%x: memref<8xf32> {llvm.noalias}, %t: memref<16xf32> {llvm.noalias}) kernel {
      gpu.barrier
      nvvm.griddepcontrol launch_dependents
      nvvm.griddepcontrol wait
      gpu.return
    }
    gpu.func @second(%t: memref<f32> {llvm.noalias}, %y: memref<8xf32> {llvm.noalias}) kernel {
      gpu.return
    }
    gpu.func @third(%x: memref<8xf32> {llvm.noalias}, %map: !llvm.ptr {llvm.noalias}) kernel {
      gpu.barrier
      nvvm.griddepcontrol wait
      gpu.return
    }
  }
}

// -----

// A kernel that starts no other one early does not wait for what is in front of
// the function.

// CHECK-LABEL: func.func @alone(
// CHECK-NOT:   programmatic
// CHECK:       gpu.func @alone(
// CHECK-NEXT:    gpu.return
module attributes {gpu.container_module, blockscale.target = #blockscale.target<sm_100a>} {
  func.func @alone(%x: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@alone blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @alone(%x: memref<8xf32> {llvm.noalias}) kernel {
      nvvm.griddepcontrol wait
      gpu.return
    }
  }
}

// -----

// sm_89 has no griddepcontrol; what is emulated runs on the other chip.

// CHECK-LABEL: func.func @older(
// CHECK-NOT:   programmatic
// CHECK-NOT:   griddepcontrol
module attributes {gpu.container_module,
                   blockscale.target = #blockscale.target<sm_120a, emulated_on = sm_89>} {
  func.func @older(%x: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@a blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
    gpu.launch_func @kernels::@b blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @a(%x: memref<8xf32> {llvm.noalias}) kernel {
      gpu.return
    }
    gpu.func @b(%x: memref<8xf32> {llvm.noalias}) kernel {
      gpu.return
    }
  }
}

// -----

// Of alternatives that exclude each other, each is as if the others were not
// there: @few and @fill are first ones, which do not wait, and keep noalias
// though they have memory in common. @many runs only if @fill does, whose memory
// it shares.

// CHECK-LABEL: func.func @alternatives(
// CHECK:         gpu.launch_func @kernels::@few
// CHECK-NOT:     programmatic
// CHECK:         gpu.launch_func @kernels::@fill
// CHECK-NOT:     programmatic
// CHECK:         gpu.launch_func @kernels::@many
// CHECK-SAME:      {blockscale.programmatic}
// CHECK:       gpu.func @few(%{{.*}}: memref<?xf32> {llvm.noalias}) kernel {
// CHECK-NEXT:    gpu.return
// CHECK:       gpu.func @fill(%{{.*}}: memref<?xf32> {llvm.noalias}, %{{.*}}: memref<16xf32> {llvm.noalias}) kernel {
// CHECK-NEXT:    gpu.return
// CHECK:       gpu.func @many(%{{.*}}: memref<16xf32>, %{{.*}}: memref<?xf32> {llvm.noalias}) kernel {
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    gpu.return
module attributes {gpu.container_module, blockscale.target = #blockscale.target<sm_90a>} {
  func.func @alternatives(%x: memref<?xf32>, %y: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %true = arith.constant true
    %m = memref.dim %x, %c0 : memref<?xf32>
    %is_few = arith.cmpi ult, %m, %c8 : index
    %is_other = arith.xori %is_few, %true : i1
    // The same, with a comparison of its own.
    %is_many = arith.cmpi uge, %m, %c8 : index
    %even = arith.cmpi eq, %m, %c8 : index
    %is_even_many = arith.andi %even, %is_many : i1
    %few = arith.select %is_few, %m, %c0 : index
    %fill = arith.select %is_other, %c1, %c0 : index
    %many = arith.select %is_even_many, %m, %c0 : index
    %t = memref.alloc() : memref<16xf32>
    gpu.launch_func @kernels::@few blocks in (%few, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<?xf32>)
    gpu.launch_func @kernels::@fill blocks in (%fill, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<?xf32>, %t : memref<16xf32>)
    gpu.launch_func @kernels::@many blocks in (%many, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%t : memref<16xf32>, %y : memref<?xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @few(%x: memref<?xf32> {llvm.noalias}) kernel {
      nvvm.griddepcontrol wait
      gpu.return
    }
    gpu.func @fill(%x: memref<?xf32> {llvm.noalias}, %t: memref<16xf32> {llvm.noalias}) kernel {
      gpu.return
    }
    gpu.func @many(%t: memref<16xf32> {llvm.noalias}, %y: memref<?xf32> {llvm.noalias}) kernel {
      gpu.return
    }
  }
}

// -----

// @second may be the first one that is launched: it waits for what is in front
// of the function, which may write its arguments until then. @third comes behind
// a kernel that is always launched.

// CHECK-LABEL: func.func @optional(
// CHECK:         gpu.launch_func @kernels::@first
// CHECK-NOT:     programmatic
// CHECK:         gpu.launch_func @kernels::@second
// CHECK-SAME:      {blockscale.programmatic}
// CHECK:         gpu.launch_func @kernels::@third
// CHECK-SAME:      {blockscale.programmatic}
// CHECK:       gpu.func @first(%{{.*}}: memref<?xf32> {llvm.noalias}) kernel {
// CHECK-NEXT:    gpu.return
// CHECK:       gpu.func @second(%{{.*}}: memref<?xf32>) kernel {
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    gpu.return
// CHECK:       gpu.func @third(%{{.*}}: memref<?xf32> {llvm.noalias}) kernel {
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    gpu.return
module attributes {gpu.container_module, blockscale.target = #blockscale.target<sm_90a>} {
  func.func @optional(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %m = memref.dim %x, %c0 : memref<?xf32>
    %is_few = arith.cmpi ult, %m, %c8 : index
    %few = arith.select %is_few, %m, %c0 : index
    gpu.launch_func @kernels::@first blocks in (%few, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<?xf32>)
    gpu.launch_func @kernels::@second blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%y : memref<?xf32>)
    gpu.launch_func @kernels::@third blocks in (%few, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%z : memref<?xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @first(%x: memref<?xf32> {llvm.noalias}) kernel {
      gpu.return
    }
    gpu.func @second(%y: memref<?xf32> {llvm.noalias}) kernel {
      gpu.return
    }
    gpu.func @third(%z: memref<?xf32> {llvm.noalias}) kernel {
      gpu.return
    }
  }
}

// -----

// Comparisons of one size with constants: @many is never launched beside @few,
// but @some may be, for a size of 8.

// CHECK-LABEL: func.func @ranges(
// CHECK:       gpu.func @few(%{{.*}}: memref<?xf32> {llvm.noalias}) kernel {
// CHECK-NEXT:    gpu.return
// CHECK:       gpu.func @many(%{{.*}}: memref<?xf32> {llvm.noalias}) kernel {
// CHECK-NEXT:    gpu.return
// CHECK:       gpu.func @some(%{{.*}}: memref<?xf32>) kernel {
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    gpu.return
module attributes {gpu.container_module, blockscale.target = #blockscale.target<sm_90a>} {
  func.func @ranges(%x: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c9 = arith.constant 9 : index
    %m = memref.dim %x, %c0 : memref<?xf32>
    %is_few = arith.cmpi ule, %m, %c8 : index
    %is_many = arith.cmpi ugt, %m, %c9 : index
    %is_some = arith.cmpi uge, %m, %c8 : index
    %few = arith.select %is_few, %m, %c0 : index
    %many = arith.select %is_many, %m, %c0 : index
    %some = arith.select %is_some, %m, %c0 : index
    gpu.launch_func @kernels::@few blocks in (%few, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<?xf32>)
    gpu.launch_func @kernels::@many blocks in (%many, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<?xf32>)
    gpu.launch_func @kernels::@some blocks in (%some, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<?xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @few(%x: memref<?xf32> {llvm.noalias}) kernel {
      gpu.return
    }
    gpu.func @many(%x: memref<?xf32> {llvm.noalias}) kernel {
      gpu.return
    }
    gpu.func @some(%x: memref<?xf32> {llvm.noalias}) kernel {
      gpu.return
    }
  }
}

// -----

// Comparisons of two values, whose sides have changed places in one of them, as
// of the times of two alternatives: @first is never launched beside @second, but
// @third may be beside either.

// CHECK-LABEL: func.func @times(
// CHECK:       gpu.func @first(%{{.*}}: memref<?xf32> {llvm.noalias}) kernel {
// CHECK-NEXT:    gpu.return
// CHECK:       gpu.func @second(%{{.*}}: memref<?xf32> {llvm.noalias}) kernel {
// CHECK-NEXT:    gpu.return
// CHECK:       gpu.func @third(%{{.*}}: memref<?xf32>) kernel {
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    gpu.return
module attributes {gpu.container_module, blockscale.target = #blockscale.target<sm_90a>} {
  func.func @times(%x: memref<?xf32>, %y: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = memref.dim %x, %c0 : memref<?xf32>
    %n = memref.dim %y, %c0 : memref<?xf32>
    %is_first = arith.cmpi ule, %m, %n : index
    %is_second = arith.cmpi ult, %n, %m : index
    %is_third = arith.cmpi ule, %n, %m : index
    %first = arith.select %is_first, %m, %c0 : index
    %second = arith.select %is_second, %m, %c0 : index
    %third = arith.select %is_third, %m, %c0 : index
    gpu.launch_func @kernels::@first blocks in (%first, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<?xf32>)
    gpu.launch_func @kernels::@second blocks in (%second, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<?xf32>)
    gpu.launch_func @kernels::@third blocks in (%third, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<?xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @first(%x: memref<?xf32> {llvm.noalias}) kernel {
      gpu.return
    }
    gpu.func @second(%x: memref<?xf32> {llvm.noalias}) kernel {
      gpu.return
    }
    gpu.func @third(%x: memref<?xf32> {llvm.noalias}) kernel {
      gpu.return
    }
  }
}
