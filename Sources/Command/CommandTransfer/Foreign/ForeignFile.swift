// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreJSON

/// Recognizes, by their first bytes, files that cannot be imported. For each kind of file, suggests how to import its
/// data.
enum ForeignFile {
  /// - Parameters:
  ///   - bytes: the first bytes, decompressed.
  ///   - name: the name of the input.
  ///   - place: the options that name the destination of the documents. They are part of the suggested command line.
  /// - Throws: `badData` with the kind of the file and a suggestion how to import its data.
  static func check(_ bytes: [UInt8], of name: String, _ place: String) throws(CommandFailure) {
    guard let advice = advice(bytes, name, place) else { return }
    throw CommandFailure(.badData, "\(name) is \(advice)")
  }

  private static func advice(_ bytes: [UInt8], _ name: String, _ place: String) -> String? {
    func begins(_ text: String) -> Bool { bytes.starts(with: text.utf8) }
    if begins("PK\u{3}\u{4}") {
      let head = String(decoding: bytes.prefix(64 * 1024), as: UTF8.self)
      if head.contains("xl/") || name.lowercased().hasSuffix(".xlsx") {
        return "an Excel workbook. Save it as CSV in UTF-8, and run: hearth import FILE.csv \(place)"
      }
      if name.lowercased().hasSuffix(".ods") {
        return "a spreadsheet. Save it as CSV in UTF-8, and run: hearth import FILE.csv \(place)"
      }
      return "a zip archive. Unpack it, and import the file or export folder inside."
    }
    if begins("SQLite format 3\0") {
      return "an SQLite database. Run: sqlite3 -header -csv \(name) 'SELECT * FROM TABLE' | hearth import - \(place)"
    }
    if begins("PAR1") || begins("Obj\u{1}") || begins("ORC") {
      return "a columnar data file. Convert it to JSON lines or CSV, and import the result."
    }
    if bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff]) {
      return "UTF-16 text. Run: iconv -f UTF-16 -t UTF-8 \(name) | hearth import - \(place)"
    }
    if bytes.count > 262, bytes[257..<262].elementsEqual("ustar".utf8) {
      return "a tar archive. Unpack it, and import the file or export folder inside."
    }
    if isBSON(bytes) { return "BSON. Run: bsondump --quiet \(name) | hearth import - \(place)" }
    let ending = name.lowercased().split(separator: ".").last ?? ""
    if ["yaml", "yml", "toml", "sql"].contains(ending) {
      let convert = ending == "sql" ? "" : " Run: yq -o json \(name) | hearth import - \(place)"
      return "\(ending.uppercased()). Hearth imports JSON, JSON lines, CSV and TSV.\(convert)"
    }
    let start = bytes.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
    if start == UInt8(ascii: "<") {
      return "XML or a web page. Hearth imports JSON, JSON lines, CSV, TSV and export folders."
    }
    let head = bytes.prefix(512)
    if head.count(where: { $0 < 9 || (14..<32).contains($0) }) * 20 > head.count {
      let file = name.split(separator: "/").last.map(String.init) ?? name
      if file.hasPrefix("output-") || file.hasSuffix("export_metadata") {
        return "a part of an export in Google's format. Import the whole export folder."
      }
      return "not text. Hearth imports JSON, JSON lines, CSV, TSV and export folders."
    }
    return nil
  }

  /// Whether bytes begin with a BSON document, as MongoDB stores documents: its length, then an element with a type and
  /// a name.
  private static func isBSON(_ bytes: [UInt8]) -> Bool {
    guard bytes.count > 7, (1...0x13).contains(bytes[4]), bytes[3] == 0 else { return false }
    let length = Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16
    guard length > 7, length <= 16 << 20 else { return false }
    let name = bytes[5...].prefix { $0 != 0 }
    return !name.isEmpty && name.allSatisfy { (0x20..<0x7f).contains($0) } && 5 + name.count < bytes.count
  }
}
