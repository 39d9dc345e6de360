//! The chat: keys in, bytes out, text on the screen.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;

#[test]
fn a_prompt_goes_out_and_the_reply_is_on_the_screen() {
    let server = Server::start();
    let gate = server.reply(Reply::new().text("I see ").gate().text("**two** files.").usage(12, 5));
    let nvim = Nvim::start(&Setup::new().file("a.rs", "fn main() {}\n").anthropic(&server));
    nvim.keys(":Caliban<CR>iwhat is in @a.rs<C-s>");
    nvim.wait_screen("I see");
    gate.finish();
    nvim.wait_screen("**two** files.");
    let requests = server.wait_requests(1);
    expect![[r#"
        <context kind="file" path="a.rs">
        fn main() {}
        </context>
        what is in @a.rs"#]]
    .assert_eq(&requests[0].last_user_text());
    assert!(requests[0].system_text().starts_with("You are Caliban"));
}
