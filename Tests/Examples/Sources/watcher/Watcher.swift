// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth

/// Prints what happens to a collection, a line for each document that comes, changes or goes: `watcher cities`.
@main
struct Watcher {
  static func main() async {
    guard CommandLine.arguments.count == 2 else { end("usage: watcher COLLECTION", status: 64) }
    do {
      try await watch(Firestore.firestore().collection(CommandLine.arguments[1]))
    } catch {
      // A wrong path, the backend's error, or output that nobody takes any more.
      end("watcher: \(error.localizedDescription)", status: 1)
    }
  }

  private static func watch(_ collection: CollectionReference) async throws {
    for try await snapshot in collection.snapshots(includeMetadataChanges: true) {
      for change in snapshot.documentChanges {
        let place = snapshot.metadata.hasPendingWrites ? " (not sent yet)" : ""
        try say("\(change.type) \(change.document.reference.path)\(place)")
      }
      if snapshot.documentChanges.isEmpty {
        try say("\(snapshot.metadata.isFromCache ? "from the cache" : "in sync"): \(snapshot.count) documents")
      }
    }
  }

  private static func end(_ message: String, status: Int32) -> Never {
    try? FileHandle.standardError.write(contentsOf: Data((message + "\n").utf8))
    exit(status)
  }

  /// A line at once, also into a file or a pipe.
  private static func say(_ line: String) throws {
    try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
  }
}
