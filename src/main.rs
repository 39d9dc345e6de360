//! Caliban's program: started by the editor as its RPC child.

fn main() {}
