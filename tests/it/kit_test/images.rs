//! Tests that the fake model server refuses images that the providers refuse.

use super::server::{read, send};
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use image::{DynamicImage, ImageFormat};
use serde_json::{Value, json};
use std::io::Cursor;

const PLAIN: &str = "content-type: application/json\r\nauthorization: Bearer k\r\n";

fn written(width: u32, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    let picture = DynamicImage::new_rgb8(width, 2);
    picture.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

/// Sends this image in a request of each dialect. `model` is a model of Ollama, with or without support for images.
fn refusals(media: &str, data: &str, model: &str) -> Vec<String> {
    let url = format!("data:{media};base64,{data}");
    let anthropic =
        json!({"type": "image", "source": {"type": "base64", "media_type": media, "data": data}});
    let chat = json!({"type": "image_url", "image_url": {"url": url}});
    let responses = json!({"type": "input_image", "image_url": url, "detail": "auto"});
    let gemini = json!({"inlineData": {"mimeType": media, "data": data}});
    let user = |part: Value| json!([{"role": "user", "content": [part]}]);
    let answers = [
        (
            "/v1/messages",
            "content-type: application/json\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n",
            json!({"model": "m", "max_tokens": 9, "stream": true, "messages": user(anthropic)}),
        ),
        (
            "/v1/chat/completions",
            PLAIN,
            json!({"model": "m", "stream": true, "messages": user(chat)}),
        ),
        (
            "/v1/responses",
            PLAIN,
            json!({"model": "m", "stream": true, "store": false, "input": user(responses)}),
        ),
        (
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            "content-type: application/json\r\nx-goog-api-key: k\r\n",
            json!({"contents": [{"role": "user", "parts": [gemini]}]}),
        ),
        (
            "/api/chat",
            PLAIN,
            json!({"model": model, "stream": true, "options": {"num_ctx": 9, "num_predict": 9},
                "messages": [{"role": "user", "content": "it", "images": [data]}]}),
        ),
    ];
    let refusal = |(path, headers, body): &(&str, &str, Value)| {
        let server = Server::start();
        server.reply(Reply::said("fine"));
        read(&mut send(&server, path, headers, body));
        server.take_refusals().concat()
    };
    answers.iter().map(refusal).collect()
}

#[test]
fn the_fake_servers_refuse_invalid_images_in_every_dialect() {
    let png = written(2, ImageFormat::Png);
    let good = BASE64_STANDARD.encode(&png);
    assert_eq!(refusals("image/png", &good, "gemma3"), [""; 5]);
    let jpeg = BASE64_STANDARD.encode(written(2, ImageFormat::Jpeg));
    assert_eq!(refusals("image/jpeg", &jpeg, "gemma3"), [""; 5]);
    let wide = BASE64_STANDARD.encode(written(8001, ImageFormat::Png));
    let cut = BASE64_STANDARD.encode(&png[..png.len() - 20]);
    for (media, data, why) in [
        ("image/tiff", good.as_str(), "Input should be 'image/jpeg'"),
        ("image/jpeg", &good, "Could not process image"),
        ("image/png", "a*b=", "Invalid base64"),
        ("image/png", &cut, "Could not process image"),
        ("image/png", &wide, "max allowed size"),
    ] {
        let told = refusals(media, data, "gemma3");
        // a request to Ollama has no media type
        let told = if data == good { &told[..4] } else { &told[..] };
        assert!(told.iter().all(|it| it.contains(why)), "{why}: {told:?}");
    }
    let blind = refusals("image/png", &good, "qwen3:8b").swap_remove(4);
    assert_eq!(blind, "this model is missing data required for image input");
}
