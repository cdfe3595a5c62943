# The ideas of test/limit/*.ideas, and the files that one of them needs at a given size.
#
#     let NAME = TEXT                   a macro for the templates that follow; see Template.pm
#     === NAME                          an idea
#     run COMMAND LINE                  for /bin/sh, without the program's own name
#     FILE.EXTENSION TEMPLATE           a file that the command line names; any number of them
#     exit STATUS                       what the program ends with; 0, 1 or 2 when missing
#     says REGULAR EXPRESSION           what its output must hold: the idea does what it says
#     most N                            the largest size that makes sense, when 3 MiB is beyond it
#     at N                              where growth is looked at, N and 2N; 500 when missing
#     power P                           how the work may grow, when not by n^1.2; a comment says why
#
# \n is a new line in the template of a .yaml or .txt file.
# A line that begins with a space continues the line before it; # begins a comment.
package Ideas;
use strict;
use warnings;
use Exporter 'import';
use Template qw(compile expand);

our @EXPORT_OK = qw(read_ideas write_files full_size);

my $object_bytes = 3 << 20;    # LIMIT_OBJECT_BYTES: what an API server takes in one request

sub read_ideas {
    my ($file) = @_;
    open my $in, '<', $file or die "$file: $!\n";
    my $text = join '', grep { !/^#/ } <$in>;
    $text =~ s/\n[ \t]+//g;
    my (@ideas, %macros);
    for my $line (grep { /\S/ } split /\n/, $text) {
        eval { read_line($line, \@ideas, \%macros); 1 } or die "$file: $@";
    }
    return @ideas;
}

sub read_line {
    my ($line, $ideas, $macros) = @_;
    if ($line =~ /^let (\w+) = (.*)$/) {
        $macros->{$1} = $2;
    } elsif ($line =~ /^=== (\S+)$/) {
        push @$ideas, { name => $1, at => 500, power => 1.2, files => {} };
    } elsif ($line =~ /^(exit|most|at) (\d+)$/ || $line =~ /^(power) ([\d.]+)$/ || $line =~ /^(says) (.+)$/) {
        $ideas->[-1]{$1} = $2;
    } elsif ($line =~ /^run (.+)$/) {
        $ideas->[-1]{run} = compile($1, $macros);
        $ideas->[-1]{command} = $1 =~ s/%(\w+)/$macros->{$1} \/\/ "%$1"/ger;
    } elsif ($line =~ /^(\w+\.\w+) (.+)$/) {
        my ($name, $text) = ($1, $2);
        $text =~ s/\\n/\n/g if $name =~ /\.(yaml|txt)$/;
        $ideas->[-1]{files}{$name} = compile($text, $macros);
    } else {
        die "not a line of an idea: $line\n";
    }
}

# Writes the files of the idea at size n into the folder; the bytes they have together.
sub write_files {
    my ($idea, $n, $dir) = @_;
    my $bytes = 0;
    for my $name (keys %{ $idea->{files} }) {
        my $text = expand($idea->{files}{$name}, $n);
        open my $out, '>:raw', "$dir/$name" or die "$dir/$name: $!\n";
        print $out $text;
        close $out or die "$dir/$name: $!\n";
        $bytes += length $text;
    }
    return $bytes;
}

sub size {
    my ($idea, $n) = @_;
    my $bytes = 0;
    $bytes += length expand($_, $n) for values %{ $idea->{files} };
    return $bytes;
}

# The largest size, within a few per cent, whose files together stay under what an API server takes.
sub full_size {
    my ($idea) = @_;
    return $idea->{most} if $idea->{most};
    my ($n, $empty, $power) = ($idea->{at} // 64, size($idea, 0), 1);
    my $bytes = size($idea, $n) - $empty;
    die "$idea->{name}: no file grows with n\n" if $bytes <= 0;
    for (1 .. 6) {
        my $next = int($n * (($object_bytes * 0.99 - $empty) / $bytes)**(1 / $power));
        my $more = size($idea, $next) - $empty;
        $power = log($more / $bytes) / log($next / $n) if $next != $n;
        ($n, $bytes) = ($next, $more);
        return $n if $bytes + $empty < $object_bytes && $bytes + $empty > $object_bytes * 0.95;
    }
    die "$idea->{name}: no size comes near $object_bytes bytes\n";
}

1;
