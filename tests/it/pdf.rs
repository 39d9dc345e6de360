//! The text of PDFs: mentioned, and read by the model.

use crate::kit::chat::{DIALECTS, common};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use lopdf::{Document, EncryptionState, EncryptionVersion, Object, Permissions};
use serde_json::json;

/// A PDF of these objects, with numbers from 1. The first one is the catalog.
fn file(objects: &[String]) -> Vec<u8> {
    let mut out = "%PDF-1.4\n".to_owned();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (n, object) in (1..).zip(objects) {
        table.push_str(&format!("{:010} 00000 n \n", out.len()));
        out.push_str(&format!("{n} 0 obj\n{object}\nendobj\n"));
    }
    let (start, size) = (out.len(), objects.len() + 1);
    out.push_str(&table);
    out.push_str(&format!("trailer\n<< /Root 1 0 R /Size {size} >>\nstartxref\n{start}\n%%EOF\n"));
    out.into_bytes()
}

/// A PDF with one line on each page.
pub(super) fn pdf(pages: &[&str]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|n| format!("{} 0 R", 4 + 2 * n)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!(
            "<< /Type /Pages /Kids [{}] /Count {} /MediaBox [0 0 595 842] /Resources << /Font << /F 3 0 R >> >> >>",
            kids.join(" "),
            pages.len()
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    for (n, text) in pages.iter().enumerate() {
        let content = format!("BT /F 12 Tf 72 720 Td ({text}) Tj ET");
        objects.push(format!("<< /Type /Page /Parent 2 0 R /Contents {} 0 R >>", 5 + 2 * n));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    file(&objects)
}

/// The PDF, locked by a password.
fn locked(pdf: &[u8]) -> Vec<u8> {
    let mut document = Document::load_mem(pdf).unwrap();
    let id = Object::string_literal("0123456789abcdef");
    document.trailer.set("ID", Object::Array(vec![id.clone(), id]));
    let state = EncryptionState::try_from(EncryptionVersion::V2 {
        document: &document,
        owner_password: "owner",
        user_password: "user",
        key_length: 128,
        permissions: Permissions::all(),
    });
    document.encrypt(&state.unwrap()).unwrap();
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

#[test]
fn the_text_of_a_mentioned_pdf_goes_with_the_message_in_every_dialect() {
    let said = DIALECTS.map(|dialect| {
        let server = Server::start();
        server.otherwise(Reply::said("Seen."));
        let setup = Setup::new().file("my paper.pdf", pdf(&["One.", "", "Three."]));
        let nvim = Nvim::start(&setup.speaking(dialect, &server).size(220, 40));
        nvim.keys(":Caliban<CR>isee @\"my paper.pdf\" <Esc>");
        nvim.wait_screen("▏my paper.pdf  5 lines  18 tokens");
        nvim.keys("<CR>");
        server.wait_count(1);
        nvim.wait_phase("idle");
        nvim.keys("iand @\"my paper.pdf\":1-2<C-s><Esc>");
        server.wait_count(2);
        nvim.wait_phase("idle");
        let said = |at: usize| server.requests()[at].last_user_text().replace(">\n\n", ">\n");
        format!("{}\n{}", said(0), said(1))
    });
    expect![[r#"
        <context kind="file" path="my paper.pdf">
        --- page 1 of 3 ---
        One.
        --- page 2 of 3 ---
        --- page 3 of 3 ---
        Three.
        </context>
        see @"my paper.pdf"
        <context kind="file" path="my paper.pdf" lines="1-2">
        --- page 1 of 3 ---
        One.
        </context>
        and @"my paper.pdf":1-2"#]]
    .assert_eq(common(&said));
}

#[test]
fn the_model_reads_parts_of_a_pdf_in_every_dialect() {
    let read = |n: usize| json!({"path": "a.pdf", "offset": n, "limit": 2});
    let given = DIALECTS.map(|dialect| {
        let server = Server::start();
        server.reply(Reply::new().call("c1", "read", read(1)).call("c2", "read", read(3)));
        server.reply(Reply::said("Read."));
        let setup = Setup::new().file("a.pdf", pdf(&["One.", "Two."])).size(140, 40);
        let nvim = Nvim::start(&setup.speaking(dialect, &server));
        nvim.ask("read it", "Read.");
        let answers = server.requests()[1].answers();
        answers.into_iter().map(|(_, text)| text).collect::<String>()
    });
    expect![[r#"
        1	--- page 1 of 2 ---
        2	One.
        [lines 1-2 of 4; go on with offset 3]
        3	--- page 2 of 2 ---
        4	Two.
        [lines 3-4 of 4]
    "#]]
    .assert_eq(common(&given));
}

#[test]
fn a_pdf_whose_text_cannot_be_read_is_named_with_the_reason() {
    let nested = file(&[format!("<< /A {} >>", "[".repeat(3_000_000))]);
    let cycle = file(&[
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>".to_owned(),
    ]);
    let whole = pdf(&["One."]);
    let setup = Setup::new()
        .file("scan.pdf", pdf(&["", ""]))
        .file("locked.pdf", locked(&whole))
        .file("half.pdf", &whole[..whole.len() / 2])
        .file("nested.pdf", nested)
        .file("cycle.pdf", cycle)
        .size(220, 40);
    let server = Server::start();
    let nvim = Nvim::start(&setup.anthropic(&server));
    for (name, why) in [
        ("scan.pdf", "is a PDF without text, perhaps of scanned pages."),
        ("locked.pdf", "is a PDF that needs a password."),
        ("half.pdf", "is a "),
        ("nested.pdf", "is a "),
        ("cycle.pdf", "is a "),
    ] {
        nvim.keys(&format!(":Caliban<CR>isee @{name}<C-s><Esc>"));
        nvim.wait_screen(&format!("! @{name} {why}"));
        nvim.wait(|nvim| nvim.composer() == format!("see @{name}"), "the message given back");
        nvim.keys(":%delete<CR>");
    }
    assert_eq!(server.count(), 0);
}
