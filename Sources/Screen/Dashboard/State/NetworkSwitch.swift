// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState

/// The button in the first row of pane 3 that switches the network. Used by drawing and by the mouse.
package struct NetworkSwitch {
  package let text: String
  /// The columns of the button in the pane's first row.
  package let columns: Range<Int>

  package init(_ state: DashboardState, width: Int) {
    let isWide = width >= 60
    let verb = state.network.isNetworkEnabled ? "go offline" : "go online"
    text = isWide ? "[ space / o : \(verb) ]" : "[ o: \(verb) ]"
    let start = max(0, min(width - text.count - 1, isWide ? 33 : 25))
    columns = start..<start + text.count
  }
}
