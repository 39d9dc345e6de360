//! A connection to a running server.

use super::answer::{self, Answer};
use super::definition::Definition;
use super::fault::Fault;
use super::host::Host;
use super::offer::{self, Offer};
use super::process::Process;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation, ProtocolVersion,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RoleClient, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use serde_json::{Map, Value};
use std::time::Duration;
use tokio::time::timeout;

/// The newest revision with and the newest without the handshake `initialize`.
const MODERN: ProtocolVersion = ProtocolVersion::V_2026_07_28;
const EARLIER: ProtocolVersion = ProtocolVersion::V_2025_11_25;

pub(super) struct Link {
    service: RunningService<RoleClient, ClientConfig>,
    process: Process,
    startup: Duration,
}

impl Link {
    /// Starts a server and agrees with it on a revision of the protocol.
    pub(super) async fn open(
        host: &Host,
        name: &str,
        definition: &Definition,
    ) -> Result<Link, Fault> {
        let filled = definition.filled(name, &host.variables).map_err(Fault::new)?;
        let (process, streams) = Process::start(host, &filled).await.map_err(Fault::new)?;
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![MODERN],
            legacy_version: Some(EARLIER),
        };
        let version = env!("CARGO_PKG_VERSION");
        let client = ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("caliban", version),
        );
        let begun = serve_client_with_lifecycle(client, streams, lifecycle);
        match timeout(definition.startup, begun).await {
            Ok(Ok(service)) => Ok(Link { service, process, startup: definition.startup }),
            Ok(Err(error)) => Err(refused(error).saying(process.errors())),
            Err(_) => {
                let seconds = definition.startup.as_secs();
                let why = format!(
                    "did not answer within {seconds} s of its start (mcp.{name}.startup_timeout)"
                );
                Err(Fault::new(why).saying(process.errors()))
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
            Ok(Err(error)) => Err(self.failed(error)),
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
            Ok(Err(error)) => Err(self.failed(error)),
            Err(_) => Err(Fault::new(format!(
                "did not answer within {} s (mcp.{name}.timeout); the call was cancelled",
                time.as_secs()
            ))),
        }
    }

    fn failed(&self, error: ServiceError) -> Fault {
        match error {
            ServiceError::McpError(error) => {
                Fault::new("answered with an error").saying(error.message)
            }
            ServiceError::TransportSend(_) | ServiceError::TransportClosed => {
                Fault::new("has ended").saying(self.process.errors())
            }
            ServiceError::InputRequiredRoundsExceeded { .. } => {
                Fault::new("asked for more input than Caliban gives")
            }
            ServiceError::Cancelled { .. } => Fault::new("has cancelled the call"),
            other => Fault::new("sent an answer that is none").saying(other.to_string()),
        }
    }
}

fn refused(error: ClientInitializeError) -> Fault {
    match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => refused(*fallback),
        ClientInitializeError::ConnectionClosed(_)
        | ClientInitializeError::TransportError { .. } => Fault::new("ended before it answered"),
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            Fault::new("speaks no revision of the protocol that Caliban knows")
        }
        ClientInitializeError::JsonRpcError(error) => {
            Fault::new("refused the connection").saying(error.message)
        }
        _ => Fault::new("sent a first answer that is none"),
    }
}
