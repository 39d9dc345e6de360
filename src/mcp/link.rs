//! A connection to a running server.

use super::answer::{self, Answer};
use super::definition::{Definition, Place};
use super::fault::Fault;
use super::host::Host;
use super::offer::{self, Offer};
use super::process::Process;
use super::remote;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation, ProtocolVersion,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RoleClient, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use rmcp::transport::IntoTransport;
use serde_json::{Map, Value};
use std::time::Duration;
use tokio::time::error::Elapsed;
use tokio::time::timeout;

/// The newest revision with and the newest without the handshake `initialize`.
const MODERN: ProtocolVersion = ProtocolVersion::V_2026_07_28;
const EARLIER: ProtocolVersion = ProtocolVersion::V_2025_11_25;

type Begun = Result<RunningService<RoleClient, ClientConfig>, ClientInitializeError>;

pub(super) struct Link {
    service: RunningService<RoleClient, ClientConfig>,
    /// The server's process, if it is a program on this machine.
    process: Option<Process>,
    startup: Duration,
}

impl Link {
    /// Starts or reaches a server and agrees with it on a revision of the protocol.
    pub(super) async fn open(
        host: &Host,
        name: &str,
        definition: &Definition,
    ) -> Result<Link, Fault> {
        let place = definition.place.filled(name, &host.variables).map_err(Fault::new)?;
        let (process, begun) = match &place {
            Place::Program(it) => {
                let (process, streams) = Process::start(host, it).await.map_err(Fault::new)?;
                (Some(process), begun(streams, definition.startup).await)
            }
            Place::Address(it) => {
                let transport = remote::transport(name, it, definition.startup);
                (None, begun(transport.map_err(Fault::new)?, definition.startup).await)
            }
        };
        match begun {
            Ok(Ok(service)) => Ok(Link { service, process, startup: definition.startup }),
            Ok(Err(error)) => Err(refused(name, error, process.as_ref())),
            Err(_) => {
                let seconds = definition.startup.as_secs();
                let since = if process.is_some() { " of its start" } else { "" };
                let why = format!(
                    "did not answer within {seconds} s{since} (mcp.{name}.startup_timeout)"
                );
                Err(Fault::new(why).saying(errors(process.as_ref())))
            }
        }
    }

    /// The revision of the protocol by which the server speaks.
    pub(super) fn revision(&self) -> String {
        let peer = self.service.peer_info();
        peer.map(|it| it.protocol_version.to_string()).unwrap_or_default()
    }

    pub(super) fn is_open(&self) -> bool {
        !self.service.is_closed() && !self.service.is_transport_closed()
    }

    /// The server's tools.
    pub(super) async fn offers(&self, name: &str) -> Result<Vec<Offer>, Fault> {
        match timeout(self.startup, self.service.list_all_tools()).await {
            Ok(Ok(tools)) => Ok(offer::offers(name, tools)),
            Ok(Err(error)) => Err(self.failed(name, error)),
            Err(_) => Err(Fault::new("did not name its tools in time")),
        }
    }

    pub(super) async fn call(
        &self,
        name: &str,
        tool: &str,
        arguments: Map<String, Value>,
        time: Duration,
    ) -> Result<Answer, Fault> {
        let call = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        match timeout(time, self.service.call_tool(call)).await {
            Ok(Ok(result)) => Ok(answer::of(result)),
            Ok(Err(error)) => Err(self.failed(name, error)),
            Err(_) => Err(Fault::new(format!(
                "did not answer within {} s (mcp.{name}.timeout); the call was cancelled",
                time.as_secs()
            ))),
        }
    }

    fn ended(&self) -> Fault {
        let why = if self.process.is_some() { "has ended" } else { "has closed the connection" };
        Fault::new(why).saying(errors(self.process.as_ref()))
    }

    fn failed(&self, name: &str, error: ServiceError) -> Fault {
        match error {
            ServiceError::McpError(error) => {
                Fault::new("answered with an error").saying(error.message)
            }
            ServiceError::TransportSend(error) => {
                let words = remote::fault(name, &*error.error);
                words.unwrap_or_else(|| self.ended())
            }
            ServiceError::TransportClosed => self.ended(),
            ServiceError::InputRequiredRoundsExceeded { .. } => {
                Fault::new("asked for more input than Caliban gives")
            }
            ServiceError::Cancelled { .. } => Fault::new("has cancelled the call"),
            other => Fault::new("sent an answer that is none").saying(other.to_string()),
        }
    }
}

/// Agrees with a server on a revision of the protocol, within this time.
async fn begun<T, E, A>(transport: T, within: Duration) -> Result<Begun, Elapsed>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![MODERN],
        legacy_version: Some(EARLIER),
    };
    let version = env!("CARGO_PKG_VERSION");
    let client =
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("caliban", version));
    timeout(within, serve_client_with_lifecycle(client, transport, lifecycle)).await
}

/// What the server's program has written to its standard error.
fn errors(process: Option<&Process>) -> String {
    process.map(Process::errors).unwrap_or_default()
}

fn refused(name: &str, error: ClientInitializeError, process: Option<&Process>) -> Fault {
    match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
            refused(name, *fallback, process)
        }
        ClientInitializeError::TransportError { error, .. } => {
            let words = remote::fault(name, &*error.error);
            words.unwrap_or_else(|| early_end(process))
        }
        ClientInitializeError::ConnectionClosed(_) => early_end(process),
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            Fault::new("speaks no revision of the protocol that Caliban knows")
        }
        ClientInitializeError::JsonRpcError(error) => {
            Fault::new("refused the connection").saying(error.message)
        }
        _ => Fault::new("sent a first answer that is none").saying(errors(process)),
    }
}

fn early_end(process: Option<&Process>) -> Fault {
    Fault::new("ended before it answered").saying(errors(process))
}
