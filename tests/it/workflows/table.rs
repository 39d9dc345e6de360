//! The workflows. `AGENTS.md`, `.gitattributes`, `.vscode` and `.github/workflows` are locked.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The same as bare, without a question.
    Same,
    /// The same as bare, after a question about locked files.
    Asked,
    /// Nothing has begun.
    Refused,
}

use Outcome::{Asked, Refused, Same};

pub(super) struct Flow {
    pub(super) name: &'static str,
    /// What was done before, without the tool.
    pub(super) before: &'static str,
    /// Each is one call of the tool.
    pub(super) steps: &'static [&'static str],
    pub(super) outcome: Outcome,
}

const fn flow(
    name: &'static str,
    before: &'static str,
    steps: &'static [&'static str],
    outcome: Outcome,
) -> Flow {
    Flow { name, before, steps, outcome }
}

/// Branches: `plain` changes ordinary files, `locked` also locked ones, `conflict` the same line as `main`. Only the
/// remote has `feature` and `feature-locked`, and a newer `main`.
pub(super) const SEED: &str = r#"
set -e
export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
mkdir home config overflow
git init -q -b main --template= project
mkdir project/.git/hooks
cd project
git config user.name Tester
git config user.email tester@localhost
git config commit.gpgSign false
git config protocol.file.allow always
mkdir -p .github/workflows src docs
seq 1 12 > a.txt
echo b > src/b.txt
echo d > docs/d.txt
echo 'Be kind.' > AGENTS.md
echo 'on: push' > .github/workflows/ci.yml
echo '*.png binary' > .gitattributes
echo 'out/' > .gitignore
git add -A; git commit -qm base
git checkout -qb plain; sed -i s/^3$/three/ a.txt; git commit -qam 'plain 1'; echo n > n.txt; git add n.txt; git commit -qm 'plain 2'
git checkout -qb locked main; mkdir .vscode; echo '{}' > .vscode/settings.json; echo 'Be brief.' > AGENTS.md
echo 'on: pull_request' > .github/workflows/ci.yml; sed -i s/^9$/nine/ a.txt; git add -A; git commit -qm 'locked 1'
git checkout -qb unlocked main; git rm -q .github/workflows/ci.yml; git commit -qm 'no ci'
git checkout -qb conflict main; echo other > src/b.txt; git commit -qam 'conflict 1'
git checkout -q main; echo ours > src/b.txt; git commit -qam 'main 2'
git tag v1
git clone -q --bare . ../remote.git
git remote add origin ../remote.git
git clone -q ../remote.git ../other
cd ../other
git config user.name Tester; git config user.email tester@localhost
git checkout -q -b feature; echo f > f.txt; git add f.txt; git commit -qm 'feature 1'; git push -q origin feature
git checkout -q -b feature-locked main; echo 'Be quick.' > AGENTS.md; git commit -qam 'feature locked'; git push -q origin feature-locked
cd ../project
git fetch -q
git repack -q -a -d; git -C ../remote.git repack -q -a -d; rm -rf ../remote.git/hooks
cd ..; rm -rf other
"#;

/// Gives the remote's `main` a new commit.
const REMOTE_MOVES: &str = "git clone -q ../remote.git ../o; cd ../o; git config user.name T; git config user.email t@l; \
    echo r > r.txt; git add r.txt; git commit -qm 'remote 1'; git push -q origin main; cd ../project; rm -rf ../o; \
    git branch -q -u origin/main";
const REMOTE_LOCKS: &str = "git clone -q ../remote.git ../o; cd ../o; git config user.name T; git config user.email t@l; \
    echo r > AGENTS.md; git commit -qam 'remote 1'; git push -q origin main; cd ../project; rm -rf ../o; \
    git branch -q -u origin/main";
const SUBMODULE: &str = "git clone -q --bare . ../sub.git";
/// The project has a submodule in `out2`.
const WITH_SUBMODULE: &str = "git clone -q --bare . ../sub.git; git -c protocol.file.allow=always submodule -q add ../sub.git out2; git commit -qm sub";
/// The project has a submodule in `outer`, which has one in `outer/inner`.
const DEEP: &str = "git clone -q --bare . ../sub.git; git clone -q . ../mid; git -C ../mid -c protocol.file.allow=always submodule -q add $PWD/../sub.git inner; \
    git -C ../mid -c user.name=T -c user.email=t@l commit -qm inner; git -c protocol.file.allow=always submodule -q add ../mid outer; \
    git -c protocol.file.allow=always submodule -q update --init --recursive; git commit -qm outer; \
    git submodule foreach -q --recursive 'git config user.name T; git config user.email t@l'";
/// The project has a submodule in `out2`, in which the user commits.
const WORKED: &str = "git clone -q --bare . ../sub.git; git -c protocol.file.allow=always submodule -q add ../sub.git out2; git commit -qm sub; \
    git -C out2 config user.name T; git -C out2 config user.email t@l";
/// Git signs each commit and tag with a key of the user's.
const SIGNED: &str = "mkdir -p ../home/.ssh; ssh-keygen -q -t ed25519 -N '' -f ../home/.ssh/id; git config gpg.format ssh; \
    git config user.signingKey ../home/.ssh/id; git config commit.gpgSign true; git config tag.gpgSign true; echo x >> docs/d.txt";
/// The same, and the remote's `main` has a new commit.
const SIGNED_REMOTE: &str = "mkdir -p ../home/.ssh; ssh-keygen -q -t ed25519 -N '' -f ../home/.ssh/id; git config gpg.format ssh; \
    git config user.signingKey ../home/.ssh/id; git clone -q ../remote.git ../o; cd ../o; git config user.name T; \
    git config user.email t@l; echo r > r.txt; git add r.txt; git commit -qm 'remote 1'; git push -q origin main; \
    cd ../project; rm -rf ../o; git branch -q -u origin/main; git fetch -q; git config commit.gpgSign true";
/// Git signs with a program that needs no key.
const KEYLESS: &str = r#"mkdir out; printf '#!/bin/sh\ncat >/dev/null; echo "[GNUPG:] SIG_CREATED D" >&2; echo signature\n' > out/sign; chmod +x out/sign; \
    git config gpg.program ./out/sign; git config commit.gpgSign true; echo x >> docs/d.txt"#;
/// The project has a submodule in a folder.
const LIBRARY: &str = "git clone -q --bare . ../sub.git; git -c protocol.file.allow=always submodule -q add ../sub.git libs/out2; git commit -qm sub";
/// The same. The repository of the submodule is in its own folder.
const ABSORBED: &str = "git clone -q --bare . ../sub.git; git clone -q ../sub.git out2; git submodule -q add ../sub.git out2; git commit -qm sub";
/// The index has a repository that is no submodule.
const LINKED: &str = "git clone -q . out2; git add out2 2> ../said; git commit -qm link";
/// The project is a clone that has no contents but those of the files that are checked out.
const PARTIAL: &str = "git -C ../remote.git config uploadpack.allowFilter true; \
    git -C ../remote.git config uploadpack.allowAnySHA1InWant true; find . -mindepth 1 -delete; \
    git clone -q --template= --filter=blob:none file://$PWD/../remote.git .; git remote set-url origin ../remote.git; mkdir -p .git/hooks; git config user.name T; \
    git config user.email t@l; git config commit.gpgSign false";
/// Files by a filter, as LFS has it.
const FILTERED: &str = "git config filter.lfs.clean cat; git config filter.lfs.smudge cat; git config filter.lfs.required true; \
    echo '*.bin filter=lfs -text' >> .gitattributes; printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:0\\nsize 1\\n' > big.bin; \
    git add -A; git commit -qm lfs; git checkout -qb newer; echo 'size 2' >> big.bin; git commit -qam newer; git checkout -q main";
/// A mail in which the patch is not text that one can read.
const ENCODED: &str = "{ printf 'From x Mon Sep 17 00:00:00 2001\\nFrom: A <a@b>\\nSubject: x\\nMIME-Version: 1.0\\n\
    Content-Type: text/plain; charset=UTF-8\\nContent-Transfer-Encoding: base64\\n\\n'; \
    { printf 'text\\n---\\n'; git diff main locked; } | base64; } > ../p.mbox";
/// A rebase has stopped in its last commit; one before it has locked files.
const MIXED: &str =
    "git checkout -q -b mixed locked; git cherry-pick conflict; git rebase main || true";
const MAILED: &str =
    "git checkout -q -b mixed locked; git cherry-pick conflict; git rebase --apply main || true";
/// The same in the other order.
const CROSSED: &str =
    "git checkout -q -b mixed conflict; git cherry-pick locked; git rebase main || true";
/// All programs of the repository that run around commits and branches.
const HOOKS: &str = "for it in prepare-commit-msg commit-msg post-commit post-checkout post-merge pre-rebase pre-push post-rewrite; do \
    printf '#!/bin/sh\\necho '$it' >> .git/ran.txt\\n' > .git/hooks/$it; chmod +x .git/hooks/$it; done";

#[rustfmt::skip]
pub(super) const TABLE: &[Flow] = &[
    flow("commit", "", &["echo x >> a.txt", "git add -A", "git commit -qm 'more'", "git log --oneline -3"], Same),
    flow("commit from a here-document", "echo x >> a.txt", &["git commit -a -F - <<'EOF'\nA title\n\nA body.\nEOF"], Same),
    flow("amend", "echo x >> a.txt", &["git commit -a --amend --no-edit -q"], Same),
    flow("commit all in one line", "echo x > new.txt", &["git add -A && git commit -qm new && git status --short"], Same),
    flow("signing that fails", "git config commit.gpgSign true; git config gpg.program false; echo x >> a.txt", &["git commit -qam signed"], Refused),
    flow("tag", "", &["git tag v2", "git tag -a v3 -m three", "git tag -d v1"], Same),
    flow("new branch", "", &["git checkout -b topic", "echo t > t.txt && git add t.txt && git commit -qm t"], Same),
    flow("new branch with switch", "", &["git switch -c topic"], Same),
    flow("checkout of a plain branch", "", &["git checkout plain", "git checkout main", "git checkout -"], Same),
    flow("checkout of a branch with locked files", "", &["git checkout locked"], Asked),
    flow("switch to a branch with locked files and back", "", &["git switch locked", "git switch -"], Asked),
    flow("checkout of a branch without the workflows", "", &["git checkout unlocked"], Asked),
    flow("checkout in a list of commands", "", &["git checkout locked && cat AGENTS.md"], Refused),
    flow("checkout in a script", "printf 'git checkout -q locked\\n' > go.sh", &["bash go.sh"], Refused),
    flow("checkout of a word that is known later", "", &["b=locked; git checkout $b"], Refused),
    flow("plain checkout in a list of commands", "", &["git checkout plain && cat a.txt && git checkout -q main"], Same),
    flow("detached head", "", &["git checkout --detach HEAD~1", "git checkout main"], Same),
    flow("checkout of a file", "echo x >> a.txt", &["git checkout -- a.txt"], Same),
    flow("checkout of a locked file", "echo x >> AGENTS.md", &["git checkout -- AGENTS.md"], Asked),
    flow("checkout of another branch's files", "", &["git checkout locked -- a.txt"], Same),
    flow("checkout of another branch's locked files", "", &["git checkout locked -- ."], Asked),
    flow("restore", "echo x >> a.txt; git add a.txt", &["git restore --staged a.txt", "git restore a.txt"], Same),
    flow("restore of everything", "echo x >> AGENTS.md; echo y >> a.txt", &["git restore ."], Asked),
    flow("reset", "echo x >> a.txt; git add -A", &["git reset -q", "git reset -q --soft HEAD~1"], Same),
    flow("hard reset", "echo x >> a.txt", &["git reset --hard -q HEAD~1"], Same),
    flow("hard reset to locked files", "", &["git reset --hard -q locked"], Asked),
    flow("merge, fast forward", "git checkout -q -b topic HEAD~1", &["git merge main"], Same),
    flow("merge", "", &["git merge plain -m merged"], Same),
    flow("merge with locked files", "", &["git merge locked -m merged"], Asked),
    flow("merge with a conflict", "", &["git merge conflict", "echo both > src/b.txt", "git add src/b.txt", "git commit -qm both"], Same),
    flow("merge that is given up", "", &["git merge conflict", "git merge --abort"], Same),
    flow("squash", "", &["git merge --squash plain", "git commit -qm squashed"], Same),
    flow("rebase", "git checkout -q plain", &["git rebase main"], Same),
    flow("rebase of commits with locked files", "git checkout -q locked", &["git rebase main"], Asked),
    flow("rebase onto locked files", "git checkout -q plain", &["git rebase locked"], Asked),
    flow("rebase with a conflict", "git checkout -q conflict", &["git rebase main", "echo both > src/b.txt && git add src/b.txt", "git rebase --continue"], Same),
    flow("rebase that is given up", "git checkout -q conflict", &["git rebase main", "git rebase --abort"], Same),
    flow("rebase whose rest has no locked files", MIXED, &["echo both > src/b.txt && git add src/b.txt", "git rebase --continue"], Same),
    flow("rebase by patches whose rest has no locked files", MAILED, &["echo both > src/b.txt && git add src/b.txt", "git rebase --continue"], Same),
    flow("rebase whose rest has locked files", CROSSED, &["echo both > src/b.txt && git add src/b.txt", "git rebase --continue"], Asked),
    flow("rebase of which a commit is skipped", MIXED, &["git rebase --skip"], Same),
    flow("rebase that is given up after locked files", MIXED, &["git rebase --abort"], Same),
    flow("rebase that is given up before locked files", CROSSED, &["git rebase --abort"], Asked),
    flow("interactive rebase", "git checkout -q plain", &["GIT_SEQUENCE_EDITOR='sed -i 2s/pick/fixup/' git rebase -i HEAD~2"], Same),
    flow("autosquash", "git checkout -q plain; echo x >> a.txt; git commit -qa --fixup HEAD~1", &["git rebase -i --autosquash main"], Same),
    flow("cherry-pick", "", &["git cherry-pick plain"], Same),
    flow("cherry-pick of locked files", "", &["git cherry-pick locked"], Asked),
    flow("cherry-pick of a range", "", &["git cherry-pick main~1..plain"], Same),
    flow("cherry-pick whose rest has no locked files", "git cherry-pick locked conflict || true", &["echo both > src/b.txt && git add src/b.txt", "git cherry-pick --continue"], Same),
    flow("cherry-pick that is given up after locked files", "git cherry-pick locked conflict || true", &["git cherry-pick --abort"], Asked),
    flow("cherry-pick with a conflict", "", &["git cherry-pick conflict", "git cherry-pick --abort"], Same),
    flow("revert", "", &["git revert --no-edit HEAD"], Same),
    flow("stash", "echo x >> a.txt", &["git stash", "git stash list", "git stash pop"], Same),
    flow("stash of locked files", "echo x >> a.txt; echo y >> AGENTS.md", &["git stash", "git stash pop"], Asked),
    flow("stash of untracked files", "echo x > new.txt", &["git stash -u", "git stash pop"], Same),
    flow("stash of untracked locked files", "echo x > .envrc", &["git stash -u", "git stash apply"], Asked),
    flow("stash of one file", "echo x >> a.txt; echo y >> AGENTS.md", &["git stash push -- a.txt", "git stash drop"], Same),
    flow("pull, fast forward", REMOTE_MOVES, &["git pull"], Same),
    flow("pull with rebase", REMOTE_MOVES, &["echo x > x.txt && git add x.txt && git commit -qm x", "git pull --rebase"], Same),
    flow("pull of locked files", REMOTE_LOCKS, &["git pull"], Asked),
    flow("pull of a branch", REMOTE_MOVES, &["git pull origin main"], Same),
    flow("pull with nothing new", "git branch -q -u origin/main", &["git pull && git log --oneline -1"], Same),
    flow("fetch and merge", REMOTE_LOCKS, &["git fetch", "git merge origin/main"], Asked),
    flow("push", "git checkout -q -b topic; echo x >> a.txt; git commit -qam x", &["git push origin topic"], Same),
    flow("worktree", "", &["git worktree add -q out/w plain", "git -C out/w status --short", "git worktree remove out/w"], Asked),
    flow("worktree that is moved", "", &["git worktree add -q out/w plain", "git worktree move out/w out/v", "git -C out/v status --short"], Asked),
    flow("worktree whose folder is deleted", "", &["git worktree add -q out/w plain", "rm -rf out/w", "git worktree prune"], Asked),
    flow("worktree with settings of its own", "git config extensions.worktreeConfig true", &["git worktree add -q out/w plain", "git worktree remove out/w"], Asked),
    flow("worktree of a sparse checkout", "git sparse-checkout set src", &["git worktree add -q out/w locked", "git -C out/w status --short"], Asked),
    flow("worktree of a sparse checkout in a list of commands", "git sparse-checkout set src", &["git worktree add -q out/w locked && ls out/w"], Refused),
    flow("worktree that is removed from another one", "", &["git worktree add -q out/w plain", "git worktree add -q out/v locked", "git -C out/v worktree remove ../w"], Asked),
    flow("worktree with a new branch", "", &["git worktree add -q -b topic out/w", "cd out/w && echo x > x.txt && git add x.txt && git commit -qm x"], Same),
    flow("submodule", SUBMODULE, &["git submodule add -q ../sub.git out2", "git commit -qm sub"], Asked),
    flow("hook that refuses", "printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo x >> a.txt", &["git commit -qam x"], Same),
    flow("hook that writes", "printf '#!/bin/sh\\necho done > hooked.txt\\n' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit; echo x >> a.txt", &["git commit -qam x"], Same),
    flow("pointers of LFS", "printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:0\\nsize 1\\n' > big.bin", &["git add big.bin && git commit -qm big", "git checkout -q plain", "git checkout -q main"], Same),
    flow("partial clone", "git -C ../remote.git config uploadpack.allowFilter true", &["git clone -q --filter=blob:none --no-checkout file://$PWD/../remote.git out/c"], Same),
    flow("shallow clone in a folder", "", &["git clone -q --depth 1 file://$PWD/../remote.git out/c && git -C out/c log --oneline"], Same),
    flow("new repository in a folder", "", &["git init -q out/n && cd out/n && git config user.name x && git status --short"], Same),
    flow("removal and renaming", "", &["git rm -q docs/d.txt", "git mv a.txt c.txt", "git commit -qm moved"], Same),
    flow("removal of a locked file", "", &["git rm -q AGENTS.md"], Asked),
    flow("renaming of a locked folder", "", &["git mv .github docs/github"], Asked),
    flow("clean", "mkdir out; echo x > out/x; echo y > y.txt", &["git clean -fdq"], Same),
    flow("clean of ignored locked files", "echo .envrc >> .gitignore; echo x > .envrc", &["git clean -fdxq"], Asked),
    flow("patch", "git diff main plain > ../p.patch", &["git apply ../p.patch"], Same),
    flow("patch of locked files", "git diff main locked > ../p.patch", &["git apply ../p.patch"], Asked),
    flow("patch from the input", "git diff main plain > ../p.patch", &["git apply < ../p.patch"], Same),
    flow("patch from a pipe", "git diff main plain > ../p.patch", &["cat ../p.patch | git apply -"], Same),
    flow("patch of locked files from the input", "git diff main locked > ../p.patch", &["git apply < ../p.patch"], Asked),
    flow("patch of a locked file from a here-document", "", &["git apply <<'EOF'\n--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -1 +1 @@\n-Be kind.\n+Be loud.\nEOF"], Asked),
    flow("patch of locked files from a pipe", "git diff main locked > ../p.patch", &["cat ../p.patch | git apply"], Refused),
    flow("patch that renames a locked file", "git mv AGENTS.md x.md; git diff --cached -M HEAD > ../p.patch; git reset -q --hard", &["git apply ../p.patch"], Asked),
    flow("patch into a locked folder", "git diff main plain -- n.txt > ../p.patch", &["git apply --direc .github/workflows ../p.patch"], Asked),
    flow("mailed patch of locked files from the input", "git format-patch -q -1 locked --stdout > ../p.mbox", &["git am -q < ../p.mbox"], Asked),
    flow("encoded mail with a patch of locked files", ENCODED, &["git am -q ../p.mbox"], Asked),
    flow("encoded mail from the input among other commands", ENCODED, &["git am -q < ../p.mbox && true"], Refused),
    flow("abbreviated options", "echo x >> AGENTS.md", &["git reset --har"], Asked),
    flow("abbreviated options of a checkout", "echo x >> AGENTS.md", &["git checkout --forc plain"], Asked),
    flow("abbreviated options among other commands", "echo x >> AGENTS.md", &["git checkout --forc plain; git reset --ha"], Refused),
    flow("abbreviated options that change nothing", "echo x >> AGENTS.md; echo x >> a.txt", &["git rm -f --cach AGENTS.md", "git reset --mix -q", "git restore --stag a.txt"], Same),
    flow("option that is taken back", "", &["git rm --cached --no-cached -q AGENTS.md"], Asked),
    flow("paths from a file", "echo x >> AGENTS.md; echo AGENTS.md > ../list", &["git checkout --pathspec-from-file=../list"], Asked),
    flow("changes that a rebase puts aside by the configuration", "git config rebase.autostash true; echo x >> AGENTS.md", &["git rebase -q plain"], Asked),
    flow("mailed patch", "git format-patch -q -1 plain --stdout > ../p.mbox", &["git am -q ../p.mbox"], Same),
    flow("bisect", "git branch -q good HEAD~1; git bisect start -q HEAD good", &["git bisect log", "git bisect reset"], Same),
    flow("garbage collection", "", &["git gc -q"], Same),
    flow("signing of a tag that fails", "git config gpg.program false", &["git tag -s -m s v9", "git tag -l"], Refused),
    flow("signing that fails in a merge", "git config gpg.program false; git config commit.gpgSign true", &["git merge plain -m merged"], Refused),
    flow("signing that fails in a rebase", "git config gpg.program false; git config commit.gpgSign true", &["git rebase --no-ff HEAD~1"], Refused),
    flow("signing that fails among other commands", "git config gpg.program false; echo x >> a.txt", &["git commit -aS -qm signed; git status --short"], Refused),
    flow("signed commit", SIGNED, &["git commit -qam x"], Refused),
    flow("signed commit with an alias", SIGNED, &["git -c alias.ci=commit ci -qam x"], Refused),
    flow("signed commit by a setting of the command", SIGNED, &["git -c commit.gpgSign=false -c commit.gpgSign=true commit -qam x"], Refused),
    flow("signed commit with another key", SIGNED, &["git commit -qam x -S../home/.ssh/id.pub"], Refused),
    flow("signed commit in a script", SIGNED, &["sh -c 'git commit -qam x'; git status --short"], Refused),
    flow("signed merge", SIGNED, &["git merge plain"], Refused),
    flow("signed merge that is no step forward", SIGNED, &["git checkout -qb old main~1", "git merge -q --no-ff main"], Refused),
    flow("signed merge of locked files", SIGNED, &["git merge locked"], Refused),
    flow("signed rebase", SIGNED, &["git stash -q", "git rebase plain"], Refused),
    flow("signed cherry-pick", SIGNED, &["git cherry-pick plain"], Refused),
    flow("signed revert", SIGNED, &["git revert --no-edit HEAD"], Refused),
    flow("signed mail", "git format-patch -q -1 plain --stdout > ../p.mbox; git config gpg.program false; git config commit.gpgSign true", &["git am -q ../p.mbox"], Refused),
    flow("signed tag", SIGNED, &["git tag v9"], Refused),
    flow("signed tag by an option", "git config gpg.program false", &["git tag -um@x -m s v9"], Refused),
    flow("end of a merge that is signed", "git merge conflict || git add -A; git config gpg.program false; git config commit.gpgSign true", &["GIT_EDITOR=true git merge --continue"], Refused),
    flow("rest of a rebase that was begun with a signature", "git config gpg.program false; git checkout -q conflict; git rebase -S main || true; git add -A", &["GIT_EDITOR=true git rebase --continue"], Refused),
    flow("pull that merges with a signature", SIGNED_REMOTE, &["git commit -q --no-gpg-sign --allow-empty -m own", "git pull --no-rebase --no-edit"], Refused),
    flow("pull that rebases with a signature", SIGNED_REMOTE, &["git commit -q --no-gpg-sign --allow-empty -m own", "git pull --rebase"], Refused),
    flow("pull by a step forward where commits are signed", SIGNED_REMOTE, &["git pull", "git pull --rebase"], Same),
    flow("merge by a step forward where commits are signed", SIGNED, &["git checkout -qb old main~1", "git -c merge.ff=only merge -q main", "git merge -q main", "git stash -q && git rebase -q main"], Same),
    flow("commits without a signature", SIGNED, &["git -c commit.gpgSign=false commit -qam x", "git commit -q --allow-empty --no-gpg-sign -m y", "git merge -q --no-gpg-sign plain -m merged", "git merge -q --squash unlocked~1", "git merge -q --no-ff --no-commit conflict; git merge --abort", "git tag --no-sign v8", "git tag -l", "git tag -n2 --sort=refname", "git tag -d v8"], Same),
    flow("signature without a key", KEYLESS, &["git commit -qam x", "git merge -q plain -m merged", "git tag -s -m s v9"], Same),
    flow("garbage collection of what is not needed", "git branch -D plain; git reflog expire --expire=now --all", &["git gc -q --prune=now", "git gc --auto", "git count-objects", "git fsck"], Same),
    flow("packing", "", &["git repack -q -a -d", "git pack-refs --all", "git prune", "git maintenance run -q --task=gc"], Same),
    flow("clone into the project's root", "find . -mindepth 1 -delete", &["git clone -q ../remote.git ."], Refused),
    flow("clone into the project's root by its path", "find . -mindepth 1 -delete", &["git clone -q ../remote.git $PWD && ls"], Refused),
    flow("clone into the project's root without files", "find . -mindepth 1 -delete", &["git -c url.$PWD/../remote.git.insteadOf=https://hub.test/r.git clone -q -n --template= https://hub.test/r.git .", "git reset -q --hard"], Asked),
    flow("upstream in a worktree", "", &["git worktree add -q out/w plain", "cd out/w && git branch -u origin/main", "git -C out/w push -q -u origin plain", "git -C out/w status -sb"], Same),
    flow("branches in a worktree", "", &["git worktree add -q out/w plain", "cd out/w && git checkout -q -b topic origin/feature && git branch -vv", "git branch -D conflict"], Same),
    flow("submodule that is there already", SUBMODULE, &["git clone -q ../sub.git out2 && git -C out2 remote remove origin", "git submodule add ../sub.git out2", "git commit -qm sub", "git submodule status"], Asked),
    flow("submodule that is updated", WITH_SUBMODULE, &["git submodule update --init", "git submodule status"], Asked),
    flow("submodule that is left and taken again", WITH_SUBMODULE, &["git submodule deinit -f out2", "git submodule update --init"], Asked),
    flow("submodule in a list of commands", WITH_SUBMODULE, &["git submodule update --init && ls out2"], Refused),
    flow("submodule with a new commit", WORKED, &["git -C out2 checkout -q --detach origin/plain", "echo x >> out2/a.txt && GIT_AUTHOR_DATE=2026-01-02T00:00:00Z GIT_COMMITTER_DATE=2026-01-02T00:00:00Z git -C out2 commit -qam newer", "git commit -qam sub", "git -C out2 checkout -q HEAD~1", "git submodule update", "git submodule foreach git status --short"], Asked),
    flow("branches of a submodule", WORKED, &["cd out2 && git checkout -q -b topic origin/plain", "cd out2 && git merge -q conflict || true; git -C out2 merge --abort", "git -C out2 stash list && git -C out2 fetch -q && git -C out2 rebase -q origin/main", "git -C out2 tag v2 && git -C out2 gc -q && git -C out2 branch -D main"], Same),
    flow("submodule whose settings a command changes", WITH_SUBMODULE, &["git -C out2 config core.fsmonitor ./x"], Refused),
    flow("submodule of a submodule", DEEP, &["git -C outer/inner checkout -q -b topic origin/plain && GIT_AUTHOR_DATE=2026-01-02T00:00:00Z GIT_COMMITTER_DATE=2026-01-02T00:00:00Z git -C outer commit -qam deeper", "git commit -qam deeper", "git submodule update --recursive"], Asked),
    flow("worktree of a submodule", WORKED, &["git -C out2 worktree add -q ../out/w plain", "cd out/w && echo x > x.txt && git add x.txt && GIT_AUTHOR_DATE=2026-01-02T00:00:00Z GIT_COMMITTER_DATE=2026-01-02T00:00:00Z git commit -qm x", "git -C out2 worktree remove ../out/w"], Asked),
    flow("submodule of a worktree", WITH_SUBMODULE, &["git worktree add -q --detach out/w", "git -C out/w submodule update --init", "git -C out/w submodule status", "git worktree remove --force out/w"], Asked),
    flow("submodule of a worktree in a list of commands", WITH_SUBMODULE, &["git worktree add -q --detach out/w", "cd out/w && git submodule update --init && ls out2"], Refused),
    flow("submodule that is removed", WITH_SUBMODULE, &["git rm -q out2", "git commit -qm gone"], Asked),
    flow("submodule that is renamed", WITH_SUBMODULE, &["git mv out2 docs/sub", "git commit -qm moved", "git submodule status"], Asked),
    flow("folder of a submodule that is renamed", LIBRARY, &["git mv libs lib", "git commit -qm moved", "git submodule status"], Asked),
    flow("submodule that gives its repository away", ABSORBED, &["git submodule absorbgitdirs"], Refused),
    flow("removal of a submodule with a repository of its own", ABSORBED, &["git rm -q out2"], Refused),
    flow("repository in the index that is renamed", LINKED, &["git mv out2 docs/n", "git -C docs/n status --short"], Asked),
    flow("branch without a submodule", WITH_SUBMODULE, &["git checkout -q plain", "git checkout -q main"], Asked),
    flow("branch without a submodule, recursing", WITH_SUBMODULE, &["git checkout -q --recurse-submodules plain"], Asked),
    flow("sparse checkout", "", &["git sparse-checkout set src", "git sparse-checkout list", "git sparse-checkout disable"], Asked),
    flow("sparse checkout in a list of commands", "", &["git sparse-checkout set src && ls"], Refused),
    flow("branches of a sparse checkout", "git sparse-checkout set src .github", &["git checkout -q plain", "git checkout -q main", "git merge conflict", "git merge --abort"], Same),
    flow("partial clone with files", "git -C ../remote.git config uploadpack.allowFilter true", &["git clone -q --filter=blob:none file://$PWD/../remote.git out/c", "git -C out/c checkout -q feature && ls out/c"], Same),
    flow("branches of a partial clone", PARTIAL, &["git checkout -q feature", "git checkout -q main", "git log -p -3"], Same),
    flow("locked files of a partial clone", PARTIAL, &["git checkout -q feature-locked"], Asked),
    flow("files by a filter", FILTERED, &["git checkout -q newer", "echo x >> big.bin", "git commit -qam x", "git checkout -q main", "git stash list"], Same),
    flow("hooks", HOOKS, &["echo x >> a.txt", "git commit -qam x", "git merge -q plain", "git checkout -q -b topic", "git rebase -q conflict", "git push -q origin topic"], Same),
    flow("hook that refuses a push", "printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/pre-push; chmod +x .git/hooks/pre-push", &["git push origin main:other", "git push --no-verify origin main:other"], Same),
    flow("hook that a command writes", "", &["printf '#!/bin/sh\\nexit 1\\n' > hook.sh", "git config core.hooksPath ."], Refused),
    flow("notes and reflog", "", &["git notes add -m note", "git reflog -1", "git update-ref refs/heads/x HEAD"], Same),
    flow("alias", "git config alias.co checkout", &["git co plain", "git co locked"], Asked),
    flow("another folder", "", &["cd src && git checkout locked"], Asked),
    flow("option for the folder", "", &["git -C src checkout locked"], Asked),
    flow("orphan branch", "", &["git switch --orphan empty"], Asked),
    flow("checkout of the remote's branch", "", &["git checkout feature", "git status -sb"], Same),
    flow("checkout of the remote's branch with locked files", "", &["git checkout feature-locked"], Asked),
    flow("checkout -b with a start", "", &["git checkout -b mine origin/feature"], Same),
    flow("push with an upstream", "git checkout -q -b topic", &["git push -u origin topic", "git status -sb"], Same),
    flow("branches", "", &["git branch topic", "git branch -m topic other", "git branch -d other", "git branch -D conflict"], Same),
    flow("branch with an upstream", "", &["git branch -u origin/main", "git branch --unset-upstream"], Same),
    flow("settings by which git runs programs", "", &["git config core.fsmonitor ./x"], Refused),
    flow("remotes", "", &["git remote add up ../remote.git", "git fetch up", "git remote remove up"], Same),
    flow("name of the author", "", &["git config user.name 'Somebody Else'"], Same),
];
