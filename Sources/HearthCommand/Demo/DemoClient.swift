// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
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
