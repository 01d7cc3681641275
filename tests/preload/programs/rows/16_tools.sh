# what:  gdb, vim, strace: start, work, leave
# needs: gdb vim strace
# tier:  long
# get:   apt install gdb vim strace
# proof: gdb vim.basic strace
# limit: 120

gdb -q -nx -batch -ex 'break main' -ex 'info functions ^main$' -ex 'python print(sum(len(str(i)) for i in range(50000)))' \
  /bin/bash 2>/dev/null | grep -v '^$' | tail -1
seq 1 30000 >lines
vim -u NONE -N -es -c '%s/\(\d\)\(\d\)/\2\1/g' -c 'g/7$/d' -c 'sort! n' -c 'wq! out' lines </dev/null || true
md5sum <out
strace -f -o trace /bin/sh -c 'for i in 1 2 3; do /bin/echo $i; done'
grep -c execve trace
