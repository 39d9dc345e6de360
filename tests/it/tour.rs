//! The offline tour from end to end, as a newcomer walks it on the sample project.

use crate::kit::nvim::Nvim;
use crate::kit::root;
use crate::kit::setup::Setup;

fn sample() -> Setup {
    let read = |name: &str| std::fs::read(root().join("examples/sample").join(name)).unwrap();
    let setup = Setup::new().size(160, 40);
    setup.file("greet.py", read("greet.py")).file("test_greet.py", read("test_greet.py"))
}

#[test]
fn the_tour_reads_edits_runs_and_says_how_to_connect_a_model() {
    let setup = sample();
    let nvim = Nvim::start(&setup);
    nvim.keys(":edit greet.py<CR>:Caliban<CR>");
    nvim.wait_screen("Tour     any message begins it: i, a word, <Esc>, <CR>");
    nvim.keys("ishow me<C-s><Esc>");
    nvim.wait_phase("reviewing");
    nvim.wait_transcript("accept with `\\a`, reject with `\\r`");
    nvim.keys("<C-w>hgg]h");
    nvim.wait_screen("[1/2]");
    nvim.keys("\\a]h");
    nvim.wait_screen("[1/1]");
    nvim.keys(":Caliban reject hunk not now<CR>");
    nvim.wait_transcript("1 accepted, 1 rejected and undone");
    nvim.wait_phase("asking");
    nvim.wait_question();
    nvim.keys(":Caliban approve<CR>");
    nvim.wait_transcript("The test passed. That is the whole loop: read, propose, review, run.");
    nvim.wait_transcript("`ANTHROPIC_API_KEY`");
    nvim.wait_phase("idle");
    let text = setup.on_disk("greet.py").unwrap();
    assert!(text.contains("return f\"Hello, {name}.\""), "{text}");
    assert!(text.contains("print(greet(\"world\"))"), "{text}");

    // a second tour finds the sample already changed, and says so instead of failing
    nvim.keys(":Caliban new<CR>");
    nvim.wait_session("main-2");
    nvim.keys("iagain<C-s><Esc>");
    nvim.wait_transcript("The sample project is not here (or the tour changed it already");
}

#[test]
fn the_tour_names_the_keys_as_they_are_mapped() {
    let nvim = Nvim::start(&sample().before("vim.g.maplocalleader = ','"));
    nvim.keys(":edit greet.py<CR>:Caliban<CR>ishow me<C-s><Esc>");
    nvim.wait_transcript("accept with `,a`, reject with `,r`");
}
