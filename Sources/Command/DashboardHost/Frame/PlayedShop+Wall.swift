// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreModel
import TerminalCanvas

/// A minute of the shop, in which this client writes too and is offline for a while, on the wall.
extension PlayedShop {
  mutating func playMinute() {
    let start = now.seconds
    var batch: Int64 = 10
    var isUnplugged = false
    while now.seconds < start + 66 {
      happen()
      apply(.tick(now))
      if !isUnplugged, now.seconds >= start + 24 {
        isUnplugged = true
        unplug()
        goOnline()
      } else if now.seconds.isMultiple(of: 3) {
        batch += 1
        pay(as: BatchID(batch))
      }
    }
    wait(milliseconds: 1000)
    apply(.tick(now))
    press([.character("M")])
  }

  /// One of the new orders is paid by a write of this client.
  private mutating func pay(as batch: BatchID) {
    let status = FieldPath("status")
    let isNew = { (document: Document) in document.data?.fields[status] == .string("new") }
    guard let order = local.values.filter(isNew).map(\.key).min() else { return }
    write(
      Mutation(key: order, operation: .patch(["status": .string("paid")], FieldMask([status]))), as: batch)
    acknowledgeAll(after: 2 + batch.rawValue * 7 % 23)
  }
}
