// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Listener state")
struct ListeningTests {
  private static func definition(_ name: String, limit: Int? = nil) -> ListenerDefinition {
    var query = Query(path: ResourcePath("orders"))
    query.limit = limit
    return ListenerDefinition(name: name, query: query)
  }

  private static func snapshot(_ tag: ListenerTag, _ changes: [ListenerSnapshot.Change]) -> ListenerSnapshot {
    ListenerSnapshot(
      listener: tag, changes: changes, isFromCache: false, syncStateChanged: false, hasPendingWrites: false,
      count: changes.count, causes: [])
  }

  @Test("Listener tags are unique, even after listeners are stopped, replaced or imported")
  func tags() {
    var listening = Listening()
    let first = listening.start(Self.definition("a")).tag
    let second = listening.start(Self.definition("b")).tag
    _ = listening.remove(second)
    let third = listening.replace(first, with: Self.definition("c"))
    #expect(third != nil && Set([first, second, third]).count == 3)
    let replaced = listening.replace(first, with: Self.definition("d"))
    #expect(listening[first]?.tag == nil && replaced == nil)

    let brought = ListenerRecord(
      tag: ListenerTag(40), name: "e", query: Query(path: ResourcePath("users")), options: ListenerOptions())
    listening.adopt([brought])
    let next = listening.start(Self.definition("f")).tag
    listening.adopt([])
    let last = listening.start(Self.definition("g")).tag
    #expect([next, last] == [ListenerTag(41), ListenerTag(42)])
  }

  @Test("A listener name is free unless another listener uses it")
  func names() {
    var listening = Listening()
    let tag = listening.start(Self.definition("orders")).tag
    let second = listening.start(Self.definition("orders"))
    #expect(second.name == "orders 2")
    #expect(listening.freeName(like: "orders") == "orders 3")
    #expect(listening.freeName(like: "orders", besides: tag) == "orders")
    let renamed = [listening.rename(tag, to: "orders"), listening.rename(tag, to: "mine")]
    #expect(renamed == [false, true])
    #expect(listening[tag]?.name == "mine")
  }

  @Test("A limited listener's result is stored from its first snapshot until it stops")
  func results() {
    var listening = Listening()
    let limited = listening.start(Self.definition("few", limit: 2)).tag
    let whole = listening.start(Self.definition("all")).tag
    #expect(listening.results(of: limited) == nil)
    listening.note(Self.snapshot(limited, []), keepsResults: true)
    #expect(listening.results(of: limited)?.isEmpty == true, "nothing is in it, and that is known")

    let order = document("orders/a", ["n": 1])
    for tag in [limited, whole] {
      listening.note(Self.snapshot(tag, [.init(.added, order)]), keepsResults: true)
    }
    #expect(listening.results(of: limited)?.keys.sorted() == [order.key])
    #expect(listening.results(of: whole) == nil)
    #expect(listening[whole]?.count == 1 && listening[whole]?.isFromCache == false)
    listening.note(Self.snapshot(limited, [.init(.removed, order)]), keepsResults: true)
    #expect(listening.results(of: limited)?.isEmpty == true)
    _ = listening.remove(limited)
    #expect(listening.results(of: limited) == nil)
  }

  @Test("Results of another program's listeners are not built from its snapshots")
  func attached() {
    var listening = Listening()
    let tag = listening.start(Self.definition("few", limit: 2)).tag
    listening.note(Self.snapshot(tag, [.init(.added, document("orders/a", [:]))]), keepsResults: false)
    #expect(listening.results(of: tag) == nil)
    #expect(listening[tag]?.count == 1)
  }
}
