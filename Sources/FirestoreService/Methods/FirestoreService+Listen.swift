// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreRemote

extension FirestoreService {
  /// Serves one Listen stream (PROTOCOL §2): ends without an error when the client has said its last.
  /// - Throws: `RPCStatus`, or what `requests` or `send` threw.
  package func listen<Requests: AsyncSequence & Sendable>(
    _ requests: Requests, to send: @escaping Send
  ) async throws where Requests.Element == [UInt8] {
    let backend = backend
    // The first request names the database; then there is a session to deliver from.
    let (opened, open) = AsyncStream.makeStream(of: OpenedWatch.self, bufferingPolicy: .bufferingNewest(1))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { open.finish() }
        try await Self.forward(requests, backend, open)
      }
      group.addTask {
        for await watch in opened { try await Self.deliver(watch, backend, to: send) }
      }
      defer { group.cancelAll() }
      // Either side may end first: the client by closing its side, the delivery by a failure.
      while try await group.next() != nil {}
    }
  }

  private static func forward<Requests: AsyncSequence & Sendable>(
    _ requests: Requests, _ backend: LocalBackend, _ open: AsyncStream<OpenedWatch>.Continuation
  ) async throws where Requests.Element == [UInt8] {
    var watch: OpenedWatch?
    var lastChosenID: Int32 = 0
    do {
      for try await bytes in requests {
        var request = try ListenRequest(bytes)
        if request.hasNoTargetID {
          lastChosenID += 1
          request.choose(TargetID(lastChosenID))
        }
        if watch == nil {
          let (session, signals) = await backend.openWatch(in: request.database)
          let opened = OpenedWatch(session: session, signals: signals, database: request.database)
          watch = opened
          open.yield(opened)
        }
        guard let watch else { break }
        switch request.change {
        case .watch(let request, let others):
          try await backend.request(request, on: watch.session, isChecked: true, others: others)
        case .invalid(let id, let status): try await backend.refuse(id, status, on: watch.session)
        }
      }
    } catch {
      if let watch { await backend.closeWatch(watch.session) }
      throw error
    }
    if let watch { await backend.closeWatch(watch.session) }
  }

  private static func deliver(_ watch: OpenedWatch, _ backend: LocalBackend, to send: Send) async throws {
    do {
      for await _ in watch.signals {
        var hasMore = true
        while hasMore {
          try Task.checkCancellation()
          let delivery = try await backend.take(from: watch.session)
          for change in delivery.changes {
            for bytes in change.responses(in: watch.database, at: delivery.readTime) { try await send(bytes) }
          }
          hasMore = delivery.hasMore
        }
      }
    } catch {
      await backend.closeWatch(watch.session)
      throw error
    }
    await backend.closeWatch(watch.session)
  }
}

/// A Listen stream whose first request has come.
struct OpenedWatch: Sendable {
  let session: WatchSessionID
  let signals: AsyncStream<Void>
  let database: DatabaseID
}
