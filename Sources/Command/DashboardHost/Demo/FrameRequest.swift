// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
package import Dashboard
package import DashboardModel
import DashboardView
import FirestoreModel
package import Scenarios
package import TerminalCanvas
package import TerminalTheme

/// Describes a screen that is drawn without a terminal: a fixed state of a simulated shop with its own clock. The
/// result is the same on every run.
package struct FrameRequest: Sendable {
  package enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, ansi, svg
  }

  package var size: Size
  package var format = Format.text
  package var scene = PlayedShop.Scene.online
  /// The scenario that is shown instead of the shop.
  package var scenario: [ScenarioStep]?
  /// The state of a recorded session that is shown instead of the shop.
  @Boxed package var recorded: DashboardState?
  /// The keys that are pressed in order, in keymap syntax.
  package var keys: [Key] = []
  /// The script that runs after the keys were pressed.
  package var script: DemoScript?
  package var theme: Theme
  package var glyphs = Glyphs.unicode
  package var keymap = Keymap.standard
  package var themes: [DashboardConfiguration.Theme] = []
  package var depth = ColorDepth.trueColor

  package init(of size: Size, theme: Theme) {
    self.size = size
    self.theme = theme
  }

  /// The text of the picture, including its final newline.
  package func rendered() -> String {
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

  /// Runs the script with the shop, and returns a screen recording.
  package func cast() -> ScriptedCast {
    var cast = ScriptedCast(shop(), theme: theme, depth: depth)
    if let script { cast.play(script) }
    return cast
  }
}

/// The argument for a size: `120x36`.
package enum FrameSizeText {
  package static func parse(_ text: String) throws -> Size {
    let numbers = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.count == 2, let width = numbers[0], let height = numbers[1], (1...500).contains(width),
      (1...200).contains(height)
    else {
      throw ValidationError("Invalid size \"\(text)\". Use columns and rows, as in 120x36, at most 500x200.")
    }
    return Size(width: width, height: height)
  }
}

/// The argument for a sequence of keys: `4 / enter`.
package enum KeySequenceText {
  package static func parse(_ text: String) throws -> [Key] {
    try text.split(separator: " ").map { name in
      guard let key = Key(String(name)) else {
        throw ValidationError("Invalid key \"\(name)\". Use a character, space, enter, ctrl-x, f5 or similar.")
      }
      return key
    }
  }
}

extension ReplayRequest {
  /// The state that a picture shows. By default, this is the last state.
  package func state(for picture: FrameRequest) -> DashboardState {
    var configuration = recording.header.configuration
    (configuration.glyphs, configuration.themes) = (picture.glyphs, picture.themes)
    (configuration.theme, configuration.keymap) = (picture.theme.slug, picture.keymap)
    let viewer = DashboardState(configuration, size: picture.size, now: recording.header.start)
    let stopped = Playback(speed: .max, isPlaying: false)
    return ReplayRequest(recording: recording, playback: stopped, place: place ?? .end).session(for: viewer).asItWas
  }
}
