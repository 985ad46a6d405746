// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandTransfer
import FirestoreGRPC
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import Foundation
import Logging

/// Simulates other clients that write to the backend, one for each customer. The dashboard's client receives the
/// commits as changes from the server. The writes continue while that client is offline.
struct DemoClient: Sendable {
  let datastore: any Datastore
  let ground: DemoGround
  let seed: UInt64
  /// The customers' speed relative to real people. For example, 2 is twice as fast.
  var speed = 1.0
  let clock: any Clock<Duration>

  private static let log = Logger(label: "hearth.demo")
  /// The delays before retries of a failed commit. They increase.
  private static let pauses = [1, 2, 5, 10, 30].map { Duration.seconds($0) }

  /// Writes until the task is canceled. Writes nothing if the database has documents that the demo did not create.
  /// - Parameter notify: called with the reason why it writes nothing.
  func run(notify: @MainActor @Sendable @escaping (String) -> Void) async {
    await persist(notify) {
      switch try await ground.claim(at: datastore) {
      case .foreign:
        await notify(Self.refusal)
        return
      case .new:
        var shop = DemoShop(seed: seed)
        _ = try await datastore.commit(shop.openingStock())
      case .own: break
      }
      // A database that already has orders gets another sequence of events.
      let orders = try await datastore.aggregate(
        Query(path: DemoShop.orders).target, [Aggregation(alias: "n", function: .count)])
      guard case .integer(let count)? = orders["n"] else { return }
      let past = seed &+ UInt64(bitPattern: count)
      await withTaskGroup(of: Void.self) { group in
        for (number, customer) in DemoShop.customers.enumerated() {
          group.addTask { await act(as: customer, seed: past &* 31 &+ UInt64(number), notify) }
        }
      }
    }
  }

  /// Commits one customer's events, each at its time. Events that are due at the same time are in the same commit.
  private func act(as customer: String, seed: UInt64, _ notify: @MainActor @Sendable @escaping (String) -> Void) async {
    var shop = DemoShop(seed: seed, customer: customer)
    var due = Duration.zero
    let start = ContinuousClock.now
    while !Task.isCancelled {
      due += .milliseconds(shop.pause() * DemoShop.customers.count) / speed
      let early = due - (ContinuousClock.now - start)
      // Only a dashboard that closes ends the sleep early.
      if early > .milliseconds(1), (try? await clock.sleep(for: early)) == nil { return }
      var events = shop.nextEvent()
      while events.count < Self.batch, due < ContinuousClock.now - start {
        due += .milliseconds(shop.pause() * DemoShop.customers.count) / speed
        events += shop.nextEvent()
      }
      let batch = events
      await persist(notify) { _ = try await datastore.commit(batch) }
    }
  }

  private static let batch = 200

  /// Repeats a function until it succeeds. Reports its failure once.
  private func persist(
    _ notify: @MainActor @Sendable (String) -> Void, _ body: @Sendable () async throws -> Void
  ) async {
    var failures = 0
    while !Task.isCancelled {
      do { return try await body() } catch is CancellationError { return } catch {
        Self.log.error("the demo waits", metadata: ["error": "\(error)"])
        if failures == 0 { await notify("The demo waits and continues automatically: \(error)") }
        let pause = Self.pauses[min(failures, Self.pauses.count - 1)]
        failures += 1
        // Cancellation ends the demo.
        if (try? await clock.sleep(for: pause)) == nil { return }
      }
    }
  }

  static let refusal =
    "The demo does not write to a database with other documents. Start it without --data, or with --in-memory."
}

/// The settings of the demo's customers: their actions and their speed.
package struct DemoSettings: Hashable, Sendable {
  /// The seed for the customers' actions, and for the faults in the client's network.
  package static let standardSeed: UInt64 = 7

  package var seed: UInt64
  /// The customers' speed relative to real people. For example, 2 is twice as fast.
  package var speed: Double

  package init(seed: UInt64, speed: Double) { (self.seed, self.speed) = (seed, speed) }
}

/// The database that the demo may write to. It must be empty or have been filled by the demo. A file next to the
/// embedded backend's data lists the databases that the demo has filled, one name per line.
struct DemoGround: Sendable {
  /// The folder of the embedded backend's data, or the folder of the records about servers. `nil` for data in memory,
  /// which is new at every start.
  let folder: String?
  let database: DatabaseID
  /// The host of the server with the database; `nil` for the embedded backend.
  var host: String?

  private var name: String { (host.map { $0 + " " } ?? "") + database.name }

  private var note: String? { folder.map { "\($0)/made-by-demo" } }

  private var known: [String] {
    guard let note, let content = FileManager.default.contents(atPath: note) else { return [] }
    return String(decoding: content, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  enum Claim: Hashable, Sendable {
    /// An empty database, which the demo now uses.
    case new
    /// A database with documents that the demo wrote before.
    case own
    /// A database with documents that the demo did not create.
    case foreign
  }

  /// - Throws: the backend's status, or a file system error if the database cannot be recorded.
  func claim(at datastore: any Datastore) async throws -> Claim {
    if try await !datastore.listCollectionIDs(below: .root).isEmpty {
      return known.contains(name) ? .own : .foreign
    }
    if let folder, let note {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let names = known.filter { $0 != name } + [name]
      try Data((names.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: note), options: .atomic)
    }
    return .new
  }
}

extension DemoGround {
  /// The database that a dashboard's options name. If the data could not be opened, this is an empty backend in memory,
  /// which has no folder.
  /// - Parameter notes: the folder in which the databases of servers are recorded.
  init(_ storage: StorageOptions.Locations, _ connection: BackendConnection, notes: String) {
    switch storage.backend {
    case .embedded(let folder):
      self.init(folder: connection.problem == nil ? folder : nil, database: storage.database)
    case .remote(let remote):
      let host = "\(remote.endpoint.host):\(remote.endpoint.port)"
      self.init(folder: notes, database: storage.database, host: host)
    }
  }
}
