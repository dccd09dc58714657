//! What is there: nothing but digests and results travels.

use super::Client;
use crate::batch::{FRAME, MESSAGE, batches, listed};
use crate::digest::Digest;
use crate::error::Error;
use crate::link::{LARGEST, Method};
use crate::messages::rpc::{
    FindMissingBlobsRequest, FindMissingBlobsResponse, GetActionResultRequest, SHA256,
};
use crate::messages::{self, ActionResult};
use crate::pool::ask_all;
use prost::Message;
use std::collections::HashSet;
use std::sync::Arc;

/// The most digests in one request. Servers take up to 58,000 of them.
const DIGESTS: usize = 20_000;
/// The requests about presence that are under way at once.
const IN_FLIGHT: usize = 4;

pub(super) fn find_missing(client: &Client, digests: &[Digest]) -> Result<Vec<Digest>, Error> {
    let mut seen = HashSet::with_capacity(digests.len());
    // A cache has the empty blob without being given it.
    let asked: Vec<_> =
        digests.iter().copied().filter(|&digest| digest != Digest::EMPTY && seen.insert(digest)).collect();
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let instance = client.link.address.instance();
    let sizes = asked.iter().map(|digest| listed(digest.to_message().encoded_len()));
    let batches = batches(sizes, DIGESTS, MESSAGE - FRAME - instance.len().min(MESSAGE / 2));
    let questions: Vec<_> = batches
        .iter()
        .map(|batch| FindMissingBlobsRequest {
            instance_name: instance.into(),
            blob_digests: asked[batch.clone()].iter().map(Digest::to_message).collect(),
            digest_function: SHA256,
        })
        .collect();
    let (questions, link) = (Arc::new(questions), Arc::clone(&client.link));
    let ask = move |batch: usize| {
        let (questions, link) = (Arc::clone(&questions), Arc::clone(&link));
        async move {
            let answer = link.ask(Method::FIND_MISSING, &questions[batch], LARGEST).await;
            answer.map_err(|failure| link.error(Method::FIND_MISSING, failure))
        }
    };
    let (mut missing, mut failed) = (HashSet::new(), None);
    let mut take = |batch: usize, answer: Result<FindMissingBlobsResponse, Error>| match answer {
        Ok(answer) => {
            // Some other blob, or one in other words, may be meant for one of those that were asked for: in doubt nothing is
            // known.
            let own: HashSet<_> = asked[batches[batch].clone()].iter().copied().collect();
            for digest in &answer.missing_blob_digests {
                match Digest::from_message(digest) {
                    Ok(digest) if own.contains(&digest) => {
                        missing.insert(digest);
                    }
                    _ => {
                        failed = Some(
                            client
                                .link
                                .broken(Method::FIND_MISSING, "it names a blob that was not asked for"),
                        )
                    }
                }
            }
        }
        Err(error) => failed = Some(error),
    };
    ask_all(client.worker()?, batches.len(), IN_FLIGHT, ask, &|| client.died(), &mut take);
    match failed {
        Some(error) => Err(error),
        None => Ok(asked.into_iter().filter(|digest| missing.contains(digest)).collect()),
    }
}

pub(super) fn action_results(
    client: &Client,
    actions: &[Digest],
) -> Vec<Result<Option<ActionResult>, Error>> {
    if actions.is_empty() {
        return Vec::new();
    }
    let worker = match client.worker() {
        Ok(worker) => worker,
        Err(error) => return actions.iter().map(|_| Err(error.clone())).collect(),
    };
    let (questions, link): (Arc<[Digest]>, _) = (actions.into(), Arc::clone(&client.link));
    let ask = move |action: usize| {
        let (questions, link) = (Arc::clone(&questions), Arc::clone(&link));
        async move {
            let question = GetActionResultRequest {
                instance_name: link.address.instance().into(),
                action_digest: questions.get(action).map(Digest::to_message),
                digest_function: SHA256,
                ..GetActionResultRequest::default()
            };
            // A result is some 400 bytes, and is handed on a dozen times.
            match link.ask::<_, Box<ActionResult>>(Method::GET_RESULT, &question, LARGEST).await {
                Ok(result) => Ok(Some(result)),
                Err(failure) if failure.is_not_found() => Ok(None),
                Err(failure) => Err(link.error(Method::GET_RESULT, failure)),
            }
        }
    };
    let mut results = vec![Ok(None); actions.len()];
    let in_flight = client.link.options.max_in_flight;
    ask_all(worker, actions.len(), in_flight, ask, &|| client.died(), &mut |action, result| {
        results[action] = result.map(|result| result.map(|result| *result));
    });
    results
}

/// What one of a server's answers about several blobs is about.
pub(super) fn meant(digest: Option<&messages::Digest>) -> Option<Digest> {
    Digest::from_message(digest?).ok()
}
