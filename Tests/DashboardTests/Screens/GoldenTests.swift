// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel
@testable import DashboardView

/// Every screen as text and roles. `UPDATE_GOLDENS=1` rewrites the files; without it a missing one fails.
@Suite("Golden screens")
struct GoldenTests {
  static let sizes = [Size(width: 120, height: 36), usual, Size(width: 60, height: 16), Size(width: 40, height: 12)]
  static let usual = Size(width: 80, height: 24)
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Goldens")

  /// The situations whose layout depends most on the size; of the others one size tells as much.
  static let laidOut: [Situation] = [
    .online, .offline, .detail, .help, .listener, .explaining, .editing, .reviewing, .result, .wall,
  ]
  static let others = Situation.allCases.filter { !laidOut.contains($0) }

  @Test("Each layout situation matches its golden screen at every size", arguments: laidOut, sizes)
  func situation(_ situation: Situation, _ size: Size) throws {
    try check(situation, size)
  }

  @Test("Each other situation matches its golden screen", arguments: others)
  func situation(_ situation: Situation) throws { try check(situation, Self.usual) }

  @Test("Three situations match their golden screens in plain ASCII", arguments: [Situation.online, .offline, .detail])
  func plain(_ situation: Situation) throws {
    let size = Self.usual
    let canvas = view(situation.state(size: size, glyphs: .ascii))

    let glyphs = (0..<size.height).map { canvas.text(row: $0) }.joined().unicodeScalars.filter { !$0.isASCII }
    // Only what documents say may leave ASCII.
    #expect(glyphs.allSatisfy { $0 == "×" })
    try check(
      canvas, "\(situation.rawValue)-ascii-\(size.width)x\(size.height)", caption: "case \(situation.rawValue), ascii")
  }

  @Test(
    "The smallest screens still show the connection state and the pending writes",
    arguments: [Size(width: 24, height: 4), Size(width: 20, height: 3)])
  func smallest(_ size: Size) throws { try check(.offline, size) }

  @Test("A wide screen shows the selected document in a separate column")
  func wide() throws { try check(.online, Size(width: 180, height: 44)) }

  @Test("Every golden screen file is read by a test")
  func unread() throws {
    let read = Self.laidOut.count * Self.sizes.count + Self.others.count + 3 + 2 + 1
    #expect(try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).count == read)
  }

  private func check(_ situation: Situation, _ size: Size) throws {
    try check(
      view(situation.state(size: size)), "\(situation.rawValue)-\(size.width)x\(size.height)",
      caption: "case \(situation.rawValue)")
  }

  private func check(_ canvas: Canvas, _ name: String, caption: String) throws {
    let file = Self.folder.appending(path: name + ".txt")
    let actual = canvas.golden(caption: caption)
    if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1" {
      try actual.write(to: file, atomically: true, encoding: .utf8)
      return
    }
    let expected = try? String(contentsOf: file, encoding: .utf8)
    #expect(expected != nil, "no golden \(name): UPDATE_GOLDENS=1 writes it")
    #expect(expected == nil || actual == expected, "\(name) differs; the screen is now:\n\(canvas.text)")
  }
}
