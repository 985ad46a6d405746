// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import FirestoreClientState
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

  @Test("The legend in the help lists every sign of the main screens", arguments: FilledRoomTests.Main.allCases)
  func complete(_ main: FilledRoomTests.Main) {
    let known = Set(SignLegend(.unicode).entries.flatMap { $0.sign + $0.text })
    for size in FilledRoomTests.sizes {
      let signs = Set(view(main.state(size)).text.filter { !$0.isASCII && !$0.isLetter && !$0.isNumber })
      let unknown = signs.subtracting(Self.drawing).subtracting(known)
      #expect(unknown.isEmpty, "\(unknown.map(String.init).sorted()) at \(size)")
    }
  }

  @Test(
    "In the legend the cursor reaches every sign", arguments: [(120, 36), (80, 24), (60, 16), (40, 12)])
  func reachable(_ width: Int, _ height: Int) {
    var driver = Scenario.online.play(Size(width: width, height: height))
    driver.press("?")
    var missing = Set(SignLegend(.unicode).entries.map(\.text))
    for _ in 0...missing.count + 12 {
      let screen = driver.screen
      missing = missing.filter { !screen.contains($0) }
      driver.press("down")
    }
    #expect(missing.isEmpty, "\(missing.sorted())")
    driver.press("enter")
    #expect(driver.state.overlay?.kind == .help)
  }

  @Test("Each badge of the footer is in the legend", arguments: FilledRoomTests.Main.allCases)
  func badges(_ main: FilledRoomTests.Main) {
    var state = main.state(Size(width: 200, height: 60))
    _ = update(&state, .client(.faults(FaultSettings(), waiting: [.write(.dropRequest)]), at: state.now))
    _ = update(&state, .input(.key(.character("p")), at: state.now))
    let known = SignLegend(.unicode).entries.map(\.sign)
    let footer = view(state).text(row: 59)
    let badges = footer.matches(of: /\[[A-Z-]+/).map { String($0.output) }
    #expect(badges.contains("[FAULTS"))
    for badge in badges { #expect(known.contains { $0.hasPrefix(badge) }, "\(badge)") }
  }
}
