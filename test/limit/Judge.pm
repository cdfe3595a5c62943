# The law, and whether an idea keeps it.
package Judge;
use strict;
use warnings;
use Exporter 'import';
use Ideas qw(full_size);
use Work qw(count_instructions run_plain said);

our @EXPORT_OK = qw(judge judge_growth try_out);

my $most_kib          = 512 << 10;
my $most_instructions = 8e9;          # 2 s of one core that does 4e9 a second
my $suspect_ms        = 1000;         # from here on the instructions at full size are counted
my @quick_sizes       = (1000, 20000);    # of an invented idea
my $quick_ms          = 120;          # up to here its work cannot have grown with the square
my $countable_ms      = 400;          # up to here a run is quick enough to be counted

# { name, command, n, power, kib, instructions, counted, ms, faults } of an idea.
sub judge {
    my ($program, $idea, $dir) = @_;
    my $full = full_size($idea);
    my $row = grow($program, $idea, $dir);
    my $plain = run_plain($program, $idea, $full, $dir);
    my $foretold = $row->{empty} + ($row->{twice} - $row->{empty}) * ($full / 2 / $row->{n})**$row->{power};
    @$row{qw(n kib ms instructions)} = ($full, $plain->{kib}, $plain->{ms}, $foretold);
    if ($plain->{ms} > $suspect_ms && $plain->{exit} < 128) {
        ($row->{instructions}) = count_instructions($program, $idea, $full, $dir);
        $row->{counted} = 1;
    }
    push @{ $row->{faults} }, "ended with $plain->{exit}" if $plain->{exit} >= 128;
    push @{ $row->{faults} }, 'memory' if $plain->{kib} > $most_kib;
    push @{ $row->{faults} }, 'instructions'
        if $row->{counted} && ($row->{instructions} // 'inf') > $most_instructions;
    return $row;
}

# The same without a run at full size: how the work grows from n to 2n. Only what is slow with many
# items is counted, for there are thousands of invented ideas: work that grows with n^2 is slow.
sub judge_growth {
    my ($program, $idea, $dir) = @_;
    return quick_row($idea) if is_quick($program, $idea, $dir);
    my $row = grow($program, $idea, $dir);
    @$row{qw(kib ms instructions counted)} = (0, 0, $row->{twice}, 1);
    return $row;
}

# An object that is refused for its size is cheap, so a size below the limits is tried as well.
sub is_quick {
    my ($program, $idea, $dir) = @_;
    for my $n (@quick_sizes) {
        my $outcome = run_plain($program, $idea, $n, $dir);
        return 0 if $outcome->{ms} > $quick_ms || $outcome->{exit} > 2;
    }
    return 1;
}

sub quick_row {
    my ($idea) = @_;
    return { name => $idea->{name}, command => $idea->{command}, n => $quick_sizes[-1], power => 0,
             kib => 0, faults => [] };
}

# An idea that ends or says otherwise than it should measures something else; undef when it is fine.
sub try_out {
    my ($program, $idea, $dir) = @_;
    my $outcome = run_plain($program, $idea, 2 * $idea->{at}, $dir, 1);
    return strange($idea, $outcome, $dir);
}

sub grow {
    my ($program, $idea, $dir) = @_;
    my $n = countable($program, $idea, $dir);
    my ($empty) = count_instructions($program, $idea, 0, $dir);
    my ($once)  = count_instructions($program, $idea, $n, $dir);
    my ($twice, $outcome) = count_instructions($program, $idea, 2 * $n, $dir);
    die "too slow to be counted at n = $n\n" if !defined $twice;
    my $grown = $once > $empty && $twice > $empty ? ($twice - $empty) / ($once - $empty) : 1;
    my $power = log($grown) / log 2;
    my @faults = grep { defined } strange($idea, $outcome, $dir);
    push @faults, sprintf 'n^%.2f', $power if $power > $idea->{power};
    return { name => $idea->{name}, command => $idea->{command}, n => $n, power => $power,
             empty => $empty, twice => $twice, faults => \@faults };
}

# The idea's size, or a smaller one, at which twice as much is quick enough to be counted.
sub countable {
    my ($program, $idea, $dir) = @_;
    my $n = $idea->{at};
    while ($n > 16 && run_plain($program, $idea, 2 * $n, $dir)->{ms} > $countable_ms) {
        $n = int($n / 4);
    }
    return $n;
}

sub strange {
    my ($idea, $outcome, $dir) = @_;
    return "ended with $outcome->{exit}"
        if $outcome->{exit} > 2 || defined $idea->{exit} && $outcome->{exit} != $idea->{exit};
    return "did not say '$idea->{says}'" if $idea->{says} && !said($idea->{says}, $dir);
    return undef;
}

1;
