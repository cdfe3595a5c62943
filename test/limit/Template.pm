# Texts that repeat themselves, so that an idea for a hostile input of any size is one line:
#
#     @n{text}       the text n times
#     @n,{text}      the same, with commas between
#     @100{text}     a fixed number of times; @(n/2){text} as many as the arithmetic says
#     $i $j          the index, from 0, of the innermost repetition and of the one around it
#     $n             the size
#     $(i*31 % n)    arithmetic with i, j and n, in integers
#     %name{text}    what `let name` stands for, with the text in place of its own %0
#
# Braces in a repeated text are balanced; JSON has \u007b and \u007d for a single one.
package Template;
use strict;
use warnings;
use integer;
use Exporter 'import';

our @EXPORT_OK = qw(compile expand);

# The template of a text: a list of strings and of code that gives a string for ($n, $i, $j).
# Macros are replaced while it is read.
sub compile {
    my ($text, $macros, $depth) = (@_, 0);
    die "a macro of itself in: $text\n" if $depth > 20;
    my @parts;
    while ($text =~ /\G(?:
            (?<loop> \@(?:(?<count> \w+)|(?<sum> \([^()]*\)))(?<comma> ,?)(?=\{))
          | (?<index> \$[ijn]\b)
          | \$(?<number> \((?:[^()]|\([^()]*\))*\))
          | %(?<macro> [a-z]\w*)
          | (?<plain> [^\@\$%]+ | .))/gcxs) {
        my %at = %+;
        if (exists $at{loop}) {
            my $body = compile(argument(\$text), $macros, $depth);
            push @parts, repetition(arithmetic($at{count} // $at{sum}), $body, $at{comma});
        } elsif (exists $at{index}) {
            push @parts, arithmetic(substr $at{index}, 1);
        } elsif (exists $at{number}) {
            push @parts, arithmetic($at{number});
        } elsif (exists $at{macro} && exists $macros->{ $at{macro} }) {
            my $within = $text =~ /\G(?=\{)/gc ? argument(\$text) : '';
            my $meant = $macros->{ $at{macro} } =~ s/%0/$within/gr;
            push @parts, @{ compile($meant, $macros, $depth + 1) };
        } else {
            push @parts, exists $at{macro} ? "%$at{macro}" : $at{plain};
        }
    }
    return \@parts;
}

# The text between the braces that open at the text's place; the place moves behind them.
sub argument {
    my ($text) = @_;
    my ($start, $open) = (pos $$text, 0);
    while ($$text =~ /\G[^{}]*([{}])/gc) {
        $open += $1 eq '{' ? 1 : -1;
        return substr $$text, $start + 1, pos($$text) - $start - 2 if $open == 0;
    }
    die 'no end of the braces in: ', substr($$text, $start, 40), "\n";
}

# Code for an arithmetic expression over n, i and j.
sub arithmetic {
    my ($expression) = @_;
    die "not arithmetic: $expression\n" if $expression !~ m{\A[-\s\dnij+*/%()<>&|^]+\z};
    my $code = $expression =~ s/\b([nij])\b/\$$1/gr;
    ## no critic (a fixed alphabet, from our own files)
    return eval "use integer; sub { my (\$n, \$i, \$j) = \@_; $code }" // die "$expression: $@\n";
}

sub repetition {
    my ($count, $body, $comma) = @_;
    return sub {
        my ($n, $i, $j) = @_;
        return join $comma, map { expand($body, $n, $_, $i) } 0 .. $count->($n, $i, $j) - 1;
    };
}

# The text of a template at size n.
sub expand {
    my ($parts, $n, $i, $j) = @_;
    return join '', map { ref $_ ? $_->($n, $i // 0, $j // 0) : $_ } @$parts;
}

1;
