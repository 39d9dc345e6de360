//! Tests providers that take few images, or cannot read one: the message is answered without them, and so are later ones.

use crate::images::{BLUE, RED, noise, png, seeing, seen};
use crate::kit::chat::DIALECTS;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;

const GREEN: [u8; 3] = [10, 200, 10];

fn error(said: &str) -> String {
    json!({ "error": { "type": "invalid_request_error", "message": said } }).to_string()
}

fn widths(server: &Server) -> Vec<u32> {
    seen(&server.requests().pop().unwrap()).iter().map(|it| it.0).collect()
}

#[test]
fn the_oldest_images_are_left_out_if_there_are_too_many_in_every_dialect() {
    for dialect in DIALECTS {
        let server = Server::start();
        server.otherwise(Reply::said("Seen."));
        server.refuse_as(400, |it| {
            (seen(it).len() > 2)
                .then(|| error("At most 2 image(s) may be provided in one request."))
        });
        let mut setup = Setup::new();
        for n in 1..=5 {
            setup = setup.file(&format!("{n}.png"), png(10 * n, 9, RED));
        }
        let nvim = Nvim::start(&seeing(setup, dialect, &server));
        for n in 1..=5 {
            let shown = nvim.shown("Seen.");
            nvim.lua("require('caliban').ask(...)", &[format!("see @{n}.png").into()]);
            nvim.wait_more("Seen.", shown);
        }
        assert_eq!(widths(&server), [40, 50]);
        let last = server.requests().pop().unwrap().outline();
        assert_eq!(last.matches("the image is not shown to you any more").count(), 3, "{last}");
        assert_eq!((server.count(), nvim.shown("takes at most 2 images")), (6, 1));
    }
}

/// The provider counts the bytes of the request, and says no number.
#[test]
fn the_oldest_images_are_left_out_if_the_request_has_too_many_bytes_in_every_dialect() {
    for dialect in DIALECTS {
        let server = Server::start();
        server.otherwise(Reply::said("Seen."));
        let too_large = json!({ "error": { "type": "request_too_large", "message": "Request exceeds the maximum size" } });
        server.refuse_as(413, move |it| {
            let pixels: u32 = seen(it).iter().map(|it| it.0 * it.1).sum();
            (pixels > 25_000).then(|| too_large.to_string())
        });
        let mut setup = Setup::new();
        for n in 1..=4 {
            setup = setup.file(&format!("{n}.png"), noise(100 + n, 100));
        }
        let nvim = Nvim::start(&seeing(setup, dialect, &server));
        for n in 1..=4 {
            let shown = nvim.shown("Seen.");
            nvim.lua("require('caliban').ask(...)", &[format!("see @{n}.png").into()]);
            nvim.wait_more("Seen.", shown);
        }
        assert_eq!(widths(&server), [104]);
        assert_eq!(
            (server.count(), nvim.shown("The request was too large for the provider.")),
            (5, 1)
        );
    }
}

/// A request that is too large because of its text keeps its images' lesson out of it: it is made shorter.
#[test]
fn a_request_that_is_too_large_without_images_is_compacted() {
    let server = Server::start();
    server.otherwise(Reply::said("Seen."));
    server.refuse_as(413, |it| {
        let is_long = it.json.to_string().len() > 120_000;
        is_long.then(|| {
            "<html><head><title>413 Request Entity Too Large</title></head></html>".to_owned()
        })
    });
    let setup =
        Setup::new().file("a.png", png(20, 9, RED)).file("a.txt", "some words\n".repeat(15_000));
    let nvim = Nvim::start(&setup.anthropic(&server).size(320, 40));
    nvim.ask("see @a.png and @a.txt", "Seen.");
    assert_eq!((widths(&server), nvim.shown("of a request to")), (vec![20], 0));
}

#[test]
fn an_image_that_is_larger_than_many_images_may_be_is_left_out_in_every_dialect() {
    for dialect in DIALECTS {
        let server = Server::start();
        server.otherwise(Reply::said("Seen."));
        server.refuse_as(400, |it| {
            let is_large = seen(it).iter().any(|it| it.0 > 100);
            is_large.then(|| {
                error(
                    "messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max \
                     allowed size for many-image requests: 100 pixels",
                )
            })
        });
        let setup = Setup::new().file("a.png", png(200, 9, RED)).file("b.png", png(50, 9, BLUE));
        let nvim = Nvim::start(&seeing(setup, dialect, &server));
        nvim.ask("see @a.png and @b.png", "Seen.");
        assert_eq!((widths(&server), server.count()), (vec![50], 2));
        nvim.wait_transcript("takes images of at most 100 pixels a side");
    }
}

/// The provider does not say which image it cannot read.
#[test]
fn an_image_that_the_provider_cannot_read_is_left_out_alone_in_every_dialect() {
    for dialect in DIALECTS {
        let server = Server::start();
        server.otherwise(Reply::said("Seen."));
        server.refuse_as(400, |it| {
            let is_blue = seen(it).iter().any(|it| it.2 == BLUE);
            is_blue.then(|| error("Could not process image"))
        });
        let setup = Setup::new()
            .file("old.png", png(10, 9, GREEN))
            .file("a.png", png(20, 9, RED))
            .file("b.png", png(30, 9, BLUE))
            .file("c.png", png(40, 9, RED));
        let nvim = Nvim::start(&seeing(setup, dialect, &server));
        nvim.ask("see @old.png", "Seen.");
        let shown = nvim.shown("Seen.");
        nvim.lua("require('caliban').ask(...)", &["see @a.png @b.png @c.png".into()]);
        nvim.wait_more("Seen.", shown);
        assert_eq!(widths(&server), [10, 20, 40]);
        nvim.wait_transcript("! The provider cannot read b.png: ");
        let count = server.count();
        let shown = nvim.shown("Seen.");
        nvim.lua("require('caliban').ask(...)", &["and now?".into()]);
        nvim.wait_more("Seen.", shown);
        assert_eq!((server.count(), widths(&server)), (count + 1, vec![10, 20, 40]));
    }
}

/// Two images are at fault, so leaving out one after the other does not help, and all are left out. Another conversation
/// with one of the good images gets it.
#[test]
fn an_image_that_was_left_out_with_bad_ones_is_not_taken_for_bad_elsewhere() {
    let server = Server::start();
    server.otherwise(Reply::said("Seen."));
    server.refuse_as(400, |it| {
        let is_bad = |it: &(u32, u32, [u8; 3])| it.2 == BLUE || it.2 == RED;
        seen(it).iter().any(is_bad).then(|| error("Could not process image"))
    });
    let setup = Setup::new()
        .file("a.png", png(20, 9, RED))
        .file("b.png", png(30, 9, BLUE))
        .file("c.png", png(40, 9, GREEN));
    let nvim = Nvim::start(&setup.anthropic(&server).size(320, 40));
    nvim.ask("see @a.png @b.png @c.png", "Seen.");
    assert_eq!(widths(&server), [0_u32; 0]);
    nvim.wait_transcript(
        "The provider cannot read at least one of these images: c.png, b.png, a.png.",
    );
    let said = server.requests().pop().unwrap().last_user_text();
    assert_eq!(said.matches("or another one that came with it").count(), 3, "{said}");
    // what was sent stays as it is
    let count = server.count();
    let shown = nvim.shown("Seen.");
    nvim.lua("require('caliban').ask(...)", &["and now?".into()]);
    nvim.wait_more("Seen.", shown);
    assert_eq!((server.count(), widths(&server)), (count + 1, vec![]));
    nvim.keys(":Caliban new two<CR>");
    nvim.wait_session("two");
    nvim.ask("see @c.png", "Seen.");
    assert_eq!((server.count(), widths(&server)), (count + 2, vec![40]));
    // an image that is at fault alone is known from then on
    nvim.keys(":Caliban new three<CR>");
    nvim.wait_session("three");
    nvim.ask("see @b.png @c.png", "Seen.");
    nvim.wait_transcript("! The provider cannot read b.png: ");
    let count = server.count();
    nvim.keys(":Caliban new four<CR>");
    nvim.wait_session("four");
    nvim.ask("see @b.png", "Seen.");
    assert_eq!((server.count(), widths(&server)), (count + 1, vec![]));
}

/// Whatever is left out, the provider finds fault with an image.
#[test]
fn a_provider_that_reads_no_image_gets_none() {
    let server = Server::start();
    server.otherwise(Reply::said("Seen."));
    server.refuse_as(400, |it| {
        (!seen(it).is_empty())
            .then(|| error("The image data you provided does not represent a valid image."))
    });
    let setup = Setup::new().file("a.png", png(20, 9, RED)).file("b.png", png(30, 9, BLUE));
    let nvim = Nvim::start(&setup.anthropic(&server).size(320, 40));
    nvim.ask("see @a.png @b.png", "Seen.");
    assert_eq!(widths(&server), [0_u32; 0]);
}
