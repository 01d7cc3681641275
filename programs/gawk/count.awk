# Counts words and pairs of neighbours, and prints the most frequent of each.
{
  previous = ""
  for (i = 1; i <= NF; ++i) {
    ++words[$i]
    if (previous != "") ++pairs[previous " " $i]
    lines[$i] = lines[$i] NR ","
    previous = $i
  }
}
function by_count(first_key, first, second_key, second) {
  if (first != second) return second - first
  return first_key < second_key ? -1 : first_key > second_key
}
function show(counts, most,    n, i, sorted) {
  n = asorti(counts, sorted, "by_count")
  for (i = 1; i <= n && i <= most; ++i) print counts[sorted[i]], sorted[i]
  print n
}
END {
  show(words, 50)
  show(pairs, 50)
  for (word in lines) letters += length(lines[word])
  print letters
}
