//! Proxies that environment variables name, between Caliban and a provider.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use std::io::{Read, Write, copy};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A SOCKS proxy that connects every client to this server. Returns its address, and the hosts that clients asked for.
fn socks(server: &Server) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("socks5h://me:secret@{}", listener.local_addr().unwrap());
    let target = server.url().replace("http://", "");
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let theirs = asked.clone();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let (target, asked) = (target.clone(), theirs.clone());
            std::thread::spawn(move || serve(client, &target, &asked));
        }
    });
    (address, asked)
}

/// The next bytes of a client; `None` if it leaves.
fn read(mut client: &TcpStream, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    client.read_exact(&mut bytes).ok().map(|()| bytes)
}

/// Serves one client by version 5 of the protocol, with a user name and a password. `None` if the client leaves.
fn serve(mut client: TcpStream, target: &str, asked: &Mutex<Vec<String>>) -> Option<()> {
    let greeting = read(&client, 2)?;
    read(&client, usize::from(greeting[1]))?;
    client.write_all(&[5, 2]).ok()?;
    let user = read(&client, 2)?;
    read(&client, usize::from(user[1]))?;
    let password = read(&client, 1)?;
    read(&client, usize::from(password[0]))?;
    client.write_all(&[1, 0]).ok()?;
    let head = read(&client, 5)?;
    assert_eq!(head[3], 3, "the proxy resolves the name");
    let host = read(&client, usize::from(head[4]))?;
    read(&client, 2)?;
    asked.lock().unwrap().push(String::from_utf8(host).unwrap());
    client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).ok()?;
    let mut server = TcpStream::connect(target).ok()?;
    let (mut from_client, mut to_server) = (client.try_clone().ok()?, server.try_clone().ok()?);
    std::thread::spawn(move || {
        let _ = copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Write);
    });
    copy(&mut server, &mut client).ok()?;
    client.shutdown(Shutdown::Both).ok()
}

#[test]
fn a_request_goes_through_a_socks_proxy() {
    let server = Server::start();
    let (address, asked) = socks(&server);
    let setup = Setup::new().anthropic_elsewhere(&server).without("http_proxy");
    let nvim = Nvim::start(&setup.env("ALL_PROXY", &address));
    nvim.keys(":Caliban<CR>");
    server.reply(Reply::said("Hello."));
    nvim.ask("hello", "Hello.");
    assert_eq!(asked.lock().unwrap()[0], "models.test");
}

#[test]
fn a_proxy_that_fails_is_named_without_its_password() {
    let server = Server::start();
    let setup = Setup::new().size(160, 40).anthropic_elsewhere(&server).without("http_proxy");
    let nvim = Nvim::start(&setup.env("http_proxy", "http://me:secret@127.0.0.1:1"));
    nvim.keys(":Caliban<CR>");
    let said = "No connection to models.test through the proxy 127.0.0.1:1 (http_proxy): it refused the connection";
    nvim.ask("hello", said);
    assert!(!nvim.transcript().contains("secret"), "{}", nvim.transcript());
}

#[test]
fn a_proxy_that_wants_a_password_is_named() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().size(160, 40).anthropic_elsewhere(&server));
    nvim.keys(":Caliban<CR>");
    server.reply(Reply::raw(407, &[("content-type", "text/html")], "<title>407 Denied</title>"));
    nvim.ask("hello", "(http_proxy): it wants a valid user name and password (407).");
}
