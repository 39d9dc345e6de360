//! Hands a file descriptor to another process over a Unix socket.

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Sends bytes, which must not be empty, and a descriptor with them.
pub fn send(socket: &impl AsFd, bytes: &[u8], descriptor: BorrowedFd<'_>) -> io::Result<()> {
    let descriptors = [descriptor];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&descriptors));
    sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::empty())?;
    Ok(())
}

/// Receives bytes, and the descriptor that comes with them, if one does. No process that is started gets the descriptor.
pub fn receive(socket: &impl AsFd, bytes: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(socket, &mut [IoSliceMut::new(bytes)], &mut control, FLAGS)?;
    let descriptor = control.drain().find_map(|it| match it {
        RecvAncillaryMessage::ScmRights(mut all) => all.next(),
        _ => None,
    });
    Ok((got.bytes, descriptor))
}

#[cfg(target_os = "linux")]
const FLAGS: RecvFlags = RecvFlags::CMSG_CLOEXEC;
// elsewhere there is no such flag; nothing is received there, because there is no sandbox
#[cfg(not(target_os = "linux"))]
const FLAGS: RecvFlags = RecvFlags::empty();

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_descriptor_arrives_with_its_bytes_and_bytes_alone_arrive_without_one() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, b"text").unwrap();
        io::Seek::rewind(&mut file).unwrap();
        send(&ours, b"four", file.as_fd()).unwrap();
        let mut bytes = [0; 4];
        let (count, descriptor) = receive(&theirs, &mut bytes).unwrap();
        assert_eq!((count, &bytes), (4, b"four"));
        let mut text = String::new();
        File::from(descriptor.unwrap()).read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        io::Write::write_all(&mut &ours, b"x").unwrap();
        assert!(receive(&theirs, &mut bytes).unwrap().1.is_none());
        drop(ours);
        assert_eq!(receive(&theirs, &mut bytes).unwrap().0, 0);
    }
}
