// Floats made of integers are stored as integers.

// RUN: blockscale-opt %s --blockscale-store-bits | FileCheck %s

// The example of the pass' description.

// CHECK-LABEL: llvm.func @bits(
// CHECK-SAME:    %[[BITS:.*]]: i16, %[[TO:.*]]: !llvm.ptr)
// CHECK-NEXT:    llvm.bitcast %[[BITS]] : i16 to bf16
// CHECK-NEXT:    llvm.store %[[BITS]], %[[TO]] : i16, !llvm.ptr
// CHECK-NEXT:    llvm.return
llvm.func @bits(%bits: i16, %to: !llvm.ptr) {
  %value = llvm.bitcast %bits : i16 to bf16
  llvm.store %value, %to : bf16, !llvm.ptr
  llvm.return
}

// CHECK-LABEL: llvm.func @vector(
// CHECK-SAME:    %[[BITS:.*]]: vector<8xi16>, %[[TO:.*]]: !llvm.ptr)
// CHECK:         llvm.store %[[BITS]], %[[TO]] : vector<8xi16>, !llvm.ptr
llvm.func @vector(%bits: vector<8xi16>, %to: !llvm.ptr) {
  %value = llvm.bitcast %bits : vector<8xi16> to vector<8xf16>
  llvm.store %value, %to : vector<8xf16>, !llvm.ptr
  llvm.return
}

// What is not about the type stays.

// CHECK-LABEL: llvm.func @alignment(
// CHECK:         llvm.store volatile %{{.*}}, %{{.*}} {alignment = 1 : i64, nontemporal} : i32, !llvm.ptr
llvm.func @alignment(%bits: i32, %to: !llvm.ptr) {
  %value = llvm.bitcast %bits : i32 to f32
  llvm.store volatile %value, %to {alignment = 1 : i64, nontemporal} : f32, !llvm.ptr
  llvm.return
}

// Nothing is to be done: floats that are no casts, integers, casts between floats.

// CHECK-LABEL: llvm.func @others(
// CHECK-SAME:    %[[FLOAT:.*]]: bf16, %{{.*}}: i32
// CHECK:         llvm.store %[[FLOAT]], %{{.*}} : bf16, !llvm.ptr
// CHECK:         %[[CODE:.*]] = llvm.bitcast %[[FLOAT]] : bf16 to i16
// CHECK:         llvm.store %[[CODE]], %{{.*}} : i16, !llvm.ptr
// CHECK:         %[[PAIR:.*]] = llvm.bitcast %{{.*}} : f32 to vector<2xf16>
// CHECK:         llvm.store %[[PAIR]], %{{.*}} : vector<2xf16>, !llvm.ptr
// CHECK:         %[[BYTES:.*]] = llvm.bitcast %{{.*}} : i32 to vector<4xi8>
// CHECK:         llvm.store %[[BYTES]], %{{.*}} : vector<4xi8>, !llvm.ptr
llvm.func @others(%float: bf16, %word: i32, %wide: f32, %to: !llvm.ptr) {
  llvm.store %float, %to : bf16, !llvm.ptr
  %code = llvm.bitcast %float : bf16 to i16
  llvm.store %code, %to : i16, !llvm.ptr
  %pair = llvm.bitcast %wide : f32 to vector<2xf16>
  llvm.store %pair, %to : vector<2xf16>, !llvm.ptr
  %bytes = llvm.bitcast %word : i32 to vector<4xi8>
  llvm.store %bytes, %to : vector<4xi8>, !llvm.ptr
  llvm.return
}
