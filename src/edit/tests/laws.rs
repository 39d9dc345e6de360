//! Laws for any text and any edit of it.

use super::*;
use crate::text::diff;
use proptest::prelude::*;

proptest! {
    #[test]
    fn only_the_match_changes(
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
    fn a_dos_text_keeps_its_newlines(lines in proptest::collection::vec("[ab]{1,3}", 1..6), at in 0usize..6) {
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

    /// Any choice among the hunks is recognised, even with the user's own lines elsewhere.
    #[test]
    fn every_choice_among_the_hunks_is_recognised(
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
        let hunks = diff(&part.before, &part.after).len();
        prop_assume!(hunks > 0 && hunks == lines.iter().filter(|(kind, ..)| *kind < 3).count());
        let heard = outcome(&part, Some(&Text::new(settled.join("\n"))));
        let kept = lines.iter().filter(|(kind, keep, _)| *kind < 3 && *keep).count();
        prop_assert_eq!(heard.count(Fate::Reworked), 0);
        prop_assert_eq!(heard.count(Fate::Kept), kept);
        prop_assert_eq!(heard.count(Fate::Undone), hunks - kept);
    }
}
