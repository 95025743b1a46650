// OpenSSL's libcrypto, loaded when it is asked for: its relocations would be a third of the start
// of a rank that does not need it, and half of its memory (docs/performance-diary.md).
#pragma once
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "fairlead/base/result.h"

namespace fairlead::fabric {

struct Libcrypto {
  // The process's one. Error: it is not installed, or not a libcrypto.
  static const Result<Libcrypto>& get();

  decltype(&::OPENSSL_init_crypto) init = nullptr;
  decltype(&::EVP_aes_128_gcm) aes_128_gcm = nullptr;
  decltype(&::EVP_CIPHER_CTX_new) context_new = nullptr;
  decltype(&::EVP_CIPHER_CTX_free) context_free = nullptr;
  decltype(&::EVP_CIPHER_CTX_ctrl) context_ctrl = nullptr;
  decltype(&::EVP_CipherInit_ex) cipher_init = nullptr;
  decltype(&::EVP_CipherUpdate) cipher_update = nullptr;
  decltype(&::EVP_CipherFinal_ex) cipher_final = nullptr;
};

}  // namespace fairlead::fabric
