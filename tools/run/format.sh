# ./run format, ./run docs

cpp_files() { # names end in NUL
  local file
  if [[ ! -e .git ]] || ! command -v git >/dev/null; then # an unpacked archive
    find . -path ./build -prune -o -type f -name '*.[ch]pp' -print0
    return 0
  fi
  git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.hpp' |
    while IFS= read -r -d '' file; do
      [[ ! -f $file ]] || printf '%s\0' "$file" # one deleted but not yet committed is listed, too
    done
}

check_format() {
  local complaints
  complaints=$(cpp_files | xargs -0 -r build/tools/bin/clang-format --dry-run 2>&1)
  [[ -z $complaints ]] && return 0
  sed -nE 's/^([^:]+):([0-9]+):[0-9]+: warning: .*$/\1 from line \2/p' <<<"$complaints" | sort -u -k 1,1
  say "These are not formatted; ./run format does it."
  return 1
}

command_format() {
  local check=false
  while [[ $# -gt 0 ]]; do
    case $1 in
      --check) check=true ;;
      *) usage_error "unknown argument: $1" format ;;
    esac
    shift
  done
  need_tools
  if $check; then
    check_format
  else
    cpp_files | xargs -0 -r build/tools/bin/clang-format -i
  fi
}

make_docs() {
  mkdir -p build/docs
  doxygen docs/Doxyfile
}

command_docs() {
  [[ $# -eq 0 ]] || usage_error "unknown argument: $1" docs
  need doxygen=doxygen
  logged docs make_docs || die "the documentation has errors"
  say "made build/docs/html/index.html"
}
