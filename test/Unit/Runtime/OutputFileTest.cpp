//===- OutputFileTest.cpp - Tests of output files -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/OutputFile.h"
#include "TestFiles.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace mlir::blockscale;

using Names = std::vector<std::string>;

static std::string write(const std::string &path, std::string_view bytes) {
  return writeOutput(path, bytes).message();
}

static bool isLink(const std::string &path) {
  struct stat status = {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

static ino_t getInode(const std::string &path) {
  struct stat status = {};
  ::stat(path.c_str(), &status);
  return status.st_ino;
}

/// `write` for a path outside of the test's directory.
static std::string writeUnprivileged(const std::string &path,
                                     std::string_view bytes) {
  return runUnprivileged([&] { return write(path, bytes); });
}

/// Runs a function with a descriptor of the process on an empty file of the
/// directory, and returns what the file holds then.
template <typename Function>
static std::string captureDescriptor(const TestDirectory &directory,
                                     int descriptor, Function function) {
  int file = ::open(directory.write("captured", "").c_str(), O_WRONLY);
  std::string message = runUnprivileged([&] {
    ::dup2(file, descriptor);
    return function();
  });
  ::close(file);
  EXPECT_EQ(message, "");
  return directory.read("captured");
}

//===----------------------------------------------------------------------===//
// Regular files
//===----------------------------------------------------------------------===//

TEST(OutputFileTest, MakesFile) {
  TestDirectory directory;
  EXPECT_EQ(write(directory / "a", std::string_view("x\0y\n", 4)), "");
  EXPECT_EQ(directory.read("a"), std::string("x\0y\n", 4));
  EXPECT_EQ(directory.list(), Names{"a"});
}

TEST(OutputFileTest, MakesFileByRelativePath) {
  TestDirectory directory;
  EXPECT_EQ(runInChild([&]() -> std::string {
              if (::chdir((directory / "").c_str()) != 0)
                return "no directory";
              return write("a", "text");
            }),
            "");
  EXPECT_EQ(directory.read("a"), "text");
  EXPECT_EQ(directory.list(), Names{"a"});
}

TEST(OutputFileTest, NewFileFollowsUmask) {
  TestDirectory directory;
  EXPECT_EQ(runInChild([&] {
              ::umask(027);
              return write(directory / "a", "text");
            }),
            "");
  EXPECT_EQ(directory.getMode("a"), 0640u);
}

TEST(OutputFileTest, ReplacesFileAtOnce) {
  TestDirectory directory;
  std::string path = directory.write("a", "a long old text");
  int reader = ::open(path.c_str(), O_RDONLY);
  EXPECT_EQ(write(path, "new"), "");
  EXPECT_EQ(directory.read("a"), "new");
  EXPECT_EQ(directory.list(), Names{"a"});
  // Who had the old file open still sees all of it.
  char buffer[32];
  EXPECT_EQ(::read(reader, buffer, sizeof(buffer)), 15);
  ::close(reader);
}

TEST(OutputFileTest, ReplacedFileKeepsItsPermissions) {
  TestDirectory directory;
  std::string path = directory.write("a", "old");
  for (mode_t mode : {0600u, 0751u, 0666u}) {
    directory.setMode("a", mode);
    EXPECT_EQ(write(path, "new"), "");
    EXPECT_EQ(directory.getMode("a"), mode);
  }
}

TEST(OutputFileTest, ReplacedFileKeepsItsOwner) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give files away";
  TestDirectory directory;
  std::string path = directory.write("a", "old");
  ASSERT_EQ(::chown(path.c_str(), 65534, 65533), 0);
  EXPECT_EQ(write(path, "new"), "");
  struct stat status = {};
  ::stat(path.c_str(), &status);
  EXPECT_EQ(status.st_uid, 65534u);
  EXPECT_EQ(status.st_gid, 65533u);
}

TEST(OutputFileTest, LinkStaysLink) {
  TestDirectory directory;
  directory.makeDirectory("folder");
  directory.write("folder/target", "old");
  // A relative link starts at its own folder, also behind another link.
  ASSERT_EQ(::symlink("target", (directory / "folder/inner").c_str()), 0);
  ASSERT_EQ(::symlink("folder/inner", (directory / "outer").c_str()), 0);
  EXPECT_EQ(write(directory / "outer", "new"), "");
  EXPECT_TRUE(isLink(directory / "outer"));
  EXPECT_TRUE(isLink(directory / "folder/inner"));
  EXPECT_FALSE(isLink(directory / "folder/target"));
  EXPECT_EQ(directory.read("folder/target"), "new");
}

TEST(OutputFileTest, AbsoluteLinkToNothingMakesItsTarget) {
  TestDirectory directory;
  std::string target = directory / "target";
  ASSERT_EQ(::symlink(target.c_str(), (directory / "link").c_str()), 0);
  EXPECT_EQ(write(directory / "link", "new"), "");
  EXPECT_TRUE(isLink(directory / "link"));
  EXPECT_EQ(directory.read("target"), "new");
}

TEST(OutputFileTest, LongestNameIsNotTooLong) {
  TestDirectory directory;
  std::string name(255, 'n');
  EXPECT_EQ(write(directory / name, "text"), "");
  EXPECT_EQ(directory.list(), Names{name});
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

TEST(OutputFileTest, DashIsStandardOutput) {
  TestDirectory directory;
  std::string text = captureDescriptor(directory, STDOUT_FILENO, [] {
    std::fputs("before ", stdout);
    std::string message = write("-", "text");
    std::fputs(" after", stdout);
    std::fflush(stdout);
    return message;
  });
  EXPECT_EQ(text, "before text after");
}

TEST(OutputFileTest, DescriptorPathsContinueTheDescriptor) {
  TestDirectory directory;
  struct {
    const char *path;
    int descriptor;
  } rows[] = {{"/dev/stdout", 1},
              {"/dev/stderr", 2},
              {"/dev/fd/9", 9},
              {"/proc/self/fd/9", 9}};
  for (const auto &row : rows) {
    ino_t inode = getInode(directory.write("captured", ""));
    std::string text = captureDescriptor(directory, row.descriptor, [&] {
      std::string message = write(row.path, "one ");
      return message + write(row.path, "two");
    });
    EXPECT_EQ(text, "one two") << row.path;
    EXPECT_EQ(getInode(directory / "captured"), inode) << row.path;
  }
}

TEST(OutputFileTest, NullDeviceStaysDevice) {
  EXPECT_EQ(writeUnprivileged("/dev/null", "text"), "");
  struct stat status = {};
  ASSERT_EQ(::stat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
}

TEST(OutputFileTest, LinkToDeviceStaysLink) {
  TestDirectory directory;
  ASSERT_EQ(::symlink("/dev/null", (directory / "link").c_str()), 0);
  EXPECT_EQ(writeUnprivileged(directory / "link", "text"), "");
  EXPECT_TRUE(isLink(directory / "link"));
}

TEST(OutputFileTest, PipeIsWrittenInPlace) {
  TestDirectory directory;
  std::string path = directory / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  // More than a pipe holds, so that write returns early.
  std::string sent(200000, 'x');
  sent.back() = 'y';
  pid_t writer = ::fork();
  if (writer == 0)
    ::_exit(write(path, sent).empty() ? 0 : 1);
  EXPECT_EQ(directory.read("pipe"), sent);
  int status = -1;
  ::waitpid(writer, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(directory.list(), Names{"pipe"});
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

TEST(OutputFileTest, RefusesNoName) {
  EXPECT_EQ(write("", "text"),
            "'': expected the name of an output file, got an empty one");
}

TEST(OutputFileTest, RefusesDirectory) {
  TestDirectory directory;
  std::string path = directory.makeDirectory("folder");
  EXPECT_EQ(write(path, "text"), "'" + path + "': is a directory");
  EXPECT_EQ(write(path + "/", "text"), "'" + path + "/': is a directory");
  ASSERT_EQ(::symlink("folder", (directory / "link").c_str()), 0);
  path = directory / "link";
  EXPECT_EQ(write(path, "text"), "'" + path + "': is a directory");
  // What ends in a slash would be a directory.
  path = directory / "new/";
  EXPECT_EQ(write(path, "text"), "'" + path + "': is a directory");
}

TEST(OutputFileTest, RefusesMissingDirectory) {
  TestDirectory directory;
  std::string path = directory / "missing/a";
  EXPECT_EQ(write(path, "text"), "'" + path + "': no such file or directory");
  directory.write("file", "");
  path = directory / "file/a";
  EXPECT_EQ(write(path, "text"), "'" + path + "': not a directory");
}

TEST(OutputFileTest, RefusesTooLongName) {
  TestDirectory directory;
  std::string path = directory / std::string(256, 'n');
  EXPECT_EQ(write(path, "text"), "'" + path + "': file name too long");
}

TEST(OutputFileTest, RefusesCircleOfLinks) {
  TestDirectory directory;
  std::string path = directory / "a";
  ASSERT_EQ(::symlink("b", path.c_str()), 0);
  ASSERT_EQ(::symlink("a", (directory / "b").c_str()), 0);
  EXPECT_EQ(write(path, "text"),
            "'" + path + "': too many levels of symbolic links");
}

TEST(OutputFileTest, RefusesDirectoryWithoutPermission) {
  TestDirectory directory;
  directory.makeDirectory("folder", 0555);
  std::string path = directory / "folder/a";
  EXPECT_EQ(runUnprivileged([&] { return write(path, "text"); }),
            "'" + path + "': permission denied");
  directory.setMode("folder", 0600);
  EXPECT_EQ(runUnprivileged([&] { return write(path, "text"); }),
            "'" + path + "': permission denied");
}

TEST(OutputFileTest, RefusesWriteProtectedFile) {
  TestDirectory directory;
  directory.makeDirectory("folder", 0777);
  std::string path = directory.write("folder/a", "old");
  directory.setMode("folder/a", 0444);
  EXPECT_EQ(runUnprivileged([&] { return write(path, "text"); }),
            "'" + path + "': permission denied");
  EXPECT_EQ(directory.read("folder/a"), "old");
}

TEST(OutputFileTest, ReportsFullDevice) {
  EXPECT_EQ(writeUnprivileged("/dev/full", "text"),
            "'/dev/full': no space left on device");
}

TEST(OutputFileTest, ReportsClosedStandardOutput) {
  EXPECT_EQ(runUnprivileged([] {
              ::close(STDOUT_FILENO);
              return write("-", "text");
            }),
            "'-': bad file descriptor");
}

TEST(OutputFileTest, ReportsClosedPipe) {
  EXPECT_EQ(runUnprivileged([] {
              std::signal(SIGPIPE, SIG_IGN);
              int ends[2];
              if (::pipe(ends) != 0)
                return std::string("no pipe");
              ::close(ends[0]);
              return write("/dev/fd/" + std::to_string(ends[1]), "text")
                  .substr(std::string("'/dev/fd/").size() +
                          std::to_string(ends[1]).size());
            }),
            "': broken pipe");
}

/// Writes with a limit on the size of files, where the first write is short.
static std::string writeWithLimit(const std::string &path, size_t size) {
  return runInChild([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    return write(path, std::string(size, 'x'));
  });
}

TEST(OutputFileTest, ShortWriteLeavesNothing) {
  TestDirectory directory;
  std::string path = directory / "a";
  EXPECT_EQ(writeWithLimit(path, 5000), "'" + path + "': file too large");
  EXPECT_TRUE(directory.list().empty());
  EXPECT_EQ(writeWithLimit(path, 4096), "");
  EXPECT_EQ(directory.list(), Names{"a"});
}

TEST(OutputFileTest, ShortWriteLeavesOldFile) {
  TestDirectory directory;
  std::string path = directory.write("a", "old");
  EXPECT_EQ(writeWithLimit(path, 5000), "'" + path + "': file too large");
  EXPECT_EQ(directory.read("a"), "old");
  EXPECT_EQ(directory.list(), Names{"a"});
}

//===----------------------------------------------------------------------===//
// Several outputs
//===----------------------------------------------------------------------===//

TEST(OutputSetTest, NothingAppearsBeforeCommit) {
  TestDirectory directory;
  directory.write("b", "old");
  OutputSet outputs;
  EXPECT_EQ(outputs.add(directory / "a", "new a").message(), "");
  EXPECT_EQ(outputs.add(directory / "b", "new b").message(), "");
  EXPECT_EQ(directory.read("a"), "");
  EXPECT_EQ(directory.read("b"), "old");
  EXPECT_EQ(outputs.commit().message(), "");
  EXPECT_EQ(directory.read("a"), "new a");
  EXPECT_EQ(directory.read("b"), "new b");
  EXPECT_EQ(directory.list(), (Names{"a", "b"}));
}

TEST(OutputSetTest, NothingAppearsWithoutCommit) {
  TestDirectory directory;
  {
    OutputSet outputs;
    EXPECT_FALSE(outputs.add(directory / "a", "new"));
    EXPECT_EQ(outputs.add(directory / "missing/b", "new").message(),
              "'" + (directory / "missing/b") + "': no such file or directory");
  }
  EXPECT_TRUE(directory.list().empty());
}

TEST(OutputSetTest, EmptySetIsFine) {
  OutputSet outputs;
  EXPECT_FALSE(outputs.commit());
}

TEST(OutputSetTest, RefusesSameFileTwice) {
  TestDirectory directory;
  directory.makeDirectory("folder");
  directory.write("old", "text");
  ASSERT_EQ(::symlink("old", (directory / "link").c_str()), 0);
  OutputSet outputs;
  EXPECT_FALSE(outputs.add(directory / "a", "1"));
  EXPECT_EQ(outputs.add(directory / "folder/../a", "2").message(),
            "'" + (directory / "folder/../a") +
                "': expected an output of its own, got the file of '" +
                (directory / "a") + "'");
  EXPECT_FALSE(outputs.add(directory / "folder/a", "3"));
  EXPECT_FALSE(outputs.add(directory / "old", "4"));
  EXPECT_EQ(outputs.add(directory / "link", "5").message(),
            "'" + (directory / "link") +
                "': expected an output of its own, got the file of '" +
                (directory / "old") + "'");
}

TEST(OutputSetTest, RefusesImpossiblePathsBeforeCommit) {
  TestDirectory directory;
  OutputSet outputs;
  std::string path = directory.makeDirectory("folder");
  EXPECT_EQ(outputs.add(path, "text").message(),
            "'" + path + "': is a directory");
  path = directory / std::string(256, 'n');
  EXPECT_EQ(outputs.add(path, "text").message(),
            "'" + path + "': file name too long");
}

TEST(OutputSetTest, StreamsMayRepeat) {
  TestDirectory directory;
  std::string text = captureDescriptor(directory, STDOUT_FILENO, [] {
    OutputSet outputs;
    for (const char *path : {"-", "/dev/null", "-", "/dev/null"})
      if (Error error = outputs.add(path, "text "))
        return error.message();
    return outputs.commit().message();
  });
  EXPECT_EQ(text, "text text ");
}

TEST(OutputSetTest, FailedStreamKeepsFilesBack) {
  TestDirectory directory;
  directory.makeDirectory("folder", 0777);
  directory.write("folder/old", "old");
  directory.setMode("folder/old", 0666);
  EXPECT_EQ(runUnprivileged([&] {
              OutputSet outputs;
              for (std::string path :
                   {directory / "folder/old", directory / "folder/new",
                    std::string("/dev/full")})
                if (Error error = outputs.add(path, "text"))
                  return error.message();
              return outputs.commit().message();
            }),
            "'/dev/full': no space left on device");
  EXPECT_EQ(directory.list("folder"), Names{"old"});
  EXPECT_EQ(directory.read("folder/old"), "old");
}

TEST(OutputSetTest, FailedRenameTakesBackTheOthers) {
  TestDirectory directory;
  directory.write("old", "old text");
  directory.write("older", "older text");
  ino_t inode = getInode(directory / "old");
  {
    OutputSet outputs;
    EXPECT_FALSE(outputs.add(directory / "old", "new text"));
    EXPECT_FALSE(outputs.add(directory / "new", "new text"));
    EXPECT_FALSE(outputs.add(directory / "folder", "new text"));
    EXPECT_FALSE(outputs.add(directory / "older", "new text"));
    // Another process makes the third rename impossible.
    directory.makeDirectory("folder");
    EXPECT_EQ(outputs.commit().message(),
              "'" + (directory / "folder") + "': is a directory");
  }
  EXPECT_EQ(directory.list(), (Names{"folder", "old", "older"}));
  EXPECT_EQ(directory.read("old"), "old text");
  EXPECT_EQ(directory.read("older"), "older text");
  EXPECT_EQ(getInode(directory / "old"), inode);
}

TEST(OutputFileTest, OutputsThatAreTheSame) {
  TestDirectory directory;
  std::string path = directory.write("file", ""), link = directory / "link",
              pipe = directory / "pipe", fresh = directory / "new";
  ASSERT_EQ(::symlink(path.c_str(), link.c_str()), 0);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(isSameOutput("-", "/dev/stdout"));
  EXPECT_TRUE(isSameOutput(path, link));
  EXPECT_TRUE(isSameOutput(fresh, directory / "./new"));
  EXPECT_TRUE(isSameOutput(pipe, pipe));
  EXPECT_FALSE(isSameOutput("-", "/dev/stderr"));
  EXPECT_FALSE(isSameOutput("-", path));
  EXPECT_FALSE(isSameOutput(path, fresh));
  EXPECT_FALSE(isSameOutput("/dev/null", "/dev/null"));
  EXPECT_FALSE(isSameOutput("", ""));
}

TEST(OutputSetTest, SaysWhatCannotBeTakenBack) {
  TestDirectory directory;
  directory.write("old", "old text");
  std::string path = directory / "old";
  OutputSet outputs;
  EXPECT_FALSE(outputs.add(path, "new text"));
  EXPECT_FALSE(outputs.add(directory / "folder", "new text"));
  directory.makeDirectory("folder");
  // Without the target there is no backup of it.
  ::unlink(path.c_str());
  EXPECT_EQ(outputs.commit().message(), "'" + (directory / "folder") +
                                            "': is a directory; '" + path +
                                            "' has been replaced already");
}
