// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import FirestoreBackend
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite
import Foundation
import Synchronization

/// The numbers of the commits that a `StorageRun` reported, by outcome.
struct ReportedCommits {
  var stored: [Int] = []
  var refused: [Int] = []
  var unknown: [Int] = []

  init(output: String) {
    for line in output.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 2, let number = Int(words[1]) else { continue }
      switch words[0] {
      case "stored": stored.append(number)
      case "refused": refused.append(number)
      case "unknown": unknown.append(number)
      default: break
      }
    }
  }

  static func += (all: inout Self, more: Self) {
    all.stored += more.stored
    all.refused += more.refused
    all.unknown += more.unknown
  }
}

/// The commits of a `StorageRun` that a store has when it is opened again.
struct FoundCommits {
  /// The numbers of the commits with all three documents.
  var whole: Set<Int> = []
  /// The numbers of the commits with one or two.
  var half: Set<Int> = []
  var counter = 0
  /// The messages that the store reported while it was opened.
  var reports: [String] = []

  private init(documents: [String], counter: Int, reports: [String]) {
    let parts = Dictionary(grouping: documents.compactMap { Int($0.split(separator: "-")[0]) }, by: \.self)
    for (number, documents) in parts {
      if documents.count == 3 { whole.insert(number) } else { half.insert(number) }
    }
    (self.counter, self.reports) = (counter, reports)
  }

  /// Opens the backend of a folder, which must then take a commit.
  init(backendIn folder: String) async throws {
    let reports = Mutex<[String]>([])
    let backend = try LocalBackend(
      BackendConfiguration(
        location: .directory(folder + "/backend"), now: { Timestamp(seconds: 1_900_000_000) },
        report: { line in reports.withLock { $0.append(line) } }))
    let request = ReadRequest(
      ServedQuery(Query(path: ResourcePath("c")).target), in: ClientFolder.database)
    let documents = try await backend.run(request).documents.map(\.key.documentID)
    let counter = try await backend.lookup(
      [DocumentKey(unchecked: ResourcePath("counters/c"))], in: ClientFolder.database
    ).documents[0]
    try await backend.commit(
      [Mutation(key: DocumentKey(unchecked: ResourcePath("after/a")), operation: .set([:]))], in: ClientFolder.database)
    self.init(
      documents: documents, counter: Self.number(counter.data?.fields["n"]), reports: reports.withLock { $0 })
  }

  /// Opens the cache of a folder, which must then take a write.
  init(cacheIn folder: ClientFolder) throws {
    var store = try folder.openCache()
    let documents = try store.pendingBatches().flatMap(\.keys).map(\.path.text)
    let violations = try store.checkInvariants()
    if !violations.isEmpty { throw Failure("\(violations)") }
    let counter = try store.document(DocumentKey(unchecked: ResourcePath("counters/c")))
    _ = try store.write(
      [Mutation(key: DocumentKey(unchecked: ResourcePath("after/a")), operation: .set([:]))],
      at: Timestamp(seconds: 1_900_000_000))
    store.close()
    self.init(
      documents: documents.filter { $0.hasPrefix("c/") }.map { String($0.dropFirst(2)) },
      counter: Self.number(counter?.data?.fields["n"]), reports: [])
  }

  private static func number(_ value: Value?) -> Int {
    if case .integer(let number)? = value { Int(number) } else { 0 }
  }

  /// The ways in which this differs from what was reported.
  /// - Parameter mayLose: whether the last stored commits may be missing.
  func violations(_ reported: ReportedCommits, mayLose: Bool = false) -> [String] {
    var violations: [String] = []
    if !half.isEmpty { violations.append("half there: \(half.sorted())") }
    if counter != whole.count { violations.append("counter \(counter) with \(whole.count) commits") }
    let lost = reported.stored.filter { !whole.contains($0) }
    if !mayLose, !lost.isEmpty { violations.append("stored and lost: \(lost)") }
    let later = lost.first.map { first in reported.stored.filter { $0 > first && whole.contains($0) } } ?? []
    if !later.isEmpty { violations.append("lost before \(later)") }
    let back = reported.refused.filter(whole.contains)
    if !back.isEmpty { violations.append("refused and there: \(back)") }
    return violations
  }
}
