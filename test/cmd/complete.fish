# Prints what fish offers at the end of each line given, without the descriptions.
berth completion fish | source
for line in $argv
    echo "[$line]"
    complete -C $line | string replace -r '\t.*' '' | sort
end
