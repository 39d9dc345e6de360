use super::*;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

#[test]
fn ollama_llamacpp_and_lm_studio_are_recognised_by_their_answers() {
    let ollama_answer =
        json!({ "models": [{ "name": "nomic-embed-text:latest" }, { "name": "qwen3:8b" }] });
    let llamacpp_answer = json!({ "default_generation_settings": {}, "model_path": "/m/qwen3-8b.gguf", "model_alias": "" });
    let lmstudio_answer = json!({ "object": "list", "data": [{ "id": "qwen/qwen3-8b" }] });
    let shapes = [ollama, llamacpp, lmstudio];
    let expected = ["qwen3:8b", "qwen3-8b.gguf", "qwen/qwen3-8b"];
    for (at, answer) in [ollama_answer, llamacpp_answer, lmstudio_answer].iter().enumerate() {
        for (shape, model) in shapes.iter().enumerate() {
            let found = model(answer);
            assert_eq!(
                found.as_deref(),
                (shape == at).then_some(expected[at]),
                "answer {at}, shape {shape}"
            );
        }
    }
    let path = "/m/qwen3-8b.gguf";
    let aliased =
        json!({ "default_generation_settings": {}, "model_path": path, "model_alias": path });
    assert_eq!(llamacpp(&aliased).as_deref(), Some("qwen3-8b.gguf"));
    assert_eq!(ollama(&json!({ "models": [] })), None);
    for other in [json!(null), json!([]), json!({ "error": "no" }), json!("hello")] {
        assert!(shapes.iter().all(|model| model(&other).is_none()));
    }
}

async fn serve(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/api/tags", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = [0; 1024];
        let _ = stream.read(&mut request).await;
        stream.write_all(answer).await.unwrap();
        if answer.is_empty() {
            std::future::pending::<()>().await;
        }
    });
    url
}

#[tokio::test]
async fn ports_with_silent_servers_or_other_programs_are_ignored() {
    let client = client().unwrap();
    let json = serve(b"HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n{\"models\":[]}").await;
    assert_eq!(ask(&client, &json, Duration::from_secs(9)).await, Some(json!({ "models": [] })));
    let page = serve(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>").await;
    assert_eq!(ask(&client, &page, Duration::from_secs(9)).await, None);
    let silent = serve(b"").await;
    assert_eq!(ask(&client, &silent, Duration::from_millis(20)).await, None);
}

/// This test only has to compile. The future is not polled, so no server is asked.
#[test]
fn the_search_for_a_local_server_can_run_on_any_thread() {
    fn sendable(future: impl Send) {
        drop(future);
    }
    let env = |_: &str| None;
    sendable(probe(&env));
}
