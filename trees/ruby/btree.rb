# frozen_string_literal: true

# Binary trees on the collector of Ruby.
class Tree
  def initialize(left, right)
    @left = left
    @right = right
  end

  def count
    @left ? 1 + @left.count + @right.count : 1
  end
end

def make(depth)
  depth.zero? ? Tree.new(nil, nil) : Tree.new(make(depth - 1), make(depth - 1))
end

MIN_DEPTH = 4
depth = [(ARGV[0] || 10).to_i, MIN_DEPTH + 2].max
puts "stretch tree of depth #{depth + 1}\t check: #{make(depth + 1).count}"
long_lived = make(depth)
MIN_DEPTH.step(depth, 2) do |d|
  trees = 1 << (depth - d + MIN_DEPTH)
  check = 0
  trees.times { check += make(d).count }
  puts "#{trees}\t trees of depth #{d}\t check: #{check}"
end
puts "long lived tree of depth #{depth}\t check: #{long_lived.count}"
$stdout.flush
collector = GC.stat
warn format("heapwise-trees: collections=%d total_pause_s=%.6f", collector[:count], collector[:time] / 1e3)
