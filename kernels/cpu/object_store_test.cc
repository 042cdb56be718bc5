#include "kernels/cpu/object_store.h"

#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "kernels/cpu/testing_disk.h"

namespace plimsoll {
namespace {

using testing::FilesOf;
using testing::MakeOld;
using testing::RunInProcesses;
using testing::StatusOf;
using testing::TemporaryFolder;

constexpr int64_t kMuch = 1 << 20;
constexpr uid_t kNobody = 65534;

ObjectStore::Key KeyOf(uint8_t number) {
  ObjectStore::Key key = {};
  key.fill(number);
  return key;
}

std::filesystem::path FileOf(const std::filesystem::path& folder, uint8_t number) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string name;
  for (int i = 0; i < 32; ++i) name += {kDigits[number / 16], kDigits[number % 16]};
  return folder / name;
}

std::string ReadAll(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void WriteAll(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << bytes;
}

class ObjectStoreTest : public ::testing::Test {
 protected:
  TemporaryFolder parent_;
  std::filesystem::path folder_ = parent_.path() / "a" / "b";
  ObjectStore store_ = ObjectStore(folder_, kMuch);
};

TEST_F(ObjectStoreTest, GivesWhatWasPut) {
  EXPECT_EQ(store_.Get(KeyOf(1)), std::nullopt);
  store_.Put(KeyOf(1), "one");
  store_.Put(KeyOf(2), std::string("\0\n\xff", 3));
  store_.Put(KeyOf(3), "");
  // Another process has another store of the same folder.
  const ObjectStore other(folder_, kMuch);
  EXPECT_EQ(other.Get(KeyOf(1)), "one");
  EXPECT_EQ(other.Get(KeyOf(2)), std::string("\0\n\xff", 3));
  EXPECT_EQ(other.Get(KeyOf(3)), "");
  EXPECT_EQ(other.Get(KeyOf(4)), std::nullopt);
  store_.Put(KeyOf(1), "another");
  EXPECT_EQ(other.Get(KeyOf(1)), "another");
  EXPECT_EQ(FilesOf(folder_).size(), 3);
}

TEST_F(ObjectStoreTest, FilesAreForTheirUserAlone) {
  const mode_t mask = umask(0);
  store_.Put(KeyOf(1), "one");
  umask(mask);
  EXPECT_EQ(StatusOf(folder_.parent_path()).st_mode, S_IFDIR | 0700);
  EXPECT_EQ(StatusOf(folder_).st_mode, S_IFDIR | 0700);
  EXPECT_EQ(StatusOf(FileOf(folder_, 1)).st_mode, S_IFREG | 0600);
}

TEST_F(ObjectStoreTest, DeletesATruncatedFile) {
  store_.Put(KeyOf(1), "something");
  const std::string whole = ReadAll(FileOf(folder_, 1));
  for (size_t size = 0; size < whole.size(); ++size) {
    std::filesystem::resize_file(FileOf(folder_, 1), size);
    EXPECT_EQ(store_.Get(KeyOf(1)), std::nullopt) << size;
    EXPECT_TRUE(FilesOf(folder_).empty()) << size;
    store_.Put(KeyOf(1), "something");
    EXPECT_EQ(store_.Get(KeyOf(1)), "something");
  }
}

TEST_F(ObjectStoreTest, DeletesADamagedFile) {
  store_.Put(KeyOf(1), "something");
  const std::string whole = ReadAll(FileOf(folder_, 1));
  for (size_t i = 0; i <= whole.size(); ++i) {
    std::string damaged = whole;
    if (i == whole.size()) {
      damaged += 'x';
    } else {
      damaged[i] ^= 4;
    }
    WriteAll(FileOf(folder_, 1), damaged);
    EXPECT_EQ(store_.Get(KeyOf(1)), std::nullopt) << i;
    EXPECT_TRUE(FilesOf(folder_).empty()) << i;
    store_.Put(KeyOf(1), "something");
  }
}

TEST_F(ObjectStoreTest, DeletesWhatBelongsToAnotherKey) {
  store_.Put(KeyOf(1), "one");
  std::filesystem::copy_file(FileOf(folder_, 1), FileOf(folder_, 2));
  EXPECT_EQ(store_.Get(KeyOf(2)), std::nullopt);
  EXPECT_EQ(store_.Get(KeyOf(1)), "one");
  EXPECT_EQ(FilesOf(folder_).size(), 1);
}

TEST_F(ObjectStoreTest, DoesNotTakeFilesThatOthersCanWriteTo) {
  for (const mode_t mode : {0620, 0602, 0666}) {
    store_.Put(KeyOf(1), "one");
    chmod(FileOf(folder_, 1).c_str(), mode);
    EXPECT_EQ(store_.Get(KeyOf(1)), std::nullopt) << mode;
    EXPECT_TRUE(FilesOf(folder_).empty()) << mode;
  }
}

TEST_F(ObjectStoreTest, DoesNotUseAFolderThatOthersCanWriteTo) {
  store_.Put(KeyOf(1), "one");
  for (const mode_t mode : {0770, 0707}) {
    chmod(folder_.c_str(), mode);
    EXPECT_EQ(store_.Get(KeyOf(1)), std::nullopt) << mode;
    store_.Put(KeyOf(2), "two");
    EXPECT_EQ(FilesOf(folder_).size(), 1) << mode;
  }
}

TEST_F(ObjectStoreTest, DoesNotTakeWhatIsOwnedByAnother) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  store_.Put(KeyOf(1), "one");
  store_.Put(KeyOf(2), "two");
  ASSERT_EQ(chown(FileOf(folder_, 1).c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(store_.Get(KeyOf(1)), std::nullopt);
  ASSERT_EQ(chown(folder_.c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(store_.Get(KeyOf(2)), std::nullopt);
  store_.Put(KeyOf(3), "three");
  EXPECT_FALSE(std::filesystem::exists(FileOf(folder_, 3)));
}

TEST_F(ObjectStoreTest, DoesNotFollowLinks) {
  store_.Put(KeyOf(1), "one");
  const std::filesystem::path real = folder_.parent_path() / "real";
  std::filesystem::rename(FileOf(folder_, 1), real);
  std::filesystem::create_symlink(real, FileOf(folder_, 1));
  EXPECT_EQ(store_.Get(KeyOf(1)), std::nullopt);
  store_.Put(KeyOf(1), "another");
  EXPECT_EQ(store_.Get(KeyOf(1)), "another");
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(real)));

  std::filesystem::rename(folder_, real.parent_path() / "folder");
  std::filesystem::create_directory_symlink(real.parent_path() / "folder", folder_);
  EXPECT_EQ(store_.Get(KeyOf(1)), std::nullopt);
  store_.Put(KeyOf(2), "two");
  EXPECT_EQ(FilesOf(folder_).size(), 1);
}

TEST_F(ObjectStoreTest, DoesNotWaitForWhatIsNoFile) {
  store_.Put(KeyOf(1), "one");
  ASSERT_EQ(mkfifo(FileOf(folder_, 2).c_str(), 0600), 0);
  EXPECT_EQ(store_.Get(KeyOf(2)), std::nullopt);
  std::filesystem::create_directory(FileOf(folder_, 3));
  EXPECT_EQ(store_.Get(KeyOf(3)), std::nullopt);
  store_.Put(KeyOf(3), "three");
  EXPECT_EQ(store_.Get(KeyOf(3)), std::nullopt);
  EXPECT_EQ(FilesOf(folder_).size(), 2);
}

TEST_F(ObjectStoreTest, KeepsNothingWhereNoFolderCanBe) {
  WriteAll(parent_.path() / "file", "");
  for (const std::string& folder : {std::string(), (parent_.path() / "file" / "a").string()}) {
    ObjectStore store(folder, kMuch);
    store.Put(KeyOf(1), "one");
    EXPECT_EQ(store.Get(KeyOf(1)), std::nullopt);
  }
}

TEST_F(ObjectStoreTest, ReadsFromAFolderThatItCannotWriteTo) {
  store_.Put(KeyOf(1), "one");
  store_.Put(KeyOf(2), "two");
  WriteAll(FileOf(folder_, 2), "damaged");
  const bool is_root = geteuid() == 0;
  for (const auto& path :
       {parent_.path(), folder_.parent_path(), folder_, FileOf(folder_, 1), FileOf(folder_, 2)}) {
    if (is_root) ASSERT_EQ(chown(path.c_str(), kNobody, kNobody), 0);
  }
  chmod(folder_.c_str(), 0500);
  // Nothing keeps root from writing.
  if (is_root) ASSERT_EQ(seteuid(kNobody), 0);
  EXPECT_EQ(store_.Get(KeyOf(1)), "one");
  EXPECT_EQ(store_.Get(KeyOf(2)), std::nullopt);
  store_.Put(KeyOf(2), "two");
  store_.Put(KeyOf(3), "three");
  EXPECT_EQ(store_.Get(KeyOf(3)), std::nullopt);
  if (is_root) ASSERT_EQ(seteuid(0), 0);
  chmod(folder_.c_str(), 0700);
  EXPECT_EQ(FilesOf(folder_).size(), 2);
}

TEST_F(ObjectStoreTest, AFullDiskLeavesNothingHalfWritten) {
  store_.Put(KeyOf(1), "one");
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little = {.rlim_cur = 1000, .rlim_max = before.rlim_max};
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &little);
  store_.Put(KeyOf(1), std::string(5000, 'x'));
  store_.Put(KeyOf(2), std::string(5000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(store_.Get(KeyOf(1)), "one");
  EXPECT_EQ(store_.Get(KeyOf(2)), std::nullopt);
  EXPECT_EQ(FilesOf(folder_).size(), 1);
}

TEST_F(ObjectStoreTest, WhatWasNotUsedForLongestGoesFirst) {
  const std::string bytes(1000, 'x');
  for (uint8_t i = 0; i < 10; ++i) {
    store_.Put(KeyOf(i), bytes);
    MakeOld(FileOf(folder_, i), 1000 - 10 * i);
  }
  // A temporary file of a process that died.
  WriteAll(FileOf(folder_, 10).string() + ".123", bytes);
  MakeOld(FileOf(folder_, 10).string() + ".123", 2000);
  WriteAll(folder_ / "of the user", bytes);
  MakeOld(folder_ / "of the user", 3000);
  EXPECT_EQ(store_.Get(KeyOf(0)), bytes);

  ObjectStore smaller(folder_, 8000);
  smaller.Put(KeyOf(20), bytes);
  EXPECT_EQ(smaller.Get(KeyOf(20)), bytes);
  EXPECT_EQ(smaller.Get(KeyOf(0)), bytes);
  for (const uint8_t i : {7, 8, 9}) EXPECT_EQ(smaller.Get(KeyOf(i)), bytes) << int{i};
  for (const uint8_t i : {1, 2, 3, 4, 5, 6}) {
    EXPECT_FALSE(std::filesystem::exists(FileOf(folder_, i))) << int{i};
  }
  EXPECT_FALSE(std::filesystem::exists(FileOf(folder_, 10).string() + ".123"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "of the user"));
}

TEST_F(ObjectStoreTest, StaysBelowItsSize) {
  ObjectStore store(folder_, 20000);
  for (uint8_t i = 0; i < 100; ++i) {
    store.Put(KeyOf(i), std::string(1000, 'x'));
    EXPECT_EQ(store.Get(KeyOf(i)), std::string(1000, 'x'));
    EXPECT_LE(FilesOf(folder_).size(), 20);
  }
  store.Put(KeyOf(200), std::string(20000, 'x'));
  EXPECT_EQ(store.Get(KeyOf(200)), std::nullopt);
  EXPECT_EQ(store.Get(KeyOf(99)), std::string(1000, 'x'));
}

// Processes put, get, damage and make room at once: what one gets is right, or it gets nothing.
TEST_F(ObjectStoreTest, SeveralProcessesAtOnce) {
  const auto bytes_of = [](uint8_t number) { return std::string(1000 + 500 * number, 'x'); };
  EXPECT_TRUE(RunInProcesses(4, [&](int process) {
    ObjectStore store(folder_, 8000);
    for (int i = 0; i < 300; ++i) {
      const auto number = static_cast<uint8_t>((i * 7 + process) % 10);
      store.Put(KeyOf(number), bytes_of(number));
      const auto other = static_cast<uint8_t>(i % 10);
      const std::optional<std::string> found = store.Get(KeyOf(other));
      if (found.has_value() && *found != bytes_of(other)) return false;
      if (i % 50 == 49) truncate(FileOf(folder_, other).c_str(), 500);
    }
    return true;
  }));
  for (const std::filesystem::path& file : FilesOf(folder_)) {
    EXPECT_TRUE(file.extension().empty()) << file;
  }
}

}  // namespace
}  // namespace plimsoll
