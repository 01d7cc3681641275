# what:  perl, lua, ruby: trees, tables, forks
# needs: perl lua5.4 ruby
# tier:  test
# get:   apt install perl lua5.4 ruby
# proof: perl lua5.4 ruby3.1

cat >t.pl <<'END'
use strict; use warnings;
sub tree { my $d = shift; return $d ? [tree($d - 1), tree($d - 1)] : [] }
sub count { my $t = shift; my $n = 1; $n += count($_) for @$t; return $n }
print count(tree(14)), "\n" for 1 .. 3;
my %h;
for my $i (1 .. 100000) { $h{$i * 7919 % 30011} .= "x$i"; delete $h{$i % 911} if $i % 5 == 0 }
my $sum = 0;
$sum += length $h{$_} for keys %h;
print scalar(keys %h), " $sum\n";
for my $n (1 .. 30) {
  my $pid = fork() // die;
  if (!$pid) { my @a = map { "y" x $_ } 1 .. 500; exit(@a % 250) }
  waitpid $pid, 0;
  print $? >> 8, " ";
}
print "\n";
END
cat >t.lua <<'END'
local function tree(d) if d == 0 then return {} end return { tree(d - 1), tree(d - 1) } end
local function count(t) local n = 1 for _, c in ipairs(t) do n = n + count(c) end return n end
for _ = 1, 3 do print(count(tree(14))) end
local parts, seen = {}, {}
for i = 1, 200000 do
  local k = (i * 7919) % 30011
  seen[k] = (seen[k] or "") .. "x"
  if i % 17 == 0 then parts[#parts + 1] = tostring(i) end
end
print(#table.concat(parts), #seen[5])
local co = {}
for i = 1, 5000 do co[i] = coroutine.wrap(function() for j = 1, 3 do coroutine.yield(i * j) end end) end
local sum = 0
for i = 1, 5000 do sum = sum + co[i]() + co[i]() end
print(sum)
END
cat >t.rb <<'END'
def tree(d) = d.zero? ? [] : [tree(d - 1), tree(d - 1)]
def count(t) = 1 + t.sum { |c| count(c) }
3.times { puts count(tree(13)) }
h = Hash.new { |t, k| t[k] = +'' }
100_000.times { |i| h[i * 7919 % 30_011] << "x#{i}"; h.delete(i % 911) if i % 5 == 0 }
puts h.size, h.values.sum(&:size)
pids = 8.times.map { |n| fork { a = Array.new(2000) { |i| 'z' * i }; exit!(a.size % (n + 200)) } }
puts pids.map { |p| Process.wait2(p)[1].exitstatus }.inspect
puts 8.times.map { |n| Thread.new { Array.new(20_000) { |i| "t#{i * n}" }.map(&:size).sum } }.map(&:value).inspect
GC.start
GC.compact if GC.respond_to?(:compact)
END
perl t.pl
lua5.4 t.lua
ruby --disable-gems t.rb
