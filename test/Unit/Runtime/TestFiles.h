//===- TestFiles.h - Files for tests ----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_RUNTIME_TESTFILES_H
#define BLOCKSCALE_TEST_UNIT_RUNTIME_TESTFILES_H

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <dirent.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mlir::blockscale {

/// A directory for one test, which every user may enter. It is left behind
/// when a test fails to start.
class TestDirectory {
public:
  TestDirectory() {
    char name[] = "/tmp/blockscale-test-XXXXXX";
    path = ::mkdtemp(name);
    setMode("", 0755);
  }
  ~TestDirectory() { remove(path); }
  TestDirectory(const TestDirectory &) = delete;
  TestDirectory &operator=(const TestDirectory &) = delete;

  /// The path of a file in the directory.
  std::string operator/(std::string_view name) const {
    return path + "/" + std::string(name);
  }

  std::string write(std::string_view name, std::string_view bytes) const {
    std::ofstream(*this / name, std::ios::binary) << bytes;
    return *this / name;
  }

  std::string read(std::string_view name) const {
    std::ifstream file(*this / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  std::string makeDirectory(std::string_view name, mode_t mode = 0755) const {
    ::mkdir((*this / name).c_str(), 0755);
    setMode(name, mode);
    return *this / name;
  }

  void setMode(std::string_view name, mode_t mode) const {
    ::chmod((*this / name).c_str(), mode);
  }

  mode_t getMode(std::string_view name) const {
    struct stat status = {};
    ::stat((*this / name).c_str(), &status);
    return status.st_mode & 07777;
  }

  /// The names in the directory, hidden ones too, in order.
  std::vector<std::string> list(std::string_view folder = "") const {
    return listPath(*this / folder);
  }

private:
  static std::vector<std::string> listPath(const std::string &path) {
    std::vector<std::string> names;
    if (DIR *directory = ::opendir(path.c_str())) {
      while (dirent *entry = ::readdir(directory))
        if (std::string_view(entry->d_name).find_first_not_of('.') !=
            std::string_view::npos)
          names.push_back(entry->d_name);
      ::closedir(directory);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  static void remove(const std::string &path) {
    struct stat status;
    if (::lstat(path.c_str(), &status) != 0)
      return;
    if (!S_ISDIR(status.st_mode)) {
      ::unlink(path.c_str());
      return;
    }
    ::chmod(path.c_str(), 0755);
    for (const std::string &name : listPath(path))
      remove(path + "/" + name);
    ::rmdir(path.c_str());
  }

  std::string path;
};

/// Runs a function that returns text in a process of its own, and returns that
/// text. What the function does to limits, signals or rights ends with it.
template <typename Function>
std::string runInChild(Function function) {
  int ends[2];
  if (::pipe(ends) != 0)
    return "no pipe";
  std::fflush(nullptr); // Else both processes write what is buffered.
  pid_t child = ::fork();
  if (child == 0) {
    std::string text = function();
    bool written = ::write(ends[1], text.data(), text.size()) ==
                   static_cast<ssize_t>(text.size());
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[256];
  for (ssize_t size; (size = ::read(ends[0], buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<size_t>(size));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? text : "the child failed";
}

/// The same without root's right to every file. Root is common in containers.
/// Every test that writes to a path outside of its directory runs like this: a
/// mistake in the code under test must not replace a device of the machine.
template <typename Function>
std::string runUnprivileged(Function function) {
  return runInChild([&]() -> std::string {
    constexpr unsigned nobody = 65534;
    if (::geteuid() == 0 && (::setgroups(0, nullptr) != 0 ||
                             ::setgid(nobody) != 0 || ::setuid(nobody) != 0))
      return "cannot give up root's rights";
    return function();
  });
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_TEST_UNIT_RUNTIME_TESTFILES_H
