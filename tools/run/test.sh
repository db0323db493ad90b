# ./run test

passed=0
failed=0
skipped=0

# Runs one stage; on failure prints the closing line and ends.
stage() { # TITLE LOG COMMAND...
  local title=$1 log=$2 start=$SECONDS status=0
  shift 2
  printf '%-44s' "$title"
  logged "$log" "$@" 2>"$logs/failure" || status=$?
  if [[ $status -eq 0 ]]; then
    printf 'ok %6d s\n' $((SECONDS - start))
  else
    printf 'FAILED %2d s\n' $((SECONDS - start))
    cat "$logs/failure" >&2
  fi
  if [[ $log == ctest-* ]]; then
    count_tests "$logs/$log.log"
  fi
  [[ $status -ne 0 ]] || return 0
  warn "stopped: $title"
  [[ $failed -gt 0 ]] || failed=1
  closing_line
  exit 1
}

# Adds up the tests in a log of ctest, and names those that were skipped.
count_tests() { # LOG
  local good bad left
  read -r good bad left < <(python3 tools/count_tests.py "$1" 2>"$logs/skipped")
  sed 's/^/    /' "$logs/skipped"
  passed=$((passed + good))
  failed=$((failed + bad))
  skipped=$((skipped + left))
}

closing_line() { say "$passed passed, $failed failed, $skipped skipped"; }

build_for_tests() { # PRESET
  build_preset "$1"
  if [[ $1 == release ]]; then
    build_preset "$1" all_verify_interface_header_sets # each public header compiles on its own
  fi
}

run_ctest() { # PRESET REGEX
  local names
  if [[ -z $2 ]]; then
    ctest --preset "$1" -j "$jobs" $([[ $1 == release ]] || say --verbose)
    return
  fi
  names=$(ctest --test-dir build/release -N -R "$2" | sed -nE 's/^ *Test +#[0-9]+: [^.]+\.([^ ]+).*$/\1/p')
  if [[ -z $names ]]; then
    say "No test's name matches $2; \`ctest --test-dir build/release -N\` lists them."
    return 1
  fi
  if [[ $1 == release ]]; then
    ctest --preset "$1" -j "$jobs" -R "$2"
  else # there each program runs all of its tests
    GTEST_FILTER=$(tr '\n' ':' <<<"$names") ctest --preset "$1" -j "$jobs" --verbose
  fi
}

# Of batches those tests that run on several threads: the others take minutes there and show nothing.
run_thread_tests() {
  GTEST_FILTER='Threads.*:*Threads*:*Throws*:*StopTheOthers:AllocateNothing*' ctest --preset tsan -j "$jobs" --verbose -L '^(threads|batch)$'
}

build_benchmarks() {
  cmake --preset release -DBUNRAKU_BENCHMARKS=ON
  build_preset release
  build/release/benchmarks/scaling_bench --max 100 --seconds 0.001
  build/release/benchmarks/operators_bench --parts robots --models models --robots puppet --seconds 0.001
}

# What computes, with the kernels that every processor has in place of the fastest.
run_baseline_tests() {
  BUNRAKU_CPU=baseline ctest --preset release -j "$jobs" -L '^(batch|dynamics|threads)$'
}

command_test() {
  local quick=false only='' sanitizer=asan start=$SECONDS
  while [[ $# -gt 0 ]]; do
    case $1 in
      --quick) quick=true ;;
      --only)
        only=${2:?--only needs a regular expression}
        shift
        ;;
      --only=*) only=${1#*=} ;;
      --sanitizer)
        sanitizer=${2:?--sanitizer needs a name}
        shift
        ;;
      --sanitizer=*) sanitizer=${1#*=} ;;
      *) usage_error "unknown argument: $1" test ;;
    esac
    shift
  done
  [[ $sanitizer == asan || $sanitizer == tsan ]] ||
    usage_error "there is no sanitizer $sanitizer, only asan and tsan" test
  local all=true
  if $quick || [[ -n $only ]]; then
    all=false
  fi

  mkdir -p "$logs"
  need_build
  if $all; then
    need_tools
    need doxygen=doxygen
    stage "format" format check_format
    stage "reference documentation" docs make_docs
  fi
  stage "release build" build-release build_for_tests release
  stage "release tests" ctest-release run_ctest release "$only"
  if ! $quick; then
    stage "$sanitizer build" "build-$sanitizer" build_for_tests "$sanitizer"
    stage "$sanitizer tests" "ctest-$sanitizer" run_ctest "$sanitizer" "$only"
  fi
  if $all; then
    if [[ $sanitizer != tsan ]]; then
      stage "tsan build, tests of threads" build-tsan build_preset tsan threads_test batch_test
      stage "tsan tests of threads" ctest-tsan run_thread_tests
    fi
    stage "clang-tidy" tidy python3 tools/tidy.py -j "$jobs"
    stage "tests with the kernels of any processor" ctest-baseline run_baseline_tests
    stage "benchmarks" build-benchmarks build_benchmarks
    stage "static build" build-static build_preset static
    stage "use from outside, with other flags" consumer tests/consumer/matrix
  fi
  say "all checks passed in $((SECONDS - start)) s"
  closing_line
}
