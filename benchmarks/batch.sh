# Summary: many states at once, against Pinocchio, its pool of threads, and MuJoCo's rollouts
set -euo pipefail

. "$BUNRAKU_SOURCE_DIR/benchmarks/support/build.sh"

choose_build "$@"
use_peers
if [[ ! -e $build/benchmarks/libbench_pinocchio_pool_without_slp.so ]]; then
  echo "compiling Pinocchio's headers, four times, once for $build: ten minutes and 5 GB of memory" >&2
fi
logged_build cmake --build "$build" --target batch_bench
"$build/benchmarks/batch_bench" "$@"
case " $* " in
  *" --help "* | *" -h "* | *" --callgrind "*) ;;
  *) "$BUNRAKU_PEERS_DIR/bin/python" "$BUNRAKU_SOURCE_DIR/benchmarks/support/batch_peers.py" \
    --program "$build/benchmarks/batch_bench" "$@" ;;
esac
