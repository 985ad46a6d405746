// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Foundation
import SeededRandom
import Testing

@testable import Dashboard
@testable import DashboardHost

/// Hunts for what is on the screen and is not so: another process makes known changes, and the screen is compared with
/// them each tenth of a second. `HEARTH_FULL=1` makes them long. `NamedUntruthTests` has the faults that were found.
@Suite(.serialized, .timeLimit(.minutes(30)))
@MainActor
struct TrueScreenTests {
  /// Whether no other test runs beside this one (`HEARTH_ALONE=1`): only then is a clock a measure.
  private nonisolated static let isAlone = ProcessInfo.processInfo.environment["HEARTH_ALONE"] == "1"
  private static let rounds = isAlone ? TestSize.count(5, full: 1_500) : 5
  /// The time after which a number that was right before is wrong. Beside other tests no time is a measure: there a
  /// number is wrong only if it was never right.
  private nonisolated static let patience = isAlone ? Duration.seconds(3) : .seconds(86_400)

  /// The numbers of documents by collection, and since when each was right.
  private final class Truth {
    private(set) var documents: [String: Set<String>] = [:]
    private var past: [(until: ContinuousClock.Instant, counts: [String: Int])] = []

    var counts: [String: Int] { documents.mapValues(\.count).filter { $0.value > 0 } }

    func change(_ body: (inout [String: Set<String>]) -> Void) {
      past.append((.now, counts))
      body(&documents)
      past.removeAll { ContinuousClock.now - $0.until > patience }
    }

    /// Whether a number is right, or was a moment ago.
    func allows(_ number: Int, of name: String) -> Bool {
      counts[name] ?? 0 == number
        || past.contains { ContinuousClock.now - $0.until <= patience && ($0.counts[name] ?? 0) == number }
    }
  }

  /// The number in a text such as `3 docs`. Beside other tests it may be late and say its age: `3 docs · <0:10`.
  private func number(_ text: String) -> Int? {
    let text = Self.isAlone ? text : String(text.prefix { $0 != "·" })
    return text.firstMatch(of: #/^([\d ]+) docs? ?$/#).flatMap { Int($0.1.replacing(" ", with: "")) }
  }

  @Test("Every collection's count is correct shortly after any commit")
  func numbers() async throws {
    try await WatchedScreen.run { screen in
      var random = SeededGenerator(seed: 29)
      let truth = Truth()
      var untrue: [String] = []
      screen.look = { screen in
        for (name, beside) in screen.collections {
          guard let number = self.number(beside) else {
            if beside != "?", beside != "…" { untrue.append("\(name): \(beside)") }
            continue
          }
          if !truth.allows(number, of: name) { untrue.append("\(name): \(beside), not \(truth.counts)") }
        }
      }
      var took: [Duration] = []
      for round in 0..<Self.rounds {
        let name = "c\(Int.random(in: 0..<4, using: &random))"
        let count = Int.random(in: 1...4, using: &random)
        let ids = Set((0..<count).map { _ in "d\(Int.random(in: 0..<9, using: &random))" })
        let isDeletion = Int.random(in: 0..<3, using: &random) == 0
        let mutations = ids.sorted().map { id in
          isDeletion ? delete("\(name)/\(id)") : set("\(name)/\(id)", ["n": .integer(Int64(round))])
        }
        try await screen.backend.commit(mutations, in: database)
        truth.change { documents in
          let before = documents[name] ?? []
          documents[name] = isDeletion ? before.subtracting(ids) : before.union(ids)
        }
        took.append(
          try await screen.wait(for: "\(truth.counts)") { screen in
            screen.collections.compactMapValues(self.number) == truth.counts
          })
      }
      #expect(untrue.isEmpty)
      let sorted = took.sorted()
      print("a commit of another until its number: median \(sorted[sorted.count / 2]), longest \(sorted.last ?? .zero)")
      if Self.isAlone { #expect(sorted.last.map { $0 < .seconds(3) } == true) }
    }
  }

  @Test("Pending values and the server's values are never confused")
  func labels() async throws {
    try await WatchedScreen.run { screen in
      try await screen.others(set("items/a", ["n": 0]))
      try await screen.wait(for: "the document") { $0.row(of: "a", with: "0") != nil }
      var untrue: [String] = []
      for round in 1...max(2, Self.rounds / 5) {
        let (mine, theirs) = ("\(round * 10)1", "\(round * 10)2")
        screen.press("o")
        try await screen.wait(for: "the plug") { $0.header.contains("OFFLINE") }
        screen.look = { screen in
          guard let row = screen.row(of: "a") else { return }
          // Until the queue is told, the row has the sign of a pending write instead of its number.
          let isPending = row.contains("#") || row.contains("⇡")
          if row.contains(" \(mine) "), !row.contains("L") || !isPending { untrue.append(row) }
          if row.contains(" \(theirs) ") { untrue.append("heard while offline: \(row)") }
        }
        screen.write(set("items/a", ["n": .integer(Int64(mine) ?? 0)]))
        try await screen.wait(for: "my value, waiting") { $0.row(of: "a", with: mine)?.contains("L") == true }
        try await screen.others(set("items/a", ["n": .integer(Int64(theirs) ?? 0)]))
        screen.look = nil
        screen.press("o")
        try await screen.wait(for: "my value as the server's") {
          $0.header.contains("ONLINE") && $0.row(of: "a", with: mine)?.contains(" S") == true
        }
      }
      #expect(untrue.isEmpty)
    }
  }

  @Test("While offline, nothing is shown as acknowledged, online or in sync")
  func states() async throws {
    try await WatchedScreen.run { screen in
      try await screen.others(set("items/a", ["n": 0]))
      try await screen.wait(for: "the document") { $0.row(of: "a") != nil }
      screen.press("g space")
      try await screen.wait(for: "a listener that hears all") { $0.text.contains("in sync") }
      var untrue: [String] = []
      for round in 1...max(2, Self.rounds / 5) {
        screen.press("o")
        try await screen.wait(for: "the plug") { $0.header.contains("OFFLINE") }
        screen.look = { screen in
          if screen.text.contains("#\(round) acknowledged") { untrue.append("#\(round) acknowledged while offline") }
          if screen.header.contains("ONLINE") { untrue.append(String(screen.header)) }
          if screen.text.split(separator: "\n").contains(where: { $0.contains("items") && $0.contains("◉") }) {
            untrue.append("heard while offline")
          }
        }
        screen.write(set("items/b\(round)", ["n": 1]))
        try await screen.wait(for: "the write in the queue") { screen in
          screen.text.contains("#\(round)") && screen.header.contains("⇡1")
        }
        // Time in which nothing may come.
        let stays = ContinuousClock.now + .milliseconds(250)
        try await screen.wait(for: "a quarter of a second") { _ in ContinuousClock.now > stays }
        screen.look = nil
        #expect(try await screen.backend.lookup([key("items/b\(round)")], in: database).documents.first?.exists != true)
        screen.press("o")
        try await screen.wait(for: "its acknowledgement") {
          $0.text.contains("#\(round) acknowledged") && $0.header.contains("⇡0") && $0.header.contains("ONLINE")
        }
        #expect(try await screen.backend.lookup([key("items/b\(round)")], in: database).documents.first?.exists == true)
      }
      #expect(untrue.isEmpty)
    }
  }

  @Test("Without notifications a count never looks more recent than it is")
  func ages() async throws {
    try await WatchedScreen.run(tellsCommits: false, clockStands: true) { screen in
      try await screen.others(set("a/x", ["n": 1]), set("b/x", ["n": 1]), set("b/y", ["n": 1]))
      try await screen.wait(for: "the numbers") { screen in
        screen.collections["a"] == "1 doc" && screen.collections["b"] == "2 docs · <0:10"
      }
      // The other process is not heard: the number is right for the time that it says.
      try await screen.others(set("b/z", ["n": 1]))
      for (step, age) in [(12, "0:10"), (30, "0:40")] as [(Int64, String)] {
        screen.pass(seconds: step)
        #expect(screen.collections["b"] == "2 docs · \(age)" && screen.collections["a"] == "1 doc")
      }
      // The review counts again, once in a minute.
      screen.pass(seconds: 20)
      try await screen.wait(for: "the next count") { $0.collections["b"] == "3 docs · <0:10" }
      screen.press("g h")
      try await screen.wait(for: "the age of a folded one") { $0.collections["a"] == "1 doc · <0:10" }
      screen.pass(seconds: 25)
      #expect(screen.collections["a"] == "1 doc · 0:20")
    }
  }

  @Test("Offline, known counts keep their age, and unloaded data is not called empty")
  func offline() async throws {
    try await WatchedScreen.run(clockStands: true) { screen in
      try await screen.others(set("a/x", ["n": 1]), set("users/ada", ["n": 1]), set("users/bob", ["n": 2]))
      try await screen.wait(for: "the numbers") { screen in
        screen.collections["users"] == "2 docs" && screen.collections["a"] == "1 doc"
      }
      var untrue: [String] = []
      screen.press("o")
      try await screen.wait(for: "the plug") { $0.header.contains("OFFLINE") }
      screen.look = { screen in
        for word in ["0 docs", "no documents", "no collection"] where screen.text.contains(word) { untrue.append(word) }
        if screen.collections["users"]?.contains("2 docs · ") != true { untrue.append("\(screen.collections)") }
      }
      try await screen.others(set("users/eve", ["n": 3]))
      try await screen.wait(for: "the last known") { $0.collections["users"] == "2 docs · <0:10" }
      screen.press("G l")
      try await screen.wait(for: "what is known of it") { $0.text.contains("not in the cache; 2 at ") }
      screen.press("space")
      try await screen.wait(for: "its listener") { $0.text.contains("cache has none (never asked)") }
      #expect(!screen.text.split(separator: "\n").contains { $0.contains("never asked") && $0.contains("SERVER") })
      screen.pass(seconds: 65)
      #expect(screen.collections["users"] == "2 docs · 1:00")
      screen.look = nil
      // A write of one's own is in the cache, and nothing else.
      screen.write(set("users/mine", ["n": 4]))
      try await screen.wait(for: "the document here") { $0.collections["users"] == "1 cached of 2 · 1:00" }
      screen.press("o")
      try await screen.wait(for: "all of them") { $0.collections["users"] == "4 docs" }
      #expect(untrue.isEmpty)
    }
  }

  @Test("A visited missing path is not listed, and its row disappears afterwards")
  func asked() async throws {
    try await WatchedScreen.run { screen in
      try await screen.others(set("a/x", ["n": 1]))
      try await screen.wait(for: "the number") { $0.collections["a"] == "1 doc" }
      screen.press(":")
      screen.type("go nothere/x")
      screen.press("enter")
      try await screen.wait(for: "the document that is none") { $0.text.contains("nothere/x") }
      try await screen.others(set("b/x", ["n": 1]))
      try await screen.wait(for: "the next collection") { $0.collections["b"] == "1 doc" }
      try await screen.wait(for: "no row of it") { $0.collections["nothere"] == nil }
      #expect(screen.state.browser.roots == ["a", "b"])
      screen.press("esc :")
      screen.type("go nothere")
      screen.press("enter")
      try await screen.wait(for: "the collection") { $0.collections["nothere"] == "0 docs" }
      #expect(screen.state.browser.roots == ["a", "b"])
      screen.press(":")
      screen.type("go a")
      screen.press("enter")
      try await screen.wait(for: "what there is") { $0.collections["nothere"] == nil }
    }
  }

  @Test("A query's result equals the data shortly after any commit, in the query's order")
  func result() async throws {
    try await WatchedScreen.run { screen in
      var random = SeededGenerator(seed: 49)
      var values: [String: Int] = ["a": 51]
      /// The results that were right until some time.
      var past: [(until: ContinuousClock.Instant, rows: [String])] = []
      func rows() -> [String] {
        let matching = values.filter { $0.value > 50 }
        return matching.sorted { ($0.value, $0.key) > ($1.value, $1.key) }.prefix(5).map { "\($0.key) \($0.value)" }
      }
      try await screen.others(set("items/a", ["v": 51]))
      try await screen.wait(for: "the document") { $0.row(of: "a") != nil }
      screen.press(":")
      screen.type("listen items where v > 50 order by v desc limit 5")
      screen.press("enter")
      try await screen.wait(for: "the listener") { $0.text.contains("◉") }
      screen.press("1 R")
      try await screen.wait(for: "the first result") { $0.resultRows == ["a 51"] }
      var untrue: [String] = []
      screen.look = { screen in
        let shown = screen.resultRows
        let isRight =
          shown == rows() || past.contains { ContinuousClock.now - $0.until <= Self.patience && $0.rows == shown }
        if !isRight { untrue.append("\(shown), not \(rows())") }
      }
      for _ in 0..<max(5, Self.rounds / 3) {
        let id = "d\(Int.random(in: 0..<9, using: &random))"
        let value = Int.random(in: 0..<3, using: &random) == 0 ? nil : Int.random(in: 40...99, using: &random)
        try await screen.others(value.map { set("items/\(id)", ["v": .integer(Int64($0))]) } ?? delete("items/\(id)"))
        past.append((.now, rows()))
        values[id] = value
        past.removeAll { ContinuousClock.now - $0.until > Self.patience }
        try await screen.wait(for: "\(rows())") { $0.resultRows == rows() }
      }
      #expect(untrue.isEmpty)
    }
  }
}

extension WatchedScreen {
  var header: Substring { text.prefix { $0 != "\n" } }

  /// The rows of the query's result: `a 51`.
  fileprivate var resultRows: [String] {
    text.split(separator: "\n").compactMap { row in
      row.firstMatch(of: #/^│.\s*\d+  ([a-z]\d?) +(\d+) /#).map { "\($0.1) \($0.2)" }
    }
  }

  /// The row of a document in the tree.
  func row(of id: String) -> String? {
    text.split(separator: "\n").lazy.compactMap { $0.split(separator: "│").first.map(String.init) }
      .first { $0.contains("▸ \(id) ") }
  }

  /// The row, if it has a value.
  fileprivate func row(of id: String, with value: String) -> String? {
    row(of: id).flatMap { $0.contains(" \(value) ") ? $0 : nil }
  }
}
