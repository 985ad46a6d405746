// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import Foundation
import Logging

/// A second, independent client of the backend: what it commits reaches the dashboard's client as server changes, and
/// goes on happening while that client is offline.
struct DemoClient: Sendable {
  let datastore: any Datastore
  let ground: DemoGround
  let seed: UInt64
  let clock: any Clock<Duration>

  /// Writes until cancelled; nothing where there are documents that the demo did not make.
  /// - Parameter notify: told why nothing happens.
  func run(notify: @MainActor @Sendable (String) -> Void) async {
    let log = Logger(label: "hearth.demo")
    do {
      var shop = DemoShop(seed: seed)
      let stock = shop.openingStock()
      switch try await ground.claim(at: datastore) {
      case .foreign: return await notify(Self.refusal)
      case .new: _ = try await datastore.commit(stock)
      case .own:
        // The database has a past: let another stream of events happen to it.
        let orders = try await datastore.aggregate(
          Query(path: DemoShop.orders).target, [Aggregation(alias: "n", function: .count)])
        if case .integer(let count)? = orders["n"] { shop = DemoShop(seed: seed &+ UInt64(bitPattern: count)) }
      }
      while true {
        try await clock.sleep(for: .milliseconds(shop.pause()))
        _ = try await datastore.commit(shop.nextEvent())
      }
    } catch is CancellationError {
      // The dashboard is closing.
    } catch {
      log.error("the demo stopped", metadata: ["error": "\(error)"])
      await notify("The demo stopped: \(error)")
    }
  }

  static let refusal =
    "The demo leaves this database alone, which has other documents. Start it without --data, or --in-memory."
}

/// Where the demo may write: a database that it has filled itself, or one that is empty. Which it has filled is noted
/// in a file beside the embedded backend's data, one name per line.
struct DemoGround: Sendable {
  /// The folder of the backend's data; `nil` for data in memory, which is new with every start.
  let folder: String?
  let database: DatabaseID

  private var note: String? { folder.map { "\($0)/made-by-demo" } }

  private var known: [String] {
    guard let note, let content = FileManager.default.contents(atPath: note) else { return [] }
    return String(decoding: content, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  enum Claim: Hashable, Sendable {
    /// Empty until now, and the demo's from now on.
    case new
    /// The demo's own, with what it wrote before.
    case own
    /// There are documents that the demo did not make.
    case foreign
  }

  /// - Throws: what the backend says; an error of the file system if the database cannot be noted as the demo's.
  func claim(at datastore: any Datastore) async throws -> Claim {
    if try await !datastore.listCollectionIDs(below: .root).isEmpty {
      return known.contains(database.name) ? .own : .foreign
    }
    if let note {
      let names = known.filter { $0 != database.name } + [database.name]
      try Data((names.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: note), options: .atomic)
    }
    return .new
  }
}
