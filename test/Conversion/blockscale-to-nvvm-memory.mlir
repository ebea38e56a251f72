// load_matrix and dynamic shared memory in the NVVM dialect.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_120a --convert-blockscale-to-nvvm | FileCheck %s
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --convert-blockscale-to-nvvm | FileCheck %s

// The lane's offset and the constant offset are separate.

// CHECK-LABEL: gpu.func @address(
// CHECK-SAME:    %[[TILE:[a-z0-9]+]]: memref<64x64xi8, #gpu.address_space<workgroup>>, %[[AT:[a-z0-9]+]]: index)
// CHECK:         %[[MEMORY:.*]] = builtin.unrealized_conversion_cast %[[TILE]]
// CHECK-NEXT:    %[[BASE:.*]] = llvm.extractvalue %[[MEMORY]][1]
// CHECK-NEXT:    %[[OFFSET:.*]] = arith.index_castui %[[AT]] : index to i64
// CHECK-NEXT:    %[[ROW:.*]] = llvm.getelementptr %[[BASE]][%[[OFFSET]]] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i8
// CHECK-NEXT:    %[[PLUS:.*]] = llvm.getelementptr %[[ROW]][96] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
// CHECK-NEXT:    %[[LOADED:.*]] = nvvm.ldmatrix %[[PLUS]]
// CHECK-NEXT:    %[[R_0:.*]] = llvm.extractvalue %[[LOADED]][0]
// CHECK-NEXT:    %[[R_1:.*]] = llvm.extractvalue %[[LOADED]][1]
// CHECK-NEXT:    %[[R:.*]] = vector.from_elements %[[R_0]], %[[R_1]] : vector<2xi32>
// CHECK-NEXT:    gpu.return %[[R]]

// All forms; two registers of a transposed load are one matrix.

// CHECK-LABEL: gpu.func @m8n8(
// CHECK:         nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
// CHECK-LABEL: gpu.func @m8n16_b6(
// CHECK:         nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b8x16.b6x16_p32>, layout = #nvvm.mma_layout<row>, num = 4 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
// CHECK-LABEL: gpu.func @m8n16_b4(
// CHECK:         nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b8x16.b4x16_p64>, layout = #nvvm.mma_layout<row>, num = 2 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
// CHECK-LABEL: gpu.func @m16n16(
// CHECK:         nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b8>, layout = #nvvm.mma_layout<col>, num = 2 : i32, shape = #nvvm.ld_st_matrix_shape<m = 16, n = 16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
// CHECK-LABEL: gpu.func @m16n16_b6(
// CHECK:         nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b8x16.b6x16_p32>, layout = #nvvm.mma_layout<col>, num = 1 : i32, shape = #nvvm.ld_st_matrix_shape<m = 16, n = 16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
// CHECK-LABEL: gpu.func @m16n16_b4(
// CHECK:         nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b8x16.b4x16_p64>, layout = #nvvm.mma_layout<col>, num = 2 : i32, shape = #nvvm.ld_st_matrix_shape<m = 16, n = 16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
!tile = memref<64x64xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @address(%tile: !tile, %at: index) -> vector<2xi32> {
    %r = blockscale.load_matrix %tile[%at] + 96 code_bits = 8
         : !tile -> vector<2xi32>
    gpu.return %r : vector<2xi32>
  }
  gpu.func @m8n8(%tile: !tile, %at: index) -> vector<4xi32> {
    %r = blockscale.load_matrix %tile[%at] code_bits = 8
         : !tile -> vector<4xi32>
    gpu.return %r : vector<4xi32>
  }
  gpu.func @m8n16_b6(%tile: !tile, %at: index) -> vector<4xi32> {
    %r = blockscale.load_matrix %tile[%at] code_bits = 6
         : !tile -> vector<4xi32>
    gpu.return %r : vector<4xi32>
  }
  gpu.func @m8n16_b4(%tile: !tile, %at: index) -> vector<2xi32> {
    %r = blockscale.load_matrix %tile[%at] code_bits = 4
         : !tile -> vector<2xi32>
    gpu.return %r : vector<2xi32>
  }
  gpu.func @m16n16(%tile: !tile, %at: index) -> vector<4xi32> {
    %r = blockscale.load_matrix %tile[%at] code_bits = 8 transposed
         : !tile -> vector<4xi32>
    gpu.return %r : vector<4xi32>
  }
  gpu.func @m16n16_b6(%tile: !tile, %at: index) -> vector<2xi32> {
    %r = blockscale.load_matrix %tile[%at] code_bits = 6 transposed
         : !tile -> vector<2xi32>
    gpu.return %r : vector<2xi32>
  }
  gpu.func @m16n16_b4(%tile: !tile, %at: index) -> vector<4xi32> {
    %r = blockscale.load_matrix %tile[%at] code_bits = 4 transposed
         : !tile -> vector<4xi32>
    gpu.return %r : vector<4xi32>
  }
}

// All dynamic shared memory of a module is one variable without a size.

// CHECK-LABEL: gpu.module @dynamic
// CHECK-NEXT:    llvm.mlir.global external @[[SHARED:.*]]() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
// CHECK-NOT:     llvm.mlir.global
// CHECK:         gpu.func @first
// CHECK:           %[[POINTER:.*]] = llvm.mlir.addressof @[[SHARED]] : !llvm.ptr<3>
// CHECK:           llvm.insertvalue %[[POINTER]], %{{.*}}[0]
// CHECK-NEXT:      llvm.insertvalue %[[POINTER]], %{{.*}}[1]
// CHECK:         gpu.func @second
// CHECK-NOT:       gpu.dynamic_shared_memory
// CHECK:           llvm.mlir.addressof @[[SHARED]] : !llvm.ptr<3>
!dynamic = memref<?xi8, #gpu.address_space<workgroup>>
gpu.module @dynamic {
  gpu.func @first() -> !dynamic {
    %0 = gpu.dynamic_shared_memory : !dynamic
    gpu.return %0 : !dynamic
  }
  gpu.func @second() -> !dynamic {
    %0 = gpu.dynamic_shared_memory : !dynamic
    gpu.return %0 : !dynamic
  }
}
