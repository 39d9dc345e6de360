//! An export shows the outcome of each call.

use super::names::say;
use super::*;

#[test]
fn an_export_puts_each_result_after_its_call() {
    let server = Server::start();
    let setup = wide().file("a.txt", "alpha\n").file("b.txt", "beta\n").anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Project");
    let reads = Reply::new().call("c1", "read", serde_json::json!({"path": "a.txt"})).call(
        "c2",
        "read",
        serde_json::json!({"path": "b.txt"}),
    );
    server.reply(reads);
    say(&nvim, &server, "Read both", "I did.");
    nvim.keys(":Caliban export out.md<CR>");
    nvim.wait_screen("Written to ");
    let text = setup.on_disk("out.md").unwrap();
    expect_test::expect![[r#"
        # Read both

        ## You

        Read both

        ## MODEL

        **read**

        ```
        {"path":"a.txt"}
        ```

        ```
        1	alpha
        ```

        **read**

        ```
        {"path":"b.txt"}
        ```

        ```
        1	beta
        ```

        ## MODEL

        I did.
    "#]]
    .assert_eq(&text.replace("anthropic/claude-sonnet-4-5", "MODEL"));
}
