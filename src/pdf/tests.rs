use super::*;
use expect_test::{Expect, expect};
use lopdf::content::{Content, Operation};
use lopdf::{EncryptionState, EncryptionVersion, Object, Permissions, Stream, dictionary};

/// A PDF with these lines on its pages.
fn pdf(pages: &[&[&str]]) -> Document {
    let mut document = Document::with_version("1.5");
    let root = document.new_object_id();
    let font = document.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica",
    });
    let resources = document.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
    let mut kids: Vec<Object> = Vec::new();
    for lines in pages {
        let mut operations =
            vec![Operation::new("BT", vec![]), Operation::new("Tf", vec!["F1".into(), 12.into()])];
        for line in *lines {
            operations.push(Operation::new("Td", vec![0.into(), (-14).into()]));
            operations.push(Operation::new("Tj", vec![Object::string_literal(*line)]));
        }
        operations.push(Operation::new("ET", vec![]));
        let content = Content { operations }.encode().unwrap();
        let content = document.add_object(Stream::new(dictionary! {}, content));
        let page = dictionary! { "Type" => "Page", "Parent" => root, "Contents" => content };
        kids.push(document.add_object(page).into());
    }
    let count = i64::try_from(kids.len()).unwrap();
    let tree = dictionary! {
        "Type" => "Pages", "Kids" => kids, "Count" => count, "Resources" => resources,
        "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
    };
    document.objects.insert(root, tree.into());
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => root });
    document.trailer.set("Root", catalog);
    document
}

fn bytes(mut document: Document) -> Vec<u8> {
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

fn locked(password: &str) -> Vec<u8> {
    let mut document = pdf(&[&["hidden"]]);
    let id = Object::string_literal("0123456789abcdef");
    document.trailer.set("ID", Object::Array(vec![id.clone(), id]));
    let version = EncryptionVersion::V2 {
        document: &document,
        owner_password: "owner",
        user_password: password,
        key_length: 128,
        permissions: Permissions::all(),
    };
    let state = EncryptionState::try_from(version).unwrap();
    document.encrypt(&state).unwrap();
    bytes(document)
}

fn check(pdf: &[u8], expected: &Expect) {
    let mut out = Vec::new();
    let code = print(pdf, &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    expected.assert_eq(&format!("{out}exit code {code}"));
}

#[test]
fn each_page_of_a_pdf_begins_with_a_line_that_has_its_number() {
    check(
        &bytes(pdf(&[&["One.", "Two."], &[], &["Three."]])),
        &expect![[r#"
            --- page 1 of 3 ---
            One.Two.
            --- page 2 of 3 ---
            --- page 3 of 3 ---
            Three.
            exit code 0"#]],
    );
}

#[test]
fn a_pdf_with_a_password_and_a_damaged_pdf_are_refused_with_different_errors() {
    check(&locked("secret"), &expect!["exit code 3"]);
    // a PDF whose password protects only against changes can be read by anybody
    check(
        &locked(""),
        &expect![[r#"
        --- page 1 of 1 ---
        hidden
        exit code 0"#]],
    );
    check(b"%PDF-1.5\nnothing", &expect!["exit code 1"]);
    let whole = bytes(pdf(&[&["One."]]));
    check(&whole[..whole.len() / 2], &expect!["exit code 1"]);
}

#[test]
fn the_text_of_a_pdf_has_no_control_characters_and_no_rows_of_blank_lines() {
    assert_eq!(tidied("\n\na\u{1b}[31m \n\n\nb\tc\n", 100), "a[31m\n\nb\tc");
    assert_eq!(tidied("aé", 2), "a");
}
