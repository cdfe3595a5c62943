# Prints what the bash script offers at the end of each line given, driven as bash drives it: the
# line, and its words cut at = and :.
source <(berth completion bash)
for line; do
    COMP_LINE=$line COMP_POINT=${#line}
    read -a COMP_WORDS <<<"$(sed 's/[=:]/ & /g' <<<"$line")"
    [[ $line == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _berth
    echo "[$line]"
    ((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}" | sort
done
