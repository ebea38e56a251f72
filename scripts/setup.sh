# What quickstart and check share; to be sourced from bash. Installs what is
# missing from Debian and builds into build/.
#
# Environment: BLOCKSCALE_JOBS (parallel compile jobs; the default is one per
# core). CC and CXX, or CMAKE_C_COMPILER and CMAKE_CXX_COMPILER, choose the
# compiler of a build folder that is made; without any of them it is clang-22,
# with lld-22. An existing build folder keeps what it has.

blockscale_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
blockscale_build=$blockscale_root/build
blockscale_python=/usr/bin/python3

# g++ for its library and for `cc`, which examples of the documentation call.
blockscale_packages=(
  cmake g++ libgtest-dev libmlir-22-dev llvm-22-dev llvm-22-tools
  mlir-22-tools ninja-build nlohmann-json3-dev python3 python3-numpy
  python3-pytest zlib1g-dev
)

say() { printf '== %s\n' "$*"; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

usage() {
  printf 'usage: %s\n' "$*" >&2
  exit 2
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "installing packages needs root or sudo: $*"
  fi
}

has_build() { [ -f "$blockscale_build/CMakeCache.txt" ]; }

has_chosen_compiler() {
  has_build || [ -n "${CC:-}${CXX:-}" ] ||
    [ -n "${CMAKE_C_COMPILER:-}${CMAKE_CXX_COMPILER:-}" ]
}

# Arguments of CMake for the compiler of a new build folder.
compiler_arguments() {
  if ! has_chosen_compiler; then
    printf '%s\n' -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
      -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld \
      -DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=lld
    return
  fi
  # CMake reads CC and CXX itself.
  local variable
  for variable in CMAKE_C_COMPILER CMAKE_CXX_COMPILER; do
    [ -z "${!variable:-}" ] || printf '%s\n' "-D$variable=${!variable}"
  done
}

install_packages() {
  has_chosen_compiler || blockscale_packages+=(clang-22 lld-22)
  local missing=() package
  for package in "${blockscale_packages[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null |
      grep -q 'ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    say "Debian packages: all there"
    return
  fi
  command -v apt-get >/dev/null ||
    die "these packages are missing, and there is no apt-get: ${missing[*]}"
  say "Debian packages: installing ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
    --no-install-recommends "${missing[@]}" >/dev/null
}

build() {
  say "Building into $blockscale_build"
  # An existing build keeps its generator and compiler.
  local configure=(-S "$blockscale_root" -B "$blockscale_build")
  if ! has_build; then
    configure+=(-G Ninja -DCMAKE_BUILD_TYPE=Release)
    mapfile -t -O "${#configure[@]}" configure < <(compiler_arguments)
  fi
  cmake "${configure[@]}" "-DPython3_EXECUTABLE=$blockscale_python" >/dev/null
  cmake --build "$blockscale_build" -j "${BLOCKSCALE_JOBS:-$(nproc)}" \
    --target "$@"
}
