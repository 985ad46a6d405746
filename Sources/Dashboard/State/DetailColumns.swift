// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The columns of an open document. The server's column is there only while something is pending.
struct DetailColumns {
  var name: Int
  var value: Int
  var server: Int
  var queued: Int
  var batch: Int

  init(_ detail: Detail, _ layoutClass: LayoutClass, width: Int) {
    let isTiny = layoutClass == .tiny || layoutClass == .line
    let room = width - 4
    name = max(8, min(24, room * (isTiny ? 40 : 30) / 100))
    batch = 0
    queued = 0
    switch detail.tab {
    case .overlay:
      if isTiny { name = 9 }
      let rest = max(3, room - name)
      server = rest / 3
      queued = rest / 3
      value = rest - server - queued
    case .data where detail.hasPendingWrites && !isTiny:
      batch = 7
      let rest = max(2, room - name - batch)
      server = rest * 45 / 100
      value = rest - server
    case .diff:
      let rest = max(2, room - name)
      server = rest / 2
      value = rest - server
    case .data, .history, .meta:
      server = 0
      value = max(1, room - name)
    }
  }
}
