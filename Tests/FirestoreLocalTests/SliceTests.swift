// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import SeededRandom
import Testing

@testable import FirestoreLocal

@Suite("Long work in slices")
struct SliceTests {
  @Test("Slices adapt to the cost of a commit and reach their target duration")
  func pacing() {
    let clock = ManualClock()
    var pacer = SlicePacer { clock.now.offset }
    for commitShare in [0.2, 3.0, 0.0, 4.0] {
      var last = Duration.zero
      for _ in 0..<12 {
        pacer.begin(isWriting: commitShare > 0)
        let start = clock.now
        while !pacer.isOver() { clock.advance(by: .microseconds(100)) }
        pacer.endWork()
        clock.advance(by: start.duration(to: clock.now) * commitShare)
        pacer.end()
        last = start.duration(to: clock.now)
      }
      #expect(last <= SlicePacer.aim + .milliseconds(1), "commits of \(commitShare)")
      #expect(last >= SlicePacer.aim / 3, "commits of \(commitShare)")
    }
  }

  @Test("WAL checkpoints are frequent enough that each takes no longer than a slice", arguments: [1, 4] as [Int64])
  func log(_ nanosecondsPerByte: Int64) {
    var log = LogPacer()
    var took = Duration.zero
    for _ in 0..<10 {
      took = .nanoseconds(log.dueBytes * nanosecondsPerByte)
      log.wroteBack(log.dueBytes, in: took)
    }
    #expect(took <= SlicePacer.aim * 2)
    #expect(log.dueBytes >= 1 << 20 && log.dueBytes <= 8 << 20)
  }

  @Test("Garbage collection on a slower machine takes more slices with the same result", arguments: Storage.allCases)
  func slower(_ storage: Storage) throws {
    var slices: [Int] = []
    for step in [Duration.microseconds(1), .milliseconds(5)] {
      let place = Place(storage)
      var store = try place.open()
      _ = try store.apply(event(at: 1, (0..<3000).map { doc("rooms/d\($0)", at: 1, ["n": .integer(1)]) }))
      let begun = try store.beginGarbageCollection(
        thresholdBytes: 0, percentile: 100, maximumSequenceNumbers: .max, pacer: .impatient(step: step))
      var run = try #require(begun)
      var count = 0
      while !run.isFinished {
        try store.continueGarbageCollection(&run)
        count += 1
      }
      #expect(run.documentsRemoved == 3000)
      slices.append(count)
    }
    #expect(slices[0] <= 12 && slices[1] > 50, "\(slices)")
  }

  @Test("Indexing on a slower machine takes more slices with the same result", arguments: Storage.allCases)
  func slowerBackfill(_ storage: Storage) throws {
    var slices: [Int] = []
    for step in [Duration.microseconds(1), .milliseconds(5)] {
      let place = Place(storage)
      var store = try place.open()
      store.backfillPacer = .impatient(step: step)
      _ = try store.apply(event(at: 1, (0..<3000).map { doc("rooms/d\($0)", at: 1, ["n": .integer(Int64($0))]) }))
      try store.setIndexes([try FieldIndex(collectionGroup: "rooms", fields: [FieldIndex.Field(FieldPath("n"))])])
      var count = 1
      while try store.backfillIndexes() { count += 1 }
      let violations = try store.checkInvariants()
      #expect(violations.isEmpty)
      slices.append(count)
    }
    #expect(slices[0] <= 6 && slices[1] >= 60, "\(slices)")
  }

  @Test("A set of document numbers returns its numbers in order from any position")
  func numberSet() {
    var random = SeededGenerator(seed: 1)
    var set = NumberSet()
    var expected: Set<DocumentNumber> = []
    for _ in 0..<5000 {
      let collection = CollectionNumber(rawValue: Int64.random(in: 1...3, using: &random))
      let number = DocumentNumber(collection, Int64.random(in: 0..<70_000, using: &random))
      set.insert(number)
      expected.insert(number)
    }
    #expect(set.count == expected.count)
    var found: [DocumentNumber] = []
    while case let next = set.numbers(above: found.last, limit: 37), !next.isEmpty { found += next }
    #expect(found == expected.sorted())
  }

  @Test("The n-th lowest sequence number is found as sorting would find it")
  func counts() {
    var random = SeededGenerator(seed: 2)
    var counts = SequenceNumberCounts()
    let numbers = (0..<3000).map { _ in Int64.random(in: 0..<2000, using: &random) }
    for number in numbers { counts.add(number) }
    let sorted = numbers.sorted()
    for place in [1, 2, 17, 1500, 2999, 3000] { #expect(counts.number(at: place) == sorted[place - 1]) }
    #expect(counts.number(at: 3001) == nil)
  }
}

extension SlicePacer {
  /// By a clock that goes on by `step` whenever somebody looks at it.
  static func impatient(step: Duration) -> SlicePacer {
    let clock = ManualClock()
    return SlicePacer {
      clock.advance(by: step)
      return clock.now.offset
    }
  }
}
