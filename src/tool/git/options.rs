//! The options of git's subcommands, read as git reads them: short ones may be bundled, long ones abbreviated and taken
//! back, and some take the next word as their value.

use super::invocation::Invocation;

/// The options of each subcommand: a letter, a long name, or both; `=` stands behind one with a value, and `?` behind one
/// whose value can only stand in the same word.
const TABLE: &[(&str, &str)] = &[
    (
        "am",
        "i,interactive b,binary 3,3way q,quiet s,signoff u,utf8 k,keep keep-non-patch m,message-id keep-cr c,scissors \
         quoted-cr= whitespace= ignore-space-change ignore-whitespace directory= exclude= include= C= p= patch-format= \
         reject resolvemsg= continue r,resolved skip abort quit show-current-patch? retry allow-empty \
         committer-date-is-author-date ignore-date rerere-autoupdate S,gpg-sign? empty= rebasing n,no-verify",
    ),
    (
        "apply",
        "exclude= include= p= no-add stat allow-binary-replacement binary numstat summary check index N,intent-to-add \
         cached unsafe-paths apply 3,3way ours theirs union build-fake-ancestor= z C= whitespace= ignore-space-change \
         ignore-whitespace R,reverse unidiff-zero reject allow-overlap v,verbose q,quiet inaccurate-eof recount \
         directory= allow-empty",
    ),
    ("bisect", "no-checkout first-parent term-new= term-old= term-bad= term-good="),
    (
        "checkout",
        "b= B= l guess overlay q,quiet recurse-submodules? progress m,merge conflict= d,detach t,track? f,force \
         orphan= overwrite-ignore ignore-other-worktrees 2,ours 3,theirs p,patch ignore-skip-worktree-bits \
         pathspec-from-file= pathspec-file-nul U,unified= inter-hunk-context=",
    ),
    (
        "checkout-index",
        "a,all ignore-skip-worktree-bits f,force q,quiet n,no-create u,index z stdin temp prefix= stage=",
    ),
    (
        "cherry-pick",
        "quit continue abort skip cleanup= n,no-commit e,edit r s,signoff m,mainline= rerere-autoupdate strategy= \
         X,strategy-option= S,gpg-sign? x ff allow-empty allow-empty-message keep-redundant-commits empty=",
    ),
    ("clean", "q,quiet n,dry-run f,force i,interactive d e,exclude= x X"),
    (
        "commit",
        "q,quiet v,verbose F,file= author= date= m,message= c,reedit-message= C,reuse-message= fixup= squash= \
         reset-author trailer= s,signoff t,template= e,edit cleanup= status S,gpg-sign? a,all i,include p,patch \
         interactive o,only n,no-verify dry-run short branch ahead-behind porcelain long z,null amend no-post-rewrite \
         u,untracked-files? pathspec-from-file= pathspec-file-nul allow-empty allow-empty-message U,unified= \
         inter-hunk-context=",
    ),
    (
        "merge",
        "n stat summary compact-summary log? squash commit e,edit cleanup= ff ff-only rerere-autoupdate \
         verify-signatures s,strategy= X,strategy-option= m,message= F,file= into-name= v,verbose q,quiet abort quit \
         continue allow-unrelated-histories progress S,gpg-sign? autostash overwrite-ignore signoff no-verify",
    ),
    ("mv", "v,verbose n,dry-run f,force k sparse"),
    (
        "pull",
        "v,verbose q,quiet progress recurse-submodules? r,rebase? n stat summary compact-summary log? signoff squash \
         commit e,edit cleanup= ff ff-only verify verify-signatures autostash s,strategy= X,strategy-option= \
         S,gpg-sign? allow-unrelated-histories all a,append upload-pack= f,force t,tags p,prune j,jobs? dry-run k,keep \
         depth= shallow-since= shallow-exclude= deepen= unshallow update-shallow refmap= o,server-option= 4,ipv4 6,ipv6 \
         negotiation-tip= show-forced-updates set-upstream",
    ),
    (
        "read-tree",
        "super-prefix= index-output= empty v,verbose m trivial aggressive reset prefix= u i exclude-per-directory= \
         n,dry-run no-sparse-checkout debug-unpack recurse-submodules? q,quiet",
    ),
    (
        "rebase",
        "onto= keep-base no-verify q,quiet v,verbose n,no-stat signoff committer-date-is-author-date reset-author-date \
         ignore-date C= ignore-whitespace whitespace= f,force-rebase no-ff continue skip abort quit edit-todo \
         show-current-patch apply m,merge i,interactive p,preserve-merges rerere-autoupdate empty= k,keep-empty \
         autosquash update-refs S,gpg-sign? autostash x,exec= allow-empty-message r,rebase-merges? fork-point \
         s,strategy= X,strategy-option= root reschedule-failed-exec reapply-cherry-picks trailer=",
    ),
    (
        "reset",
        "q,quiet no-refresh mixed soft hard merge keep recurse-submodules? p,patch N,intent-to-add pathspec-from-file= \
         pathspec-file-nul U,unified= inter-hunk-context=",
    ),
    (
        "restore",
        "s,source= S,staged W,worktree ignore-unmerged overlay q,quiet recurse-submodules? progress m,merge conflict= \
         2,ours 3,theirs p,patch ignore-skip-worktree-bits pathspec-from-file= pathspec-file-nul U,unified= \
         inter-hunk-context=",
    ),
    (
        "revert",
        "quit continue abort skip cleanup= n,no-commit e,edit r s,signoff m,mainline= rerere-autoupdate strategy= \
         X,strategy-option= S,gpg-sign? reference",
    ),
    (
        "rm",
        "n,dry-run q,quiet cached f,force r ignore-unmatch sparse pathspec-from-file= pathspec-file-nul",
    ),
    ("sparse-checkout", "cone sparse-index skip-checks stdin rules-file= z"),
    (
        "stash",
        "p,patch k,keep-index S,staged q,quiet u,include-untracked a,all m,message= pathspec-from-file= \
         pathspec-file-nul index U,unified= inter-hunk-context= label-ours= label-theirs= label-base=",
    ),
    (
        "switch",
        "c,create= C,force-create= guess discard-changes q,quiet recurse-submodules? progress m,merge conflict= \
         d,detach t,track? f,force orphan= overwrite-ignore ignore-other-worktrees",
    ),
    (
        "tag",
        "l,list n? d,delete v,verify a,annotate m,message= F,file= trailer= e,edit s,sign cleanup= u,local-user= f,force \
         create-reflog column? contains= with= without= merged= omit-empty sort= points-at= format= color? i,ignore-case",
    ),
    (
        "worktree",
        "f,force checkout b= B= d,detach orphan lock reason= q,quiet track guess-remote relative-paths n,dry-run \
         v,verbose expire= porcelain z",
    ),
];

/// Subcommands of `stash` that leave the working tree alone. Their options are those of other commands.
const SHOWING: [&str; 8] = ["list", "show", "drop", "clear", "create", "store", "export", "import"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    None,
    /// In the same word, if there is one.
    Stuck,
    Needed,
}

struct Choice {
    letter: Option<char>,
    /// The long name, or the letter if there is none.
    name: &'static str,
    value: Value,
}

fn choices(all: &'static str) -> impl Iterator<Item = Choice> {
    all.split(' ').map(|it| {
        let (name, value) = match (it.strip_suffix('='), it.strip_suffix('?')) {
            (Some(name), _) => (name, Value::Needed),
            (_, Some(name)) => (name, Value::Stuck),
            _ => (it, Value::None),
        };
        if let Some((letter, name)) = name.split_once(',') {
            return Choice { letter: letter.chars().next(), name, value };
        }
        let letter = name.chars().next().filter(|it| it.len_utf8() == name.len());
        Choice { letter, name, value }
    })
}

/// The same command in one spelling: each option has its long name (or `--` and its letter if it has none), its value in
/// the same word, and stands before all other words. Options that are taken back are left out. `None` if the options
/// cannot be read: git is then newer than the table, or refuses them.
pub(super) fn spelt_out(it: &Invocation) -> Option<Invocation> {
    let is_showing =
        it.verb == "stash" && it.words.first().is_some_and(|it| SHOWING.contains(&it.as_str()));
    let Some((_, all)) = TABLE.iter().find(|(verb, _)| *verb == it.verb) else {
        return Some(it.clone());
    };
    if is_showing {
        return Some(it.clone());
    }
    let all: Vec<Choice> = choices(all).collect();
    let (mut options, mut plain, mut after) = (Vec::new(), Vec::new(), Vec::new());
    let mut words = it.words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            after = std::iter::once(word).chain(words).cloned().collect();
            break;
        }
        if word == "--end-of-options" {
            plain.extend(words.cloned());
            break;
        }
        let mut next = || words.next().cloned();
        if let Some(long) = word.strip_prefix("--") {
            options.push(long_option(&all, long, &mut next)?);
        } else if let Some(letters) = word.strip_prefix('-').filter(|it| !it.is_empty()) {
            short_options(&all, letters, &mut next, &mut options)?;
        } else {
            plain.push(word.clone());
        }
    }
    let words = [lasting(&options), plain, after].concat();
    Some(Invocation { words, ..it.clone() })
}

type Given = (String, Option<String>);

fn long_option(
    all: &[Choice],
    word: &str,
    next: &mut dyn FnMut() -> Option<String>,
) -> Option<Given> {
    let (written, stuck) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (word, None),
    };
    // each option has an opposite, which takes no value
    let longs = all.iter().filter(|it| it.name.len() > 1);
    let names: Vec<(String, Value)> = longs
        .flat_map(|it| {
            let opposite = match it.name.strip_prefix("no-") {
                Some(rest) => rest.to_owned(),
                None => format!("no-{}", it.name),
            };
            [(it.name.to_owned(), it.value), (opposite, Value::None)]
        })
        .collect();
    let exact = names.iter().find(|it| it.0 == written);
    let mut begun = names.iter().filter(|it| it.0.starts_with(written));
    let (name, value) = match (exact, begun.next(), begun.next()) {
        (Some(exact), _, _) => exact,
        (None, Some(only), None) => only,
        _ => return None,
    };
    let value = match (value, stuck) {
        (Value::Needed, None) => Some(next()?),
        (Value::None, Some(_)) => return None,
        (_, stuck) => stuck,
    };
    Some((name.clone(), value))
}

fn short_options(
    all: &[Choice],
    letters: &str,
    next: &mut dyn FnMut() -> Option<String>,
    options: &mut Vec<Given>,
) -> Option<()> {
    let mut rest = letters.chars();
    while let Some(letter) = rest.next() {
        let choice = all.iter().find(|it| it.letter == Some(letter))?;
        let stuck = Some(rest.as_str()).filter(|it| !it.is_empty()).map(str::to_owned);
        let value = match choice.value {
            Value::None => {
                options.push((choice.name.to_owned(), None));
                continue;
            }
            Value::Stuck => stuck,
            Value::Needed => Some(stuck.or_else(&mut *next)?),
        };
        options.push((choice.name.to_owned(), value));
        break;
    }
    Some(())
}

/// The options without those that a later one takes back.
fn lasting(options: &[Given]) -> Vec<String> {
    let stem = |it: &str| it.strip_prefix("no-").unwrap_or(it).to_owned();
    let is_last = |at: usize, name: &str| {
        !options[at + 1..].iter().any(|later| later.0 != name && stem(&later.0) == stem(name))
    };
    let kept = options.iter().enumerate().filter(|(at, it)| is_last(*at, &it.0));
    kept.map(|(_, (name, value))| match value {
        Some(value) => format!("--{name}={value}"),
        None => format!("--{name}"),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_as_git_reads_them() {
        let check = |line: &str, wanted: Option<&str>| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let it = spelt_out(&Invocation::read(&words).unwrap());
            assert_eq!(it.map(|it| it.words.join(" ")).as_deref(), wanted, "{line}");
        };
        for (line, wanted) in [
            ("reset --har", "--hard"),
            ("reset --har HEAD~1 -q", "--hard --quiet HEAD~1"),
            ("checkout --forc main", "--force main"),
            ("checkout --no-forc -f main", "--force main"),
            ("checkout -f --no-force main", "--no-force main"),
            ("checkout -qfB new main", "--quiet --force --B=new main"),
            ("checkout -Bfq", "--B=fq"),
            ("checkout --conf diff3 -- -f", "--conflict=diff3 -- -f"),
            ("checkout --end-of-options -f", "-f"),
            ("switch --disc x", "--discard-changes x"),
            ("switch -tq x", "--track=q x"),
            ("clean -fe -n", "--force --exclude=-n"),
            ("clean -fen", "--force --exclude=n"),
            ("clean --dr", "--dry-run"),
            ("clean -nd --no-dry-run", "--d --no-dry-run"),
            ("rm --ca a", "--cached a"),
            ("rm --cached --no-cached a", "--no-cached a"),
            ("rebase --ont x -x make --autost", "--onto=x --exec=make --autostash"),
            ("rebase --stat --no-stat", "--no-stat"),
            ("stash -um note", "--include-untracked --message=note"),
            ("stash show --stat -p", "show --stat -p"),
            ("stash - --all", "--all -"),
            ("apply -p0 -3R x.patch", "--p=0 --3way --reverse x.patch"),
            ("am --dir sub x", "--directory=sub x"),
            ("read-tree -mu HEAD", "--m --u HEAD"),
            ("log --oneline", "--oneline"),
        ] {
            check(line, Some(wanted));
        }
        for line in [
            "checkout --o x",
            "rebase --autos",
            "apply --c x",
            "reset --new",
            "reset -Z",
            "reset --hard=x",
            "reset --no",
            "rebase --onto",
            "stash -m",
        ] {
            check(line, None);
        }
    }

    /// The table has each option of this machine's git.
    #[test]
    fn the_table_has_all_options_of_git() {
        for (verb, all) in TABLE {
            let mut command = std::process::Command::new("git");
            let output = command.args([verb, "--git-completion-helper-all"]).output().unwrap();
            let known: Vec<&str> = choices(all).map(|it| it.name).collect();
            let listed = String::from_utf8(output.stdout).unwrap();
            for option in listed.split_whitespace().filter_map(|it| it.strip_prefix("--")) {
                let name = option.trim_end_matches('=');
                let stem = name.strip_prefix("no-").unwrap_or(name);
                let is_known = known.iter().any(|it| it.strip_prefix("no-").unwrap_or(it) == stem);
                assert!(stem.is_empty() || is_known, "{verb}: {option}");
            }
        }
    }
}
