# What the tools/check-* scripts share: which files to look at, and how to complain.
#
# A check is called as `tools/check-x [ROOT]`. It prints one line per complaint, "file:line: text",
# and exits 1 when there was any. test/tools/ calls each check on sample trees.
package Check;
use strict;
use warnings;
use Exporter 'import';
use Cwd qw(abs_path);
use File::Basename qw(dirname);

our @EXPORT = qw(enter_root files slurp without_comments complain finish);

my $tools = dirname(abs_path(__FILE__));
my ($complaints, $looked_at) = (0, 0);

# Goes to the tree to check: the first argument, or the repository this script is part of.
sub enter_root {
    my $root = shift @ARGV // "$tools/..";
    chdir $root or die "$0: $root: $!\n";
}

# The files of the tree whose name matches, in order.
sub files {
    my ($pattern) = @_;
    my $list = qx("$tools/list-files");
    my @found = grep { /$pattern/ } split /\n/, $list;
    $looked_at += @found;
    return @found;
}

sub slurp {
    my ($file) = @_;
    open my $in, '<:raw', $file or die "$0: $file: $!\n";
    local $/;
    return <$in> // '';
}

# C text with comments blanked and strings emptied; every line stays in its place.
sub without_comments {
    my ($text) = @_;
    $text =~ s{(/\*.*?\*/|//[^\n]*)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'}
              {my $t = $&; defined $1 ? $t =~ s/[^\n]+/ /gr : $t =~ /^"/ ? '""' : "'.'"}gse;
    return $text;
}

sub complain {
    my ($file, $line, $text) = @_;
    print $line ? "$file:$line: $text\n" : "$file: $text\n";
    $complaints++;
}

# Ends the script. A check that found nothing to look at has not checked anything.
sub finish {
    my ($name) = $0 =~ m{([^/]+)$};
    if (!$looked_at) {
        print "$name: no files to look at\n";
        exit 1;
    }
    print "$name: $looked_at files, ", $complaints ? "$complaints complaints\n" : "good\n";
    exit($complaints ? 1 : 0);
}

1;
