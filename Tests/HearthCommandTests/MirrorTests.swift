// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import DashboardView
import FirestoreInspection
import FirestoreModel
import FirestoreTesting
import Foundation
import Glibc
import TerminalCanvas
import TerminalTesting
import Testing

@testable import CommandOutput
@testable import DashboardHost
@testable import HearthCommand

@Suite("A screen in another terminal", .timeLimit(.minutes(15)))
struct MirrorTests {
  @Test("The frames of a session lead to its screens, also through a change of the size, and carry only what changed")
  func frames() throws {
    var session = RandomSession(Size(width: 100, height: 30), seed: 3)
    var mirrored = MirroredScreen()
    var old: Canvas?
    for step in 0..<150 {
      session.step()
      let canvas = view(session.state)
      if let frame = MirrorFrame(from: old, to: canvas) {
        let line = try InspectionLine.bytes(frame)
        mirrored.apply(try InspectionLine.value(MirrorFrame.self, of: line.dropLast().map(\.self)))
        #expect(frame.rows.count <= canvas.size.height)
      } else {
        // The cursor is not mirrored.
        #expect((0..<canvas.size.height).allSatisfy { old?.row($0) == canvas.row($0) })
      }
      old = canvas
      let shown = mirrored.canvas(canvas.size, note: "")
      for y in 0..<canvas.size.height - 1 {
        guard shown.row(y) == canvas.row(y) else {
          Issue.record("step \(step), row \(y):\n\(canvas.text(row: y))\n\(shown.text(row: y))")
          return
        }
      }
    }
    #expect(MirrorFrame(from: old, to: view(session.state)) == nil)
  }

  @Test("A larger screen is cut, and says so; a frame from elsewhere cannot ask for more than there is")
  func cut() throws {
    var canvas = Canvas(size: Size(width: 200, height: 60))
    canvas.put("corner", at: Point(x: 0, y: 0))
    var mirrored = MirroredScreen()
    var evil = try #require(MirrorFrame(from: nil, to: canvas))
    mirrored.apply(evil)
    let shown = mirrored.canvas(Size(width: 80, height: 24), note: "mirror of x 1")
    #expect(shown.text(row: 0).hasPrefix("corner"))
    #expect(shown.text(row: 23).contains("mirror of x 1, cut from 200x60; q leaves"))
    evil.width = .max
    evil.rows = [
      .init(y: -1, runs: []), .init(y: .max, runs: [.init(text: "\u{1B}[2J", role: "none", attributes: 255)]),
    ]
    mirrored.apply(evil)
    #expect(mirrored.canvas(Size(width: 20, height: 4), note: "n").size == Size(width: 20, height: 4))
  }

  @Test("A viewer is sent the screen that is there, then what changes; when the dashboard ends, its name is gone")
  @MainActor func connection() async throws {
    let folder = InspectionFolder(path: NSTemporaryDirectory() + "/hm-\(UUID().uuidString.prefix(8))")
    defer { try? FileManager.default.removeItem(atPath: folder.path) }
    #expect(throws: CommandFailure.self) { try MirrorSession.connect(to: getpid(), in: folder) }
    let mirror = try ScreenMirror(in: folder, MirrorGreeting(process: getpid(), name: "hearth dashboard", project: "p"))
    var canvas = Canvas(size: Size(width: 20, height: 3))
    canvas.put("first", at: Point(x: 0, y: 0))
    mirror.show(canvas)

    // The greeting is awaited on another thread: it comes from this one.
    let process = getpid()
    let source = try await Task.detached { try MirrorSession.connect(to: process, in: folder) }.value
    #expect(source.greeting.name == "hearth dashboard")
    var mirrored = MirroredScreen()
    func take(_ lines: [[UInt8]]) throws {
      for line in lines { mirrored.apply(try InspectionLine.value(MirrorFrame.self, of: line)) }
    }
    try take(source.frames)
    while mirrored.size == nil { try take(try #require(await source.link.next())) }
    #expect(mirrored.canvas(canvas.size, note: "").text(row: 0).hasPrefix("first"))
    canvas.put("second", at: Point(x: 0, y: 1))
    mirror.show(canvas)
    while !mirrored.canvas(canvas.size, note: "").text(row: 1).hasPrefix("second") {
      try take(try #require(await source.link.next()))
    }
    mirror.end()
    while await source.link.next() != nil {}
    #expect(throws: CommandFailure.self) { try MirrorSession.connect(to: process, in: folder) }
  }
}
