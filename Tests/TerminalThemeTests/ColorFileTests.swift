// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas
import Testing

@testable import TerminalTheme

@Suite("Color files of other programs")
struct ColorFileTests {
  private static func propertyList(_ colors: [(String, Double, Double, Double)]) -> String {
    func part(_ name: String, _ value: Double) -> String { "<key>\(name) Component</key>\n<real>\(value)</real>" }
    let entries = colors.map { name, red, green, blue in
      """
      <key>\(name) Color</key>
      <dict>
        <key>Color Space</key><string>sRGB</string>
        \(part("Blue", blue))
        \(part("Green", green))
        \(part("Red", red))
      </dict>
      """
    }
    return "<?xml version=\"1.0\"?>\n<plist version=\"1.0\"><dict>\n\(entries.joined(separator: "\n"))\n</dict></plist>"
  }

  static let files: [(kind: ColorFile, name: String, text: String)] = [
    (
      .iTerm2, "Dusk.itermcolors",
      propertyList([
        ("Ansi 0", 0, 0, 0), ("Ansi 1", 1, 0.2, 0.2), ("Ansi 2", 0.2, 0.8, 0.2), ("Ansi 3", 0.9, 0.8, 0.2),
        ("Ansi 4", 0.2, 0.4, 1), ("Ansi 5", 0.8, 0.3, 0.9), ("Ansi 8", 0.3, 0.3, 0.3), ("Background", 0.2, 0, 0.2),
        ("Foreground", 0.8, 0.8, 0.8), ("Selection", 1, 1, 1),
      ])
    ),
    (
      .alacritty, "dusk.toml",
      """
      [colors.primary]
      background = "#330033"
      foreground = "0xcccccc"
      [colors.normal]
      red = "#ff3333"
      green = "#33cc33"
      yellow = "#e6cc33"
      """
    ),
    (
      .alacritty, "dusk.yml",
      """
      # Colors
      colors:
        # Default colors
        primary:
          background: '0x330033'
          foreground: '0xcccccc'
        selection:
          background: CellForeground
        normal:
          red:     '0xff3333'
      """
    ),
    (
      .k9s, "dusk.yaml",
      """
      # Styles
      foreground: &foreground "#cccccc"
      background: &background "#330033"
      k9s:
        body:
          fgColor: *foreground
          bgColor: *background
          logoColor: papayawhip
        frame:
          status:
            newColor: dodgerblue
            addColor: green
            errorColor: "#ff3333"
        views:
          table:
            cursorBgColor: default
      """
    ),
    (
      .btop, "dusk.theme",
      """
      # Main background
      theme[main_bg]="#330033"
      theme[main_fg]="#cc"
      theme[hi_fg]="255 51 51"
      theme[selected_bg]="#eeeeee"
      theme[cpu_mid]=""
      """
    ),
  ]

  @Test("Each kind of color file is recognized and becomes a theme that passes the check", arguments: files)
  func recognized(kind: ColorFile, name: String, text: String) throws {
    let (scheme, found) = try ColorFile.scheme(text, file: "/x/\(name)")
    #expect(found == kind)
    #expect(scheme.slug == "dusk")
    let (theme, _) = try Self.theme(of: scheme)
    #expect(theme.background == .rgb(RGB(0x33, 0, 0x33), c256: nil, c16: nil))
    #expect(ThemeLint.findings(theme).map(\.description) == [])
  }

  @Test("Colors keep their meaning, and a correction uses the file's name for the color")
  func meanings() throws {
    let (scheme, _) = try ColorFile.scheme(Self.files[0].text, file: "x")
    let (theme, corrections) = try Self.theme(of: scheme)
    #expect(theme.style(of: .changeModified).foreground == .rgb(RGB(0xE6, 0xCC, 0x33), c256: nil, c16: nil))
    #expect(corrections.contains { $0.slot == "Selection Color" && $0.isBackdrop })
    #expect(
      corrections.contains { "\($0)".hasPrefix("Ansi 8 Color #4d4d4d: The color cannot be read on the background.") })
  }

  @Test("An unreadable surface or selection is corrected and reported")
  func backdrops() throws {
    let strong =
      "scheme: Strong\n"
      + [
        "231f20", "f81118", "ecba0f", "2a84d2", "4e5ab7", "d6dbe5", "1dd361", "0f7ddb", "f81118", "ecba0f", "ffcc00",
        "2dc55e", "1081d6", "2a84d2", "4e5ab7", "0f7ddb",
      ].enumerated().map { "base0\(String($0, radix: 16, uppercase: true)): \"\($1)\"" }.joined(separator: "\n")
    for text in [
      strong, strong.replacing("231f20", with: "ffffff").replacing("ecba0f\"\nbase03", with: "161616\"\nbase03"),
    ] {
      let (scheme, kind) = try ColorFile.scheme(text, file: "x.yaml")
      let (theme, corrections) = try Self.theme(of: scheme)
      #expect(kind == .base16)
      #expect(ThemeLint.findings(theme).map(\.description) == [])
      #expect(corrections.contains { $0.isBackdrop })
    }
  }

  @Test(
    "An unknown color file is rejected with a list of known kinds",
    arguments: [
      ("[window]\nopacity = 1\n", "base16 scheme (YAML with base00 to base0F), or the colors of iTerm2"),
      ("color0 #000000\n", "Alacritty"),
      ("theme[main_bg]=\"\"\ntheme[main_fg]=\"#cccccc\"\n", "does not set the background color. Set main_bg"),
      ("k9s:\n  body:\n    fgColor: white\n    bgColor: default\n", "Set k9s/body/bgColor"),
      ("k9s:\n  body:\n    bgColor: mauvish\n", "k9s/body/bgColor: \"mauvish\" is not a color"),
      ("[colors.primary]\nbackground = \"#000000\"\n", "does not set the text color. Set primary/foreground"),
      ("base00: \"#000000\"\n", "base01 is missing"),
    ])
  func refusals(text: String, reason: String) throws {
    let error = #expect(throws: ThemeError.self) { try ColorFile.scheme(text, file: "x") }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
  }

  private static func theme(
    of scheme: Base16Scheme
  ) throws -> (theme: Theme, corrections: [Base16Scheme.Correction]) {
    let (file, corrections) = scheme.theme()
    let folder = try TemporaryThemes(["x.toml": file])
    return (try ThemeCatalog(directories: [folder.path]).theme(named: "x").theme, corrections)
  }
}
