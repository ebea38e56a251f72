// --seed draws the same arguments each time, and codes that are finite.

// RUN: rm -rf %t && mkdir %t
// DEFINE: %{run} = blockscale-run %s --entry=finite
// RUN: %{run} --seed=1 > %t/1
// RUN: %{run} --seed=1 > %t/again
// RUN: %{run} --seed=2 > %t/2
// RUN: diff %t/1 %t/again
// RUN: not diff %t/1 %t/2

// What is drawn is what a file of it would be.
// DEFINE: %{outputs} = -o %t/0.npy -o %t/1.npy -o %t/2.npy -o %t/3.npy -o %t/4.npy -o %t/5.npy
// DEFINE: %{inputs} = %t/0.npy %t/1.npy %t/2.npy %t/3.npy %t/4.npy %t/5.npy
// RUN: %{run} --seed=1 %{outputs} | count 0
// RUN: %{run} %{inputs} > %t/read
// RUN: diff %t/1 %t/read

// No NaN and no infinity, no bit above the width, and both signs.
// RUN: %python -c "import numpy; [print(i, (a & 0x7f).max() if i < 2 else a.max(), len(numpy.unique(a)) > 8) for i, a in enumerate(numpy.load('%t/%%d.npy' %% i) for i in range(6))]" | FileCheck %s --check-prefix=RANGE
// RANGE:      0 126 True
// RANGE-NEXT: 1 123 True
// RANGE-NEXT: 2 63 True
// RANGE-NEXT: 3 63 True
// RANGE-NEXT: 4 15 True
// RANGE-NEXT: 5 131 True
func.func @finite(%e4m3: tensor<64x64xf8E4M3FN>, %e5m2: tensor<64x64xf8E5M2>,
                 %e3m2: tensor<64x64xf6E3M2FN>, %e2m3: tensor<64x64xf6E2M3FN>,
                 %e2m1: tensor<64x64xf4E2M1FN>, %e8m0: tensor<64x64xf8E8M0FNU>)
    -> (tensor<64x64xf8E4M3FN>, tensor<64x64xf8E5M2>, tensor<64x64xf6E3M2FN>,
        tensor<64x64xf6E2M3FN>, tensor<64x64xf4E2M1FN>,
        tensor<64x64xf8E8M0FNU>) {
  return %e4m3, %e5m2, %e3m2, %e2m3, %e2m1, %e8m0
      : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E5M2>, tensor<64x64xf6E3M2FN>,
        tensor<64x64xf6E2M3FN>, tensor<64x64xf4E2M1FN>,
        tensor<64x64xf8E8M0FNU>
}

// RUN: %python %S/Inputs/expect.py 1 blockscale-run %s --entry=dynamic --seed=1 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// DYNAMIC: {{^}}error: cannot draw tensor<?x2xf32>: its sizes are dynamic; give a .npy file for each argument{{$}}
// DYNAMIC-NOT: {{.}}
func.func @dynamic(%a: tensor<?x2xf32>) -> tensor<?x2xf32> {
  return %a : tensor<?x2xf32>
}
