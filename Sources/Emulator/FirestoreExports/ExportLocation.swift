// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Glibc

/// The location of an export, given by its overall metadata. The other files are next to it or below its folder.
package struct ExportLocation: Hashable, Sendable {
  static let ending = ".overall_export_metadata"

  /// The path of the overall metadata.
  package let metadata: String
  package var folder: String { Self.folder(of: metadata) }

  /// - Parameter path: the path of the overall metadata, of its folder, or of a folder that contains exactly one
  ///   export.
  /// - Throws: `absent`.
  package init(_ path: String) throws(ExportError) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw ExportError(.absent, path, "The export cannot be read: \(String(cString: strerror(errno))).")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      guard path.hasSuffix(Self.ending) else {
        throw ExportError(
          .absent, path,
          "This is not an export. Name an export's folder, or the file in it that ends with \(Self.ending).")
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
        .absent, path, "This folder has no export: no file in it or one level below ends with \(Self.ending).")
    } else {
      throw ExportError(
        .absent, path, "There are several exports. Choose one: \(found.sorted().joined(separator: ", ")).")
    }
  }

  /// Whether a path is a folder, or a file with the name of overall metadata. No other import format uses either.
  package static func isNamed(by path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return path.hasSuffix(ending) }
    return status.st_mode & S_IFMT == S_IFDIR || path.hasSuffix(ending)
  }

  /// Whether the path is an export.
  package static func isExport(_ path: String) -> Bool { isNamed(by: path) && (try? ExportLocation(path)) != nil }

  private static func files(in folder: String) throws(ExportError) -> [String] {
    try names(in: folder).filter { $0.hasSuffix(ending) }.map { folder + "/" + $0 }
  }

  static func names(in folder: String) throws(ExportError) -> [String] {
    guard let listing = opendir(folder) else {
      throw ExportError(.absent, folder, "The folder cannot be read: \(String(cString: strerror(errno))).")
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

  /// The path of a file that the metadata names. It must be below the metadata's folder.
  ///
  /// An export made on Windows separates folders with `\`. Google's emulator reads it on Linux too, and so does Hearth.
  /// If an archive was unpacked without creating its folders, the file names themselves contain `\`.
  /// - Throws: `unsupported`.
  static func file(_ name: String, namedBy metadata: String) throws(ExportError) -> String {
    let (slash, backslash) = (UInt8(ascii: "/"), UInt8(ascii: "\\"))
    let parts = name.utf8.split(separator: slash, omittingEmptySubsequences: false)
    let windows = name.utf8.split(omittingEmptySubsequences: false) { $0 == slash || $0 == backslash }
    func isBelow(_ parts: [Substring.UTF8View]) -> Bool {
      parts.allSatisfy { !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }
    }
    guard isBelow(parts), isBelow(windows), !name.utf8.contains(0) else {
      throw ExportError(
        .unsupported, metadata, "The export refers to a file outside its folder: \"\(name.prefix(200))\".")
    }
    let folder = folder(of: metadata) + "/"
    let own = metadata.utf8.split(separator: slash).last ?? Substring(metadata).utf8
    let prefix = own.lastIndex(of: backslash).map { String(decoding: own[...$0], as: UTF8.self) } ?? ""
    let candidates = [
      folder + name, folder + windows.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/"),
      folder + prefix + windows.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\\"),
    ]
    var status = stat()
    return candidates.first { stat($0, &status) == 0 } ?? candidates[0]
  }
}

/// The content of `NAME.overall_export_metadata`: two records. The first record is the version of the layout, the
/// second one this message:
/// ```
/// 1 part { 1 { 1 kinds: 2 for all · 3 namespaces: 3 for all } · 2 file · 3 documents · 4 bytes } …
/// ```
struct OverallMetadata: Hashable {
  static let version: [UInt8] = [UInt8(ascii: "3")]

  /// The documents of one part of the export.
  struct Part: Hashable {
    /// The path of the part's metadata, relative to the folder of this file.
    var file: String
    var documents: Int
    var bytes: Int
  }

  var parts: [Part]

  /// - Parameter record: the second record of the file.
  init(reading record: [UInt8]) throws(WireError) {
    parts = try WireReader.read(record) { reader throws(WireError) in
      var parts: [Part] = []
      while let tag = try reader.tag() {
        guard tag.field == 1, tag.type == .lengthDelimited else {
          try reader.skipField(tag)
          continue
        }
        var message = try reader.message()
        var part = Part(file: "", documents: 0, bytes: 0)
        while let tag = try message.tag() {
          switch (tag.field, tag.type) {
          case (2, .lengthDelimited): part.file = try message.string()
          case (3, .varint): part.documents = Int(clamping: try message.varint())
          case (4, .varint): part.bytes = Int(clamping: try message.varint())
          default: try message.skipField(tag)
          }
        }
        parts.append(part)
      }
      return parts
    }
  }

  init(_ parts: [Part]) { self.parts = parts }

  var record: [UInt8] {
    WireWriter.message { writer in
      for part in parts {
        writer.field(1) { writer in
          writer.field(1) { writer in
            writer.field(1, varint: 2)
            writer.field(3, varint: 3)
          }
          writer.field(2, string: part.file)
          writer.field(3, integer: Int64(part.documents))
          writer.field(4, integer: Int64(part.bytes))
        }
      }
    }
  }
}

/// The content of a part's metadata: the files with its documents. The file is one message, not a file of records.
/// ```
/// 1 { 1 name · 2 begin, microseconds · 3 end } · 2 { 1 "" · 2 file … } …
/// ```
struct PartMetadata: Hashable {
  var name: String
  var begin: Timestamp
  var end: Timestamp
  /// The paths of the files, relative to the folder of this file.
  var files: [String]

  init(name: String, begin: Timestamp, end: Timestamp, files: [String]) {
    (self.name, self.begin, self.end, self.files) = (name, begin, end, files)
  }

  init(reading bytes: [UInt8]) throws(WireError) {
    self = try WireReader.read(bytes) { reader throws(WireError) in
      var result = PartMetadata(name: "", begin: Timestamp(seconds: 0), end: Timestamp(seconds: 0), files: [])
      while let tag = try reader.tag() {
        guard tag.type == .lengthDelimited else {
          try reader.skipField(tag)
          continue
        }
        var message = try reader.message()
        while let inner = try message.tag() {
          switch (tag.field, inner.field, inner.type) {
          case (1, 1, .lengthDelimited): result.name = try message.string()
          case (1, 2, .varint): result.begin = Timestamp(microseconds: try message.integer())
          case (1, 3, .varint): result.end = Timestamp(microseconds: try message.integer())
          case (2, 2, .lengthDelimited): result.files.append(try message.string())
          default: try message.skipField(inner)
          }
        }
      }
      return result
    }
  }

  var bytes: [UInt8] {
    WireWriter.message { writer in
      writer.field(1) { writer in
        writer.field(1, string: name)
        writer.field(2, integer: begin.microseconds)
        writer.field(3, integer: end.microseconds)
      }
      writer.field(2) { writer in
        writer.field(1, string: "")
        for file in files { writer.field(2, string: file) }
      }
    }
  }
}
