use super::super::tally::{Count, Tally};
use crate::edit::Format;
use expect_test::expect;

#[test]
fn counts_of_edits_by_several_programs_add_up() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("below/edits.json");
    let tally = |model: &str, format| Tally { file: file.clone(), model: model.into(), format };
    let threads: Vec<_> = (0..4)
        .map(|_| tally("a/b", Format::Replace))
        .map(|it| {
            std::thread::spawn(move || (0..10).for_each(|_| it.add(Count { fitted: 2, missed: 1 })))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    tally("a/b", Format::Whole).add(Count { fitted: 1, missed: 0 });
    tally("a/c", Format::Patch).add(Count::default());
    expect![[r#"
        {
          "a/b": {
            "replace": {
              "fitted": 80,
              "missed": 40
            },
            "whole": {
              "fitted": 1,
              "missed": 0
            }
          }
        }"#]]
    .assert_eq(&std::fs::read_to_string(&file).unwrap());
    std::fs::write(&file, "damaged").unwrap();
    tally("a/c", Format::Patch).add(Count { fitted: u64::MAX, missed: 0 });
    tally("a/c", Format::Patch).add(Count { fitted: 1, missed: 0 });
    for n in 0..120 {
        tally(&format!("many/{n}"), Format::Patch).add(Count { fitted: 1, missed: 0 });
    }
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches("fitted").count(), 100);
    assert!(text.contains("a/c") && text.contains("many/119"), "{text}");
}
