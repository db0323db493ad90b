# Summary: derivatives of inverse and forward dynamics, against Pinocchio and code that CasADi generates
set -euo pipefail

. "$BUNRAKU_SOURCE_DIR/benchmarks/support/build.sh"

choose_build "$@"
use_peers
if [[ ! -e $build/benchmarks/libbench_pinocchio_derivatives_without_slp.so ]]; then
  echo "compiling Pinocchio's headers, two ways, once for $build: some minutes and 5 GB of memory" >&2
fi
logged_build cmake --build "$build" --target derivatives_bench
"$build/benchmarks/derivatives_bench" "$@"

if [[ " $* " == *" --help "* || " $* " == *" -h "* || " $* " == *" --callgrind "* ||
  (" $* " == *" --parts"* && "$*" != *casadi*) ]]; then
  exit 0
fi
echo
exec "$BUNRAKU_PEERS_DIR/bin/python" "$BUNRAKU_SOURCE_DIR/benchmarks/support/derivatives_casadi.py" "$@"
