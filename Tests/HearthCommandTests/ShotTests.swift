// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import DashboardView
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import Foundation
import TerminalCanvas
import TerminalTheme
import Testing

@testable import CommandOutput
@testable import DashboardHost
@testable import HearthCommand

@Suite("Screenshot files")
struct ShotTests {
  private func shot() throws -> Shot {
    Shot(theme: try ThemeCatalog().theme(named: "ember").theme, depth: .trueColor, caption: "hearth: demo, 12:00:00")
  }

  /// A session in which something happens each second, from its start on.
  private func session(seconds: Int) -> (DashboardSession, start: Timestamp) {
    let start = Timestamp(seconds: 1_772_452_800)
    let state = DashboardState(
      DashboardConfiguration(database: database, backend: .init(.embedded, project: "demo")),
      size: Size(width: 80, height: 24), now: start)
    var session = DashboardSession(state)
    for second in 0..<seconds {
      let now = Timestamp(seconds: start.seconds + Int64(second))
      _ = session.apply(.client(.collections(below: .root, (0...second).map { "c\($0)" }), at: now))
    }
    return (session, start)
  }

  @Test("A screenshot's file extension selects its format", arguments: ["a.svg", "b.x.ANSI", "/tmp/c.txt", "d.cast"])
  func formats(_ name: String) { #expect(Shot.Format(ofFile: name) != nil) }

  @Test("A screenshot name without a known extension is invalid", arguments: ["a", "a.png", "svg", ""])
  func others(_ name: String) { #expect(Shot.Format(ofFile: name) == nil) }

  @Test("A still screenshot is text, ANSI or SVG, and the SVG has a title")
  func still() throws {
    let (session, _) = session(seconds: 3)
    let shot = try shot()
    #expect(shot.text(of: view(session.live), as: .txt) == view(session.live).plainText)
    let picture = shot.text(of: view(session.live), as: .svg)
    #expect(picture.contains("<title>hearth: demo, 12:00:00</title>") && picture.contains("c2"))
    #expect(shot.text(of: view(session.live), as: .ansi).contains("38;2;"))
  }

  @Test("Every excerpt of a session ends with the current screen")
  func parts() {
    let (session, start) = session(seconds: 60)
    for second in [0, 20, 59] {
      let part = session.part(since: start.advanced(seconds: Int64(second)))
      #expect(view(part.end) == view(session.live))
    }
  }

  @Test("A screenshot cast has only the last seconds and ends with the current screen")
  func cast() throws {
    let (session, start) = session(seconds: 90)
    let now = start.advanced(seconds: 89)
    let part = session.part(since: now.advanced(seconds: -Int64(Shot.span)))
    let screens = part.screens(from: now.advanced(seconds: -Int64(Shot.span)), to: now, step: 0.25)
    #expect(screens.count == Shot.span + 1)
    #expect(screens.last?.canvas == view(session.live) && screens.last?.seconds == Double(Shot.span))
    #expect(screens.first.map { $0.canvas != view(session.live) } == true)

    let lines = try shot().cast(of: part, until: now).split(separator: "\n")
    let header = try #require(try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any])
    #expect(header["version"] as? Int == 2 && header["width"] as? Int == 80 && header["height"] as? Int == 24)
    #expect(lines.count == Shot.span + 2)
    for line in lines.dropFirst() {
      let event = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [Any])
      #expect(event.count == 3 && event[1] as? String == "o")
      #expect((event[2] as? String)?.hasPrefix("\u{1B}[?25l\u{1B}[H") == true)
    }
  }
}
