// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Testing

@testable import HearthCommand

@Suite struct ListedCollectionsTests {
  @Test("An answer to an older question never takes a collection from the list")
  func order() {
    var listings = ListedCollections()
    let older = listings.begin()
    let newer = listings.begin()

    let isNewerShown = listings.take(["cities"], of: newer, below: .root)
    let isOlderShown = listings.take([], of: older, below: .root)

    #expect(isNewerShown && !isOlderShown)
    #expect(listings[.root] == ["cities"])
  }

  @Test("A listing shows its parts one after the other, and a later one replaces them")
  func parts() {
    var listings = ListedCollections()
    let first = listings.begin()
    #expect(listings.take(["cities"], of: first, below: .root))
    #expect(listings.take(["cities", "rooms"], of: first, below: .root))

    let second = listings.begin()

    #expect(listings.take(["rooms"], of: second, below: .root))
    #expect(listings[.root] == ["rooms"])
  }

  @Test("A collection that a document shows to exist outlasts listings that began before it came")
  func shownByDocument() {
    var listings = ListedCollections()
    let key = DocumentKey(unchecked: ResourcePath("cities/SF"))
    #expect(listings.noteNew(of: [key]).isEmpty, "nothing was listed yet")
    #expect(listings.take([], of: listings.begin(), below: .root))
    let underWay = listings.begin()

    #expect(listings.noteNew(of: [key]) == [.root])
    #expect(listings.noteNew(of: [key]).isEmpty)

    #expect(!listings.take([], of: underWay, below: .root))
    #expect(listings[.root] == ["cities"])
    #expect(listings.take([], of: listings.begin(), below: .root), "a later answer knows that it is gone")
  }
}
