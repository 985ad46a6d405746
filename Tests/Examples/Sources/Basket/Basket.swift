// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Hearth

/// The basket of a shopper, which may be filled on several devices and without a network.
public struct Basket: Sendable {
  private let items: CollectionReference

  public init(of shopper: String, in db: Firestore) { items = db.collection("shoppers/\(shopper)/basket") }

  /// Puts pieces of an article into the basket. Returns when it is durable here; the backend hears of it when it can.
  public func add(_ pieces: Int, of article: String) async throws {
    let change = ["pieces": FieldValue.increment(Int64(pieces))]
    try await items.document(article).enqueueData(change, merge: true).local
  }

  /// The number of pieces, now and after each change.
  public func pieces() -> AsyncThrowingStream<Int, any Error> {
    let snapshots = items.snapshots
    return AsyncThrowingStream {
      var iterator = snapshots.makeAsyncIterator()
      return try await iterator.next().map { snapshot in
        snapshot.documents.reduce(0) { $0 + ($1.get("pieces") as? Int ?? 0) }
      }
    }
  }
}
