// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import FirestoreGRPC
import FirestoreModel
import FirestoreProxy
import Glibc
import Synchronization

import class Hearth.Inspection

/// Makes the clients of a proxy visible to `hearth attach`. There is one entry for all clients together, and one for
/// each client.
final class WatchedProxy: Sendable {
  fileprivate struct State {
    var clients = ProxiedClients()
    var named: [String: (client: WatchedClient, inspection: Inspection?)] = [:]
    var everyone: Inspection?
    /// The subject of each call that has not ended. It is needed for the event when the call ends.
    var subjects: [Int: MessageSummary] = [:]
    var isOver = false
  }

  /// The maximum size of the documents that are stored for watchers, in bytes.
  private static let mostDocumentBytes = 256 << 20

  private let server: ProxyServer
  private let target: ProxyServer.Configuration
  let folder: InspectionFolder
  private let everyone: WatchedClient
  private let state = Mutex(State())
  /// Yields the address of the entry for all clients when the first client has named its database. Ends without a value
  /// if the clients cannot be watched.
  let (addresses, opened) = AsyncStream.makeStream(of: InspectionAddress.self)

  /// - Parameter configuration: the server's configuration. Its `contentLimit` must be above 0.
  init(_ server: ProxyServer, _ configuration: ProxyServer.Configuration, in folder: InspectionFolder) {
    (self.server, target, self.folder) = (server, configuration, folder)
    everyone = WatchedClient(nil, of: server)
  }

  /// Handles an event of the proxy, on the proxy's thread.
  func note(_ event: ProtocolEvent) {
    state.withLock { state in
      if state.isOver { return }
      for (name, meaning) in state.clients.receive(event) {
        switch (name, meaning) {
        case (let name?, .event(let event)):
          client(name, &state).receive(event, of: name)
          everyone.receive(event, of: name)
        case (let name?, .left):
          everyone.forget(name)
          end(state.named.removeValue(forKey: name)?.inspection, nil)
        default: break
        }
      }
      let client = event.connection.flatMap { state.clients.name(of: $0) }.map { self.client($0, &state) }
      for client in [everyone, client].compactMap(\.self) { client.note(event) }
      if let traffic = Self.traffic(event, &state.subjects) {
        for client in [everyone, client].compactMap(\.self) { client.tell(.traffic(traffic)) }
      }
      if state.everyone == nil, let database = state.clients.database { open(database, &state) }
      if state.clients.documentBytes > Self.mostDocumentBytes {
        close(&state, because: "the results of the clients' listeners exceed 256 MiB; the proxy itself continues")
      }
    }
  }

  /// Reports the faults to the watchers after someone else has changed them.
  func noteFaults() {
    let clients = state.withLock { $0.named.values.map(\.client) }
    for client in clients + [everyone] { client.noteFaults() }
  }

  /// Ends the connections of the watchers.
  func end() async {
    let inspections = state.withLock { state -> [Inspection] in
      state.isOver = true
      return state.inspections
    }
    for inspection in inspections { await inspection.end() }
    opened.finish()
  }

  // MARK: Sockets

  private func client(_ name: String, _ state: inout State) -> WatchedClient {
    if let (client, _) = state.named[name] { return client }
    let client = WatchedClient(name, of: server)
    state.named[name] = (client, state.clients.database.flatMap { inspection(client, in: $0) })
    return client
  }

  private func open(_ database: DatabaseID, _ state: inout State) {
    guard let everyone = inspection(everyone, in: database) else {
      state.isOver = true
      return opened.finish()
    }
    state.everyone = everyone
    for (name, entry) in state.named where entry.inspection == nil {
      state.named[name]?.inspection = inspection(entry.client, in: database)
    }
    opened.yield(everyone.address)
  }

  /// - Returns: `nil` if the client cannot be watched. The proxy then continues and prints its lines.
  private func inspection(_ client: WatchedClient, in database: DatabaseID) -> Inspection? {
    let greeting = InspectionGreeting(
      process: getpid(), name: client.name ?? "hearth proxy", database: database,
      backend: target.target.isTLS ? .cloud : .emulator, host: target.target.text, isTLS: target.target.isTLS,
      since: .now)
    guard let inspection = try? Inspection(client, as: greeting, in: folder) else { return nil }
    inspection.start()
    return inspection
  }

  private func close(_ state: inout State, because reason: String) {
    state.isOver = true
    for inspection in state.inspections { end(inspection, reason) }
    opened.finish()
  }

  private func end(_ inspection: Inspection?, _ reason: String?) {
    if let inspection { Task { await inspection.end(because: reason) } }
  }

  /// The event for watchers: the start or end of a connection, the end of a call, or a fault. `nil` for other events of
  /// the proxy.
  private static func traffic(_ event: ProtocolEvent, _ subjects: inout [Int: MessageSummary]) -> ProtocolEvent? {
    var event = event
    switch event.kind {
    case .request:
      guard let stream = event.stream, subjects[stream] == nil else { return nil }
      subjects[stream] = event.message
      subjects[stream]?.content = nil
      return nil
    case .ended: event.message = event.stream.flatMap { subjects.removeValue(forKey: $0) }
    case .connected, .disconnected, .connection, .fault: event.message = nil
    case .opened, .response, .listening, .faults, .missed: return nil
    }
    return event
  }
}

extension WatchedProxy.State {
  fileprivate var inspections: [Inspection] { [everyone].compactMap(\.self) + named.values.compactMap(\.inspection) }
}
