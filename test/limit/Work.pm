# What a command costs: instructions, counted by valgrind, and memory and time of a run without it.
package Work;
use strict;
use warnings;
use Exporter 'import';
use File::Basename qw(dirname);
use Ideas qw(write_files);
use Template qw(expand);

our @EXPORT_OK = qw(count_instructions run_plain said);

my $count_seconds = 120;     # for a run under valgrind, which is some thirty times slower
my $plain_seconds = 6;       # for a plain run: three times what the law allows
my $plain_mib     = 1024;    # address space of a plain run: twice what the law allows

# valgrind's cheapest way to count: no caches, no call graph.
my $counter = 'valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null'
    . ' --log-file=counted';

# How many instructions the idea takes at size n, undef when they are too many to wait for; and how
# the run ended.
sub count_instructions {
    my ($program, $idea, $n, $dir) = @_;
    my $outcome = run($program, $idea, $n, $dir, $counter, 0, $count_seconds);
    return (undef, $outcome) if $outcome->{exit} >= 128;
    open my $log, '<', "$dir/counted" or die "$dir/counted: $!\n";
    my ($count) = map { /I\s+refs:\s+([\d,]+)/ ? $1 =~ tr/,//dr : () } <$log>;
    return ($count // die("nothing counted\n"), $outcome);
}

# How a run without valgrind ended: exit status, KiB at the peak, milliseconds of one core. Programs
# with sanitizers run unguarded: they are slow, and reserve terabytes of addresses.
sub run_plain {
    my ($program, $idea, $n, $dir, $unguarded) = @_;
    return run($program, $idea, $n, $dir, '', $unguarded ? (0, 10 * $plain_seconds) : ($plain_mib, $plain_seconds));
}

sub run {
    my ($program, $idea, $n, $dir, $before, $mib, $seconds) = @_;
    write_files($idea, $n, $dir);
    open my $script, '>:raw', "$dir/run" or die "$dir/run: $!\n";
    print $script "exec $before $program ", expand($idea->{run}, $n), "\n";
    close $script or die "$dir/run: $!\n";
    my $measure = dirname($program) . '/limit_measure';
    my $line = "'$measure' report $mib $seconds sh run >stdout 2>stderr </dev/null";
    system("cd '$dir' && exec $line") == 0 or die "$measure failed\n";
    open my $report, '<', "$dir/report" or die "$dir/report: $!\n";
    my ($exit, $kib, $ms) = split ' ', <$report>;
    return { exit => $exit, kib => $kib, ms => $ms };
}

# Whether the last run in the folder said something that matches.
sub said {
    my ($pattern, $dir) = @_;
    for my $name (qw(stdout stderr)) {
        open my $in, '<:raw', "$dir/$name" or die "$dir/$name: $!\n";
        while (my $line = <$in>) {
            return 1 if $line =~ /$pattern/;
        }
    }
    return 0;
}

1;
