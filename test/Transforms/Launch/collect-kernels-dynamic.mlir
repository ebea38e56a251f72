// Dynamic sizes of arguments are parameters of 32 bits behind the buffers,
// which are passed as the address of their first element.

// RUN: blockscale-opt %s --blockscale-collect-kernels --canonicalize --cse -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x8xi8> {{{.*}}}, %[[S:[a-z0-9]+]]: f32, %[[Y:[a-z0-9]+]]: memref<4x?xi8> {{{.*}}}, %[[R:[a-z0-9]+]]: memref<?x?xf32>) {
// CHECK-DAG:     %[[X_START:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [], strides: []
// CHECK-DAG:     %[[Y_START:.*]] = memref.reinterpret_cast %[[Y]] to offset: [0], sizes: [], strides: []
// CHECK-DAG:     %[[R_START:.*]] = memref.reinterpret_cast %[[R]] to offset: [0], sizes: [], strides: []
// CHECK-DAG:     %[[M:.*]] = memref.dim %[[X]], %c0
// CHECK-DAG:     %[[M_PARAMETER:.*]] = arith.index_castui %[[M]] : index to i32
// In elements, for packed bytes.
// CHECK-DAG:     %[[BYTES:.*]] = memref.dim %[[Y]], %c1
// CHECK-DAG:     %[[UNITS:.*]] = arith.divui %[[BYTES]], %c3
// CHECK-DAG:     %[[ELEMENTS:.*]] = arith.muli %[[UNITS]], %c4
// CHECK-DAG:     %[[N_PARAMETER:.*]] = arith.index_castui %[[ELEMENTS]] : index to i32
// CHECK-DAG:     cf.assert %{{.*}}, "M is 0"
// CHECK:         gpu.launch_func @kernels::@main blocks in (%{{.*}}) threads in (%{{.*}}) args(%[[X_START]] : memref<i8>, %[[S]] : f32, %[[Y_START]] : memref<i8>, %[[R_START]] : memref<f32>, %[[M_PARAMETER]] : i32, %[[N_PARAMETER]] : i32)

// CHECK:       gpu.func @main(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<i8> {llvm.align = 16 : i64, llvm.noalias}, %{{.*}}: f32, %[[Y:[a-z0-9]+]]: memref<i8> {llvm.align = 16 : i64, llvm.noalias}, %[[R:[a-z0-9]+]]: memref<f32> {llvm.align = 16 : i64, llvm.noalias}, %[[M32:[a-z0-9]+]]: i32, %[[N32:[a-z0-9]+]]: i32) kernel
// CHECK:         %[[M:.*]] = arith.index_castui %[[M32]] : i32 to index
// CHECK:         %[[N:.*]] = arith.index_castui %[[N32]] : i32 to index
// CHECK:         %[[REST:.*]] = arith.remui %[[N]], %c4
// CHECK:         %[[IS_WHOLE:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK:         %[[UNITS:.*]] = arith.divui %[[N]], %c4
// CHECK:         %[[BYTES:.*]] = arith.muli %[[UNITS]], %c3
// The check of the host.
// CHECK:         %[[IS_M:.*]] = arith.cmpi sgt, %{{.*}}, %c0
// CHECK-DAG:     %[[R_VIEW:.*]] = memref.reinterpret_cast %[[R]] to offset: [0], sizes: [%{{.*}}, %[[ROW:.*]]], strides: [%[[ROW]], 1] : memref<f32> to memref<?x?xf32>
// CHECK-DAG:     %[[Y_VIEW:.*]] = memref.reinterpret_cast %[[Y]] to offset: [0], sizes: [4, %[[BYTES]]], strides: [%[[BYTES]], 1] : memref<i8> to memref<4x?xi8>
// One branch for all checks.
// CHECK:         %[[HOLD:.*]] = arith.andi %[[IS_WHOLE]], %[[IS_M]]
// CHECK-NEXT:    scf.if %[[HOLD]] {
// CHECK-NEXT:    } else {
// CHECK-NEXT:      cf.assert %[[IS_WHOLE]], "expected rows of argument #2 that end on a byte when packed"
// CHECK-NEXT:      cf.assert %false, "M is 0"
// CHECK-NEXT:    }
// CHECK:         memref.load %[[Y_VIEW]]
// CHECK:         memref.store %{{.*}}, %[[R_VIEW]]
module attributes {gpu.container_module} {
  func.func @main(%x: memref<?x8xi8> {blockscale.code_bits = 4 : i64},
                  %s: f32,
                  %y: memref<4x?xi8> {blockscale.code_bits = 6 : i64},
                  %r: memref<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %m = memref.dim %x, %c0 : memref<?x8xi8>
    %blocks = arith.ceildivui %m, %c32 : index
    %ok = arith.cmpi sgt, %m, %c0 : index
    cf.assert %ok, "M is 0"
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %bytes = memref.dim %y, %c1 : memref<4x?xi8>
    %groups = arith.divui %bytes, %c3 : index
    %elements = arith.muli %groups, %c4 : index
    blockscale.result_sizes %r sizes(%m, %elements) : memref<?x?xf32>
    gpu.launch_func @kernels::@main_kernel blocks in (%blocks, %c1, %c1)
        threads in (%c32, %c1, %c1)
        args(%r : memref<?x?xf32>, %y : memref<4x?xi8>, %m : index)
    return
  }
  gpu.module @kernels {
    gpu.func @main_kernel(%r: memref<?x?xf32>, %y: memref<4x?xi8>, %m: index) kernel {
      %c0 = arith.constant 0 : index
      %v = memref.load %y[%c0, %m] : memref<4x?xi8>
      %f = arith.uitofp %v : i8 to f32
      memref.store %f, %r[%c0, %m] : memref<?x?xf32>
      gpu.return
    }
  }
}

// -----

// A kernel that is not the main one has the parameters that it needs.

// CHECK-LABEL: func.func @two(
// CHECK:         gpu.launch_func @kernels::@two__loops_0 {{.*}} args(%{{.*}} : memref<f32>, %{{.*}} : i32)
// CHECK:         gpu.launch_func @kernels::@two {{.*}} args(%{{.*}} : memref<f32>, %{{.*}} : memref<f32>, %{{.*}} : memref<f32>, %{{.*}} : i32, %{{.*}} : i32)
module attributes {gpu.container_module} {
  func.func @two(%a: memref<?xf32>, %b: memref<?xf32>,
                 %r: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %size = memref.dim %b, %c0 : memref<?xf32>
    blockscale.result_sizes %r sizes(%size) : memref<?xf32>
    gpu.launch_func @kernels::@first blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%r : memref<?xf32>)
    gpu.launch_func @kernels::@last blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%a : memref<?xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @first(%r: memref<?xf32>) kernel {
      %c0 = arith.constant 0 : index
      %n = memref.dim %r, %c0 : memref<?xf32>
      %v = arith.constant 1.0 : f32
      memref.store %v, %r[%n] : memref<?xf32>
      gpu.return
    }
    gpu.func @last(%a: memref<?xf32>) kernel {
      gpu.return
    }
  }
}

// -----

// Memory of dynamic sizes is passed as an address, and its sizes are computed in
// the kernel from those of arguments, which need not be passed for that. Clusters
// stay.

// CHECK-LABEL: func.func @temporary(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?xf32>, %[[R:[a-z0-9]+]]: memref<4xf32>)
// CHECK-DAG:     %[[N:.*]] = memref.dim %[[X]], %c0
// CHECK-DAG:     %[[TWICE:.*]] = arith.muli %[[N]], %c2
// CHECK-DAG:     %[[T:.*]] = memref.alloc(%[[TWICE]]) : memref<?xf32>
// CHECK-DAG:     %[[START:.*]] = memref.reinterpret_cast %[[T]] to offset: [0], sizes: [], strides: []
// CHECK-DAG:     %[[SIZE:.*]] = arith.index_castui %[[N]] : index to i32
// CHECK:         gpu.launch_func @kernels::@temporary__loops_0 clusters in (%c2, %c1, %c1) {{.*}} args(%[[SIZE]] : i32, %[[START]] : memref<f32>)
// CHECK:         gpu.launch_func @kernels::@temporary blocks
// CHECK:       gpu.func @temporary__loops_0(%[[N32:[a-z0-9]+]]: i32, %[[START:[a-z0-9]+]]: memref<f32> {llvm.align = 16 : i64, llvm.noalias}) kernel
// CHECK:         %[[N:.*]] = arith.index_castui %[[N32]] : i32 to index
// CHECK:         %[[TWICE:.*]] = arith.muli %[[N]], %c2
// CHECK:         memref.reinterpret_cast %[[START]] to offset: [0], sizes: [%[[TWICE]]], strides: [1] : memref<f32> to memref<?xf32>
module attributes {gpu.container_module} {
  func.func @temporary(%x: memref<?xf32>, %r: memref<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %n = memref.dim %x, %c0 : memref<?xf32>
    %twice = arith.muli %n, %c2 : index
    %t = memref.alloc(%twice) : memref<?xf32>
    gpu.launch_func @kernels::@fill clusters in (%c2, %c1, %c1)
        blocks in (%c2, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%t : memref<?xf32>)
    gpu.launch_func @kernels::@last blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%t : memref<?xf32>, %r : memref<4xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @fill(%t: memref<?xf32>) kernel {
      %c0 = arith.constant 0 : index
      %n = memref.dim %t, %c0 : memref<?xf32>
      %v = arith.constant 1.0 : f32
      memref.store %v, %t[%n] : memref<?xf32>
      gpu.return
    }
    gpu.func @last(%t: memref<?xf32>, %r: memref<4xf32>) kernel {
      gpu.return
    }
  }
}

// -----

// A tensor map is a parameter of 128 bytes, by value.

// CHECK-LABEL: func.func @map(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x64xi8>)
// CHECK:         %[[MAP:.*]] = blockscale.tensor_map %[[X]]
// CHECK:         gpu.launch_func @kernels::@map {{.*}} args(%{{.*}} : memref<i8>, %{{.*}} : i32, %[[MAP]] : !llvm.ptr)
// CHECK:       gpu.func @map(%{{.*}}: memref<i8> {{{.*}}}, %{{.*}}: i32, %[[MAP:[a-z0-9]+]]: !llvm.ptr) kernel attributes {blockscale.tensor_map_params = array<i64: 2>}
// CHECK:         llvm.load volatile %[[MAP]]
#map = #blockscale.tensor_map<"u1", sizes = affine_map<()[m, k] -> (m, k)>,
                              strides = affine_map<()[m, k] -> (k)>,
                              box = [4, 16], element_strides = [1, 1],
                              swizzle = "none", fill = "zero", l2 = "none">
module attributes {gpu.container_module} {
  func.func @map(%x: memref<?x64xi8>) {
    %c1 = arith.constant 1 : index
    %map = blockscale.tensor_map %x : memref<?x64xi8> with #map
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<?x64xi8>, %map : !llvm.ptr)
    return
  }
  gpu.module @kernels {
    gpu.func @k(%x: memref<?x64xi8>, %map: !llvm.ptr) kernel {
      %v = llvm.load volatile %map : !llvm.ptr -> i64
      gpu.return
    }
  }
}
