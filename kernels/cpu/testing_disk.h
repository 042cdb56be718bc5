// What tests of the disk cache share: a folder of their own, and processes.

#ifndef PLIMSOLL_KERNELS_CPU_TESTING_DISK_H_
#define PLIMSOLL_KERNELS_CPU_TESTING_DISK_H_

#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace plimsoll::testing {

// A folder that is gone after the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = ::testing::TempDir() + "plimsoll_XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::vector<std::filesystem::path> FilesOf(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path());
  }
  return files;
}

inline struct stat StatusOf(const std::filesystem::path& file) {
  struct stat status = {};
  EXPECT_EQ(lstat(file.c_str(), &status), 0) << file;
  return status;
}

// Makes a file look as if it was used that many seconds ago.
inline void MakeOld(const std::filesystem::path& file, int seconds) {
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(file, now - std::chrono::seconds(seconds));
}

// Runs the function in so many processes at once; true if it is true in all of them.
inline bool RunInProcesses(int count, const std::function<bool(int)>& function) {
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(function(i) ? 0 : 1);
    children.push_back(child);
  }
  bool is_right = true;
  for (const pid_t child : children) {
    int status = 1;
    is_right = waitpid(child, &status, 0) == child && status == 0 && is_right;
  }
  return is_right;
}

}  // namespace plimsoll::testing

#endif  // PLIMSOLL_KERNELS_CPU_TESTING_DISK_H_
