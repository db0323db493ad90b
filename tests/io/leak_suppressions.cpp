/// What the leak checker of the address sanitizer overlooks.

/// Assimp loses memory of files that it refuses (seen in 5.2.4); what this project allocates is still watched.
extern "C" [[gnu::visibility("default")]] const char* __lsan_default_suppressions() {
  return "leak:libassimp";
}
