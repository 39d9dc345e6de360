//! Tests mentions of web pages: the chip, the text in the request, and the case that the page cannot be fetched.

use super::{PAGE, Scene, Site, markdown, scene};
use crate::kit::chat::DIALECTS;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;

fn send(scene: &Scene, prompt: &str) -> String {
    let (count, shown) = (scene.server.count(), scene.nvim.shown("Seen."));
    scene.server.reply(Reply::said("Seen."));
    scene.nvim.keys(&format!(":Caliban<CR>i{prompt}<C-s><Esc>"));
    scene.nvim.wait_more("Seen.", shown);
    scene.server.requests()[count].last_user_text()
}

#[test]
fn the_page_of_a_mentioned_address_goes_with_the_message_in_every_dialect() {
    for dialect in DIALECTS {
        let (site, server) = (Site::start(), Server::start());
        site.page("/page", "text/html", PAGE);
        server.otherwise(Reply::said("Seen."));
        let setup = Setup::new().size(240, 40).config(&site.allowed());
        let nvim = Nvim::start(&setup.speaking(dialect, &server));
        let url = site.url("/page");
        nvim.keys(&format!(":Caliban<CR>isee @{url}."));
        nvim.wait_screen(&format!("▏@{url}  {}  not fetched yet", site.host()));
        assert_eq!(site.asked().len(), 0);
        nvim.keys("<C-s><Esc>");
        nvim.wait_transcript("Seen.");
        nvim.wait(
            |it| {
                let screen = it.screen();
                let chip = screen.lines().find(|it| it.contains(&format!("▏{url}  9 lines")));
                chip.is_some_and(|it| it.trim_end().ends_with("tokens"))
            },
            "the page's size",
        );
        let said = server.requests()[0].last_user_text().replace("\n\n", "\n");
        let page = markdown(&site).replace("\n\n", "\n");
        let wanted =
            format!("<context kind=\"page\" path=\"{url}\">\n{page}\n</context>\nsee @{url}.");
        assert_eq!(said, wanted);
        assert_eq!(site.asked().len(), 1);
    }
}

#[test]
fn a_mentioned_page_that_has_not_changed_is_not_sent_again() {
    let scene = scene(true);
    let text = "a text that is long enough for a note instead of it, which is shorter than this\n";
    scene.site.page("/page", "text/plain", text);
    let url = scene.site.url("/page");
    assert!(send(&scene, &format!("one @{url}")).contains(text));
    let said = send(&scene, &format!("two @{url}"));
    assert!(said.contains("[same text as when it was last sent, so not sent again]"), "{said}");
    assert!(!said.contains(text));
    assert_eq!(scene.site.asked().len(), 2);
}

#[test]
fn if_a_mentioned_page_cannot_be_fetched_the_message_goes_back_with_the_reason() {
    let scene = scene(true);
    scene.site.redirect("/cloud", "http://169.254.169.254/");
    let check = |prompt: &str, why: &str| {
        scene.nvim.keys(&format!(":Caliban<CR>i{prompt}<C-s><Esc>"));
        scene.nvim.wait_screen(why);
        assert_eq!((scene.nvim.composer().as_str(), scene.server.count()), (prompt, 0));
        scene.nvim.keys(":%delete<CR><C-w>t");
    };
    let site = &scene.site;
    check(&format!("@{}", site.url("/none")), "answered 404: Not Found. Nothing was sent.");
    check(&format!("@{}", site.url("/cloud")), "redirects to http://169.254.169.254/, which");
    check(&format!("@{}", site.by_name("/")), "which is not a public address.");
    check("@http://me:pw@example.org/", "contains a user name or a password.");
    check("see @url", "@url: write the address of the page after the @");
    assert_eq!(site.asked().len(), 2);
}

#[test]
fn a_message_is_given_back_if_the_user_stops_while_its_page_is_fetched() {
    let scene = scene(true);
    scene.site.stuck("/slow");
    let prompt = format!("see @{}", scene.site.url("/slow"));
    scene.nvim.keys(&format!(":Caliban<CR>i{prompt}<C-s><Esc>"));
    scene.nvim.wait(|_| scene.site.asked().len() == 1, "the request of the page");
    scene.nvim.wait_screen(&format!("Fetching from {} …", scene.site.host()));
    scene.nvim.command("Caliban stop");
    scene.nvim.wait_screen("You stopped this message before it was sent.");
    scene.nvim.wait(|_| scene.site.closed() == 1, "the end of the connection");
    assert_eq!((scene.nvim.composer().as_str(), scene.server.count()), (&*prompt, 0));
}

#[test]
fn a_slash_command_of_the_project_cannot_mention_a_web_page() {
    let site = Site::start();
    let server = Server::start();
    let command = format!("Look at @{}.\n", site.url("/page"));
    let setup = Setup::new().file(".caliban/commands/look.md", command).config(&site.allowed());
    let nvim = Nvim::start(&setup.size(240, 40).anthropic(&server));
    nvim.keys(":Caliban<CR>i/look<C-s><Esc>");
    nvim.wait_screen("which leads out of");
    assert_eq!((site.asked().len(), server.count()), (0, 0));
}

#[test]
fn completion_offers_https_as_the_beginning_of_an_address() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(100, 30));
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Caliban");
    nvim.keys("i@ur");
    nvim.wait_screen("https://");
    nvim.keys("<C-n><C-y>");
    nvim.wait(|it| it.composer() == "@https://", "the beginning of an address");
}
