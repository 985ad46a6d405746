// SPDX-License-Identifier: Apache-2.0

/// The user whose writes wait, and the number of that user's batches.
struct UserQueue: Sendable {
  private(set) var user: UserNumber
  private(set) var batchCount: Int

  mutating func batchAdded() { batchCount += 1 }
  mutating func batchRemoved() { batchCount -= 1 }
}
