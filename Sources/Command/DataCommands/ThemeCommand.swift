// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOutput
import CommandTransfer
import Foundation
import Glibc
import TerminalTheme

/// `hearth theme`: lists, checks and imports themes.
package struct ThemeCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "theme", abstract: "List the themes, check theme files, or make one from another program's colors.",
    subcommands: [List.self, Check.self, Import.self])

  /// `hearth theme list`.
  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List the available themes, one per line: name, dark or light, title.")

    func run() throws {
      let paths = Paths.ofProcess
      let catalog = ThemeCatalog(directories: paths.themeFolders)
      let own = Set(catalog.ownSlugs)
      let output = OutputFile.standard()
      for slug in catalog.slugs {
        guard let report = catalog.check(named: slug) else { continue }
        let gap = String(repeating: " ", count: max(2, 20 - slug.count))
        let place = own.contains(slug) ? "  \(paths.short(report.file))" : ""
        if let theme = report.theme {
          let variant = theme.variant.rawValue.padding(to: 7)
          try output.line("\(slug)\(gap)\(variant)\(theme.name)\(place)")
        } else {
          try output.line("\(slug)\(gap)broken \(report.errors.first.map { paths.short("\($0)") } ?? "")")
        }
      }
      try output.flush()
    }
  }

  /// `hearth theme check FILE…`.
  struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check", abstract: "Check theme files for errors, ignored settings and unreadable colors.",
      discussion: """
        Every problem is a line with file and line number. All text, including listener names and repeated values, \
        needs a contrast of 4.5 to its background. The cursor's mark and bars need a contrast of 3. This holds in true \
        color and after reduction to 256 colors. In a theme with cvd = true, color-blind people must be able to \
        distinguish added, modified and removed. Exit status 65 if a file has an error or is hard to read; unknown \
        settings are only warnings. --vision shows the colors for added, removed, online and faults as color-blind \
        people see them, with the distance between the nearest two: 25 is clearly distinct.
        """)

    @Argument(help: ArgumentHelp("Theme files.", valueName: "file"))
    var files: [String]

    @Flag(help: "Show the state colors as color-blind people see them.")
    var vision = false

    func run() throws {
      let catalog = ThemeCatalog(directories: Paths.ofProcess.themeFolders)
      let output = OutputFile.standard()
      let isPainted = isatty(STDOUT_FILENO) == 1 && TerminalPaint.ofProcess().theme != nil
      var bad: [String] = []
      for file in files {
        let report = catalog.check(atPath: file)
        for line in report.errors.map(\.description) + (report.warnings + report.lint).map(\.description) {
          try output.line(ShownText(line))
        }
        if vision, let theme = report.theme {
          for preview in VisionPreview.all(of: theme, at: .trueColor) {
            // The text on the screen is escaped; the rest are color sequences.
            try output.line(ShownText(verbatim: VisionLine(preview).text(isPainted: isPainted)))
          }
        }
        if report.isGood {
          try output.line("\(file): valid, all text has a contrast of at least 4.5:1")
        } else {
          bad.append(file)
        }
      }
      try output.flush()
      guard let first = bad.first else { return }
      let others = bad.count > 1 ? " and \(bad.count - 1) more" : ""
      let isMissing = bad.allSatisfy { !FileManager.default.fileExists(atPath: $0) }
      throw CommandFailure(isMissing ? .noInput : .badData, "\(first)\(others) should not be used.")
    }
  }

  package init() {}
}

/// A line about one kind of color vision: `deuteranopia  added #64ecd5 … nearest: added and removed, 49`.
private struct VisionLine {
  private let preview: VisionPreview

  init(_ preview: VisionPreview) { self.preview = preview }

  /// - Parameter isPainted: whether each word is printed in the color that it describes. This needs a terminal with
  ///   true color.
  func text(isPainted: Bool) -> String {
    func parameters(_ color: RGB, _ kind: Int) -> String { "\(kind);2;\(color.red);\(color.green);\(color.blue)" }
    let swatches = preview.swatches.map { swatch in
      let text = "\(swatch.word) \(swatch.color)"
      guard isPainted else { return text }
      return "\u{1B}[\(parameters(swatch.color, 38));\(parameters(preview.paper, 48))m\(text)\u{1B}[0m"
    }
    let nearest = preview.nearest
    let distance = Int(nearest.difference.rounded())
    return "\(preview.vision.padding(to: 14))\(swatches.joined(separator: "  "))  "
      + "nearest: \(nearest.one) and \(nearest.other), \(distance)"
  }
}

extension String {
  fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}

extension ThemeCommand {
  /// `hearth theme import FILE`.
  struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "import", abstract: "Make a theme from a base16 scheme, or from the colors of another program.",
      discussion: """
        The file is a base16 scheme (YAML with base00 to base0F), or the colors of iTerm2 (.itermcolors), Alacritty \
        (.toml, .yml), k9s (a skin) or btop (.theme). The content determines the format. The theme is written to your \
        theme folder, under the scheme's or the file's name. Colors that are too faint for text are moved towards \
        black or white until they have a contrast of 4.5. A selection color that hides its text is moved towards the \
        background. Each correction is reported.
        """)

    @Argument(help: ArgumentHelp("A scheme or a color file; - is standard input.", valueName: "file"))
    var file: String

    @Option(
      name: [.customShort("o"), .long],
      help: ArgumentHelp("File of the new theme; - is standard output.", valueName: "file"))
    var output: String?

    @Flag(help: "Replace a file of that name.")
    var replace = false

    func run() throws {
      let name = file == "-" ? "standard input" : file
      let source = try DocumentArgument.text(ofFile: file)
      let (scheme, kind): (Base16Scheme, ColorFile)
      do throws(ThemeError) { (scheme, kind) = try ColorFile.scheme(source, file: name) } catch {
        throw CommandFailure(.badData, "\(error)")
      }
      let (text, corrections) = scheme.theme()
      if output == "-" {
        try OutputFile.print(data: text)
      } else {
        try write(text, scheme)
      }
      if kind != .base16 { StandardError.remark("\(name): recognized as colors of \(kind.rawValue).") }
      for correction in corrections { StandardError.remark("\(correction)") }
    }

    private func write(_ text: String, _ scheme: Base16Scheme) throws {
      let paths = Paths.ofProcess
      guard let folder = paths.themeFolders.first else {
        throw CommandFailure(.configuration, "HOME is not set, so there is no theme folder. Name a file with --output.")
      }
      let path = output ?? "\(folder)/\(scheme.slug).toml"
      if !replace, FileManager.default.fileExists(atPath: path) {
        throw CommandFailure(
          .cannotCreate, "\(paths.short(path)) already exists. Add --replace, or name another file with --output.")
      }
      if output == nil {
        // Writing the file reports the reason if the folder cannot be created.
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      }
      try TextFile.write(text, to: path)
      let remark = output == nil ? "; use it with hearth --theme \(scheme.slug)" : ""
      try OutputFile.print("theme written to \(paths.short(path))\(remark)\n")
    }
  }
}
