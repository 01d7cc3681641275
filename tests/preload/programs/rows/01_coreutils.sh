# what:  coreutils, bash, tar, xz, gawk: hundreds of short processes
# needs: tar xz gawk sort man
# tier:  test
# get:   apt install coreutils bash tar xz-utils gawk man-db
# proof: bash sort tar xz gawk cat dd ls

seq 1 200000 | gawk 'BEGIN { srand(7) } { print int(rand() * 1e9), $1 }' >numbers
sort --parallel=2 -S 2M -n numbers | md5sum
sort --parallel=2 -k2,2nr numbers | cat -v | md5sum
gawk '{ seen[$1 % 5000] = seen[$1 % 5000] "," $2 } END { for (i = 0; i < 5000; i++) print seen[i] }' numbers |
  md5sum

# Every way in and out of a process: fork alone, fork and exec, a pipe that breaks.
for i in $(seq 1 250); do
  (echo "$i" | cat -v)
  x=$(/bin/echo "$i") && : "$x"
done | md5sum
{ yes 2>/dev/null || true; } | head -c 1000000 | md5sum
dd if=numbers bs=64k iflag=fullblock status=none | dd bs=17 iflag=fullblock conv=sync status=none | wc -c
dd if=/dev/zero bs=8M count=2 oflag=direct of=direct status=none || echo "no direct"
rm -f direct

ls -lR --time-style=+ /usr/share/zoneinfo /usr/include | md5sum
find /usr/share/doc -maxdepth 1 | sort | md5sum
tar -C /usr/share -cf - zoneinfo --sort=name --mtime=@0 | xz -T2 -1 | xz -dc | tar -tf - | md5sum
# man filters its own system calls, and allocates under the filter.
MANPATH=/usr/share/man man -E ascii ls 2>/dev/null | md5sum
expr "$(printf 'a%.0s' $(seq 1 3000))" : 'a*'
sed -E 's/([0-9])([0-9])/\2\1/g; s/^(.)/<\1>/' numbers | md5sum
grep -cE '(1|22|333).*[5-7]$' numbers
factor $(seq 100000 200 160000) | md5sum
find numbers -exec stat -c '%s %n' {} +
