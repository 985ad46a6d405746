// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import TerminalCanvas
import TerminalTesting
import Testing

extension EndToEndTests.OnPseudoTerminal {
  @Suite("Recording a scripted demo for asciinema", .serialized) struct DemoCastTests {
    /// An asciicast of version 2, with the screens that its bytes lead a terminal to.
    private struct PlayedCast {
      struct Moment {
        var seconds: Double
        /// The name of the moment; `nil` for a frame.
        var marker: String?
        var screen: [String]

        var lastRow: String { screen.last ?? "" }

        func shows(_ text: String) -> Bool { marker == nil && screen.contains { $0.contains(text) } }
      }

      var moments: [Moment] = []

      /// - Throws: for a line that is none of such a cast.
      init(_ text: String) throws {
        try #require(text.hasSuffix("\n"), "a cast ends with a whole line")
        let lines = text.split(separator: "\n")
        let first = try JSONSerialization.jsonObject(with: Data(try #require(lines.first).utf8))
        let header = try #require(first as? [String: Any])
        try #require(header["version"] as? Int == 2 && header["timestamp"] is Int)
        let width = try #require(header["width"] as? Int)
        let height = try #require(header["height"] as? Int)
        var model = TerminalModel(size: Size(width: width, height: height))
        for line in lines.dropFirst() {
          let event = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [Any], "\(line)")
          try #require(event.count == 3)
          let seconds = try #require((event[0] as? NSNumber)?.doubleValue)
          let (kind, content) = (event[1] as? String, try #require(event[2] as? String))
          try #require(kind == "o" || kind == "m", "\(line)")
          if kind == "o" { model.interpret(Array(content.utf8)) }
          let screen = Array(model.text.prefix(height))
          moments.append(Moment(seconds: seconds, marker: kind == "m" ? content : nil, screen: screen))
        }
      }

      var markers: [String] { moments.compactMap(\.marker) }

      /// The place of the first moment after another that is as told.
      func first(after start: Int, where isWanted: (Moment) -> Bool) -> Int? {
        moments.indices.first { $0 > start && isWanted(moments[$0]) }
      }
    }

    private func start(
      _ arguments: [String], _ terminal: PseudoTerminal, _ surroundings: Surroundings
    ) throws -> ChildProcess {
      try ChildProcess(
        [Surroundings.hearth] + arguments, environment: surroundings.environment,
        streams: .terminal(path: terminal.path))
    }

    private func path(_ name: String, _ surroundings: Surroundings) -> String {
      surroundings.folder.appending(path: name).path
    }

    @Test("The cast has captions and key effects in order, and the demo ends automatically")
    func played() async throws {
      let (terminal, surroundings) = (try PseudoTerminal(), try Surroundings())
      try surroundings.write(
        "tour.txt",
        """
        # a tour
        pace 100ms
        caption A shop that sells
        wait 1s
        keys 3
        caption Unplugged: writes wait here
        keys o
        wait 2s
        caption Back again
        keys o
        wait 2s
        type :offline 30s
        wait 1s
        keys esc
        caption
        quit

        """)
      let process = try start(
        ["--demo", "--script", path("tour.txt", surroundings), "--cast", path("tour.cast", surroundings)], terminal,
        surroundings)
      #expect(try await terminal.exitStatus(of: process) == 0)
      #expect(terminal.isOn(1049) == false, "the alternate screen is left")

      let cast = try PlayedCast(try surroundings.text("tour.cast"))
      #expect(cast.markers == ["A shop that sells", "Unplugged: writes wait here", "Back again"])
      let times = cast.moments.map(\.seconds)
      #expect(times == times.sorted() && times[0] >= 0 && times[0] < 60)
      // Each is after the one before: a caption as a marker and on the screen, then what the keys after it did.
      var place = -1
      func expect(_ what: String, _ isThere: (PlayedCast.Moment) -> Bool) throws {
        let found = cast.first(after: place, where: isThere)
        place = try #require(found, "\(what) is not there after moment \(place)")
      }
      for caption in cast.markers {
        try expect("the marker \(caption)") { $0.marker == caption }
        try expect("the caption \(caption)") { $0.lastRow.contains(caption) }
        switch caption {
        case cast.markers[1]: try expect("the plug pulled") { $0.shows("OFFLINE") }
        case cast.markers[2]:
          try expect("the plug back") { $0.marker == nil && !$0.screen[0].contains("OFFLINE") }
          try expect("what was typed") { $0.shows("offline 30s") }
          try expect("the last caption gone") { !$0.lastRow.contains(caption) }
        default: break
        }
      }
    }

    @Test("A demo interrupted by a signal or ctrl-c twice leaves a complete cast")
    func interrupted() async throws {
      for isSignal in [true, false] {
        let (terminal, surroundings) = (try PseudoTerminal(), try Surroundings())
        try surroundings.write("long.txt", "caption Only the beginning\nwait 10m\ncaption Never\nquit\n")
        let process = try start(
          ["--demo", "--script", path("long.txt", surroundings), "--cast", path("long.cast", surroundings)], terminal,
          surroundings)
        try await terminal.wait("Only the beginning")
        if isSignal { kill(process.id, SIGINT) } else { terminal.type("\u{3}\u{3}") }
        #expect(try await terminal.exitStatus(of: process) == 128 + SIGINT)

        let cast = try PlayedCast(try surroundings.text("long.cast"))
        #expect(cast.markers == ["Only the beginning"])
        #expect(cast.moments.contains { $0.shows("Only the beginning") })
      }
    }

    @Test("An invalid line of a demo script is reported before the screen opens")
    func wrong() async throws {
      let (terminal, surroundings) = (try PseudoTerminal(), try Surroundings())
      try surroundings.write("wrong.txt", "caption Fine\nwait 1s\ndance\n")
      let process = try start(
        ["--demo", "--script", path("wrong.txt", surroundings), "--cast", path("wrong.cast", surroundings)], terminal,
        surroundings)
      #expect(try await terminal.exitStatus(of: process) == 65)
      #expect(terminal.text.contains("wrong.txt, line 3: dance is not a step"), "\(terminal.text)")
      #expect(terminal.isOn(1049) == nil, "no screen was opened")
      #expect(!FileManager.default.fileExists(atPath: path("wrong.cast", surroundings)))
    }

    @Test("An existing cast is not overwritten without --force")
    func existing() async throws {
      let surroundings = try Surroundings()
      try surroundings.write("tour.txt", "caption Short\nquit\n")
      try surroundings.write("tour.cast", "mine\n")
      let arguments = [
        "--demo", "--script", path("tour.txt", surroundings), "--cast", path("tour.cast", surroundings),
      ]
      let first = try PseudoTerminal()
      let refused = try start(arguments, first, surroundings)
      #expect(try await first.exitStatus(of: refused) == 73)
      #expect(first.text.contains("tour.cast already exists"), "\(first.text)")
      #expect(try surroundings.text("tour.cast") == "mine\n")

      let second = try PseudoTerminal()
      let forced = try start(arguments + ["--force"], second, surroundings)
      #expect(try await second.exitStatus(of: forced) == 0)
      #expect(try PlayedCast(try surroundings.text("tour.cast")).markers == ["Short"])
    }
  }
}
