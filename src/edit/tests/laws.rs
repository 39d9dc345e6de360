//! Properties that any edit of any text has.

use super::*;
use crate::text::diff;
use proptest::prelude::*;

proptest! {
    #[test]
    fn an_exact_edit_replaces_its_only_match_and_no_other_byte(
        head in "(\u{feff})?[ab\r\né]{0,9}", old in "[xy\r\n]{1,4}", new in "[zé\n]{0,4}",
        tail in "[ab\r\né]{0,9}",
    ) {
        let file = format!("{head}{old}{tail}");
        let text = Text::decode(file.as_bytes()).unwrap();
        prop_assume!(text.newline == crate::text::Newline::Unix);
        let fits = resolve(Some(&text), &replace(&old, &new));
        let sites = (0..file.len()).filter(|at| {
            file.as_bytes()[*at..].starts_with(old.as_bytes())
        }).count();
        match fits {
            Ok(after) => {
                prop_assert_eq!(sites, 1);
                prop_assert_eq!(after.text.encode(), format!("{head}{new}{tail}").into_bytes());
            }
            Err(misfit) => prop_assert!(
                sites > 1 || old == new, "{:?}", misfit
            ),
        }
    }

    #[test]
    fn a_dos_text_keeps_its_line_ends_after_an_edit(lines in proptest::collection::vec("[ab]{1,3}", 1..6), at in 0usize..6) {
        let at = at % lines.len();
        let numbered: Vec<String> =
            lines.iter().enumerate().map(|(n, line)| format!("{n}{line}\r\n")).collect();
        let text = Text::decode(numbered.concat().as_bytes()).unwrap();
        let old = numbered[at].replace("\r\n", "\n");
        let after = resolve(Some(&text), &replace(&old, "new\nlines\n")).unwrap();
        let mut wanted = numbered.clone();
        wanted[at] = "new\r\nlines\r\n".to_owned();
        prop_assert_eq!(after.text.encode(), wanted.concat().into_bytes());
    }

    /// The user keeps any of the hunks and rejects the others. The verdict recognises this, even if the user added own
    /// lines elsewhere.
    #[test]
    fn a_verdict_recognises_every_combination_of_kept_and_rejected_hunks(
        lines in proptest::collection::vec((0u8..4, any::<bool>(), any::<bool>()), 1..40),
    ) {
        let (mut before, mut after, mut settled) = (vec![], vec![], vec![]);
        for (n, (kind, keep, own)) in lines.iter().enumerate() {
            let (old, new) = match kind {
                0 => (vec![], vec![format!("new {n}")]),
                1 => (vec![format!("old {n}")], vec![]),
                2 => (vec![format!("old {n}")], vec![format!("new {n}"), "}".to_owned()]),
                _ => (vec![], vec![]),
            };
            settled.extend(if *keep { new.clone() } else { old.clone() });
            before.extend(old);
            after.extend(new);
            for side in [&mut before, &mut after, &mut settled] {
                side.extend([format!("apart {n}"), "}".to_owned()]);
            }
            if *own {
                settled.push(format!("own {n}"));
            }
            for side in [&mut before, &mut after, &mut settled] {
                side.push(format!("between {n}"));
            }
        }
        let part = part(&before.join("\n"), &after.join("\n"));
        let hunks = diff(part.before, part.after).len();
        prop_assume!(hunks > 0 && hunks == lines.iter().filter(|(kind, ..)| *kind < 3).count());
        let heard = outcome(part, Some(&Text::new(settled.join("\n"))));
        let kept = lines.iter().filter(|(kind, keep, _)| *kind < 3 && *keep).count();
        prop_assert_eq!(heard.count(Fate::Reworked), 0);
        prop_assert_eq!(heard.count(Fate::Kept), kept);
        prop_assert_eq!(heard.count(Fate::Undone), hunks - kept);
    }
    /// Each call of a reply begins with the text that the previous call made, and all these texts can be restored. A
    /// call that does not fit changes nothing.
    #[test]
    fn the_text_between_two_calls_of_a_reply_can_be_restored(
        file in prop::option::of("(\u{feff})?([abc]{1,2}(\r\n|\n)){0,5}"),
        calls in prop::collection::vec(prop::collection::vec(any_change(), 1..4), 1..6),
    ) {
        let path = Path::new("a");
        let text = file.map(|it| Text::decode(it.as_bytes()).unwrap());
        let mut stack = Stack::new(Texts::from([(path.to_owned(), text.clone())]));
        let (mut wanted, mut now) = (vec![text.clone().unwrap_or_default()], text.clone());
        for (n, changes) in calls.into_iter().enumerate() {
            let made = changes.iter().try_fold(now.clone(), |text, it| {
                resolve(text.as_ref(), it).map(|fit| Some(fit.text))
            });
            let edits: Vec<Edit> =
                changes.into_iter().map(|change| Edit { path: path.to_owned(), change }).collect();
            let manner = |_: &Path| Manner { at_once: true, is_binary: false };
            let pushed = stack.push(&CallId(n.to_string()), &edits, |_, _, _, _| Ok(()), manner);
            match made {
                Ok(made) if made != now => {
                    prop_assert!(pushed.is_ok());
                    wanted.push(made.clone().unwrap());
                    now = made;
                }
                _ => prop_assert!(pushed.is_err()),
            }
            prop_assert_eq!(stack.text(path), now.as_ref());
        }
        for it in stack.proposals() {
            prop_assert_eq!(&it.before, &text);
            prop_assert_eq!(Some(&it.after), now.as_ref());
            prop_assert_eq!(it.texts(), &wanted[..]);
            prop_assert_eq!(it.parts.len(), wanted.len() - 1);
        }
    }
}

fn any_change() -> impl Strategy<Value = Change> {
    let replaced = ("[abc]{0,2}", "[abcd\n]{0,3}", any::<bool>())
        .prop_map(|(old, new, everywhere)| Change::Replace(Replacement { old, new, everywhere }));
    let line = "[abcd]{0,2}";
    let patched = prop::collection::vec((line, line), 1..3).prop_map(|lines| {
        let chunk = |(old, new): (String, String)| {
            let [old, new] = [old, new].map(|it| it + "\n");
            Chunk { old, new, ..Chunk::default() }
        };
        Change::Patch(lines.into_iter().map(chunk).collect())
    });
    let text = || "(\u{feff})?([abc]{1,2}(\r\n|\n)){0,3}";
    prop_oneof![
        6 => replaced,
        2 => patched,
        1 => text().prop_map(|text| Change::Write { text }),
        1 => text().prop_map(|text| Change::Create { text }),
    ]
}
