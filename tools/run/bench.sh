# ./run bench

# A benchmark is a script benchmarks/NAME.py or benchmarks/NAME.sh, or a program benchmarks/NAME_bench.cpp.
# Its summary stands in it as a comment "Summary: ...". It gets the arguments after NAME (--json FILE among
# them) and finds its surroundings in these variables of the environment:
#   BUNRAKU_SOURCE_DIR  the source tree     BUNRAKU_BUILD_DIR  an optimised build of it
#   BUNRAKU_PEERS_DIR   a Python environment with the libraries to compare with
# The programs are compiled for the processor of this machine, and run with the library that is shipped, for any
# processor, unless --native asks for the one compiled like them: the two are the same to a program.
benchmark_file() { # NAME
  local file
  for file in "benchmarks/$1.py" "benchmarks/$1.sh" "benchmarks/$1_bench.cpp"; do
    if [[ -f $file ]]; then
      say "$file"
      return 0
    fi
  done
  return 1
}

list_benchmarks() {
  local file name
  for file in benchmarks/*.py benchmarks/*.sh benchmarks/*_bench.cpp; do
    [[ -f $file ]] || continue
    name=$(basename "${file%.*}")
    printf '%-12s %s\n' "${name%_bench}" \
      "$(sed -nE '1,/Summary:/s/^.*Summary: *//p' "$file")"
  done
}

command_bench() {
  if [[ $# -eq 0 ]]; then
    list_benchmarks
    return 0
  fi
  local name=$1 file build=build/native
  shift
  file=$(benchmark_file "$name") ||
    usage_error "there is no benchmark $name, only: $(list_benchmarks | cut -d' ' -f1 | tr '\n' ' ')" bench
  need_build
  need liburdfdom-headers-dev # which Pinocchio's package lacks
  [[ " $* " != *" --callgrind "* ]] || need valgrind
  need_venv build/peers benchmarks/requirements.txt
  logged build-native build_preset native || die "the build native failed"
  grep -q '^CMAKE_BUILD_TYPE:STRING=Release$' "$build/CMakeCache.txt" ||
    die "$build is NOT an optimised build, its figures would mean nothing: remove it and try again"
  if [[ " $* " != *" --native "* && " $* " != *" --callgrind "* ]]; then
    logged build-release build_preset release bunraku || die "the build release failed"
    export LD_LIBRARY_PATH=$root/build/release${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  fi
  export BUNRAKU_SOURCE_DIR=$root BUNRAKU_BUILD_DIR=$root/$build BUNRAKU_PEERS_DIR=$root/build/peers
  cd "$caller"
  case $file in
    *.py) exec "$BUNRAKU_PEERS_DIR/bin/python" "$root/$file" "$@" ;;
    *.sh) exec bash "$root/$file" "$@" ;;
    *) exec "$BUNRAKU_BUILD_DIR/benchmarks/${name}_bench" "$@" ;;
  esac
}
