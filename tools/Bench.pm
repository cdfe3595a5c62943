package Bench;

# What the scripts that compare benchmarks share.
use strict;
use warnings;
use Exporter 'import';
use POSIX ();

our @EXPORT_OK = qw(facts have human median output_of save);

sub have { return system("command -v $_[0] >/dev/null") == 0 }

sub median {
    my @sorted = sort { $a <=> $b } @{ $_[0] };
    return $sorted[ @sorted / 2 ];
}

# A time in ns.
sub human {
    my ($ns) = @_;
    return sprintf '%.2f ms', $ns / 1e6 if $ns >= 1e6;
    return sprintf '%.0f µs', $ns / 1e3 if $ns >= 1e4;
    return sprintf '%.1f µs', $ns / 1e3 if $ns >= 1e3;
    return sprintf $ns >= 20 ? '%.0f ns' : '%.1f ns', $ns;
}

sub output_of {
    my ($command) = @_;
    my $text = qx($command);
    chomp $text;
    return $text;
}

# What a reader of results wants to know of the machine, and the versions of what was measured.
sub facts {
    my (%versions) = @_;
    return {
        processor  => output_of("sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1"),
        processors => output_of('nproc') + 0,
        load       => output_of('cut -d " " -f 1-3 /proc/loadavg'),
        system     => output_of('uname -sr'),
        compiler   => output_of('cc --version | head -n 1'),
        go         => output_of('go env GOVERSION'),
        day        => POSIX::strftime('%Y-%m-%d', gmtime),
        %versions,
    };
}

sub save {
    my ($path, $text) = @_;
    open my $out, '>', $path or die "$path: $!\n";
    print {$out} $text;
    close $out or die "$path: $!\n";
    return;
}

1;
