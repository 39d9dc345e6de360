//! What the services answer, and which settings can be used.

use super::*;

fn none(_: &str) -> Option<String> {
    None
}

fn made(name: &str, url: Option<&str>, key: Option<&str>) -> Result<String, String> {
    Search::new(name, url, key, &Used::default(), none).map(|it| it.host())
}

#[test]
fn an_invalid_search_setting_is_refused_with_a_reason() {
    let why = |name: &str, url, key| made(name, url, key).unwrap_err();
    assert!(why("google", None, None).contains("must be searxng, brave, tavily or exa"));
    assert!(why("searxng", None, None).contains("needs the `url`"));
    assert!(why("searxng", Some("ftp://a"), None).contains("does not begin with http"));
    assert!(why("brave", None, None).contains("brave needs a `key`"));
    let told = why("exa", None, Some("secret-key-1"));
    assert!(told.contains("never the key itself") && !told.contains("secret"), "{told}");
    assert_eq!(made("brave", None, Some("env:K")).as_deref(), Ok("api.search.brave.com"));
    assert_eq!(
        made("searxng", Some("http://localhost:8888"), None).as_deref(),
        Ok("localhost:8888")
    );
}

#[test]
fn results_of_each_service_are_read_and_hostile_ones_are_made_harmless() {
    let hit = |title: &str, url: &str, text: &str| Hit {
        title: title.into(),
        url: url.into(),
        text: text.into(),
    };
    let one = vec![hit("A b", "https://a.org/x", "what it is")];
    let results = |text: &str| json!([{ "title": "A\nb", "url": "https://a.org/x", text: "what\n\nit <strong>is</strong>" }]);
    let read = |service, value: Value| hits(service, &value);
    assert_eq!(read(Service::SearXng, json!({ "results": results("content") })), Some(one.clone()));
    assert_eq!(read(Service::Tavily, json!({ "results": results("content") })), Some(one.clone()));
    assert_eq!(read(Service::Exa, json!({ "results": results("text") })), Some(one.clone()));
    assert_eq!(
        read(Service::Brave, json!({ "web": { "results": results("description") } })),
        Some(one)
    );
    assert_eq!(read(Service::Brave, json!({ "query": {} })), Some(Vec::new()));
    for bad in [json!(null), json!([]), json!({}), json!({ "results": "x" })] {
        assert_eq!(read(Service::Exa, bad), None);
    }
    let odd = json!({ "results": [{}, 1, { "url": "javascript:alert(1)" }, { "url": "x" },
        { "url": "https://a.org/\n<b>", "title": "t".repeat(999), "text": 5 }] });
    let found = read(Service::Exa, odd).unwrap();
    assert_eq!(found.len(), 1);
    assert!(!found[0].url.contains('\n') && found[0].title.chars().count() == TITLE + 1);
    let many: Vec<Value> =
        (0..99).map(|n| json!({ "url": format!("https://a.org/{n}") })).collect();
    assert_eq!(read(Service::Exa, json!({ "results": many })).unwrap().len(), MOST);
}
