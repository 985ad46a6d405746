// SPDX-License-Identifier: Apache-2.0
import CommandTransfer
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import Foundation
import Logging

/// Other clients of the backend, one for each customer: their commits reach the dashboard's client as server changes,
/// and go on while that client is offline.
struct DemoClient: Sendable {
  let datastore: any Datastore
  let ground: DemoGround
  let seed: UInt64
  /// The factor by which the customers are faster than people.
  var speed = 1.0
  let clock: any Clock<Duration>

  private static let log = Logger(label: "hearth.demo")
  /// The pauses before a failed commit is tried again, each longer than the last.
  private static let pauses = [1, 2, 5, 10, 30].map { Duration.seconds($0) }

  /// Writes until cancelled; writes nothing if there are documents that the demo did not make.
  /// - Parameter notify: called with the reason why nothing is written.
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
      // A database that has orders already gets another stream of events.
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

  /// Commits one customer's events, each at its time; events due together are one commit.
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

  /// Repeats the work until it succeeds, and reports its failure once.
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
        // Cancellation ends the demo.
        if (try? await clock.sleep(for: pause)) == nil { return }
      }
    }
  }

  static let refusal =
    "The demo leaves this database alone, which has other documents. Start it without --data, or --in-memory."
}
