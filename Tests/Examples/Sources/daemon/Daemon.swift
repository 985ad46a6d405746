// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Hearth

/// Works off a queue of orders until it is told to stop: each document of `orders` with the status `new` is packed. Works
/// offline too; what it wrote is sent later, by the next start if need be. SIGTERM and SIGINT end it in order.
@main
struct Daemon {
  static func main() async {
    do {
      try await run()
    } catch {
      report("\(error)")
      exit(1)
    }
  }

  private static func run() async throws {
    let (signals, heard) = AsyncStream<Void>.makeStream()
    let sources = [SIGTERM, SIGINT].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      // Dispatch calls it on a queue of its own, where a closure of the main actor's would trap.
      source.setEventHandler { @Sendable in heard.yield() }
      source.resume()
      return source
    }
    defer { for source in sources { source.cancel() } }

    let db = Firestore.firestore()
    if let failure = try await db.persistenceFailure { report("what waits ends with this process: \(failure.message)") }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await pack(db) }
      group.addTask { await reportRejections(of: db) }
      group.addTask { for await _ in signals { return } }
      // Whichever ends first ends the others: the signal, or an error.
      try await group.next()
      group.cancelAll()
    }
    try await db.terminate()
    report("stopped")
  }

  private static func pack(_ db: Firestore) async throws {
    let new = db.collection("orders").whereField("status", isEqualTo: "new")
    for try await orders in new.snapshots {
      for order in orders.documents {
        // The local stage is enough: the order leaves the query at once, and the write is not lost.
        try await order.reference.enqueueUpdate(["status": "packed", "packed": FieldValue.serverTimestamp()]).local
        report("packed \(order.documentID)")
      }
    }
  }

  /// Somebody has to look at what the backend refused; a daemon can only say so.
  private static func reportRejections(of db: Firestore) async {
    for await rejected in db.rejectedWrites where !rejected.isEmpty {
      report("\(rejected.count) writes were refused, the last one: \(rejected.last?.error.message ?? "")")
    }
  }

  private static func report(_ line: String) {
    // A line that cannot be written is lost; that must not end the program.
    try? FileHandle.standardError.write(contentsOf: Data("daemon: \(line)\n".utf8))
  }
}
