// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Dashboard
import DashboardHost
import DashboardModel
import Foundation
import TerminalCanvas
import TerminalTheme
import Testing

@testable import HearthCommand

@Suite("Demo scripts of keys, pauses and captions")
struct DemoScriptTests {
  private let script = """
    # what is to be seen
    caption Three listeners, and a shop that sells
    wait 2s
    pace 100ms
    keys 2 o
    wait 3s
    type :
    caption
    keys esc o
    wait 1s
    quit
    """

  @Test("Each line of a demo script is a step, and keys are typed at a set pace")
  func steps() throws {
    let steps = try DemoScript.parse(script, name: "s").steps
    #expect(
      steps.prefix(6) == [
        .caption("Three listeners, and a shop that sells"), .pause(.seconds(2)), .pause(.milliseconds(100)),
        .key(.character("2")), .pause(.milliseconds(100)), .key(.character("o")),
      ])
    #expect(steps.contains(.caption("")) && steps.contains(.key(Key(.escape))) && steps.last == .quit)
  }

  @Test(
    "An invalid line of a demo script is reported with its number",
    arguments: [
      ("dance", "dance is not a step"), ("keys 1 nokey", "nokey is not a key"), ("wait long", "a number with a unit"),
    ])
  func wrong(_ line: String, _ reason: String) {
    let failure = #expect(throws: CommandFailure.self) { _ = try DemoScript.parse("wait 1s\n\(line)", name: "s.keys") }
    #expect(failure?.message.hasPrefix("s.keys, line 2: ") == true && failure?.message.contains(reason) == true)
  }

  private func request(_ text: String) throws -> FrameRequest {
    var request = FrameRequest(of: Size(width: 80, height: 24), theme: try ThemeCatalog().theme(named: "ember").theme)
    request.script = try DemoScript.parse(text, name: "s")
    return request
  }

  @Test("A script on the sample shop gives the same recording each time")
  func cast() throws {
    let data = try request(script).cast().data()
    #expect(data == (try request(script).cast().data()))
    let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
    #expect(lines.first?.contains("\"version\": 2") == true && lines.first?.contains("1772453") == true)
    #expect(lines.contains { $0.contains("\"m\"") && $0.contains("Three listeners") })
    let frames = lines.filter { $0.contains(", \"o\", ") }
    #expect(frames.count > 5)
    #expect(frames.contains { $0.contains("OFFLINE") } && frames.last?.contains("OFFLINE") == false)
    let times = frames.compactMap { line in line.dropFirst().split(separator: ",").first.flatMap { Double($0) } }
    #expect(times == times.sorted() && times.first == 0)
    #expect((times.last ?? 0) > 5 && (times.last ?? 0) < 15)
  }

  @Test("A picture of a demo script shows the end of the script")
  func picture() throws {
    let drawn = try request("caption Unplugged\nkeys o 2\nwait 1s\n").rendered()
    #expect(drawn.contains("OFFLINE") && drawn.contains("Unplugged"))
  }
}
