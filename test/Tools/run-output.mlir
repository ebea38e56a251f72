// Results are stored all together or not at all.

// RUN: rm -rf %t && mkdir -p %t/out %t/directory
// DEFINE: %{run} = blockscale-run %s --entry=two --seed=1
// DEFINE: %{fail} = %python %S/Inputs/expect.py 1 %{run}

// RUN: %{run} -o %t/out/a.npy -o %t/out/b.npy | count 0
// RUN: ls -A %t/out | count 2
// RUN: %python -c "import numpy; print(numpy.load('%t/out/a.npy').shape, numpy.load('%t/out/b.npy').shape)" | FileCheck %s --check-prefix=ORDER
// ORDER: (2, 3) (4,)

// - is standard output.
// RUN: blockscale-run %s --entry=one --seed=1 -o - > %t/stdout.npy
// RUN: blockscale-run %s --entry=one --seed=1 -o %t/one.npy
// RUN: diff %t/one.npy %t/stdout.npy

// The second output cannot be, so the first is not touched either.
// RUN: rm -r %t/out && mkdir %t/out
// RUN: %{fail} -o %t/out/a.npy -o %t/directory 2>&1 | FileCheck %s --check-prefix=DIRECTORY -DFILE=%t/directory
// DIRECTORY: {{^}}error: '[[FILE]]': is a directory{{$}}
// DIRECTORY-NOT: {{.}}
// RUN: %{fail} -o %t/out/a.npy -o %t/none/b.npy 2>&1 | FileCheck %s --check-prefix=NO-DIRECTORY -DFILE=%t/none/b.npy
// NO-DIRECTORY: {{^}}error: '[[FILE]]': no such file or directory{{$}}
// NO-DIRECTORY-NOT: {{.}}
// RUN: ls -A %t/out | count 0
// RUN: echo old > %t/out/a.npy
// RUN: %{fail} -o %t/out/a.npy -o %t/directory 2>&1 | FileCheck %s --check-prefix=DIRECTORY -DFILE=%t/directory
// RUN: FileCheck %s --check-prefix=OLD --input-file=%t/out/a.npy
// OLD: old
// RUN: ls -A %t/out | count 1

// One file for two results.
// RUN: %{fail} -o %t/out/b.npy -o %t/out/b.npy 2>&1 | FileCheck %s --check-prefix=SAME -DFILE=%t/out/b.npy
// SAME: {{^}}error: '[[FILE]]': expected an output of its own, got the file of '[[FILE]]'{{$}}
// SAME-NOT: {{.}}
// RUN: ls -A %t/out | count 1
func.func @two(%a: tensor<2x3xf32>, %b: tensor<4xi8>)
    -> (tensor<2x3xf32>, tensor<4xi8>) {
  return %a, %b : tensor<2x3xf32>, tensor<4xi8>
}

func.func @one(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  return %a : tensor<2x3xf32>
}
