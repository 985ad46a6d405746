// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import Testing

@testable import FirestoreText

@Suite struct FaultTextTests {
  @Test(
    "Each fault can be written as text",
    arguments: [
      ("latency 200ms", FaultChange.latency(.milliseconds(200), jitter: .zero, on: nil)),
      ("latency 200ms jitter 100ms on watch", .latency(.milliseconds(200), jitter: .milliseconds(100), on: .watch)),
      ("latency off", .latency(.zero, jitter: .zero, on: nil)), ("bandwidth 20kB", .bandwidth(20_000, on: nil)),
      ("bandwidth 1.5MB/s on read", .bandwidth(1_500_000, on: .read)), ("bandwidth off", .bandwidth(nil, on: nil)),
      ("loss 10%", .loss(10, before: false)), ("loss 0% before", .loss(0, before: true)),
      ("next write drop-ack", .event(.write(.dropAcknowledgement))),
      ("write drop-request", .event(.write(.dropRequest))),
      ("next write resource-exhausted", .event(.write(.reject(.resourceExhausted)))),
      ("next read UNAVAILABLE", .event(.read(.unavailable))),
      ("listen permission_denied", .event(.listen(.permissionDenied))), ("down", .down(nil)),
      ("down write", .down(.write)), ("up", .up), ("silent", .silent), ("flap 5s", .flap(.seconds(5))),
      ("flap off", .flap(nil)), ("expire-token", .event(.expireToken)), ("slow-reader 800B", .slowReader(800)),
      ("restart", .event(.restart(withoutTokens: false))),
      (" restart  without-tokens ", .event(.restart(withoutTokens: true))), ("calm", .calm),
    ])
  func reads(text: String, change: FaultChange) throws {
    #expect(try FaultText.parse(text) == change)
    // What is written is read as the same change.
    #expect(try FaultText.parse(FaultText.words(of: change)) == change, "\(FaultText.words(of: change))")
  }

  @Test("Applying the changes between two fault settings turns the first into the second")
  func changes() {
    let all: [FaultChange] = [
      .latency(.milliseconds(200), jitter: .milliseconds(50), on: nil),
      .latency(.seconds(1), jitter: .zero, on: .watch),
      .bandwidth(800, on: nil), .bandwidth(100, on: .read), .loss(10, before: true), .loss(5, before: false),
      .down(nil),
      .down(.write), .silent, .flap(.seconds(5)), .slowReader(10),
    ]
    // Each subset of four of them, against each other one of its size.
    let subsets =
      (0..<all.count).map { first in (0..<4).map { all[(first + $0 * 3) % all.count] } } + [[]] + all.map { [$0] }
    func settings(_ changes: [FaultChange]) -> FaultSettings {
      changes.reduce(into: FaultSettings()) { $0.apply($1) }
    }
    for before in subsets {
      for after in subsets {
        var reached = settings(before)
        for change in settings(after).changes(from: reached) { reached.apply(change) }
        #expect(reached == settings(after), "from \(before) to \(after)")
      }
    }
  }

  @Test(
    "An invalid fault is rejected with its column and a suggestion",
    arguments: [
      ("", 1, "Expected a fault: latency"), ("latncy 2s", 1, "Did you mean latency?"),
      ("latency", 8, "Expected a time"), ("latency 200ms jitter", 21, "Expected a time"),
      ("latency 200ms on wach", 18, "Did you mean watch?"), ("latency 5x", 10, "not a unit"),
      ("latency 200ms twice", 15, "Expected nothing after this"), ("bandwidth 20KB", 11, "Did you mean 20kB?"),
      ("bandwidth 0.1B", 11, "Expected 1B"), ("loss 101%", 6, "Expected 0% to 100%"),
      ("loss 10", 6, "not a percentage"),
      ("loss 10% later", 10, "before or after"), ("next", 5, "write, read or listen"),
      ("next rite drop-ack", 6, "Did you mean write?"), ("next write drop-ak", 12, "Did you mean drop-ack?"),
      ("next read drop-ack", 11, "a code such as unavailable"), ("next write ok", 12, "not expected here"),
      ("next listen unavailble", 13, "Did you mean unavailable?"), ("down here", 6, "watch, write or read"),
      ("clock 5m", 1, "a fault"), ("restart without-token", 9, "Did you mean without-tokens?"),
      ("calm now", 6, "Expected nothing"), ("flap 2h", 6, "at most 1 h"),
    ])
  func refuses(text: String, column: Int, reason: String) {
    #expect { try FaultText.parse(text) } throws: { error in
      guard let error = error as? TextError else { return false }
      return error.column == column && error.reason.contains(reason)
    }
  }

  @Test("A summary lists the active faults, and the commands 'up' and 'calm' end them")
  func summary() throws {
    var settings = FaultSettings()
    for text in ["latency 200ms jitter 50ms", "latency 1s on watch", "loss 10%", "loss 5% before", "bandwidth 20kB"] {
      settings.apply(try FaultText.parse(text))
    }
    for text in ["slow-reader 1.5MB", "down write", "silent", "flap 5s"] {
      settings.apply(try FaultText.parse(text))
    }
    #expect(
      settings.summary
        == "latency +200 ms, jitter +50 ms, 10 % of acknowledgements lost, 5 % of writes lost, 20 kB/s, read at 1.5 MB/s, "
        + "silent, flaps every 5 s, watch latency +1000 ms, write unplugged")
    settings.apply(.up)
    #expect(!settings.isOffline(.write) && settings.flap == nil && !settings.isHalfOpen)
    #expect(settings.delay(on: .watch).latency == .seconds(1))
    #expect(settings.delay(on: .read).latency == .milliseconds(200))
    settings.apply(.latency(.zero, jitter: .zero, on: nil))
    #expect(settings.lanes.isEmpty)
    settings.apply(.calm)
    #expect(settings.isCalm && settings.summary.isEmpty)
  }
}
