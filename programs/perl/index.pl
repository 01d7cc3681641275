# Builds an index of a text: each word with the lines that it is in, and its neighbours.
use strict;
use warnings;

my (%places, %followers, @lines);
while (my $line = <STDIN>) {
  chomp $line;
  push @lines, { number => $., words => [split /\s+/, $line] };
}
for my $line (@lines) {
  my @words = @{ $line->{words} };
  for my $i (0 .. $#words) {
    push @{ $places{ $words[$i] } }, $line->{number};
    $followers{ $words[$i] }{ $words[ $i + 1 ] }++ if $i < $#words;
  }
}
my $sum = 0;
for my $word (sort { @{ $places{$b} } <=> @{ $places{$a} } || $a cmp $b } keys %places) {
  my $list = join ',', @{ $places{$word} };
  $sum += length $list;
  my @next = sort keys %{ $followers{$word} // {} };
  print "$word ", scalar(@next), " $list\n" if $sum % 97 == 0;
}
(my $text = join "\n", map { join ' ', reverse @{ $_->{words} } } @lines) =~ s/(\w)(\w+)/$2$1/g;
print "$sum ", length $text, ' ', unpack('%32C*', $text), "\n";
