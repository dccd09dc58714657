//! How fast a cache can be asked, for docs/REMOTE.md: presence of blobs, results, storing and fetching. It stores blobs there.
//!
//!     cargo run --release -p upcheck-reapi --example rates -- URL [BLOBS]

use std::error::Error;
use std::io::Write;
use std::time::Instant;
use upcheck_reapi::messages::OutputFile;
use upcheck_reapi::{ActionResult, Blob, Client, Digest, Options};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let address = args.next().ok_or("which cache?")?.parse()?;
    let count: usize = args.next().map_or(Ok(10_000), |count| count.parse())?;
    let client = Client::open(&address, Options::default())?;
    let mut out = std::io::stdout().lock();
    let begun = Instant::now();
    client.capabilities()?;
    writeln!(out, "connecting                     {:8.1} ms", millis(begun))?;

    let digests: Vec<_> = (0..100_000_u32).map(|number| Digest::of(&number.to_be_bytes())).collect();
    let missing = best(5, || client.find_missing(&digests).map(|missing| missing.len()))?;
    writeln!(out, "presence of 100,000 blobs      {missing:8.1} ms")?;

    let blobs: Vec<_> = (0..count)
        .map(|number| {
            let bytes = number.to_string().repeat(100);
            Blob::Bytes { digest: Digest::of(bytes.as_bytes()), bytes: bytes.into() }
        })
        .collect();
    let begun = Instant::now();
    client.write_all(&blobs, &mut |_| {})?;
    writeln!(out, "storing {count} blobs            {:8.1} ms", millis(begun))?;
    let stored: Vec<_> = blobs.iter().map(Blob::digest).collect();
    let read = best(3, || {
        let mut failed = None;
        client.read_all(&stored, &mut |_, bytes| failed = bytes.err().or(failed.take()));
        failed.map_or(Ok(()), Err)
    })?;
    writeln!(out, "fetching {count} blobs           {read:8.1} ms")?;

    let actions: Vec<_> = (0..10_000_u32).map(|number| Digest::of(&number.to_le_bytes())).collect();
    let none = best(3, || client.action_results(&actions).into_iter().collect::<Result<Vec<_>, _>>())?;
    writeln!(out, "results of 10,000, none there  {none:8.1} ms")?;
    let file = stored.first().map(|output| OutputFile {
        path: "a".into(),
        digest: Some(output.to_message()),
        ..OutputFile::default()
    });
    let result = ActionResult { output_files: file.into_iter().collect(), ..ActionResult::default() };
    let begun = Instant::now();
    for action in &actions {
        client.put_action_result(*action, &result)?;
    }
    writeln!(out, "storing 10,000 results         {:8.1} ms", millis(begun))?;
    let there = best(3, || client.action_results(&actions).into_iter().collect::<Result<Vec<_>, _>>())?;
    writeln!(out, "results of 10,000, all there   {there:8.1} ms")?;

    let large = vec![7; 100 << 20];
    let digest = Digest::of(&large);
    let begun = Instant::now();
    client.write_all(&[Blob::Bytes { digest, bytes: large }], &mut |_| {})?;
    writeln!(out, "storing a blob of 100 MiB      {:8.1} ms", millis(begun))?;
    let read = best(3, || client.read_into(digest, &mut std::io::sink()))?;
    writeln!(out, "fetching a blob of 100 MiB     {read:8.1} ms")?;
    Ok(())
}

/// The least of so many times, in milliseconds.
fn best<T, E>(times: usize, mut what: impl FnMut() -> Result<T, E>) -> Result<f64, E> {
    let mut least = f64::INFINITY;
    for _ in 0..times {
        let begun = Instant::now();
        what()?;
        least = least.min(millis(begun));
    }
    Ok(least)
}

fn millis(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1000.0
}
