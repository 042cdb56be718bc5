#include "kernels/cpu/object_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>
#include <vector>

#include "ir/status.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

namespace plimsoll {
namespace {

using Key = ObjectStore::Key;

// A file is this, the key, a checksum of the key and the bytes, and the bytes.
constexpr llvm::StringLiteral kMagic = "plimsoll object\n";
constexpr size_t kHeaderBytes = kMagic.size() + 2 * sizeof(Key);

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return number_; }
  // Of this kind, and nobody but this user can have written to it. Asked of what is open, which
  // nobody can exchange any more.
  bool IsOurs(mode_t kind) const {
    struct stat info = {};
    return number_ >= 0 && fstat(number_, &info) == 0 && (info.st_mode & S_IFMT) == kind &&
           info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  }

 private:
  int number_;
};

// Its parents need not be ours: whoever exchanges the folder gives one that is not.
Descriptor OpenFolder(const std::string& folder) {
  return Descriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

std::string NameOf(const Key& key) { return llvm::toHex(key, /*LowerCase=*/true); }

llvm::StringRef TextOf(const Key& key) {
  return {reinterpret_cast<const char*>(key.data()), key.size()};
}

std::string HeaderOf(const Key& key, llvm::StringRef bytes) {
  llvm::BLAKE3 hash;
  hash.update(TextOf(key));
  hash.update(bytes);
  return StrCat(kMagic, TextOf(key), TextOf(hash.final()));
}

std::optional<std::string> Read(const Descriptor& file, const Key& key) {
  llvm::SmallString<0> content;
  if (llvm::Error error = llvm::sys::fs::readNativeFileToEOF(file.get(), content)) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  if (content.size() < kHeaderBytes) return std::nullopt;
  const llvm::StringRef bytes = content.str().drop_front(kHeaderBytes);
  if (content.str().take_front(kHeaderBytes) != HeaderOf(key, bytes)) return std::nullopt;
  return bytes.str();
}

bool Write(const Descriptor& file, const Key& key, std::string_view bytes) {
  llvm::raw_fd_ostream stream(file.get(), /*shouldClose=*/false, /*unbuffered=*/true);
  stream << HeaderOf(key, bytes) << bytes;
  const bool is_written = !stream.has_error();
  stream.clear_error();
  // Some file systems say only now that they are full.
  return is_written && fsync(file.get()) == 0;
}

struct StoredFile {
  std::string name;
  timespec used;
  int64_t bytes;
};

// Also of one that is not whole. What else may lie in the folder is not for us to delete.
bool IsName(llvm::StringRef name) {
  return name.take_while(llvm::isHexDigit).size() == 2 * sizeof(Key);
}

std::vector<StoredFile> FilesIn(int folder) {
  std::vector<StoredFile> files;
  const int copy = fcntl(folder, F_DUPFD_CLOEXEC, 0);
  DIR* list = copy < 0 ? nullptr : fdopendir(copy);
  if (list == nullptr) {
    if (copy >= 0) close(copy);
    return files;
  }
  while (const dirent* entry = readdir(list)) {
    struct stat info = {};
    if (IsName(entry->d_name) && fstatat(folder, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(info.st_mode)) {
      files.push_back({.name = entry->d_name, .used = info.st_mtim, .bytes = info.st_size});
    }
  }
  closedir(list);
  return files;
}

bool WasUsedBefore(const StoredFile& one, const StoredFile& other) {
  return std::pair(one.used.tv_sec, one.used.tv_nsec) <
         std::pair(other.used.tv_sec, other.used.tv_nsec);
}

}  // namespace

std::optional<std::string> ObjectStore::Get(const Key& key) const {
  const Descriptor folder = OpenFolder(folder_);
  if (!folder.IsOurs(S_IFDIR)) return std::nullopt;
  const std::string name = NameOf(key);
  // Whatever lies there, opening it does not wait.
  const Descriptor file(
      openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0) return std::nullopt;
  std::optional<std::string> bytes;
  if (file.IsOurs(S_IFREG)) bytes = Read(file, key);
  if (bytes.has_value()) {
    futimens(file.get(), nullptr);  // It was used now.
  } else {
    unlinkat(folder.get(), name.c_str(), 0);
  }
  return bytes;
}

void ObjectStore::Put(const Key& key, std::string_view bytes) {
  const auto size = static_cast<int64_t>(kHeaderBytes + bytes.size());
  if (folder_.empty() || size > most_bytes_) return;
  if (llvm::sys::fs::create_directories(folder_, /*IgnoreExisting=*/true,
                                        llvm::sys::fs::owner_all)) {
    return;
  }
  const Descriptor folder = OpenFolder(folder_);
  if (!folder.IsOurs(S_IFDIR)) return;
  const std::string name = NameOf(key);
  // Under a name of its own until it is whole. A process that dies leaves it to grow old.
  const std::string temporary =
      StrCat(name, ".", getpid(), ".", std::chrono::steady_clock::now().time_since_epoch().count());
  const Descriptor file(openat(folder.get(), temporary.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) return;
  if (!Write(file, key, bytes) ||
      renameat(folder.get(), temporary.c_str(), folder.get(), name.c_str()) != 0) {
    unlinkat(folder.get(), temporary.c_str(), 0);
    return;
  }
  if (room_.fetch_sub(size) < size) MakeRoom(folder.get());
}

void ObjectStore::MakeRoom(int folder) {
  std::vector<StoredFile> files = FilesIn(folder);
  int64_t bytes = 0;
  for (const StoredFile& file : files) bytes += file.bytes;
  if (bytes > most_bytes_) {
    // A quarter is freed at once, so that this is rare.
    std::sort(files.begin(), files.end(), WasUsedBefore);
    for (const StoredFile& file : files) {
      if (bytes <= most_bytes_ - most_bytes_ / 4) break;
      unlinkat(folder, file.name.c_str(), 0);
      bytes -= file.bytes;
    }
  }
  room_ = most_bytes_ - bytes;
}

}  // namespace plimsoll
