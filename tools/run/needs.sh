# What the commands need: packages of the system, and Python tools in build/.

# Installs what is missing. NEED is a Debian package, or PROGRAM=PACKAGE where any installation will do.
need() { # NEED...
  local item packages=() missing=()
  for item in "$@"; do
    case $item in
      *=*) command -v "${item%%=*}" >/dev/null || missing+=("${item#*=}") ;;
      *) packages+=("$item") ;;
    esac
  done
  if ! command -v apt-get >/dev/null; then
    warn "there is no apt-get here; if something is missing, these Debian packages name it: ${packages[*]}" \
      "${missing[*]}"
    return 0
  fi
  if ! dpkg_has "${packages[@]}"; then
    for item in "${packages[@]}"; do
      dpkg_has "$item" || missing+=("$item")
    done
  fi
  [[ ${#missing[@]} -eq 0 ]] || apt_install "${missing[@]}"
}

dpkg_has() { # PACKAGE...
  [[ $# -eq 0 ]] && return 0
  local states
  states=$(dpkg-query -W -f='${db:Status-Status}\n' "$@" 2>/dev/null) || return 1
  ! grep -qvx installed <<<"$states"
}

apt_install() { # PACKAGE...
  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
      warn "these packages are missing, and without sudo only root can install them: apt-get install $*"
      return 0
    fi
    as_root=(sudo)
  fi
  say "installing $*"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
  mkdir -p "$logs"
  if "${apt[@]}" install --no-install-recommends "$@" >"$logs/apt.log" 2>&1; then
    return 0
  fi
  # Most often the package lists are old or absent.
  if "${apt[@]}" update >"$logs/apt.log" 2>&1 &&
    "${apt[@]}" install --no-install-recommends "$@" >>"$logs/apt.log" 2>&1; then
    return 0
  fi
  tail -n 20 "$logs/apt.log" >&2
  die "apt-get could not install $*: is the network there? The whole output is in $logs/apt.log"
}

need_build() {
  need g++=g++ cmake=cmake ninja=ninja-build pkg-config=pkg-config ccache=ccache python3=python3 \
    libeigen3-dev libtinyxml2-dev libfmt-dev libyaml-dev libassimp-dev libcli11-dev libsimdjson-dev libedit-dev libgtest-dev \
    libgmock-dev
}

# A Python environment with exactly what a requirements file names.
need_venv() { # FOLDER REQUIREMENTS
  local folder=$1 requirements=$2
  cmp -s "$requirements" "$folder/requirements.txt" && return 0
  need python3=python3
  python3 -c 'import ensurepip, venv' 2>/dev/null || need python3-venv
  say "installing $(grep -v '^#' "$requirements" | tr '\n' ' ')in $folder"
  logged "venv-$(basename "$folder")" make_venv "$folder" "$requirements" ||
    die "the Python tools could not be installed: is the network there?"
  cp "$requirements" "$folder/requirements.txt"
}

make_venv() { # FOLDER REQUIREMENTS
  local python=python3
  python3 -c 'import ensurepip, venv' 2>/dev/null || python=/usr/bin/python3
  rm -rf "$1"
  "$python" -m venv "$1"
  "$1/bin/python" -m pip install --disable-pip-version-check --quiet -r "$2"
}

need_tools() { need_venv build/tools tools/requirements.txt; }

need_clang() {
  need clang++=clang
  # libFuzzer and the sanitizers come in a package named after clang's version.
  if [[ -z $(compgen -G "$(clang++ -print-resource-dir)/lib/*/libclang_rt.fuzzer*.a") ]]; then
    need "libclang-rt-$(clang++ -dumpversion | cut -d. -f1)-dev"
  fi
}
