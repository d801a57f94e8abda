
# readline splits words at colons and equals signs, which URLs contain. This puts the words together again, and
# removes from the answers the part that is already on the line.
_cachectl_whole_words() {
    local cur prev words cword
    _get_comp_words_by_ref -n ':=@' cur prev words cword
    local quote=''
    if [[ $cur == [\"\']* ]]; then
        quote=${cur:0:1}
        cur=${cur:1}
    fi
    local typed=${cur//\\/}
    words[cword]=$typed
    local -a COMP_WORDS=("${words[@]}")
    local COMP_CWORD=$cword COMP_LINE="${words[*]}"
    local COMP_POINT=${#COMP_LINE}
    _cachectl "$1" "$typed" "$prev"
    if [[ ${COMPREPLY[0]:-} != http*:* ]]; then
        compopt -o filenames 2>/dev/null
        return
    fi
    local index answer
    for index in "${!COMPREPLY[@]}"; do
        answer=${COMPREPLY[index]}
        if [[ -z $quote ]]; then
            printf -v answer %q "$answer"
            answer=${answer#"${cur%"${cur##*[:=@]}"}"}
        fi
        COMPREPLY[index]=$answer
    done
}
complete -o bashdefault -o default -F _cachectl_whole_words cachectl
