// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import FirestoreText
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Typed commands")
struct TypedCommandTests {
  @Test("Semicolons separate typed commands, except inside quotes")
  func parts() throws {
    #expect(try TypedCommand.commands(in: "offline 30s; wall;  ") == ["offline 30s", "wall"])
    #expect(
      try TypedCommand.commands(in: "listen a where b == \"x;y\"; theme nord")
        == ["listen a where b == \"x;y\"", "theme nord"])
    #expect(try TypedCommand.commands(in: "") == [])
    #expect(try TypedCommand.commands(in: "go 42; orders/abc; at -30s; record x.ndjson").count == 4)
  }

  @Test(
    "An unknown typed command is rejected with its column",
    arguments: [
      ("offlin 30s", 1, "no command is called offlin; did you mean offline?"),
      ("wall; ofline", 7, "no command is called ofline"), ("wall now", 6, "wall takes no argument"),
      ("theme", 6, "theme needs more: a theme's name"), (" wall;  thme x", 9, "no command is called thme"),
    ])
  func refused(_ line: String, _ column: Int, _ reason: String) {
    #expect {
      _ = try TypedCommand.commands(in: line)
    } throws: { error in
      let error = error as? TextError
      return error?.column == column && error?.reason.hasPrefix(reason) == true
    }
  }

  private func ran(_ text: String) -> Driver {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.send(.run(text, at: driver.now))
    return driver
  }

  @Test("A command runs by its 'hearth keys' name with its arguments")
  func run() {
    #expect(ran("offline 30s").effects.first == .client(.setNetwork(enabled: false)))
    #expect(ran("toggle-network").effects.first == .client(.setNetwork(enabled: false)))
    #expect(ran("theme nord").state.screen.theme == "nord")
    #expect(ran("wall").state.overlay?.kind == .wall)
    #expect(ran("reload").effects == [.terminal(.readAgain)])
    #expect(ran("orders/4hT0q9Lm").effects.contains(.client(.openDetail(key("orders/4hT0q9Lm")))))
    #expect(ran("at -30s").effects == [.timeline(.seek(.ago(seconds: 30)))])
    #expect(ran("toggle-pause").state.feed.isPaused, "a command of one pane, from another")
  }

  @Test("Invalid arguments and unavailable commands are reported")
  func impossible() {
    #expect(ran("offline soon").state.toasts.last?.text.hasPrefix("offline: column 1: Expected a number") == true)
    #expect(ran("stop nobody").state.toasts.last?.text == "stop: column 1: no listener is called nobody")
    #expect(ran("unzoom").state.toasts.last?.text == "nothing is zoomed")
  }
}
