//! Whom to believe, and with which certificate to ask: from the files that options name.

use super::configuration;
use crate::address::{Address, Place};
use crate::error::{Error, ErrorKind};
use crate::options::Options;
use std::fs;
use std::path::Path;
use tonic::transport::{Certificate, ClientTlsConfig, Identity};

/// What TLS needs to know; `None` for an address without TLS.
pub(super) fn tls(address: &Address, options: &Options) -> Result<Option<ClientTlsConfig>, Error> {
    let Place::Tcp { host, tls: true, .. } = address.place() else {
        let for_tls = [&options.ca, &options.client_certificate, &options.client_key];
        if for_tls.iter().any(|option| option.is_some()) || options.server_name.is_some() {
            return Err(configuration(
                address,
                "certificates are for TLS, and this address is one without: grpcs://",
            ));
        }
        return Ok(None);
    };
    let read = |path: &Path| {
        fs::read(path).map_err(|error| {
            Error::new(ErrorKind::Configuration, format!("reading {}", path.display()), error.to_string())
        })
    };
    let mut tls = ClientTlsConfig::new().domain_name(options.server_name.as_ref().unwrap_or(host));
    tls = match &options.ca {
        Some(path) => tls.ca_certificate(Certificate::from_pem(read(path)?)),
        None => tls.with_native_roots(),
    };
    match (&options.client_certificate, &options.client_key) {
        (Some(certificate), Some(key)) => {
            tls = tls.identity(Identity::from_pem(read(certificate)?, read(key)?))
        }
        (None, None) => {}
        _ => return Err(configuration(address, "a client certificate and its key go together")),
    }
    Ok(Some(tls))
}
