// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardView
import FirestoreModel
package import Foundation
import TerminalCanvas
import TerminalTheme

/// A recording of the screen without a terminal: a script on the made-up shop, by the clock of its own, so that the same
/// script is the same bytes each time.
package struct ScriptedCast {
  /// The pause after which the clock of an offline shop is drawn again.
  private static let idle: Int64 = 500

  private(set) var shop: PlayedShop
  private let start: Timestamp
  private let theme: Theme
  private let depth: ColorDepth
  private var shown: String?
  private(set) var items: [Cast.Item] = []

  /// - Parameter shop: the shop at the moment at which the script begins.
  init(_ shop: PlayedShop, theme: Theme, depth: ColorDepth) {
    self.shop = shop
    self.shop.answersKeys = true
    (self.theme, self.depth, start) = (theme, depth, shop.now)
    let date = Date(timeIntervalSince1970: TimeInterval(shop.now.seconds))
    items = [.header(shop.state.size, date, term: "xterm-256color")]
  }

  /// Plays a script to its end.
  mutating func play(_ script: DemoScript) {
    draw()
    for step in script.steps {
      switch step {
      case .pause(let time): pass(time)
      case .key(let key): shop.press([key])
      case .caption(let text):
        shop.apply(.caption(text, at: shop.now))
        if !text.isEmpty { items.append(.marker(seconds: seconds, text)) }
      case .quit: return
      }
      draw()
    }
  }

  /// Lets the shop go on for a while.
  private mutating func pass(_ time: Duration) {
    let end = shop.now + time
    while shop.now < end {
      let left = Int64(clamping: (end - shop.now).wholeMicroseconds / 1000)
      if left <= Self.idle || !shop.isOnline {
        shop.wait(milliseconds: max(1, min(left, Self.idle)))
      } else {
        shop.happen()
      }
      shop.apply(.tick(shop.now))
      draw()
    }
  }

  private var seconds: Double { Double(shop.now.microseconds - start.microseconds) / 1_000_000 }

  /// Adds a frame, if the screen has changed.
  private mutating func draw() {
    let text = view(shop.state).ansiText(in: theme, at: depth)
    if text == shown { return }
    let rows = text.split(separator: "\n").joined(separator: "\r\n")
    let beginning = shown == nil ? "\u{1B}[2J\u{1B}[?25l" : ""
    items.append(.frame(seconds: seconds, Array("\(beginning)\u{1B}[H\(rows)".utf8)))
    shown = text
  }

  /// The lines of the file.
  package func data() throws -> Data { try items.reduce(into: Data()) { $0 += try $1.line } }
}
