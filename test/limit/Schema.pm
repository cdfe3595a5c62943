# The rows of src/api/schema/*.def as data: which fields the types have, and which types the kinds.
package Schema;
use strict;
use warnings;
use Exporter 'import';

our @EXPORT_OK = qw(read_schema);

# { types => { name => [ { json, kind, type, required } ... ] }, kinds => [ { type, kind, version } ... ] },
# in the order of the files. `type` of a field is that of OBJECTS rows; INLINE rows are resolved.
sub read_schema {
    my ($folder) = @_;
    my (%types, @kinds);
    for my $file (map { $_ =~ /"api\/schema\/(\w+\.def)"/ } split /\n/, slurp("$folder/all.def")) {
        my $text = slurp("$folder/$file");
        while ($text =~ /^#define T (\w+)\n(.*?)^END$/gms) {
            $types{$1} = [ map { @$_ } fields($2, \%types) ];
        }
    }
    my $text = slurp("$folder/kinds.def");
    while ($text =~ /^(?:KIND|ALSO)\((\w+), (?:\w+, )?"(\w+)", "([^"]+)",\s+"(\w*)"/gm) {
        push @kinds, { type => $1, kind => $2, version => $3 } if $4;
    }
    return { types => \%types, kinds => \@kinds };
}

sub fields {
    my ($rows, $types) = @_;
    my @found;
    while ($rows =~ /^(FIELD|DEFAULT|OBJECTS|LATER|INLINE)\((.*?)\)$/gms) {
        my ($row, $columns) = ($1, $2);
        my ($member, $json, $kind, $type) = map { tr{" \n}{}dr } split /,/, $columns;
        push @found, $row eq 'INLINE' ? $types->{$member}
            : [ { json => $json, kind => $kind, required => $columns !~ /\bOMIT\b/,
                  $row =~ /OBJECTS|LATER/ ? (type => $type) : () } ];
    }
    return @found;
}

sub slurp {
    my ($file) = @_;
    open my $in, '<', $file or die "$file: $!\n";
    local $/;
    return scalar <$in>;
}

1;
