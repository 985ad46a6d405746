// SPDX-License-Identifier: Apache-2.0
import DashboardModel

/// The names of pane 0's tabs, side by side. Drawing and the mouse go by it.
package enum DetailTabs {
  package struct Tab {
    package var tab: Detail.Tab
    package var text: String
    package var columns: Range<Int>
  }

  package static func tabs(_ detail: Detail) -> [Tab] {
    var x = 0
    return Detail.Tab.allCases.map { tab in
      let text = tab == detail.tab ? "[\(tab.title)]" : " \(tab.title) "
      defer { x += text.count + 1 }
      return Tab(tab: tab, text: text, columns: x..<x + text.count)
    }
  }

  /// The row of the pane that they stand in; `nil` where only one is named.
  static func row(_ layoutClass: LayoutClass) -> Int? {
    switch layoutClass {
    case .large, .medium: 0
    case .small: 1
    case .tiny, .line: nil
    }
  }
}
