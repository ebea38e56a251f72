// One module of kernels, whose parameters are whole buffers.

// RUN: blockscale-opt %s --blockscale-collect-kernels -split-input-file -allow-unregistered-dialect | FileCheck %s

// The example of the pass' description. Parameters are buffers of their own.

// CHECK-LABEL: func.func @f(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<8xf32>, %[[UNUSED:[a-z0-9]+]]: memref<4xf32>, %[[R:[a-z0-9]+]]: memref<8xf32>)
// CHECK:         gpu.launch_func @kernels::@f
// CHECK-SAME:      args(%[[X]] : memref<8xf32>, %[[UNUSED]] : memref<4xf32>, %[[R]] : memref<8xf32>)
// CHECK-NEXT:    return
// CHECK:       gpu.module @kernels
// CHECK-NEXT:    gpu.func @f(%{{.*}}: memref<8xf32> {llvm.align = 16 : i64, llvm.noalias}, %{{.*}}: memref<4xf32> {llvm.align = 16 : i64, llvm.noalias}, %{{.*}}: memref<8xf32> {llvm.align = 16 : i64, llvm.noalias}) kernel
// CHECK-NEXT:      gpu.return
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

// -----

// The first kernel of an mma_scaled has the function's name and arguments;
// others have what they use. Allocations come last. Kernels move together.

// CHECK-LABEL: func.func @g(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<8xf32>, %[[R:[a-z0-9]+]]: memref<8xf32>)
// CHECK-DAG:     %[[TEMPORARY:.*]] = memref.alloc() : memref<16xf32>
// CHECK:         gpu.launch_func @kernels::@g__loops_0 {{.*}} args(%[[X]] : memref<8xf32>, %[[TEMPORARY]] : memref<16xf32>)
// CHECK:         gpu.launch_func @kernels::@g {{.*}} args(%[[X]] : memref<8xf32>, %[[R]] : memref<8xf32>, %[[TEMPORARY]] : memref<16xf32>)
// CHECK:         gpu.launch_func @kernels::@g__mma_scaled_2 {{.*}} args(%[[R]] : memref<8xf32>)
// CHECK:       gpu.module @kernels
// CHECK-NOT:   gpu.module
// CHECK-DAG:     gpu.func @g(
// CHECK-DAG:     gpu.func @g__loops_0(
// CHECK-DAG:     gpu.func @g__mma_scaled_2(
module attributes {gpu.container_module} {
  func.func @g(%x: memref<8xf32>, %r: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    %t = memref.alloc() : memref<16xf32>
    gpu.launch_func @g_kernel::@g_kernel blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1)
        args(%x : memref<8xf32>, %t : memref<16xf32>)
    gpu.launch_func @kernels::@first blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1)
        args(%t : memref<16xf32>, %r : memref<8xf32>)
    gpu.launch_func @kernels::@second blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%r : memref<8xf32>)
    return
  }
  gpu.module @g_kernel {
    gpu.func @g_kernel(%x: memref<8xf32>, %t: memref<16xf32>) kernel {
      gpu.return
    }
  }
  gpu.module @kernels {
    gpu.func @first(%t: memref<16xf32>, %r: memref<8xf32>) kernel
        attributes {blockscale.purpose = "mma_scaled"} {
      gpu.return
    }
    gpu.func @second(%r: memref<8xf32>) kernel
        attributes {blockscale.purpose = "mma_scaled"} {
      gpu.return
    }
  }
}

// -----

// So has the first kernel of a matmul of linalg.

// CHECK-LABEL: func.func @products(
// CHECK:         gpu.launch_func @kernels::@products__loops_0
// CHECK:         gpu.launch_func @kernels::@products {{.*}} args(%{{[a-z0-9]+}} : memref<8xf32>)
// CHECK:         gpu.launch_func @kernels::@products__matmul_2
module attributes {gpu.container_module} {
  func.func @products(%x: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@loops blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
    gpu.launch_func @kernels::@first blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
    gpu.launch_func @kernels::@second blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @loops(%x: memref<8xf32>) kernel {
      gpu.return
    }
    gpu.func @first(%x: memref<8xf32>) kernel
        attributes {blockscale.purpose = "matmul"} {
      gpu.return
    }
    gpu.func @second(%x: memref<8xf32>) kernel
        attributes {blockscale.purpose = "matmul"} {
      gpu.return
    }
  }
}

// -----

// Without an mma_scaled, the last kernel has the function's name. A view and a
// constant move into the kernel, which has the buffer.

// CHECK-NOT:   memref.global
// CHECK-LABEL: func.func @h(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<8x4xf32>)
// CHECK:         gpu.launch_func @kernels::@h__loops_0 {{.*}} args(%[[X]] : memref<8x4xf32>)
// CHECK:         gpu.launch_func @kernels::@h {{.*}} args(%[[X]] : memref<8x4xf32>)
// CHECK-LABEL: gpu.module @kernels
// CHECK:         memref.global "private" constant @table : memref<2xf32> = dense<[1.000000e+00, 2.000000e+00]> {alignment = 16 : i64}
// CHECK:         gpu.func @h__loops_0(%[[X:[a-z0-9]+]]: memref<8x4xf32> {llvm.align = 16 : i64, llvm.noalias})
// CHECK-DAG:       %[[ROW:.*]] = memref.subview %[[X]][3, 0] [1, 4] [1, 1]
// CHECK-DAG:       %[[SIZE:.*]] = arith.constant 4 : index
// CHECK-DAG:       %[[TABLE:.*]] = memref.get_global @table
// CHECK:           "use"(%[[ROW]], %[[SIZE]], %[[TABLE]])
module attributes {gpu.container_module} {
  memref.global "private" constant @table : memref<2xf32> = dense<[1.0, 2.0]>
  func.func @h(%x: memref<8x4xf32>) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %row = memref.subview %x[3, 0] [1, 4] [1, 1]
        : memref<8x4xf32> to memref<1x4xf32, strided<[4, 1], offset: 12>>
    %table = memref.get_global @table : memref<2xf32>
    gpu.launch_func @k0::@k0 blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1)
        args(%row : memref<1x4xf32, strided<[4, 1], offset: 12>>, %c4 : index,
             %table : memref<2xf32>)
    gpu.launch_func @k1::@k1 blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<8x4xf32>)
    return
  }
  gpu.module @k0 {
    gpu.func @k0(%row: memref<1x4xf32, strided<[4, 1], offset: 12>>,
                 %size: index, %table: memref<2xf32>) kernel {
      "use"(%row, %size, %table)
          : (memref<1x4xf32, strided<[4, 1], offset: 12>>, index,
             memref<2xf32>) -> ()
      gpu.return
    }
  }
  gpu.module @k1 {
    gpu.func @k1(%x: memref<8x4xf32>) kernel {
      gpu.return
    }
  }
}

// -----

// Constants are aligned for copies of 16 bytes, or more if they were. A constant
// of the kernels' module that has the name of one that comes keeps it.

// CHECK-LABEL: func.func @constants(
// CHECK-LABEL: gpu.module @kernels
// CHECK-DAG:     memref.global "private" constant @narrow : memref<2xf32> = dense<[5.000000e+00, 6.000000e+00]> {alignment = 16 : i64}
// CHECK-DAG:     memref.global "private" constant @wide : memref<2xf32> = dense<[3.000000e+00, 4.000000e+00]> {alignment = 64 : i64}
// CHECK-DAG:     memref.global "private" constant @[[COPY:table_[0-9]+]] : memref<2xf32> = dense<[1.000000e+00, 2.000000e+00]> {alignment = 16 : i64}
// CHECK-DAG:     memref.global "private" constant @table : memref<3xf32> = dense<[7.000000e+00, 8.000000e+00, 9.000000e+00]>{{$}}
// CHECK:         gpu.func @constants(
// CHECK-DAG:       %[[HOST:.*]] = memref.get_global @[[COPY]] : memref<2xf32>
// CHECK-DAG:       %[[WIDE:.*]] = memref.get_global @wide
// CHECK-DAG:       %[[NARROW:.*]] = memref.get_global @narrow
// CHECK-DAG:       %[[OWN:.*]] = memref.get_global @table : memref<3xf32>
// CHECK:           "use"(%[[OWN]], %[[HOST]], %[[WIDE]], %[[NARROW]])
// CHECK:         gpu.func @own(
// CHECK-NEXT:      memref.get_global @table : memref<3xf32>
module attributes {gpu.container_module} {
  memref.global "private" constant @table : memref<2xf32> = dense<[1.0, 2.0]>
  memref.global "private" constant @wide : memref<2xf32> = dense<[3.0, 4.0]>
      {alignment = 64}
  memref.global "private" constant @narrow : memref<2xf32> = dense<[5.0, 6.0]>
      {alignment = 4}
  func.func @constants() {
    %c1 = arith.constant 1 : index
    %table = memref.get_global @table : memref<2xf32>
    %wide = memref.get_global @wide : memref<2xf32>
    %narrow = memref.get_global @narrow : memref<2xf32>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1)
        args(%table : memref<2xf32>, %wide : memref<2xf32>,
             %narrow : memref<2xf32>)
    return
  }
  gpu.module @kernels {
    memref.global "private" constant @table : memref<3xf32>
        = dense<[7.0, 8.0, 9.0]>
    gpu.func @k(%table: memref<2xf32>, %wide: memref<2xf32>,
                %narrow: memref<2xf32>) kernel {
      %own = memref.get_global @table : memref<3xf32>
      "use"(%own, %table, %wide, %narrow)
          : (memref<3xf32>, memref<2xf32>, memref<2xf32>, memref<2xf32>) -> ()
      gpu.return
    }
    gpu.func @own() kernel {
      %own = memref.get_global @table : memref<3xf32>
      "use"(%own) : (memref<3xf32>) -> ()
      gpu.return
    }
  }
}

// -----

// Workspace may be of any type that fills its bytes.

// CHECK-LABEL: func.func @workspace(
// CHECK-DAG:     %[[A:.*]] = memref.alloc() : memref<4xi1>
// CHECK-DAG:     %[[B:.*]] = memref.alloc() : memref<2x3xf64>
// CHECK-DAG:     %[[C:.*]] = memref.alloc() : memref<5xindex>
// CHECK:         gpu.launch_func @kernels::@workspace {{.*}} args(%[[A]] : memref<4xi1>, %[[B]] : memref<2x3xf64>, %[[C]] : memref<5xindex>)
module attributes {gpu.container_module} {
  func.func @workspace() {
    %c1 = arith.constant 1 : index
    %a = memref.alloc() : memref<4xi1>
    %b = memref.alloc() : memref<2x3xf64>
    %c = memref.alloc() : memref<5xindex>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1)
        args(%a : memref<4xi1>, %b : memref<2x3xf64>, %c : memref<5xindex>)
    return
  }
  gpu.module @kernels {
    gpu.func @k(%a: memref<4xi1>, %b: memref<2x3xf64>, %c: memref<5xindex>)
        kernel {
      gpu.return
    }
  }
}

// -----

// Dynamic shared memory stays with the launch.

// CHECK-LABEL: func.func @shared(
// CHECK:         %[[BYTES:.*]] = arith.constant 65536 : i32
// CHECK:         gpu.launch_func @kernels::@shared {{.*}} dynamic_shared_memory_size %[[BYTES]]
module attributes {gpu.container_module} {
  func.func @shared(%x: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    %bytes = arith.constant 65536 : i32
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) dynamic_shared_memory_size %bytes
        args(%x : memref<8xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @k(%x: memref<8xf32>) kernel {
      gpu.return
    }
  }
}

// -----

// Kernels of the user, without launches, stay as they are.

// CHECK-LABEL: gpu.module @mine
// CHECK-NEXT:    gpu.func @kernel(%{{.*}}: memref<8xf32>) kernel
gpu.module @mine {
  gpu.func @kernel(%x: memref<8xf32>) kernel {
    gpu.return
  }
}
