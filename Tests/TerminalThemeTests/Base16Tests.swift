// SPDX-License-Identifier: Apache-2.0

import TerminalCanvas
import Testing

@testable import TerminalTheme

@Suite struct Base16Tests {
  static let ocean = """
    system: "base16"
    name: "Ocean \"x\""
    author: "Chris Kempson (http://chriskempson.com)"
    variant: "dark"
    palette:
      base00: "#2b303b"  # the background
      base01: "#343d46"
      base02: "#4f5b66"
      base03: "#65737e"
      base04: "#a7adba"
      base05: "#c0c5ce"
      base06: "#dfe1e8"
      base07: "#eff1f5"
      base08: "#bf616a"
      base09: "#d08770"
      base0A: "#ebcb8b"
      base0B: "#a3be8c"
      base0C: "#96b5b4"
      base0D: "#8fa1b3"
      base0E: "#b48ead"
      base0F: "#ab7967"
    """

  /// The flat form of before, light, and faint as few are.
  private static let faint =
    "scheme: Faint\n"
    + (0..<16).map { "base0\(String($0, radix: 16, uppercase: true)): '\($0 == 0 ? "ffffff" : "dddd\(10 + $0)")'" }
    .joined(separator: "\n")

  private func theme(_ text: String) throws -> (theme: Theme, corrections: [Base16Scheme.Correction]) {
    let (file, corrections) = try Base16Scheme(text, file: "x.yaml").theme()
    let folder = try TemporaryThemes(["x.toml": file])
    let (theme, warnings) = try ThemeCatalog(directories: [folder.path]).theme(named: "x")
    #expect(warnings == [])
    return (theme, corrections)
  }

  @Test("Any Base16 scheme becomes a theme that passes the check, whatever its contrast", arguments: [ocean, faint])
  func readable(_ scheme: String) throws {
    let (theme, corrections) = try theme(scheme)
    #expect(ThemeLint.findings(theme).map(\.description) == [])
    #expect(corrections.contains { $0.slot == "base03" })
    #expect(theme.variant == (scheme == Self.ocean ? .dark : .light))
  }

  @Test("A Base16 scheme colors text, changes and states, and keeps its name and author")
  func colors() throws {
    let (theme, corrections) = try theme(Self.ocean)
    #expect(theme.name == "Ocean " && theme.author == "Chris Kempson (http://chriskempson.com)")
    #expect(theme.style(of: .changeModified).foreground == .rgb(RGB(0xEB, 0xCB, 0x8B), c256: nil, c16: nil))
    #expect(theme.background == .rgb(RGB(0x2B, 0x30, 0x3B), c256: nil, c16: nil))
    #expect(!corrections.contains { $0.slot == "base0A" })
    #expect(try Base16Scheme(Self.ocean, file: "x").slug == "ocean")
  }

  @Test(
    "An error in a Base16 scheme is reported with its line number",
    arguments: [
      ("base00: \"#12\"\n", "x.yaml:1: base00: \"#12\" is not a color; write \"#rrggbb\""),
      ("name: x\n", "x.yaml: base00 is missing: a base16 scheme has base00 to base0F"),
      ("", "x.yaml: base00 is missing: a base16 scheme has base00 to base0F"),
    ])
  func errors(_ text: String, _ message: String) {
    #expect {
      _ = try Base16Scheme(text, file: "x.yaml")
    } throws: { error in
      "\(error)" == message
    }
  }
}

@Suite struct VisionPreviewTests {
  @Test("The preview for each type of color vision has status colors and the closest pair")
  func previews() throws {
    let ember = try ThemeCatalog().theme(named: "ember").theme
    let gruvbox = try ThemeCatalog().theme(named: "gruvbox-dark").theme
    let previews = VisionPreview.all(of: ember, at: .trueColor)
    #expect(previews.map(\.vision) == ["normal", "protanopia", "deuteranopia", "tritanopia"])
    #expect(previews[0].swatches.first?.color == RGB(0x64, 0xEC, 0xD5), "with all cones a colour is itself")
    #expect(previews[2].swatches.first?.color != previews[0].swatches.first?.color)
    #expect(previews.allSatisfy { $0.nearest.difference >= 25 && $0.swatches.count == 6 })
    let worst = try #require(
      VisionPreview.all(of: gruvbox, at: .trueColor).min { $0.nearest.difference < $1.nearest.difference })
    #expect(worst.nearest.difference < 25)
    #expect(VisionPreview.all(of: try ThemeCatalog().theme(named: "monochrome").theme, at: .trueColor) == [])
  }
}
