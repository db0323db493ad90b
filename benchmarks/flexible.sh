# Summary: forward dynamics of flexible bodies: growth with bodies and modes, against Exudyn, against another theory
set -euo pipefail

. "$BUNRAKU_SOURCE_DIR/benchmarks/support/build.sh"

choose_build "$@"
logged_build cmake --build "$build" --target flexible_bench
"$build/benchmarks/flexible_bench" "$@"

# what is compared with Exudyn flies in the program, too, which answers to the script
case " $* " in
  *" --help "* | *" -h "* | *" --callgrind "*) ;;
  *) "$BUNRAKU_PEERS_DIR/bin/python" "$BUNRAKU_SOURCE_DIR/benchmarks/support/flexible_exudyn.py" \
    --program "$build/benchmarks/flexible_bench" "$@" ;;
esac
