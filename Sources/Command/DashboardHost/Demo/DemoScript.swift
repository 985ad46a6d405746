// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
import Dashboard
import DashboardModel
import DashboardView
import FirestoreModel
import FirestoreText
package import Foundation
package import TerminalCanvas
import TerminalTheme

/// Keys, pauses and captions that a dashboard plays automatically, for demos and screen recordings.
package struct DemoScript: Sendable {
  package enum Step: Hashable, Sendable {
    case key(Key)
    /// The sentence in the last row; empty for none.
    case caption(String)
    case pause(Duration)
    case quit
  }

  package private(set) var steps: [Step] = []

  /// The pause before each key, unless `pace` sets another pause.
  private static let pace = Duration.milliseconds(400)
  /// The longest pause.
  private static let longest = Duration.seconds(600)

  /// Parses a script with one step per line.
  /// - Parameter name: the file's name in messages.
  /// - Throws: the first invalid line, with the reason.
  package static func parse(_ text: String, name: String) throws(CommandFailure) -> DemoScript {
    var (script, pace) = (DemoScript(), Self.pace)
    for (number, row) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let line = String(row).trimmed
      if line.isEmpty || line.hasPrefix("#") { continue }
      let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
      let rest = parts.count > 1 ? parts[1].trimmed : ""
      func refuse(_ reason: String) -> CommandFailure {
        CommandFailure(.badData, "\(name), line \(number + 1): \(reason)")
      }
      func time() throws(CommandFailure) -> Duration {
        do throws(TextError) { return try DurationText.parse(rest, longest: longest) } catch {
          throw refuse("\(error)")
        }
      }
      switch parts[0] {
      case "wait": script.steps.append(.pause(try time()))
      case "pace": pace = try time()
      case "keys":
        for word in rest.split(separator: " ") {
          guard let key = Key(String(word)) else { throw refuse("\(word) is not a key.") }
          script.steps += [.pause(pace), .key(key)]
        }
      case "type": script.steps += rest.flatMap { [.pause(pace / 4), .key(.character($0))] }
      case "caption": script.steps.append(.caption(rest))
      case "quit": script.steps += [.pause(pace), .quit]
      default: throw refuse("\(parts[0]) is not a step. Use wait, pace, keys, type, caption or quit.")
      }
    }
    return script
  }
}

extension Session {
  /// Presses the keys of a script at their times and shows its captions. Ends with the script, or when the task is
  /// canceled.
  func play(_ script: DemoScript, clock: any Clock<Duration>) async {
    for step in script.steps {
      switch step {
      // Only a dashboard that closes ends the sleep early.
      case .pause(let time): guard (try? await clock.sleep(for: time)) != nil else { return }
      case .key(let key): apply(.input(.key(key), at: .now))
      case .caption(let text): apply(.caption(text, at: .now))
      case .quit: perform([.terminal(.quit(code: 0))])
      }
    }
  }
}

/// A screen recording of a script that runs with the simulated shop, without a terminal. It has its own clock, so that
/// the same script always produces the same bytes.
package struct ScriptedCast {
  /// The minimum length in milliseconds of a pause during which the clock of an offline shop is redrawn.
  private static let idle: Int64 = 500

  private(set) var shop: PlayedShop
  private let start: Timestamp
  private let theme: Theme
  private let depth: ColorDepth
  private var shown: String?
  private(set) var items: [Cast.Item] = []

  /// - Parameter shop: the state of the shop at the start of the script.
  init(_ shop: PlayedShop, theme: Theme, depth: ColorDepth) {
    self.shop = shop
    self.shop.answersKeys = true
    (self.theme, self.depth, start) = (theme, depth, shop.now)
    let date = Date(timeIntervalSince1970: TimeInterval(shop.now.seconds))
    items = [.header(shop.state.size, date, term: "xterm-256color")]
  }

  /// Plays a script until it ends.
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

  /// Advances the time of the shop.
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

  /// Adds a frame if the screen has changed.
  private mutating func draw() {
    let text = view(shop.state).ansiText(in: theme, at: depth)
    if text == shown { return }
    let rows = text.split(separator: "\n").joined(separator: "\r\n")
    let beginning = shown == nil ? "\u{1B}[2J\u{1B}[?25l" : ""
    items.append(.frame(seconds: seconds, Array("\(beginning)\u{1B}[H\(rows)".utf8)))
    shown = text
  }

  /// The contents of the recording's file.
  package func data() -> Data { items.reduce(into: Data()) { $0 += $1.line } }
}
