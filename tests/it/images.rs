//! Tests images: mentioned, read by the model, stored beside the session, and replaced by a sentence for models that do
//! not accept images.

use crate::kit::chat::{DIALECTS, assert_grows};
use crate::kit::dialects::Dialect;
use crate::kit::dice::Dice;
use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};
use std::fs;
use std::io::Cursor;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;

pub(crate) const RED: [u8; 3] = [200, 10, 10];
pub(crate) const BLUE: [u8; 3] = [10, 10, 200];

fn written(width: u32, height: u32, colour: [u8; 3], format: ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    let picture = DynamicImage::from(RgbImage::from_pixel(width, height, Rgb(colour)));
    picture.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

pub(crate) fn png(width: u32, height: u32, colour: [u8; 3]) -> Vec<u8> {
    written(width, height, colour, ImageFormat::Png)
}

/// A picture that cannot be compressed: it has about three bytes for each pixel.
pub(crate) fn noise(width: u32, height: u32) -> Vec<u8> {
    let (mut dice, mut bytes) = (Dice(width.into()), Vec::new());
    let mut shade = || u8::try_from(dice.below(256)).unwrap();
    let picture = RgbImage::from_fn(width, height, |_, _| Rgb([shade(), shade(), shade()]));
    DynamicImage::from(picture).write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).unwrap();
    bytes
}

/// Width, height and the first pixel of each image in a request, in order.
pub(crate) fn seen(request: &Request) -> Vec<(u32, u32, [u8; 3])> {
    let mut found = Vec::new();
    collect(&request.json, &mut found);
    found
}

fn collect(value: &Value, found: &mut Vec<(u32, u32, [u8; 3])>) {
    match value {
        Value::String(text) => {
            let data = text.split_once(";base64,").map_or(text.as_str(), |it| it.1);
            if data.len() > 40
                && let Ok(bytes) = BASE64_STANDARD.decode(data)
                && let Ok(it) = image::load_from_memory(&bytes)
            {
                found.push((it.width(), it.height(), it.to_rgb8().get_pixel(0, 0).0));
            }
        }
        Value::Array(items) => items.iter().for_each(|it| collect(it, found)),
        Value::Object(fields) => fields.values().for_each(|it| collect(it, found)),
        _ => (),
    }
}

/// Configures a model of this dialect that accepts images.
pub(crate) fn seeing(setup: Setup, dialect: &dyn Dialect, server: &Server) -> Setup {
    let setup = setup.speaking(dialect, server).size(320, 40);
    if dialect.is_local() { setup.env("CALIBAN_MODEL", "ollama/gemma3:4b") } else { setup }
}

fn start(setup: Setup) -> (Server, Nvim) {
    let server = Server::start();
    server.otherwise(Reply::said("Seen."));
    let nvim = Nvim::start(&setup.anthropic(&server).size(320, 40));
    nvim.keys(":Caliban<CR>");
    (server, nvim)
}

/// Sends a prompt, and returns its request.
fn ask(server: &Server, nvim: &Nvim, prompt: &str) -> Request {
    let before = server.count();
    let seen = |nvim: &Nvim| nvim.transcript().matches("Seen.").count();
    let shown = seen(nvim);
    nvim.lua("require('caliban').ask(...)", &[prompt.into()]);
    server.wait_count(before + 1);
    // until the reply is shown, the phase may be that of the turn before
    nvim.wait(|nvim| seen(nvim) > shown, "the reply");
    nvim.wait_phase("idle");
    server.requests().swap_remove(before)
}

/// The files of images in all sessions.
fn kept(nvim: &Nvim) -> Vec<PathBuf> {
    fn walk(dir: PathBuf, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(path, found);
            } else if path.extension().is_some_and(|it| it == "png" || it == "jpg") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(nvim.setup.dir().join("data/caliban"), &mut found);
    found
}

#[test]
fn a_mentioned_image_is_sent_in_every_dialect_and_again_after_a_restart() {
    for dialect in DIALECTS {
        let server = Server::start();
        server.otherwise(Reply::said("Seen."));
        let setup = Setup::new().file("my shot.png", png(40, 30, RED));
        let setup = seeing(setup, dialect, &server);
        let nvim = Nvim::start(&setup);
        let first = ask(&server, &nvim, "see @\"my shot.png\"");
        assert_eq!(seen(&first), [(40, 30, RED)]);
        let label =
            "<context kind=\"image\" path=\"my shot.png\">\nPNG image, 40×30 pixels\n</context>";
        assert!(first.last_user_text().starts_with(label), "{}", first.last_user_text());
        nvim.wait_screen("▏my shot.png  PNG 40×30  2 tokens");
        let second = ask(&server, &nvim, "again @\"my shot.png\"");
        assert!(second.last_user_text().contains("[same image as when it was last sent"));
        let [file] = &kept(&nvim)[..] else { panic!("{:?}", kept(&nvim)) };
        assert_eq!(fs::metadata(file).unwrap().mode() & 0o777, 0o600);
        nvim.quit_with(":qa<CR>");
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>");
        nvim.wait_screen("▏my shot.png  PNG 40×30  2 tokens");
        let third = ask(&server, &nvim, "and now?");
        assert_eq!(seen(&third), [(40, 30, RED)]);
        assert_grows(server.requests());
        assert_eq!(server.take_refusals(), [""; 0]);
    }
}

#[test]
fn the_model_sees_an_image_that_it_reads_in_every_dialect() {
    for dialect in DIALECTS {
        let server = Server::start();
        let read =
            |path: &str, id: &str, reply: Reply| reply.call(id, "read", json!({"path": path}));
        server.reply(read("shot.gif", "c2", read("a.txt", "c1", Reply::new().text("I look."))));
        server.reply(Reply::said("It is red."));
        server.otherwise(Reply::said("Still red."));
        let setup = Setup::new()
            .file("a.txt", "alpha\n")
            .file("shot.gif", written(40, 30, RED, ImageFormat::Gif));
        let setup = seeing(setup, dialect, &server);
        let nvim = Nvim::start(&setup);
        nvim.ask("which colour?", "It is red.");
        assert_eq!(seen(&server.requests()[0]), []);
        assert_eq!(seen(&server.requests()[1]), [(40, 30, RED)]);
        assert!(server.requests()[1].outline().contains("GIF image, 40×30 pixels"));
        nvim.go_to_transcript("read  2 files");
        nvim.keys("<CR>");
        nvim.wait_screen("PNG 40×30  2 tokens");
        nvim.quit_with(":qa<CR>");
        let nvim = Nvim::start(&setup);
        nvim.ask("sure?", "Still red.");
        assert_eq!(seen(&server.requests()[2]), [(40, 30, RED)]);
        assert_grows(server.requests());
        assert_eq!(server.take_refusals(), [""; 0]);
    }
}

#[test]
fn large_images_are_scaled_down_and_image_formats_are_recognised_by_their_content() {
    let setup = Setup::new()
        .file("big.png", png(3200, 100, BLUE))
        .file("photo.txt", written(40, 30, RED, ImageFormat::Jpeg))
        .file("w.bin", written(20, 10, BLUE, ImageFormat::WebP))
        .file("words.png", "only words\n");
    let (server, nvim) = start(setup);
    let request = ask(&server, &nvim, "@big.png @photo.txt @w.bin @words.png");
    let sizes: Vec<_> = seen(&request).iter().map(|it| (it.0, it.1)).collect();
    assert_eq!(sizes, [(1568, 49), (40, 30), (20, 10)]);
    let text = request.last_user_text();
    assert!(text.contains("PNG image, 1568×49 pixels, scaled down from 3200×100"), "{text}");
    assert!(text.contains("JPEG image, 40×30") && text.contains("WebP image, 20×10"), "{text}");
    assert!(text.contains("<context kind=\"file\" path=\"words.png\">\nonly words"), "{text}");
}

/// A PNG whose header claims that it has 30000 × 30000 pixels.
fn bomb() -> Vec<u8> {
    let mut bytes = png(10, 10, RED);
    bytes[16..24].copy_from_slice(&[0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30]);
    let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    let part = &bytes[12..29];
    let crc = !part.iter().fold(u32::MAX, |crc, it| (0..8).fold(crc ^ u32::from(*it), step));
    bytes[29..33].copy_from_slice(&crc.to_be_bytes());
    bytes
}

#[test]
fn if_a_mentioned_image_cannot_be_sent_the_user_is_told_the_reason() {
    let whole = png(400, 300, RED);
    let setup = Setup::new()
        .file("bomb.png", bomb())
        .file("cut.png", &whole[..whole.len() - 30])
        .file("data.bin", b"\0\x01\x02");
    let pipe = setup.path("pipe.png");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (server, nvim) = start(setup);
    for (prompt, why) in [
        (
            "@bomb.png",
            "! @bomb.png is an image of more than 64 million pixels, which is too large to be read.",
        ),
        ("@cut.png", "! @cut.png begins like a PNG image, but it is damaged or cut off."),
        ("@data.bin", "! @data.bin is a binary file."),
        ("@pipe.png", "! @pipe.png cannot be read: it is a device, a pipe or a socket."),
    ] {
        nvim.lua("require('caliban').ask(...)", &[prompt.into()]);
        nvim.wait_screen(why);
        let clear = "vim.api.nvim_buf_set_lines(require('caliban.chat.chats').current.composer, 0, -1, false, {})";
        nvim.lua(clear, &[]);
    }
    assert!(server.requests().is_empty());
}

#[test]
fn a_symbolic_link_to_an_image_outside_of_the_project_needs_consent_like_one_to_a_text() {
    let setup = Setup::new();
    fs::write(setup.dir().join("home/shot.png"), png(40, 30, RED)).unwrap();
    fs::write(setup.dir().join("home/words.txt"), "words\n").unwrap();
    symlink(setup.dir().join("home/shot.png"), setup.path("link.png")).unwrap();
    symlink(setup.dir().join("home/words.txt"), setup.path("link.txt")).unwrap();
    let (server, nvim) = start(setup);
    let request = ask(&server, &nvim, "@link.txt @link.png");
    assert!(request.last_user_text().contains("words"));
    assert_eq!(seen(&request), [(40, 30, RED)]);
}

const BLIND: &str = "[the image is not shown to you, because this model takes no images]";

/// The model is told of a mentioned image and of an image that it reads, and gets neither.
fn assert_blind(server: &Server, setup: Setup) {
    server.reply(Reply::new().call("c1", "read", json!({"path": "a.png"})));
    server.reply(Reply::said("Blind."));
    let nvim = Nvim::start(&setup.file("a.png", png(40, 30, RED)).size(320, 40));
    nvim.ask("see @a.png", "Blind.");
    for request in server.requests() {
        assert_eq!(seen(&request), []);
    }
    let outline = server.requests()[1].outline();
    assert_eq!(outline.matches(BLIND).count(), 2, "{outline}");
    assert!(outline.contains("PNG image, 40×30 pixels"), "{outline}");
    assert_eq!(server.take_refusals(), [""; 0]);
}

#[test]
fn a_model_that_does_not_accept_images_gets_a_sentence_instead_in_every_dialect() {
    let blind = "vim.g.caliban = vim.tbl_deep_extend('force', vim.g.caliban or {}, { models = {} })
        for _, it in ipairs({ 'anthropic/claude-sonnet-4-5', 'openai/gpt-5', 'gemini/gemini-2.5-pro', 'ollama/qwen3:8b' }) do
            vim.g.caliban = vim.tbl_deep_extend('force', vim.g.caliban, { models = { [it] = { vision = false } } })
        end";
    for dialect in DIALECTS {
        let server = Server::start();
        assert_blind(&server, Setup::new().speaking(dialect, &server).before(blind));
    }
}

#[test]
fn a_model_that_is_known_to_accept_no_images_gets_a_sentence_instead() {
    let server = Server::start();
    assert_blind(&server, Setup::new().openai(&server).env("CALIBAN_MODEL", "openai/o3-mini"));
}

#[test]
fn an_unknown_model_gets_images_until_its_provider_refuses_them() {
    for (model, told) in [
        (
            "openai/gpt-3.5-turbo",
            "! The provider does not accept `images` for openai/gpt-3.5-turbo: from now on each image is replaced by a sentence.",
        ),
        (
            "ollama/qwen3:8b",
            "! The provider does not accept `images` for ollama/qwen3:8b: from now on each image is replaced by a sentence.",
        ),
    ] {
        let server = Server::start();
        server.otherwise(Reply::said("Blind."));
        let setup = Setup::new().file("a.png", png(40, 30, RED));
        let setup = setup.openai(&server).ollama(&server).env("CALIBAN_MODEL", model);
        let nvim = Nvim::start(&setup.size(320, 40));
        nvim.ask("see @a.png", "Blind.");
        nvim.wait_transcript(told);
        nvim.ask("and now?", "Blind.");
        let requests = server.requests();
        assert!(requests.last().unwrap().outline().contains(BLIND));
        assert_eq!(requests.iter().filter(|it| !seen(it).is_empty()).count(), 1);
        assert_eq!(server.take_refusals().len(), 1);
    }
}

#[test]
fn if_the_stored_file_of_an_image_is_missing_or_changed_a_sentence_is_sent_instead() {
    type Harm = fn(&PathBuf);
    let harms: [Harm; 3] = [
        |file| fs::remove_file(file).unwrap(),
        |file| {
            let mut bytes = fs::read(file).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            fs::write(file, bytes).unwrap();
        },
        |file| {
            let other = file.with_extension("moved");
            fs::rename(file, &other).unwrap();
            symlink(other, file).unwrap();
        },
    ];
    for harm in harms {
        let setup = Setup::new().file("a.png", png(40, 30, RED));
        let (server, nvim) = start(setup.clone());
        ask(&server, &nvim, "see @a.png");
        nvim.quit_with(":qa<CR>");
        harm(&kept(&nvim)[0]);
        let nvim = Nvim::start(&nvim.setup);
        nvim.keys(":Caliban<CR>");
        let request = ask(&server, &nvim, "and now?");
        assert_eq!(seen(&request), []);
        assert!(request.outline().contains("[the image is missing: its file beside"));
        nvim.wait_transcript("! One image of this conversation is missing. The model is told so.");
    }
}

#[test]
fn at_most_twenty_images_go_with_a_message() {
    let mut setup = Setup::new();
    let mut prompt = String::new();
    for n in 0..21 {
        setup = setup.file(&format!("{n}.png"), png(10 + n, 9, RED));
        prompt.push_str(&format!("@{n}.png "));
    }
    let (server, nvim) = start(setup);
    nvim.lua("require('caliban').ask(...)", &[prompt.clone().into()]);
    nvim.wait_screen("! At most 20 images per message: @20.png is one too many.");
    let request = ask(&server, &nvim, &prompt);
    assert_eq!(seen(&request).len(), 20);
}

#[test]
fn a_copied_or_exported_conversation_has_its_images() {
    let (server, nvim) = start(Setup::new().file("a.png", png(40, 30, RED)));
    ask(&server, &nvim, "see @a.png");
    let first = nvim.session();
    nvim.lua("require('caliban').ask(...)", &["/fork".into()]);
    nvim.wait(|nvim| nvim.session() != first && !nvim.session().is_empty(), "the copy");
    nvim.wait_phase("idle");
    assert_eq!(seen(&ask(&server, &nvim, "and here?")), [(40, 30, RED)]);
    assert_eq!(kept(&nvim).len(), 2);
    nvim.lua("require('caliban').ask(...)", &["/export talk.md".into()]);
    let talk = nvim.setup.path("talk.md");
    let said = "> a.png: PNG image, 40×30 pixels";
    let is_said = || fs::read_to_string(&talk).is_ok_and(|it| it.contains(said));
    nvim.wait(|_| is_said(), "the image in the export");
}

#[test]
fn a_message_with_an_image_that_was_taken_back_can_be_sent_again() {
    let (server, nvim) = start(Setup::new().file("a.png", png(40, 30, RED)));
    ask(&server, &nvim, "see @a.png");
    nvim.keys("i/undo<C-s>");
    nvim.wait(|nvim| nvim.composer() == "see @a.png", "the prompt in the composer");
    nvim.keys("<C-s>");
    server.wait_count(2);
    let [first, again] = &server.requests()[..] else { panic!("two requests") };
    assert_eq!((seen(again), again.outline()), (seen(first), first.outline()));
}

/// The folders (in the project's sessions folder) that contain image files.
fn homes(nvim: &Nvim) -> Vec<String> {
    let sessions = nvim.setup.sessions();
    let dirs = kept(nvim).into_iter().map(|it| it.parent().unwrap().to_owned());
    let names = dirs.map(|it| it.strip_prefix(&sessions).unwrap().display().to_string());
    names.collect()
}

#[test]
fn a_conversations_images_are_moved_when_it_is_renamed_cleared_or_deleted() {
    let (server, nvim) = start(Setup::new().file("a.png", png(40, 30, RED)));
    ask(&server, &nvim, "see @a.png");
    nvim.keys(":Caliban rename shots<CR>");
    nvim.wait_session("shots");
    assert_eq!(homes(&nvim), ["shots.outputs"]);
    nvim.quit_with(":qa<CR>");
    let nvim = Nvim::start(&nvim.setup);
    nvim.keys(":Caliban resume shots<CR>");
    nvim.wait_transcript("Seen.");
    assert_eq!(seen(&ask(&server, &nvim, "and now?")), [(40, 30, RED)]);
    // After `/clear` the image is in the trash. If the same image is mentioned again, it is sent again.
    nvim.lua("require('caliban').ask(...)", &["/clear".into()]);
    nvim.wait_gone("Seen.");
    nvim.wait(|nvim| homes(nvim) == ["trash/shots-1.outputs"], "the image in the trash");
    assert_eq!(seen(&ask(&server, &nvim, "see @a.png")), [(40, 30, RED)]);
    nvim.keys(":Caliban delete<CR>");
    nvim.wait_screen("2: Move it to the trash");
    nvim.keys("2<CR>");
    nvim.wait_gone("Seen.");
    nvim.wait(|nvim| homes(nvim).iter().all(|it| it.starts_with("trash/")), "all in the trash");
    assert_eq!(homes(&nvim).len(), 2);
}
