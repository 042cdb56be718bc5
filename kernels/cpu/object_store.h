// Bytes that outlive the process, under keys: files in a folder that processes of the same user
// share. Nothing here is an error: what cannot be read is not there, and what cannot be written is
// not kept.

#ifndef PLIMSOLL_KERNELS_CPU_OBJECT_STORE_H_
#define PLIMSOLL_KERNELS_CPU_OBJECT_STORE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace plimsoll {

class ObjectStore {
 public:
  // A strong hash of all that the bytes depend on.
  using Key = std::array<uint8_t, 32>;

  // The folder is made when it is needed, for this user alone. With "" nothing is kept. The files
  // take about `most_bytes` at most; those that were not used for the longest time go first.
  ObjectStore(std::string folder, int64_t most_bytes)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  // What was put under the key, by whichever process. A file that is damaged, or that somebody else
  // could have written, is deleted and not read.
  std::optional<std::string> Get(const Key& key) const;
  void Put(const Key& key, std::string_view bytes);

 private:
  void MakeRoom(int folder);

  std::string folder_;
  int64_t most_bytes_;
  // What may be written before the folder is looked through again.
  std::atomic<int64_t> room_ = 0;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_OBJECT_STORE_H_
