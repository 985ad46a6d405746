// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Dashboard
import DashboardHost
import FirestoreModel
import TerminalCanvas
import TerminalTheme

/// One screen without a terminal: a moment of a shop that is played by the clock of its own, always the same.
struct FrameRequest: Sendable {
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, ansi, svg
  }

  var size: Size
  var format = Format.text
  var scene = PlayedShop.Scene.online
  /// Played in place of the shop.
  var scenario: [ScenarioStep]?
  /// A moment of a recorded session, in place of the shop.
  var recorded: DashboardState?
  /// Pressed one after the other when the moment has come, as the keymap writes them.
  var keys: [Key] = []
  /// Played behind the keys.
  var script: DemoScript?
  var theme: Theme
  var glyphs = Glyphs.unicode
  var keymap = Keymap.standard
  var themes: [DashboardConfiguration.Theme] = []
  var depth = ColorDepth.trueColor

  /// The picture's text, with the end of its last line.
  func rendered() -> String {
    let canvas = canvas()
    return switch format {
    case .text: canvas.plainText
    case .ansi: canvas.ansiText(in: theme, at: depth)
    case .svg: canvas.svg(in: theme, title: "hearth: \(subject)")
    }
  }

  private var subject: String {
    recorded != nil ? "a recorded session" : scenario == nil ? scene.rawValue : "a scenario"
  }

  func canvas() -> Canvas {
    if var recorded {
      for key in keys { _ = update(&recorded, .input(.key(key), at: recorded.now)) }
      return view(recorded)
    }
    return view(script == nil ? shop().state : cast().shop.state)
  }

  private func shop() -> PlayedShop {
    var shop = PlayedShop(size: size, glyphs: glyphs, themes: themes, theme: theme.slug, keymap: keymap)
    if let scenario { shop.play(scenario) } else { shop.play(to: scene) }
    shop.press(keys)
    return shop
  }

  /// The script on the shop, as a recording of the screen.
  func cast() -> ScriptedCast {
    var cast = ScriptedCast(shop(), theme: theme, depth: depth)
    if let script { cast.play(script) }
    return cast
  }
}

/// `120x36`, as an argument.
enum FrameSizeText {
  static func parse(_ text: String) throws -> Size {
    let numbers = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.count == 2, let width = numbers[0], let height = numbers[1], (1...500).contains(width),
      (1...200).contains(height)
    else {
      throw ValidationError("\"\(text)\" is no size; write columns and rows as 120x36, at most 500x200.")
    }
    return Size(width: width, height: height)
  }
}

/// `4 / enter`, as an argument.
enum KeySequenceText {
  static func parse(_ text: String) throws -> [Key] {
    try text.split(separator: " ").map { name in
      guard let key = Key(String(name)) else {
        throw ValidationError("\"\(name)\" is no key; write a character, space, enter, ctrl-x, f5 or the like.")
      }
      return key
    }
  }
}
