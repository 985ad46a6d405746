// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas

@testable import Dashboard
@testable import DashboardModel

extension Shop {
  /// A minute with orders, own writes and an outage, on the wall; one listener has ended.
  static func wall(_ size: Size, _ glyphs: Glyphs) -> Scene {
    var scene = start(size, glyphs, backend: nil)
    scene.listen("audit", Query(path: ResourcePath("audit")))
    let states = ["new", "paid", "packed", "sent"]
    var orders = (0..<40).map { order("Zt5vK\(10 + $0)", states[$0 % 3], Double($0)) }
    scene.snapshot("12:04:14.000", 2, orders.map { .init(.added, $0) }, syncs: true, count: 40)
    scene.snapshot("12:04:14.118", 3, syncs: true, count: 2)
    scene.snapshot("12:04:14.230", 4, syncs: true, count: 50)
    for step in 0..<56 {
      let time = "12:\(4 + (15 + step) / 60):\((15 + step) % 60).250"
      let isOff = (20..<29).contains(step)
      if step == 20 {
        scene.at(time)
        scene.offline()
      }
      if step == 29 {
        scene.at(time)
        scene.online()
      }
      if !isOff {
        for number in 0..<[0, 1, 0, 3, 1, 9, 0, 2][step % 8] {
          let index = (step * 7 + number * 3) % orders.count
          let (old, new) = (
            orders[index], order(orders[index].key.path.last, states[(step + number) % 4], Double(step))
          )
          orders[index] = new
          scene.snapshot(time, 2, [change(.modified, new, from: old)], count: 40)
        }
        if step % 5 == 1 { scene.snapshot(time, 4, [change(.added, message("m\(step)", "lunch?"))], count: 50) }
      }
      if step % 6 == 2 {
        scene.at(time)
        scene.hear(.pendingWrites([row(Int64(step), .update, "orders/Zt5vK10", .inFlight, at: time, tries: 1)]))
        if step == 44 {
          scene.hear(.writeRejected(BatchID(Int64(step)), RPCStatus(.permissionDenied, "no rule allows it")))
        } else if !isOff {
          scene.hear(.writeAcknowledged(BatchID(Int64(step)), after: .milliseconds(1 + step * 5)))
        }
        if !isOff { scene.hear(.pendingWrites([])) }
      }
    }
    scene.hear(.listenerFailed(ListenerTag(5), RPCStatus(.permissionDenied, "Missing or insufficient permissions.")))
    scene.tick("12:05:12")
    scene.press("M down")
    return scene
  }
}
