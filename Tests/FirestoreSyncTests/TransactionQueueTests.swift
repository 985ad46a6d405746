// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Synchronization
import Testing

@testable import FirestoreSync

@Suite("Transaction ordering", .timeLimit(.minutes(15)))
struct TransactionQueueTests {
  private let turns = TransactionQueue()
  private let a = DocumentKey(unchecked: ResourcePath("c/a"))
  private let b = DocumentKey(unchecked: ResourcePath("c/b"))

  /// A transaction that read documents and lost.
  private func overtaken(_ keys: Set<DocumentKey>) async -> UInt64 {
    let (loser, winner) = (turns.begin(), turns.begin())
    await turns.reads(keys, loser)
    turns.commits(keys, winner)
    turns.end(winner, isCommitted: true)
    #expect(turns.fails(loser) == keys)
    return loser
  }

  @Test("A transaction fails if another transaction commits documents it has read")
  func causes() async {
    let (one, other) = (turns.begin(), turns.begin())
    await turns.reads([a], one)
    await turns.reads([b], other)
    turns.commits([b], other)
    turns.end(other, isCommitted: true)
    #expect(turns.fails(one) == nil)

    await turns.reads([a], one)
    let committing = turns.begin()
    turns.commits([a], committing)
    #expect(turns.fails(one) == [a])
    turns.end(committing, isCommitted: false)
    await turns.reads([a], one)
    #expect(turns.fails(one) == nil)
    turns.end(one, isCommitted: false)
    #expect(turns.count == 0)
  }

  @Test("Failed transactions retry in order before new ones, and others are not delayed")
  func order() async {
    let first = await overtaken([a])
    let second = await overtaken([a])
    await turns.turn(first, [a], atMost: .seconds(600))
    await turns.reads([b], turns.begin())
    let ended = Ended()
    let turns = turns
    let new = turns.begin()
    let all = Set([a, b])
    let one = Task { [a] in await Self.takeTurn(turns, second, [a], "second", ended) }
    while !turns.isWaiting(second) { await Task.yield() }
    let other = Task { await Self.takeTurn(turns, new, all, "new", ended) }
    while !turns.isWaiting(new) { await Task.yield() }
    ended.names.withLock { $0.append("first") }
    turns.end(first, isCommitted: true)
    await one.value
    await other.value
    #expect(ended.names.withLock { $0 } == ["first", "second", "new"])
  }

  private final class Ended: Sendable { let names = Mutex<[String]>([]) }

  private static func takeTurn(
    _ turns: TransactionQueue, _ number: UInt64, _ keys: Set<DocumentKey>, _ name: String, _ ended: Ended
  ) async {
    await turns.turn(number, keys, atMost: .seconds(600))
    ended.names.withLock { $0.append(name) }
    turns.end(number, isCommitted: false)
  }

  @Test("A nested transaction does not wait for the transaction around it")
  func nested() async {
    let first = await overtaken([a])
    await turns.turn(first, [a], atMost: .seconds(600))
    let inner = turns.begin()
    await TransactionQueue.$enclosing.withValue([first]) {
      await turns.reads([a], inner)
      turns.commits([a], inner)
      turns.end(inner, isCommitted: true)
    }
    turns.end(first, isCommitted: false)
    #expect(turns.count == 0)
  }

  @Test("A transaction stops waiting at its time limit and when its task is canceled")
  func limits() async {
    let first = await overtaken([a])
    let second = await overtaken([a])
    await turns.turn(first, [a], atMost: .zero)
    await turns.turn(second, [a], atMost: .milliseconds(1))
    let waiting = Task { [turns, a] in await turns.turn(second, [a], atMost: .seconds(600)) }
    while !turns.isWaiting(second) { await Task.yield() }
    waiting.cancel()
    await waiting.value
    turns.end(first, isCommitted: false)
    turns.end(second, isCommitted: false)
    #expect(turns.count == 0)
  }
}
