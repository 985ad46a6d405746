// SPDX-License-Identifier: Apache-2.0

import BuiltinThemes
import Foundation
import Spelling
package import TerminalCanvas

/// The available themes: the user's themes, then the built-in themes. A user's file can have the name of a built-in
/// theme and inherit from that theme.
package struct ThemeCatalog: Sendable {
  private let directories: [String]

  /// The maximum size of a theme file in bytes.
  private static let maximumSize = 256 * 1024

  /// - Parameter directories: folders with `.toml` files. Earlier folders take precedence. Missing folders count as
  ///   empty.
  package init(directories: [String] = []) { self.directories = directories }

  /// The theme folders according to the XDG base directory specification, in order of precedence.
  package static func userDirectories(environment: [String: String]) -> [String] {
    func path(_ variable: String) -> String? { environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } }
    let home = path("HOME")
    let config = path("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" }
    let data = path("XDG_DATA_HOME") ?? home.map { $0 + "/.local/share" }
    let shared = environment["XDG_DATA_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
    let roots =
      [config, data].compactMap { $0 } + shared.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    return roots.map { $0 + "/hearth/themes" }
  }

  /// Whether a path is a regular file. Opening a named pipe would block until it has a writer.
  private static func isFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// The names of all themes: the built-in themes in the order of the picker, then the user's themes in alphabetical
  /// order.
  package var slugs: [String] {
    let builtin = BuiltinThemes.sources.map(\.slug)
    let files = directories.flatMap { directory in
      // An unreadable folder has no themes. Naming one of its themes reports the error.
      ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [])
        .filter { $0.hasSuffix(".toml") && Self.isFile("\(directory)/\($0)") }
    }
    let own = Set(files.map { String($0.dropLast(5)) }).subtracting(builtin)
    return builtin + own.sorted()
  }

  /// The theme with a name, and warnings about ignored entries.
  ///
  /// - Throws: the first error in the file or in an inherited file. For an unknown name, the error suggests a similar
  ///   name.
  package func theme(named slug: String) throws(ThemeError) -> (theme: Theme, warnings: [ThemeWarning]) {
    guard let layer = layers(of: slug).first else { throw missing(slug, file: slug, line: nil) }
    let source = try source(layer)
    return (try source.theme(), source.warnings)
  }

  /// The name of a theme in the picker. If the theme cannot be read, its file name.
  package func name(of slug: String) -> String {
    if let layer = layers(of: slug).first, layer.path == nil,
      let builtin = BuiltinThemes.sources.first(where: { $0.slug == slug })
    {
      return builtin.name
    }
    return (try? theme(named: slug).theme.name) ?? slug
  }

  /// Whether a theme is designed for a light background; `nil` if the theme cannot be read. A built-in theme is read
  /// only in part.
  package func isLight(_ slug: String) -> Bool? {
    if let layer = layers(of: slug).first, layer.path == nil,
      let builtin = BuiltinThemes.sources.first(where: { $0.slug == slug })
    {
      return String(decoding: builtin.source, as: UTF8.self).contains("variant = \"light\"")
    }
    return (try? theme(named: slug)).map { $0.theme.variant == .light }
  }

  /// The border style of a theme. Built-in themes define none, so they are not read.
  package func border(of slug: String) -> BorderStyle? {
    guard layers(of: slug).first?.path != nil else { return nil }
    return (try? theme(named: slug))?.theme.border
  }

  /// Whether a user's file or a built-in theme has the name. The file may be unreadable.
  package func has(_ slug: String) -> Bool { !layers(of: slug).isEmpty }

  /// Checks a theme file at any path.
  package func check(atPath path: String) -> ThemeReport {
    let file = path.split(separator: "/").last.map(String.init) ?? path
    return report(Layer(slug: file.hasSuffix(".toml") ? String(file.dropLast(5)) : file, path: path))
  }

  /// Checks a theme of the catalog; `nil` for an unknown name.
  package func check(named slug: String) -> ThemeReport? { layers(of: slug).first.map { report($0) } }

  /// The names of the user's themes, in alphabetical order.
  package var ownSlugs: [String] { slugs.filter { layers(of: $0).first?.path != nil }.sorted() }

  private func report(_ layer: Layer) -> ThemeReport {
    do throws(ThemeError) {
      let source = try source(layer)
      let (theme, errors) = source.resolved()
      let places = source.roles.mapValues { ThemeReport.Place(file: $0.file, line: $0.line) }
      return ThemeReport(
        file: source.file, theme: errors.isEmpty ? theme : nil, errors: errors, warnings: source.warnings,
        places: places)
    } catch {
      return ThemeReport(file: layer.path ?? layer.slug, theme: nil, errors: [error], warnings: [], places: [:])
    }
  }

  /// A source of a theme: a user's file or a built-in theme.
  private struct Layer: Hashable {
    var slug: String
    /// The path of the file; `nil` for a built-in theme.
    var path: String?
  }

  private func layers(of slug: String) -> [Layer] {
    guard !slug.contains("/"), !slug.hasPrefix(".") else { return [] }
    let files = directories.map { "\($0)/\(slug).toml" }.filter(Self.isFile)
    let builtin = BuiltinThemes.sources.contains { $0.slug == slug } ? [Layer(slug: slug, path: nil)] : []
    return files.map { Layer(slug: slug, path: $0) } + builtin
  }

  /// Reads a theme and merges it with all themes that it inherits from.
  private func source(_ layer: Layer) throws(ThemeError) -> ThemeSource {
    var visited: [Layer] = [layer]
    var source = try read(layer)
    var chain = source
    while let parent = chain.inherits {
      // A file that inherits from its own name refers to the next theme with that name, so built-ins can be adjusted.
      let candidates = layers(of: parent.slug)
      guard let next = candidates.first(where: { $0.slug != chain.slug || !visited.contains($0) }) else {
        throw missing(parent.slug, file: chain.file, line: parent.line)
      }
      guard !visited.contains(next) else {
        throw ThemeError(file: chain.file, line: parent.line, reason: "\(parent.slug) inherits from itself")
      }
      visited.append(next)
      chain = try read(next)
      source = source.merged(onto: chain)
    }
    return source
  }

  private func missing(_ slug: String, file: String, line: Int?) -> ThemeError {
    let names = slugs
    let hint =
      NearestName.suggestion(for: slug, among: names).map { "did you mean \($0)?" }
      ?? "choose one of \(names.joined(separator: ", "))"
    return ThemeError(file: file, line: line, reason: "no theme \(slug); \(hint)")
  }

  private func read(_ layer: Layer) throws(ThemeError) -> ThemeSource {
    guard let path = layer.path else {
      let bytes = BuiltinThemes.sources.first { $0.slug == layer.slug }?.source ?? []
      return try ThemeParser.parse(String(decoding: bytes, as: UTF8.self), file: "\(layer.slug).toml", slug: layer.slug)
    }
    // The error below names the file; the system's error would name a descriptor.
    guard let handle = FileHandle(forReadingAtPath: path), let data = try? handle.read(upToCount: Self.maximumSize + 1)
    else {
      throw ThemeError(file: path, line: nil, reason: "cannot be read")
    }
    guard data.count <= Self.maximumSize else {
      throw ThemeError(
        file: path, line: nil, reason: "too large for a theme (more than \(Self.maximumSize / 1024) KiB)")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw ThemeError(file: path, line: nil, reason: "not UTF-8")
    }
    return try ThemeParser.parse(text, file: path, slug: layer.slug)
  }
}
