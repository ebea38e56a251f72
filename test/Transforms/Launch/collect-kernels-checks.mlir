// A call in a kernel makes its warpgroup products wait for each other: checks
// are in a kernel in front, if there is one, or in one of their own.

// RUN: blockscale-opt %s --blockscale-collect-kernels --canonicalize --cse -split-input-file | FileCheck %s

// The product keeps the name of the function, all arguments and all sizes. Rows
// of packed arguments are checked with the rest, not where sizes are passed.

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x?xi8>
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[M:.*]] = memref.dim %[[X]], %c0
// CHECK-DAG:     %[[M32:.*]] = arith.index_castui %[[M]] : index to i32
// CHECK-DAG:     %[[ELEMENTS:.*]] = arith.muli %{{.*}}, %c2 : index
// CHECK-DAG:     %[[K32:.*]] = arith.index_castui %[[ELEMENTS]] : index to i32
// CHECK-NOT:     cf.assert
// CHECK:         gpu.launch_func @kernels::@main__checks_0 blocks in (%[[C1]], %[[C1]], %[[C1]]) threads in (%[[C1]], %[[C1]], %[[C1]]) args(%[[K32]] : i32, %[[M32]] : i32)
// CHECK:         gpu.launch_func @kernels::@main blocks in ({{.*}}) args(%{{.*}} : memref<i8>, %[[M32]] : i32, %[[K32]] : i32)
// CHECK:       gpu.func @main(
// CHECK-NOT:     cf.assert
// CHECK:         blockscale.warpgroup_mma
// CHECK:         gpu.return
// CHECK:       gpu.func @main__checks_0(%[[K32:[a-z0-9]+]]: i32, %[[M32:[a-z0-9]+]]: i32) kernel
// CHECK-SAME:    blockscale.purpose = "checks"
// CHECK-SAME:    known_block_size = array<i32: 1, 1, 1>
// CHECK:         %[[HOLD:.*]] = arith.andi
// CHECK-NEXT:    scf.if %[[HOLD]] {
// CHECK-NEXT:    } else {
// CHECK-NEXT:      cf.assert %{{.*}}, "expected rows of argument #0 that end on a byte when packed"
// CHECK-NEXT:      cf.assert %false, "M is 0"
// CHECK-NEXT:    }
// CHECK-NEXT:    gpu.return
module attributes {gpu.container_module} {
  func.func @main(%x: memref<?x?xi8> {blockscale.code_bits = 4 : i64}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %m = memref.dim %x, %c0 : memref<?x?xi8>
    %ok = arith.cmpi sgt, %m, %c0 : index
    cf.assert %ok, "M is 0"
    gpu.launch_func @kernels::@product blocks in (%m, %c1, %c1)
        threads in (%c256, %c1, %c1) args(%x : memref<?x?xi8>)
    return
  }
  gpu.module @kernels {
    gpu.func @product(%x: memref<?x?xi8>)
        workgroup(%a : memref<128x128xi8, #gpu.address_space<workgroup>>,
                  %b : memref<1x64x32xi8, #gpu.address_space<workgroup>>)
        kernel attributes {blockscale.purpose = "matmul"} {
      %zero = blockscale.acc_zero : !blockscale.acc<128x16, #blockscale.warps<8x1>>
      %product = blockscale.warpgroup_mma %a, %b, %zero
          instruction = <wgmma, 64x16x16, unscaled, bf16, bf16, none, 0>
          layouts = <k, slots, swizzled>, <mn, slots, swizzled>
          : memref<128x128xi8, #gpu.address_space<workgroup>>,
            memref<1x64x32xi8, #gpu.address_space<workgroup>>,
            !blockscale.acc<128x16, #blockscale.warps<8x1>>
      %sums = blockscale.warpgroup_wait %product pending = 0
          : !blockscale.acc<128x16, #blockscale.warps<8x1>>
      gpu.return
    }
  }
}

// -----

// Any other kernel in front takes the checks.

// CHECK-LABEL: func.func @second(
// CHECK:         gpu.launch_func @kernels::@second__loops_0 {{.*}} args(%{{.*}} : i32, %{{.*}} : i32)
// CHECK:         gpu.launch_func @kernels::@second blocks
// CHECK-NOT:     gpu.launch_func
// CHECK-DAG:   gpu.func @second__loops_0(%{{.*}}: i32, %{{.*}}: i32) kernel
// CHECK:         cf.assert %{{.*}}, "expected rows of argument #0 that end on a byte when packed"
// CHECK:         cf.assert %{{.*}}, "M is 0"
// CHECK:         gpu.return
// CHECK:       gpu.func @second(
// CHECK-NOT:     cf.assert
// CHECK:         gpu.return
module attributes {gpu.container_module} {
  func.func @second(%x: memref<?x?xi8> {blockscale.code_bits = 4 : i64}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %m = memref.dim %x, %c0 : memref<?x?xi8>
    %ok = arith.cmpi sgt, %m, %c0 : index
    cf.assert %ok, "M is 0"
    gpu.launch_func @kernels::@first blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args()
    gpu.launch_func @kernels::@product blocks in (%m, %c1, %c1)
        threads in (%c256, %c1, %c1) args(%x : memref<?x?xi8>)
    return
  }
  gpu.module @kernels {
    gpu.func @first() kernel {
      gpu.return
    }
    gpu.func @product(%x: memref<?x?xi8>)
        workgroup(%a : memref<128x128xi8, #gpu.address_space<workgroup>>,
                  %b : memref<1x64x32xi8, #gpu.address_space<workgroup>>)
        kernel attributes {blockscale.purpose = "matmul"} {
      %zero = blockscale.acc_zero : !blockscale.acc<128x16, #blockscale.warps<8x1>>
      %product = blockscale.warpgroup_mma %a, %b, %zero
          instruction = <wgmma, 64x16x16, unscaled, bf16, bf16, none, 0>
          layouts = <k, slots, swizzled>, <mn, slots, swizzled>
          : memref<128x128xi8, #gpu.address_space<workgroup>>,
            memref<1x64x32xi8, #gpu.address_space<workgroup>>,
            !blockscale.acc<128x16, #blockscale.warps<8x1>>
      %sums = blockscale.warpgroup_wait %product pending = 0
          : !blockscale.acc<128x16, #blockscale.warps<8x1>>
      gpu.return
    }
  }
}

// -----

// Of alternatives, each has a first kernel, which checks: here @few and @first,
// but not @last, in front of which @first always runs.

// CHECK-LABEL: func.func @alternatives(
// CHECK:         gpu.launch_func @kernels::@alternatives__loops_0
// CHECK:         gpu.launch_func @kernels::@alternatives__loops_1
// CHECK:         gpu.launch_func @kernels::@alternatives blocks
// CHECK-NOT:     gpu.launch_func
// CHECK:       gpu.func @alternatives__loops_0(
// CHECK:         cf.assert %{{.*}}, "M is 0"
// CHECK-NEXT:    gpu.return
// CHECK:       gpu.func @alternatives__loops_1(
// CHECK:         cf.assert %{{.*}}, "M is 0"
// CHECK-NEXT:    gpu.return
// CHECK:       gpu.func @alternatives(
// CHECK-NOT:     cf.assert
// CHECK:         gpu.return
module attributes {gpu.container_module} {
  func.func @alternatives(%x: memref<?xi8>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %m = memref.dim %x, %c0 : memref<?xi8>
    %ok = arith.cmpi sgt, %m, %c0 : index
    cf.assert %ok, "M is 0"
    %is_few = arith.cmpi ult, %m, %c8 : index
    %is_many = arith.cmpi uge, %m, %c8 : index
    %few = arith.select %is_few, %m, %c0 : index
    %many = arith.select %is_many, %m, %c0 : index
    gpu.launch_func @kernels::@few blocks in (%few, %c1, %c1)
        threads in (%c1, %c1, %c1) args()
    gpu.launch_func @kernels::@first blocks in (%many, %c1, %c1)
        threads in (%c1, %c1, %c1) args()
    gpu.launch_func @kernels::@last blocks in (%many, %c1, %c1)
        threads in (%c1, %c1, %c1) args()
    return
  }
  gpu.module @kernels {
    gpu.func @few() kernel {
      gpu.return
    }
    gpu.func @first() kernel {
      gpu.return
    }
    gpu.func @last() kernel {
      gpu.return
    }
  }
}

// -----

// If one of these must not have calls, a kernel in front of all checks.

// CHECK-LABEL: func.func @product(
// CHECK:         gpu.launch_func @kernels::@product__checks_0
// CHECK:         gpu.launch_func @kernels::@product__loops_1
// CHECK:         gpu.launch_func @kernels::@product blocks
// CHECK:       gpu.module @kernels
// CHECK:       gpu.func @product__loops_1(
// CHECK-NOT:     cf.assert
// CHECK:       gpu.func @product(
// CHECK-NOT:     cf.assert
// CHECK:       gpu.func @product__checks_0(
// CHECK:         cf.assert %{{.*}}, "M is 0"
module attributes {gpu.container_module} {
  func.func @product(%x: memref<?xi8>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c256 = arith.constant 256 : index
    %m = memref.dim %x, %c0 : memref<?xi8>
    %ok = arith.cmpi sgt, %m, %c0 : index
    cf.assert %ok, "M is 0"
    %is_few = arith.cmpi ult, %m, %c8 : index
    %few = arith.select %is_few, %m, %c0 : index
    %many = arith.select %is_few, %c0, %m : index
    gpu.launch_func @kernels::@few blocks in (%few, %c1, %c1)
        threads in (%c1, %c1, %c1) args()
    gpu.launch_func @kernels::@product blocks in (%many, %c1, %c1)
        threads in (%c256, %c1, %c1) args(%x : memref<?xi8>)
    return
  }
  gpu.module @kernels {
    gpu.func @few() kernel {
      gpu.return
    }
    gpu.func @product(%x: memref<?xi8>)
        workgroup(%a : memref<128x128xi8, #gpu.address_space<workgroup>>,
                  %b : memref<1x64x32xi8, #gpu.address_space<workgroup>>)
        kernel attributes {blockscale.purpose = "matmul"} {
      %zero = blockscale.acc_zero : !blockscale.acc<128x16, #blockscale.warps<8x1>>
      %product = blockscale.warpgroup_mma %a, %b, %zero
          instruction = <wgmma, 64x16x16, unscaled, bf16, bf16, none, 0>
          layouts = <k, slots, swizzled>, <mn, slots, swizzled>
          : memref<128x128xi8, #gpu.address_space<workgroup>>,
            memref<1x64x32xi8, #gpu.address_space<workgroup>>,
            !blockscale.acc<128x16, #blockscale.warps<8x1>>
      %sums = blockscale.warpgroup_wait %product pending = 0
          : !blockscale.acc<128x16, #blockscale.warps<8x1>>
      gpu.return
    }
  }
}
