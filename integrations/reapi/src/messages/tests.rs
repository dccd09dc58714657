//! That no bytes are too strange to be read, and that messages are written in their canonical form.

use super::*;

/// Reads bytes as every message there is, and what could be read once more from its own bytes.
fn read_as_everything(bytes: &[u8]) {
    fn read<M: Message + Default + PartialEq>(bytes: &[u8]) {
        if let Ok(message) = M::decode(bytes) {
            let again = M::decode(message.encode_to_vec().as_slice());
            assert!(again.is_ok_and(|again| again == message));
        }
    }
    read::<Digest>(bytes);
    read::<Action>(bytes);
    read::<Command>(bytes);
    read::<Directory>(bytes);
    read::<Tree>(bytes);
    read::<ActionResult>(bytes);
    read::<google::Any>(bytes);
    read::<google::Status>(bytes);
    read::<rpc::ServerCapabilities>(bytes);
    read::<rpc::FindMissingBlobsResponse>(bytes);
    read::<rpc::BatchUpdateBlobsRequest>(bytes);
    read::<rpc::BatchUpdateBlobsResponse>(bytes);
    read::<rpc::BatchReadBlobsResponse>(bytes);
    read::<rpc::ReadResponse>(bytes);
    read::<rpc::WriteRequest>(bytes);
    read::<rpc::WriteResponse>(bytes);
}

fn sample() -> ActionResult {
    let digest = Some(crate::Digest::of(b"x").to_message());
    let file =
        OutputFile { path: "a".into(), digest: digest.clone(), is_executable: true, ..Default::default() };
    let tree = OutputDirectory { path: "d".into(), tree_digest: digest, ..Default::default() };
    let link = OutputSymlink { path: "l".into(), target: "a".into(), ..Default::default() };
    let metadata = ExecutedActionMetadata {
        worker: "w".into(),
        auxiliary_metadata: vec![Any { type_url: "t".into(), value: vec![1] }],
        virtual_execution_duration: Some(Duration { seconds: -1, nanos: -2 }),
        ..Default::default()
    };
    ActionResult {
        output_files: vec![file],
        output_directories: vec![tree],
        output_symlinks: vec![link],
        exit_code: -1,
        execution_metadata: Some(metadata),
        ..Default::default()
    }
}

#[test]
fn no_bytes_are_too_strange_to_be_read() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random >> 33).unwrap_or(0) % below.max(1)
    };
    let sample = sample().encode_to_vec();
    for _ in 0..20_000 {
        let mut bytes: Vec<u8> = match next(2) {
            0 => (0..next(80)).map(|_| next(256).to_le_bytes()[0]).collect(),
            _ => sample[..sample.len() - next(3) * next(sample.len() / 2)].to_vec(),
        };
        for _ in 0..next(4) {
            let at = next(bytes.len());
            if let Some(byte) = bytes.get_mut(at) {
                *byte = next(256).to_le_bytes()[0];
            }
        }
        read_as_everything(&bytes);
    }
    // Messages within messages, deeper than any stack.
    read_as_everything(&[0x0a; 100_000]);
}

#[test]
fn fields_stand_in_the_order_of_their_numbers() {
    // A field's number and type are in its first byte, while the number is below 16.
    let command = Command {
        arguments: vec!["a".into()],
        environment_variables: vec![EnvironmentVariable { name: "n".into(), value: "v".into() }],
        working_directory: "w".into(),
        output_paths: vec!["o".into()],
        ..Command::default()
    };
    assert_eq!(command.encode_to_vec(), b"\x0a\x01a\x12\x06\x0a\x01n\x12\x01v\x32\x01w\x3a\x01o");
    let action = Action { do_not_cache: true, salt: b"s".to_vec(), ..Action::default() };
    assert_eq!(action.encode_to_vec(), b"\x38\x01\x4a\x01s");
    let link = OutputSymlink { path: "l".into(), target: "t".into(), ..OutputSymlink::default() };
    let result = ActionResult { exit_code: 1, output_symlinks: vec![link], ..ActionResult::default() };
    assert_eq!(result.encode_to_vec(), b"\x20\x01\x62\x06\x0a\x01l\x12\x01t");
    let metadata = ExecutedActionMetadata {
        auxiliary_metadata: vec![Any::default()],
        virtual_execution_duration: Some(Duration::default()),
        ..ExecutedActionMetadata::default()
    };
    assert_eq!(metadata.encode_to_vec(), b"\x5a\x00\x62\x00");
}
