// SPDX-License-Identifier: Apache-2.0
import Dashboard
import FirestoreTesting
import TerminalCanvas
import TerminalTesting
import Testing

@testable import DashboardModel
@testable import DashboardView

/// The signs on the screen and their legend.
@Suite("Legend of the signs")
struct LegendTests {
  /// Frames, bars and words' own characters, which mean nothing by themselves.
  private static let drawing = Set("╭╮╰╯─│├┤▁▂▃▄▅▆▇█▏▎▍▌▋▊▉—≥≤")

  @Test("Each sign of the main screens is in the legend of the help", arguments: FilledRoomTests.Main.allCases)
  func complete(_ main: FilledRoomTests.Main) {
    let known = Set(SignLegend(.unicode).entries.flatMap { $0.sign + $0.text })
    for size in FilledRoomTests.sizes {
      let signs = Set(view(main.state(size)).text.filter { !$0.isASCII && !$0.isLetter && !$0.isNumber })
      let unknown = signs.subtracting(Self.drawing).subtracting(known).subtracting("⏎▶❙✓✗")
      #expect(unknown.isEmpty, "\(unknown.map(String.init).sorted()) at \(size)")
    }
  }
}
