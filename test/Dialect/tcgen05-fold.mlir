// instruction_descriptor folds; the descriptors are those of tables 43 and 44 of the
// PTX ISA. Other pure ops without uses are erased.

// RUN: blockscale-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func @e4m3()
// CHECK-DAG:     %[[FIRST:.*]] = arith.constant 144703488 : i32
// CHECK-DAG:     %[[SECOND:.*]] = arith.constant 681574416 : i32
// CHECK:         return %[[FIRST]], %[[SECOND]]
func.func @e4m3() -> (i32, i32) {
  %0 = blockscale.instruction_descriptor
       <tcgen05, 128x128x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
  %1 = blockscale.instruction_descriptor
       <tcgen05, 128x128x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
       {a_scale_id = 1 : i64, b_scale_id = 1 : i64}
  return %0, %1 : i32, i32
}

// CHECK-LABEL: func @nvfp4()
// CHECK:         %[[WORD:.*]] = arith.constant 136316032 : i32
// CHECK-NEXT:    return %[[WORD]]
func.func @nvfp4() -> i32 {
  %0 = blockscale.instruction_descriptor
       <tcgen05, 128x128x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
  return %0 : i32
}

// CHECK-LABEL: func @unused(
// CHECK-NEXT:    return
func.func @unused(%m: memref<8x128xi8, #gpu.address_space<workgroup>>,
                  %t: !blockscale.tmem<512>, %at: index) {
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled>
       : memref<8x128xi8, #gpu.address_space<workgroup>>
  %1 = blockscale.tmem_acc %t[%at]
       : !blockscale.tmem<512> -> !blockscale.tmem_acc<128x8>
  return
}

// Two loads are not merged, because a store may be between them.

// CHECK-LABEL: func @not_pure(
// CHECK-COUNT-2: blockscale.tmem_load
// CHECK:         blockscale.tmem_wait load
func.func @not_pure(%acc: !blockscale.tmem_acc<128x8>, %at: index) {
  %0 = blockscale.tmem_load %acc[%at]
       : !blockscale.tmem_acc<128x8> -> vector<8xf32>
  %1 = blockscale.tmem_load %acc[%at]
       : !blockscale.tmem_acc<128x8> -> vector<8xf32>
  blockscale.tmem_wait load
  return
}
