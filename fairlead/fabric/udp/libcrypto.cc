#include "fairlead/fabric/udp/libcrypto.h"

#include <fmt/format.h>
#include <openssl/opensslv.h>

#include "fairlead/base/loaded_library.h"

namespace fairlead::fabric {
namespace {

Result<Libcrypto> load() {
  const std::string name = fmt::format("libcrypto.so.{}", OPENSSL_SHLIB_VERSION);
  Result<LoadedLibrary> loaded = LoadedLibrary::load(name.c_str());
  if (!loaded.ok()) {
    return Error{
        fmt::format("OpenSSL's libcrypto cannot be loaded ({}): install libssl{}, "
                    "or run with --auth header",
                    loaded.error().text, OPENSSL_SHLIB_VERSION)};
  }
  LoadedLibrary& library = loaded.value();
  Libcrypto made;
  library.find("OPENSSL_init_crypto", made.init);
  library.find("EVP_aes_128_gcm", made.aes_128_gcm);
  library.find("EVP_CIPHER_CTX_new", made.context_new);
  library.find("EVP_CIPHER_CTX_free", made.context_free);
  library.find("EVP_CIPHER_CTX_ctrl", made.context_ctrl);
  library.find("EVP_CipherInit_ex", made.cipher_init);
  library.find("EVP_CipherUpdate", made.cipher_update);
  library.find("EVP_CipherFinal_ex", made.cipher_final);
  if (const Result<void> found = library.complete(); !found.ok()) return found.error();
  // Its own exit handler would run before what a program sends at its very end.
  (void)made.init(OPENSSL_INIT_NO_ATEXIT, nullptr);
  return made;
}

}  // namespace

const Result<Libcrypto>& Libcrypto::get() {
  static const Result<Libcrypto> library = load();
  return library;
}

}  // namespace fairlead::fabric
