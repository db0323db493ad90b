# Completion for fish. The program itself knows its commands, options and quantities; files are offered beside them.
function __bunraku_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] __complete $words[2..-1] 2>/dev/null
end
complete -c bunraku -a '(__bunraku_complete)'
