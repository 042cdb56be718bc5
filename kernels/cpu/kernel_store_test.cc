#include "kernels/cpu/kernel_store.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/build_id.h"
#include "kernels/cpu/kernel_key.h"
#include "kernels/cpu/shapes_to_try.h"
#include "kernels/cpu/testing.h"
#include "kernels/cpu/testing_disk.h"
#include "kernels/tile_text.h"

namespace plimsoll {
namespace {

using testing::FilesOf;
using ::testing::HasSubstr;
using testing::MakeOld;
using testing::RunInProcesses;
using testing::RunOnNumbers;
using testing::StatusOf;
using testing::TemporaryFolder;

// Sums of x + y + number over y.
std::string ProgramWith(int number) {
  return StrCat(
      "axes r c\noperand i32[r]\noperand i32[c]\n%0 = load 0\n%1 = load 1\n%2 = add %0, %1\n",
      "%3 = constant i32 ", number, "\n%4 = add %2, %3\nresult i32[r] = add c %4\n");
}

bool IsRight(const StatusOr<const CompiledKernel*>& kernel, int number) {
  if (!kernel.ok()) return false;
  const std::vector<testing::NumberArray> results =
      RunOnNumbers(**kernel, {2, 3},
                   {{.shape = {2}, .numbers = {1, 2}}, {.shape = {3}, .numbers = {10, 20, 30}}});
  return results[0].numbers == std::vector<double>{63. + 3 * number, 66. + 3 * number};
}

class KernelStoreTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(KernelStoreTest, MakesAKernelOnce) {
  KernelStore store(folder_.path());
  const StatusOr<const CompiledKernel*> kernel = store.Find(ProgramWith(1));
  ASSERT_TRUE(kernel.ok()) << kernel.status().ToString();
  EXPECT_TRUE(IsRight(kernel, 1));
  EXPECT_EQ(*store.Find(ProgramWith(1)), *kernel);
  EXPECT_TRUE(IsRight(store.Find(ProgramWith(2)), 2));
}

TEST_F(KernelStoreTest, TakesWhatAnotherProcessHasCompiled) {
  KernelStore first(folder_.path());
  ASSERT_TRUE(IsRight(first.Find(ProgramWith(1)), 1));
  ASSERT_EQ(FilesOf(folder_.path()).size(), 1);
  const std::filesystem::path file = FilesOf(folder_.path())[0];
  const ino_t written = StatusOf(file).st_ino;
  MakeOld(file, 1000);
  const time_t old = StatusOf(file).st_mtime;
  KernelStore second(folder_.path());
  EXPECT_TRUE(IsRight(second.Find(ProgramWith(1)), 1));
  EXPECT_EQ(StatusOf(file).st_ino, written);
  EXPECT_GT(StatusOf(file).st_mtime, old);
  EXPECT_EQ(FilesOf(folder_.path()).size(), 1);
}

// x becomes x + x for three turns.
constexpr std::string_view kDoubled = R"(loop
operand f32[b]
%0 = load 0 0
%1 = constant i32 0
%2 = state f32[b] %0
%3 = state i32 %1
%4 = constant i32 3
%5 = compare lt %3, %4
%6 = add %2, %2
%7 = constant i32 1
%8 = add %3, %7
next %2 = %6
next %3 = %8
while %5
result f32[b] = %2
)";

TEST_F(KernelStoreTest, KeepsLoopsToo) {
  for (int process = 0; process < 2; ++process) {
    KernelStore store(folder_.path());
    const StatusOr<const CompiledLoop*> loop = store.FindLoop(kDoubled);
    ASSERT_TRUE(loop.ok()) << loop.status().ToString();
    const std::vector<testing::NumberArray> results =
        RunOnNumbers(**loop, 2, 1, {{.shape = {2}, .numbers = {1, 2}}});
    EXPECT_EQ(results[0].numbers, (std::vector<double>{8, 16}));
    EXPECT_EQ(FilesOf(folder_.path()).size(), 1);
  }
}

TEST_F(KernelStoreTest, CompilesAgainWhatIsDamaged) {
  KernelStore first(folder_.path());
  ASSERT_TRUE(IsRight(first.Find(ProgramWith(1)), 1));
  const std::filesystem::path file = FilesOf(folder_.path())[0];
  const uintmax_t size = std::filesystem::file_size(file);
  std::filesystem::resize_file(file, size / 2);
  KernelStore second(folder_.path());
  EXPECT_TRUE(IsRight(second.Find(ProgramWith(1)), 1));
  EXPECT_EQ(std::filesystem::file_size(file), size);
}

TEST_F(KernelStoreTest, DoesNotTakeTheCodeOfAnotherProcessor) {
  KernelStore first(folder_.path());
  ASSERT_TRUE(IsRight(first.Find(ProgramWith(1)), 1));
  const std::filesystem::path file = FilesOf(folder_.path())[0];
  // The same kernel for another processor, which has a file of its own.
  CpuMachine machine = HostMachine();
  machine.name = "another";
  const StatusOr<TileProgram> program = ReadTiles(ProgramWith(1));
  ASSERT_TRUE(program.ok());
  const ObjectStore::Key key =
      KernelKey(ProgramWith(1), machine, ChooseShape(*program, HostMachine()), BuildId());
  ObjectStore(folder_.path(), 1 << 20).Put(key, "for another processor");
  ASSERT_EQ(FilesOf(folder_.path()).size(), 2);
  // As it lies there it is not looked at, and under the name of ours it is not believed.
  for (const std::filesystem::path& other : FilesOf(folder_.path())) {
    if (other == file) continue;
    KernelStore second(folder_.path());
    EXPECT_TRUE(IsRight(second.Find(ProgramWith(1)), 1));
    EXPECT_TRUE(std::filesystem::exists(other));
    std::filesystem::rename(other, file);
    KernelStore third(folder_.path());
    EXPECT_TRUE(IsRight(third.Find(ProgramWith(1)), 1));
  }
  EXPECT_EQ(FilesOf(folder_.path()).size(), 1);
}

TEST_F(KernelStoreTest, CompilesAgainWhatIsNoCode) {
  const StatusOr<TileProgram> program = ReadTiles(ProgramWith(1));
  ASSERT_TRUE(program.ok());
  const ObjectStore::Key key =
      KernelKey(ProgramWith(1), HostMachine(), ChooseShape(*program, HostMachine()), BuildId());
  ObjectStore objects(folder_.path(), 1 << 20);
  objects.Put(key, "no code");
  KernelStore store(folder_.path());
  EXPECT_TRUE(IsRight(store.Find(ProgramWith(1)), 1));
  EXPECT_NE(objects.Get(key), "no code");
}

TEST_F(KernelStoreTest, WorksWithoutADisk) {
  for (const char* folder : {"", "/dev/null/kernels", "/proc/kernels"}) {
    KernelStore store(folder);
    EXPECT_TRUE(IsRight(store.Find(ProgramWith(1)), 1)) << folder;
  }
}

TEST_F(KernelStoreTest, RefusesEachTime) {
  KernelStore store(folder_.path());
  for (int i = 0; i < 2; ++i) {
    const StatusOr<const CompiledKernel*> kernel = store.Find("axes r c\n%0 = nonsense\n");
    ASSERT_FALSE(kernel.ok());
    EXPECT_THAT(std::string(kernel.status().message()), HasSubstr("nonsense"));
  }
  EXPECT_TRUE(FilesOf(folder_.path()).empty());
}

TEST_F(KernelStoreTest, ThreadsCompileAtOnce) {
  KernelStore store(folder_.path());
  std::vector<const CompiledKernel*> found(8);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const StatusOr<const CompiledKernel*> kernel = store.Find(ProgramWith(i % 4));
      if (kernel.ok()) found[static_cast<size_t>(i)] = *kernel;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < 4; ++i) {
    ASSERT_NE(found[i], nullptr);
    EXPECT_EQ(found[i], found[i + 4]);
    EXPECT_TRUE(IsRight(found[i], static_cast<int>(i)));
  }
  EXPECT_EQ(FilesOf(folder_.path()).size(), 4);
}

TEST_F(KernelStoreTest, ProcessesCompileAtOnce) {
  EXPECT_TRUE(RunInProcesses(3, [&](int process) {
    KernelStore store(folder_.path());
    for (int i = 0; i < 4; ++i) {
      const int number = (i + process) % 4;
      if (!IsRight(store.Find(ProgramWith(number)), number)) return false;
    }
    return true;
  }));
  EXPECT_EQ(FilesOf(folder_.path()).size(), 4);
}

// What the environment says, and where then the file is.
TEST_F(KernelStoreTest, IsInTheCacheOfTheUser) {
  const std::filesystem::path caches = folder_.path() / "caches";
  const std::filesystem::path home = folder_.path() / "home";
  const auto find_with = [&](const char* chosen) {
    return RunInProcesses(1, [&](int) {
      setenv("HOME", home.c_str(), 1);
      setenv("XDG_CACHE_HOME", chosen, 1);
      return IsRight(FindKernel(ProgramWith(1)), 1);
    });
  };
  EXPECT_TRUE(find_with(caches.c_str()));
  EXPECT_EQ(FilesOf(caches / "plimsoll" / "kernels").size(), 1);
  EXPECT_FALSE(std::filesystem::exists(home));
  EXPECT_TRUE(find_with("not/absolute"));
  EXPECT_EQ(FilesOf(home / ".cache" / "plimsoll" / "kernels").size(), 1);
}

TEST_F(KernelStoreTest, KeepsTheFastestShape) {
  const std::string program = ProgramWith(1);
  const std::vector<KernelShape> shapes = ShapesToTry(*ReadTiles(ProgramWith(1)), HostMachine());
  ASSERT_GE(shapes.size(), 3U);
  std::vector<KernelShape> timed;
  const auto time = [&](const CompiledKernel& kernel) -> StatusOr<double> {
    timed.push_back(kernel.shape);
    // The last one has no room.
    if (kernel.shape == shapes.back()) return Status(ErrorCode::kInternal, "too little scratch");
    return kernel.shape == shapes[1] ? 1 : 2;
  };
  {
    KernelStore store(folder_.path());
    for (int i = 0; i < 2; ++i) {
      const StatusOr<const CompiledKernel*> kernel = store.FindFastest(program, time);
      ASSERT_TRUE(kernel.ok()) << kernel.status().ToString();
      EXPECT_EQ((*kernel)->shape, shapes[1]);
    }
    EXPECT_EQ(timed, shapes);
    // Who has not asked for it uses the usual one in this process.
    EXPECT_EQ((*store.Find(program))->shape, shapes[0]);
  }
  timed.clear();
  KernelStore store(folder_.path());
  EXPECT_EQ((*store.Find(program))->shape, shapes[1]);
  EXPECT_EQ((*store.FindFastest(program, time))->shape, shapes[1]);
  EXPECT_TRUE(timed.empty());
}

TEST_F(KernelStoreTest, TakesTheUsualShapeIfNoOtherIsKnown) {
  const std::string text_of_program = ProgramWith(1);
  const TileProgram program = *ReadTiles(text_of_program);
  const KernelShape usual = ChooseShape(program, HostMachine());
  EXPECT_EQ(ReadShape(WriteShape(usual), program, HostMachine()), usual);
  for (const char* text : {"", "16", "16 400 2 2048", "fast"}) {
    EXPECT_EQ(ReadShape(text, program, HostMachine()), std::nullopt) << text;
    KernelStore store(folder_.path());
    store.PutText(StrCat("shape of ", text_of_program), text);
    EXPECT_EQ((*store.Find(text_of_program))->shape, usual);
  }
}

}  // namespace
}  // namespace plimsoll
