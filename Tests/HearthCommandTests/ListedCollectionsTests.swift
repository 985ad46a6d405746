// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Testing

@testable import DashboardHost
@testable import HearthCommand

@Suite struct ListedCollectionsTests {
  @Test("The response to an older listing never removes a collection")
  func order() {
    var listings = ListedCollections()
    let older = listings.begin()
    let newer = listings.begin()

    let isNewerShown = listings.take(["cities"], of: newer, below: .root)
    let isOlderShown = listings.take([], of: older, below: .root)

    #expect(isNewerShown && !isOlderShown)
    #expect(listings[.root] == ["cities"])
  }

  @Test("A listing can arrive in parts, and a later listing replaces it")
  func parts() {
    var listings = ListedCollections()
    let first = listings.begin()
    let isPartShown = listings.take(["cities"], of: first, below: .root)
    let isWholeShown = listings.take(["cities", "rooms"], of: first, below: .root)
    let second = listings.begin()
    let isSecondShown = listings.take(["rooms"], of: second, below: .root)

    #expect(isPartShown && isWholeShown && isSecondShown)
    #expect(listings[.root] == ["rooms"])
  }

  @Test("A collection known from a document remains after listings that started earlier")
  func shownByDocument() {
    var listings = ListedCollections()
    let key = DocumentKey(unchecked: ResourcePath("cities/SF"))
    let beforeAny = listings.noteNew(of: [key])
    let first = listings.begin()
    _ = listings.take([], of: first, below: .root)
    let underWay = listings.begin()

    let listedAgain = listings.noteNew(of: [key])
    let repeated = listings.noteNew(of: [key])
    let isOldShown = listings.take([], of: underWay, below: .root)

    #expect(beforeAny.isEmpty, "nothing was listed yet")
    #expect(listedAgain == [.root] && repeated.isEmpty)
    #expect(!isOldShown && listings[.root] == ["cities"])

    let later = listings.begin()
    let isLaterShown = listings.take([], of: later, below: .root)
    #expect(isLaterShown, "a later answer knows that it is gone")
  }
}
