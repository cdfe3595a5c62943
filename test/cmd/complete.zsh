# Prints what zsh offers at the end of each line given. A shell in a pseudo-terminal completes, and
# compadd is asked to say what it would add.
zmodload zsh/zpty || exit 1
dir=$(mktemp -d) || exit 1
berth completion zsh >$dir/_berth
cat >$dir/rc <<END
fpath=($dir \$fpath)
autoload -Uz compinit && compinit -u -d $dir/dump
PS1= PS2=
compadd() {
    builtin compadd -O offered "\$@"
    (( \$#offered )) && print -rl -- \$offered >>$dir/offered
    builtin compadd "\$@"
}
done_() { print done >>$dir/done }
compprefuncs=() comppostfuncs=(done_)
zle -C offer complete-word _main_complete
bindkey '^I' offer
END
for line; do
    : >$dir/offered
    rm -f $dir/done
    zpty z "TERM=dumb zsh -f -i"
    zpty -w z "source $dir/rc"
    zpty -n -w z "$line"$'\t'
    for i in {1..500}; do
        zpty -r -t z >/dev/null 2>&1
        [[ -e $dir/done ]] && break
        sleep 0.02
    done
    zpty -d z
    echo "[$line]"
    sort -u $dir/offered
done
rm -r $dir
