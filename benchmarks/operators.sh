# Summary: operator expressions against the tuned algorithms, growth with N, time to find them
set -euo pipefail

. "$BUNRAKU_SOURCE_DIR/benchmarks/support/build.sh"

choose_build "$@"
logged_build cmake --build "$build" --target operators_bench
exec "$build/benchmarks/operators_bench" "$@"
