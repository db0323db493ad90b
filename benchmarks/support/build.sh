# For the scripts of benchmarks that are built when they are asked for.

# Sets `build` to the build that the arguments call for: the optimised one, or with --callgrind one for a processor that
# valgrind knows, which on a new machine need not be the machine's own.
choose_build() { # ARGUMENT...
  build=$BUNRAKU_BUILD_DIR
  [[ " $* " == *" --callgrind "* && " $* " != *" --help "* ]] || return 0
  local flags=
  build=$BUNRAKU_SOURCE_DIR/build/callgrind
  if grep -qw avx2 /proc/cpuinfo 2>/dev/null; then
    flags=-march=x86-64-v3
  fi
  [[ -e $build/build.ninja ]] ||
    logged_build cmake -S "$BUNRAKU_SOURCE_DIR" -B "$build" -G Ninja -D CMAKE_BUILD_TYPE=Release \
      -D CMAKE_CXX_FLAGS=$flags -D BUNRAKU_BENCHMARKS=ON -D BUNRAKU_CLI=OFF -D BUNRAKU_TESTS=OFF
}

# Makes the targets that need other libraries known to the build.
use_peers() {
  grep -qx "BUNRAKU_PEERS_DIR:PATH=$BUNRAKU_PEERS_DIR" "$build/CMakeCache.txt" ||
    logged_build cmake -D "BUNRAKU_PEERS_DIR=$BUNRAKU_PEERS_DIR" "$build"
}

# Runs a command with its output in a log; ends with the end of it where the command fails.
logged_build() { # COMMAND...
  local log=$BUNRAKU_SOURCE_DIR/build/logs/bench-build.log
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 </dev/null && return 0
  tail -n 60 "$log" | cut -c 1-400 >&2
  printf 'bench: the build in %s failed: the whole output is in %s\n' "$build" "$log" >&2
  exit 1
}
