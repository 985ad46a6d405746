// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreServer
import FirestoreTesting
import Foundation
import Glibc

@testable import FirestoreSharing

/// A directory for data, which goes with the value.
final class Folder {
  let path: String
  private let parent = TemporaryFolder()

  init(_ name: String = "data") throws {
    path = parent(name)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    chmod(path, 0o700)
  }

  /// Another name for the directory: what is opened by it is not known to be open in this process, as in another one.
  func alias(_ name: String = "alias") throws -> String {
    try FileManager.default.createSymbolicLink(atPath: parent(name), withDestinationPath: path)
    return parent(name)
  }

  var socket: String { path + "/hearth.sock" }
}

/// The mutation that counts a document's field up.
func increment(_ path: String) -> Mutation {
  Mutation(
    key: DocumentKey(unchecked: ResourcePath(path)), operation: .patch([:], FieldMask([])),
    transforms: [FieldTransform(path: FieldPath("n"), operation: .increment(.integer(1)))])
}

extension SharedDatastore {
  func count(_ path: String) async throws -> Value? {
    try await lookup([DocumentKey(unchecked: ResourcePath(path))]).first?[FieldPath("n")]
  }
}

extension SharedData {
  /// Waits until the company is as wanted.
  func wait(_ isWanted: (DataPeers) -> Bool) async {
    for await peers in peerChanges() where isWanted(peers) { return }
  }
}

/// What another process may be that sits on the socket, without being an owner.
final class FakeOwner {
  private let descriptor: CInt

  init(in folder: Folder) throws {
    descriptor = try DataSocket(in: folder.path).listen()
    _ = fcntl(descriptor, F_SETFL, 0)
  }

  deinit {
    shutdown(descriptor, CInt(SHUT_RDWR))
    close(descriptor)
  }

  /// Welcomes each process that comes with a text, until the value goes, and ends the connection when it is asked for the
  /// data, as an owner that does not know the question.
  func welcome(_ text: String) {
    let listener = descriptor
    DispatchQueue.global().async {
      while case let peer = accept(listener, nil, nil), peer >= 0 {
        let bytes = Array(text.utf8)
        _ = write(peer, bytes, bytes.count)
        var (received, piece) = ("", [UInt8](repeating: 0, count: 256))
        while !received.contains("give"), case let count = read(peer, &piece, piece.count), count > 0 {
          received += String(decoding: piece[..<count], as: UTF8.self)
        }
        close(peer)
      }
    }
  }

  /// Answers the next who comes with a text.
  func answer(_ text: String) {
    let listener = descriptor
    DispatchQueue.global().async {
      let peer = accept(listener, nil, nil)
      let bytes = Array(text.utf8)
      _ = write(peer, bytes, bytes.count)
      // Until the other side has read and gone.
      var rest = [UInt8](repeating: 0, count: 256)
      while read(peer, &rest, rest.count) > 0 {}
      close(peer)
    }
  }
}
