//! The hosts that the words of a command name, and whether the command is known to use the network.

use super::super::sending;
use crate::bash::options::{Item, Manner};
use crate::bash::{Simple, Word};

/// Programs whose operands are addresses without a scheme, and how many of them.
const PLACES: &[(&str, usize)] =
    &[("curl", usize::MAX), ("nc", 1), ("ncat", 1), ("sftp", 1), ("ssh", 1), ("wget", usize::MAX)];

/// Programs whose operands are files here, or behind `HOST:` on another machine.
const COPIES: &[&str] = &["rsync", "scp"];

/// Programs that load packages with these subcommands.
const LOADS: &[(&str, &[&str])] = &[
    ("apk", &["add", "update", "upgrade"]),
    ("apt", &["install", "update", "upgrade"]),
    ("apt-get", &["install", "update", "upgrade"]),
    ("brew", &["install", "update", "upgrade"]),
    ("bundle", &["install", "update"]),
    ("cargo", &["add", "fetch", "install", "search", "update"]),
    ("composer", &["install", "require", "update"]),
    ("dnf", &["install", "update", "upgrade"]),
    ("gem", &["install", "update"]),
    ("go", &["get", "install"]),
    ("npm", &["add", "ci", "exec", "i", "install", "update", "view"]),
    ("npx", &[]),
    ("pip", &["download", "install"]),
    ("pip3", &["download", "install"]),
    ("pipx", &["install", "run", "upgrade"]),
    ("pnpm", &["add", "dlx", "i", "install", "update"]),
    ("poetry", &["add", "install", "lock", "update"]),
    ("uv", &["add", "lock", "pip", "sync"]),
    ("yarn", &["add", "install"]),
    ("yum", &["install", "update", "upgrade"]),
];

/// Subcommands of git that only read or write a setting in most of their forms.
const SETTINGS: [&str; 2] = ["remote", "submodule"];

/// Characters that mean something to the shell, and are in no host.
const SPECIAL: &str = "$*?[]{}()`'\"\\|&;<>!~,";

/// The hosts that the words of a command name.
pub(super) fn named(command: &Simple) -> Vec<String> {
    // an address with a `?` is a pattern for the shell, and is known only as it is written
    let schemes = command.words.iter().map(Word::shown).filter_map(addressed);
    schemes.chain(operands(command)).filter(|it| is_host(it)).map(str::to_owned).collect()
}

/// Whether the shell puts nothing in the place of a part of this text.
fn is_host(text: &str) -> bool {
    !text.is_empty() && !text.contains(|it: char| it.is_whitespace() || SPECIAL.contains(it))
}

/// Whether the command is known to connect to other machines.
fn is_remote(command: &Simple) -> bool {
    let Some(name) = command.name() else { return false };
    let verbs = Manner::reading(name, &command.words[1..]).texts_at(&command.words[1..]);
    let verb = verbs.first().map_or("", |it| it.1);
    let loads = LOADS
        .iter()
        .any(|(program, verbs)| *program == name && (verbs.is_empty() || verbs.contains(&verb)));
    loads || sending::is_known(name, verb) && !SETTINGS.contains(&verb)
}

/// Whether the command uses the network and does not name all its hosts: it names none, or a word of it is known only when
/// the command runs.
pub(super) fn reaches_more(command: &Simple) -> bool {
    let is_open = |it: &Word| it.fixed().is_none() && it.shown().contains(['$', '`']);
    is_remote(command) && (named(command).is_empty() || command.words[1..].iter().any(is_open))
}

/// The places among the operands of a program whose operands are places.
fn operands(command: &Simple) -> impl Iterator<Item = &str> {
    let name = command.name().unwrap_or_default();
    let places = PLACES.iter().find(|it| it.0 == name).map(|it| it.1);
    let copies = COPIES.contains(&name);
    let words = command.words.get(1..).unwrap_or_default();
    let items = match places {
        None if !copies => Vec::new(),
        _ => Manner::reading(name, words).placed(words),
    };
    let written = items.into_iter().filter(|it| !matches!(it.1, Item::Option { .. }));
    let written = written.map(move |(at, _)| words[at].shown());
    written.take(places.unwrap_or(usize::MAX)).filter_map(move |it| {
        let place = if copies { it.split_once(':')?.0 } else { it };
        let is_place = !(it.contains("://") || copies && place.contains('/'));
        let end = place.find(['/', '?', '#']).unwrap_or(place.len());
        let host = place[..end].rsplit('@').next()?;
        is_place.then_some(host)
    })
}

/// The host of an address. A user's name before it is left out, a port stays.
fn addressed(word: &str) -> Option<&str> {
    let place = match word.split_once("://") {
        Some((scheme, rest))
            if scheme.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'+') =>
        {
            rest.split(['/', '?', '#']).next()?
        }
        Some(_) => return None,
        None => {
            let (place, _) = word.split_once(':')?;
            place.contains('@').then_some(place)?
        }
    };
    place.rsplit('@').next()
}

#[cfg(test)]
mod tests {
    use super::super::Touched;
    use crate::bash::Script;

    /// A command line, the hosts that it names, and whether it may reach others.
    #[test]
    fn the_hosts_of_a_command_are_named_with_and_without_a_scheme() {
        let cases: &[(&str, &[&str], bool)] = &[
            ("curl a.org", &["a.org"], false),
            ("curl -o out.txt -H 'x: y' a.org/b?c d.org:80", &["a.org", "d.org:80"], false),
            ("curl -so page https://a.org b.org", &["a.org", "b.org"], false),
            ("curl -fsS https://a.org/x?a=1 -o y.txt", &["a.org"], false),
            ("curl a.org/x?a=1\\&b=2", &["a.org"], false),
            ("curl https://a.org/{b,c} https://{d,e}.org", &["a.org"], false),
            ("curl \"$url\"", &[], true),
            ("curl \"https://$host/x\" ", &[], true),
            ("curl \"$url\" https://a.org", &["a.org"], true),
            ("curl https://a.org/$x", &["a.org"], true),
            ("curl -H 'x: $y' a.org", &["a.org"], false),
            ("curl a.org && git push", &["a.org"], true),
            ("curl a.org && echo $x", &["a.org"], false),
            ("wget a.org `cat list`", &["a.org"], true),
            ("wget -O out.tgz user@a.org/b", &["a.org"], false),
            ("ssh -p 22 me@a.org ls b.org", &["a.org"], false),
            ("scp a.txt me@a.org:b c.org:d ./e:f", &["a.org", "c.org"], false),
            ("rsync -a src/ a.org:dst", &["a.org"], false),
            ("ping -c 1 a.org", &[], true),
            ("nc a.org 80", &["a.org"], false),
            ("git push", &[], true),
            ("git push origin main", &[], true),
            ("git push git@a.org:b", &["a.org"], false),
            ("git -C sub fetch", &[], true),
            ("git remote -v", &[], false),
            ("git status", &[], false),
            ("npm i", &[], true),
            ("npm i --registry https://a.org left-pad", &["a.org"], false),
            ("npm test", &[], false),
            ("pip install -r requirements.txt", &[], true),
            ("cargo test", &[], false),
            ("cargo update", &[], true),
            ("timeout 5 curl a.org", &["a.org"], false),
            ("ls curl a.org", &[], false),
        ];
        for (line, hosts, reaches_more) in cases {
            let it = Touched::by(&Script::parse(line));
            assert_eq!((&*it.hosts, it.reaches_more), (&*owned(hosts), *reaches_more), "{line}");
        }
    }

    fn owned(hosts: &[&str]) -> Vec<String> {
        hosts.iter().map(|it| (*it).to_owned()).collect()
    }
}
