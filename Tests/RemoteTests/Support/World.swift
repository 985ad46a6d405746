// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import FirestoreBackend
import FirestoreGRPC
import FirestoreModel
import FirestoreProtocol
import FirestoreServer
import Foundation
import Hearth
import NIOCore
import Testing

/// A backend and the way that its clients take to it.
final class World: Sendable {
  enum Way: CaseIterable, Sendable, CustomTestStringConvertible {
    case inProcess
    /// To a server.
    case gRPC
    /// The same through a line that hands over a few bytes at a time, and late.
    case slowLine

    var testDescription: String { "\(self)" }
  }

  /// A project of the test's own: servers keep their data between tests.
  let database = DatabaseID(project: "test-" + UUID().uuidString.lowercased())
  private let makeDatastore: @Sendable (DatabaseID) -> any Datastore

  init(_ makeDatastore: @escaping @Sendable (DatabaseID) -> any Datastore) { self.makeDatastore = makeDatastore }

  /// A world of clients that reach a server at this address.
  convenience init(
    at endpoint: FirestoreGRPC.Endpoint, keepalive: (time: Duration, timeout: Duration)? = nil
  ) {
    self.init { database in
      GRPCDatastore(endpoint, database: database, credentials: .emulatorOwner, keepalive: keepalive)
    }
  }

  func datastore() -> any Datastore { makeDatastore(database) }

  /// A new client with a cache of its own.
  func client() -> Firestore { client(makeDatastore(database)) }

  func client(_ datastore: any Datastore) -> Firestore {
    .firestore(
      app: FirestoreApp(
        name: UUID().uuidString, projectID: database.project, backend: .datastore(datastore, clock: HastyClock())))
  }

  /// Runs a test with two clients.
  static func run(
    _ way: Way, _ test: @escaping @Sendable (_ db: Firestore, _ other: Firestore) async throws -> Void
  ) async throws {
    try await with(way) { try await $0.run(test) }
  }

  static func with(_ way: Way, _ body: @escaping @Sendable (World) async throws -> Void) async throws {
    switch way {
    case .inProcess:
      let backend = try LocalBackend.inMemory()
      try await body(World { InProcessDatastore(backend: backend, database: $0) })
    case .gRPC: try await Server.run { try await body(World(at: $0)) }
    case .slowLine:
      try await Server.run { server in
        let line = try await Proxy(to: server, mostBytes: 7, delay: .milliseconds(4))
        try await body(World(at: line.endpoint))
        try await line.close()
      }
    }
  }

  func run(
    _ test: @escaping @Sendable (_ db: Firestore, _ other: Firestore) async throws -> Void
  ) async throws {
    let (db, other) = (client(), client())
    let result = await Result { try await test(db, other) }
    try await db.terminate()
    try await other.terminate()
    try result.get()
  }
}

extension LocalBackend {
  static func inMemory() throws -> LocalBackend {
    try LocalBackend(
      BackendConfiguration(location: .memory, now: { FirestoreModel.Timestamp.ofTests }), on: ServerThread.executor,
      pause: ServerThread.pause)
  }
}

extension FirestoreModel.Timestamp {
  static var ofTests: FirestoreModel.Timestamp {
    FirestoreModel.Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
  }
}

extension Result where Failure == any Error {
  init(_ body: nonisolated(nonsending) () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
