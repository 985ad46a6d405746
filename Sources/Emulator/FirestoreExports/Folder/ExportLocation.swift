// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The place of an export: its overall metadata, beside which everything else lies.
package struct ExportLocation: Hashable, Sendable {
  static let ending = ".overall_export_metadata"

  /// The path of the overall metadata.
  package let metadata: String
  package var folder: String { Self.folder(of: metadata) }

  /// - Parameter path: the path of the overall metadata, of its folder, or of one that holds the only export below it.
  /// - Throws: `absent`.
  package init(_ path: String) throws(ExportError) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw ExportError(.absent, path, "It cannot be read: \(String(cString: strerror(errno))).")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      guard path.hasSuffix(Self.ending) else {
        throw ExportError(
          .absent, path, "This is no export: name its folder, or the file in it that ends with \(Self.ending).")
      }
      metadata = path
      return
    }
    let path = Self.withoutSlashes(path)
    var found = try Self.files(in: path)
    if found.isEmpty {
      for name in try Self.names(in: path) where !name.hasPrefix(".") {
        var status = stat()
        let inner = path + "/" + name
        if stat(inner, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { found += try Self.files(in: inner) }
      }
    }
    if let first = found.first, found.count == 1 {
      metadata = first
    } else if found.isEmpty {
      throw ExportError(
        .absent, path, "There is no export in this folder: no file in it or right below it ends with \(Self.ending).")
    } else {
      throw ExportError(
        .absent, path, "There are several exports; name one: \(found.sorted().joined(separator: ", ")).")
    }
  }

  /// Whether a path leads to a folder, or to a file named as overall metadata: no other format has either.
  package static func isNamed(by path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return path.hasSuffix(ending) }
    return status.st_mode & S_IFMT == S_IFDIR || path.hasSuffix(ending)
  }

  /// Whether the path leads to an export.
  package static func isExport(_ path: String) -> Bool { isNamed(by: path) && (try? ExportLocation(path)) != nil }

  private static func files(in folder: String) throws(ExportError) -> [String] {
    try names(in: folder).filter { $0.hasSuffix(ending) }.map { folder + "/" + $0 }
  }

  static func names(in folder: String) throws(ExportError) -> [String] {
    guard let listing = opendir(folder) else {
      throw ExportError(.absent, folder, "It cannot be read: \(String(cString: strerror(errno))).")
    }
    defer { closedir(listing) }
    var names: [String] = []
    while let entry = readdir(listing) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  static func withoutSlashes(_ path: String) -> String {
    var path = path
    while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }

  /// The path of a file that metadata names, which must lie below the metadata's folder.
  /// - Throws: `unsupported`.
  static func file(_ name: String, namedBy metadata: String) throws(ExportError) -> String {
    let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    let isBelow = parts.allSatisfy { !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }
    guard isBelow, !name.utf8.contains(0) else {
      throw ExportError(.unsupported, metadata, "It names a file outside of the export: \"\(name.prefix(200))\".")
    }
    return folder(of: metadata) + "/" + name
  }
}
