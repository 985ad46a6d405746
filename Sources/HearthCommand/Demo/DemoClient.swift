// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import Foundation
import Logging

/// Other clients of the backend, one for each customer: what they commit reaches the dashboard's client as server
/// changes, and goes on happening while that client is offline.
struct DemoClient: Sendable {
  let datastore: any Datastore
  let ground: DemoGround
  let seed: UInt64
  /// How many times faster than people.
  var speed = 1.0
  let clock: any Clock<Duration>

  private static let log = Logger(label: "hearth.demo")
  /// A failed commit is tried again after so long, each time later.
  private static let pauses = [1, 2, 5, 10, 30].map { Duration.seconds($0) }

  /// Writes until cancelled; nothing where there are documents that the demo did not make.
  /// - Parameter notify: told why nothing happens.
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
      // A database that has a past gets another stream of events.
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

  /// One customer's events, each at its time; those that are due together are one commit.
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

  /// Does something until it works, and says once that it does not.
  private func persist(
    _ notify: @MainActor @Sendable (String) -> Void, _ body: @Sendable () async throws -> Void
  ) async {
    var failures = 0
    while !Task.isCancelled {
      do { return try await body() } catch is CancellationError { return } catch {
        Self.log.error("the demo waits", metadata: ["error": "\(error)"])
        if failures == 0 { await notify("The demo waits, and goes on by itself: \(error)") }
        let pause = Self.pauses[min(failures, Self.pauses.count - 1)]
        failures += 1
        if (try? await clock.sleep(for: pause)) == nil { return }
      }
    }
  }

  static let refusal =
    "The demo leaves this database alone, which has other documents. Start it without --data, or --in-memory."
}
