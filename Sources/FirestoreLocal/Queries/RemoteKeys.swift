// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The documents of a target, whose keys are learnt while a scan meets them in the same order.
struct RemoteKeys {
  /// Ascending.
  let numbers: [DocumentNumber]
  private(set) var keys: Set<DocumentKey> = []
  private var next = 0
  private var skipped: [DocumentNumber] = []

  init(_ numbers: [DocumentNumber]) {
    self.numbers = numbers
    keys.reserveCapacity(numbers.count)
  }

  /// - Parameter number: higher than all numbers before.
  mutating func note(_ key: DocumentKey, _ number: DocumentNumber) {
    while next < numbers.count, numbers[next] < number {
      skipped.append(numbers[next])
      next += 1
    }
    if next < numbers.count, numbers[next] == number {
      keys.insert(key)
      next += 1
    }
  }

  /// All keys; those that no scan met are looked up.
  consuming func resolved(_ key: (DocumentNumber) throws(LocalStoreError) -> DocumentKey?)
    throws(LocalStoreError) -> Set<DocumentKey>
  {
    for number in skipped + numbers[next...] {
      if let key = try key(number) { keys.insert(key) }
    }
    return keys
  }
}
