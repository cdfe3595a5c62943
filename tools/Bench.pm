package Bench;

# What the scripts that compare benchmarks share.
use strict;
use warnings;
use Exporter 'import';

our @EXPORT_OK = qw(have human median);

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

1;
