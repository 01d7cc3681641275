# what:  git: clone, gc, fsck, log
# needs: git
# tier:  test
# get:   apt install git
# proof: git
# limit: 120

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b
git init -q -b main made
cd made
for i in $(seq 1 40); do
  seq "$i" $((i * 37 + 400)) >"file$((i % 7))"
  seq 1 "$i" | tac >>"file$((i % 5))"
  git add -A
  GIT_AUTHOR_DATE="@$((1600000000 + i * 60)) +0000" GIT_COMMITTER_DATE="@$((1600000000 + i * 60)) +0000" \
    git commit -q -m "change $i"
done
git rev-parse HEAD
cd ..
git clone -q --local made cloned
git clone -q --no-local --bare made bare
cd cloned
git -c pack.threads=2 -c core.packedGitWindowSize=1m gc -q --aggressive --prune=now
git fsck --full --strict --no-progress
git log -p --stat -M | md5sum
git blame file3 | md5sum
git grep -c 17 | sort
git diff HEAD~20 --word-diff | md5sum
git archive HEAD | md5sum
git rebase -q --force-rebase HEAD~5 && git status --porcelain
