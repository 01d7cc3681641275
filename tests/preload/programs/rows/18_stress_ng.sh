# what:  stress-ng: malloc and fork under pressure
# needs: stress-ng
# tier:  long
# get:   apt install stress-ng
# proof: stress-ng
# limit: 180

stress-ng --quiet --malloc 2 --malloc-ops 30000 --malloc-bytes 64M --malloc-pthreads 2 --timeout 60
stress-ng --quiet --fork 2 --fork-ops 2000 --timeout 60
stress-ng --quiet --memthrash 1 --memthrash-ops 200 --timeout 30
stress-ng --quiet --pthread 2 --pthread-ops 2000 --timeout 60
echo well
