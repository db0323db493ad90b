# Completion for bash. The program itself knows its commands, options and quantities; where it offers nothing, files do.
_bunraku() {
  local words=("${COMP_WORDS[@]:1:COMP_CWORD}") line
  COMPREPLY=()
  while IFS= read -r line; do
    [[ -n $line ]] && COMPREPLY+=("${line%%$'\t'*}")
  done < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
  if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *: ]]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -o default -F _bunraku bunraku
