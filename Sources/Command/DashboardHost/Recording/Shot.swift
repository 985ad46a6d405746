// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import DashboardView
import FirestoreModel
import Foundation
import TerminalCanvas
import TerminalTheme

/// A file with what the screen shows, or showed in the last seconds.
struct Shot {
  enum Format: String, CaseIterable {
    case svg, ansi, txt, cast

    /// The format by the end of a file's name.
    init?(ofFile path: String) {
      guard let end = path.split(separator: ".").last, path.contains(".") else { return nil }
      self.init(rawValue: end.lowercased())
    }
  }

  /// The seconds of a cast.
  static let span = 30
  /// The seconds between two looks at the screen.
  private static let step = 0.25

  let theme: Theme
  let depth: ColorDepth
  let caption: String

  func text(of canvas: Canvas, as format: Format) -> String {
    switch format {
    case .svg: canvas.svg(in: theme, title: caption)
    case .ansi, .cast: canvas.ansiText(in: theme, at: depth)
    case .txt: canvas.plainText
    }
  }

  /// The last seconds of a part of a session as an asciicast, version 2.
  func cast(of part: SessionPart, until now: Timestamp) throws -> String {
    let start = now.advanced(seconds: -Int64(Self.span))
    let screens = part.screens(from: start, to: now, step: Self.step)
    var items: [Cast.Item] = []
    var size: Size?
    for screen in screens {
      if let size, size != screen.canvas.size {
        items.append(.resize(seconds: screen.seconds, screen.canvas.size))
      } else if size == nil {
        items.append(.header(screen.canvas.size, Date(timeIntervalSince1970: Double(start.seconds))))
      }
      size = screen.canvas.size
      items.append(.frame(seconds: screen.seconds, Array(frame(screen.canvas).utf8)))
    }
    // The last screen stays until the end.
    if let last = screens.last, last.seconds < Double(Self.span) {
      items.append(.frame(seconds: Double(Self.span), []))
    }
    return try items.map { String(decoding: try $0.line, as: UTF8.self) }.joined()
  }

  /// A whole screen: the cursor goes home, is hidden, and each row is painted to its end.
  private func frame(_ canvas: Canvas) -> String {
    let rows = canvas.ansiText(in: theme, at: depth).split(separator: "\n", omittingEmptySubsequences: true)
    return "\u{1B}[?25l\u{1B}[H" + rows.joined(separator: "\r\n")
  }
}
