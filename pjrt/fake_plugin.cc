// A plugin that does not work, for the tests. The environment variable PLIMSOLL_FAKE_PLUGIN says
// what is wrong with it.

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <string>
#include <string_view>

#include "pjrt_c_api.h"

namespace {

// What this plugin's PJRT_Error pointers point at.
struct FakeError {
  std::string message;
};

PJRT_Error* Fail(const char* message) {
  return reinterpret_cast<PJRT_Error*>(new FakeError{message});
}

void DestroyError(PJRT_Error_Destroy_Args* args) {
  delete reinterpret_cast<FakeError*>(args->error);
}

void GetErrorMessage(PJRT_Error_Message_Args* args) {
  const auto* error = reinterpret_cast<const FakeError*>(args->error);
  args->message = error->message.data();
  args->message_size = error->message.size();
}

PJRT_Error* GetErrorCode(PJRT_Error_GetCode_Args* args) {
  args->code = PJRT_Error_Code_UNAVAILABLE;
  return nullptr;
}

PJRT_Error* Initialize(PJRT_Plugin_Initialize_Args*) { return nullptr; }
PJRT_Error* FailToInitialize(PJRT_Plugin_Initialize_Args*) {
  return Fail("no driver\n\ninstall it");
}
PJRT_Error* FailToCreateClient(PJRT_Client_Create_Args*) { return Fail("no such device"); }

void Unused() { std::abort(); }

PJRT_Api MakeApi(std::string_view flaw) {
  PJRT_Api api;
  // Every function there is, so that only the named flaw is found.
  constexpr size_t kFirst = offsetof(PJRT_Api, PJRT_Error_Destroy) / sizeof(void*);
  constexpr size_t kEnd = PJRT_Api_STRUCT_SIZE / sizeof(void*);
  std::fill(reinterpret_cast<void**>(&api) + kFirst, reinterpret_cast<void**>(&api) + kEnd,
            reinterpret_cast<void*>(&Unused));
  api.struct_size = PJRT_Api_STRUCT_SIZE;
  api.extension_start = nullptr;
  api.pjrt_api_version = {PJRT_Api_Version_STRUCT_SIZE, nullptr, PJRT_API_MAJOR, PJRT_API_MINOR};
  api.PJRT_Error_Destroy = DestroyError;
  api.PJRT_Error_Message = GetErrorMessage;
  api.PJRT_Error_GetCode = GetErrorCode;
  api.PJRT_Plugin_Initialize = flaw == "initialize" ? FailToInitialize : Initialize;
  api.PJRT_Client_Create = FailToCreateClient;
  if (flaw == "tiny") api.struct_size = offsetof(PJRT_Api, pjrt_api_version);
  if (flaw == "version") api.pjrt_api_version.major_version = PJRT_API_MAJOR + 1;
  if (flaw == "old") api.struct_size = offsetof(PJRT_Api, PJRT_Executable_GetCompiledMemoryStats);
  if (flaw == "hole") api.PJRT_Client_Compile = nullptr;
  return api;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const PJRT_Api* GetPjrtApi() {
  const std::string_view flaw = std::getenv("PLIMSOLL_FAKE_PLUGIN");
  if (flaw == "nothing") return nullptr;
  // Each is a plugin of its own for the client, so it gets an address of its own for as long as the
  // process lives.
  static auto* const apis = new std::deque<PJRT_Api>;
  apis->push_back(MakeApi(flaw));
  return &apis->back();
}
