// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreJSON
import Foundation

/// The documents of a text in a file or in standard input, in the order of the text.
package struct TextInput {
  private static let chunkSize = 1024 * 1024
  var name: String { bytes.name }
  /// The size of the file in bytes; `nil` for standard input.
  var size: Int? { bytes.size }
  var modified: Double? { bytes.modified }
  private var bytes: InputBytes
  private var splitter: RecordSplitter
  private var isAtEnd = false
  /// Bytes that were read to recognize the format, and that are not yet split into documents.
  private var beginning: [UInt8] = []
  private var hasBegun = false
  /// The error that ended reading. It is reported after the preceding documents.
  private var failure: CommandFailure?
  private var form: InputForm
  private var format: TransferFormat { form.format }
  /// The delimiter between cells; `nil` for inputs without rows.
  private(set) var delimiter: Delimiter?

  /// - Parameter path: `-` for standard input.
  init(_ path: String, _ form: InputForm) throws(CommandFailure) {
    splitter = RecordSplitter(form.format, nil, form.layout)
    self.form = form
    delimiter = form.format.delimiter
    bytes = try InputBytes(path)
  }

  /// The number of bytes from which the format is recognized.
  private static let recognizedBytes = 256 * 1024

  /// Recognizes the format by the first bytes. Call this before reading documents.
  mutating func recognize(_ recognition: InputRecognition) throws(CommandFailure) -> InputForm {
    if beginning.isEmpty { try lookAhead() }
    form = try recognition.form(
      of: Array(beginning.prefix(Self.recognizedBytes)), isAll: beginning.count <= Self.recognizedBytes)
    delimiter = form.format.delimiter
    splitter = RecordSplitter(form.format, nil, form.layout)
    return form
  }

  /// Sets the delimiter between cells, or infers it from the first row. Call this before reading a row.
  /// - Parameter given: the delimiter; `nil` to infer it.
  mutating func part(by given: Delimiter?) throws(CommandFailure) {
    guard format == .csv || given != nil else { return }
    if given == nil, beginning.isEmpty { try lookAhead() }
    delimiter = given ?? Delimiter.recognized(in: beginning)
    splitter = RecordSplitter(format, delimiter, form.layout)
  }

  /// The first documents, or the first rows including the names.
  mutating func sample() throws -> [InputRecord] {
    var splitter = RecordSplitter(format, delimiter, form.layout)
    var (rows, looked) = ([InputRecord](), 0)
    while rows.isEmpty {
      // One document can be larger than one chunk.
      let isAll = looked == beginning.count ? try lookAhead() : beginning.count < Self.chunkSize
      splitter.append(beginning[looked...])
      looked = beginning.count
      if isAll, failure == nil { splitter.finish() }
      while rows.count < 1000, let row = try splitter.next() { rows.append(row) }
      if isAll { break }
    }
    return rows
  }

  /// Reads bytes in advance.
  /// - Returns: whether the input has ended.
  @discardableResult
  private mutating func lookAhead() throws(CommandFailure) -> Bool {
    let chunk = try readChunk(Self.chunkSize)
    beginning += chunk
    return chunk.count < Self.chunkSize
  }

  /// Reads `count` bytes, or fewer at the end of the input.
  private mutating func readChunk(_ count: Int) throws(CommandFailure) -> [UInt8] {
    var chunk: [UInt8] = []
    do throws(CommandFailure) {
      while chunk.count < count {
        let more = try bytes.read(count - chunk.count)
        if more.isEmpty { break }
        chunk += more
      }
    } catch {
      if chunk.isEmpty { throw error }
      failure = error
    }
    return chunk
  }

  /// Skips the documents before a position.
  mutating func skip(to position: InputPosition, _ format: TransferFormat) throws(CommandFailure) {
    splitter = RecordSplitter(format, delimiter, form.layout, at: position)
    hasBegun = true
    // Already examined bytes are skipped as well.
    if size == nil, !beginning.isEmpty {
      let looked = min(beginning.count, position.offset)
      beginning.removeFirst(looked)
      return try bytes.skip(to: position.offset - looked)
    }
    beginning = []
    try bytes.skip(to: position.offset)
  }

  /// - Returns: the next documents; `nil` after the last.
  /// - Throws: `CommandFailure`, or `JSONError` if the end of the next document cannot be found.
  mutating func next() throws -> ImportInput.Batch? {
    var batch = ImportInput.Batch()
    while !batch.isFull {
      if let record = try nextRecord(afterOthers: !batch.records.isEmpty) {
        batch.append(record)
        batch.end = splitter.position
        batch.end.compressed = bytes.consumed
      } else {
        break
      }
    }
    return batch.records.isEmpty ? nil : batch
  }

  /// - Parameter afterOthers: whether other documents precede this one. They can still be written if the rest is
  ///   unreadable.
  private mutating func nextRecord(afterOthers: Bool) throws -> InputRecord? {
    while true {
      do throws(JSONError) {
        if let record = try splitter.next() {
          // The first row has the names.
          let isHeader = !hasBegun && format.delimiter != nil
          hasBegun = true
          if !isHeader { return record }
          continue
        }
      } catch {
        // The error is thrown again at the next call, after the preceding documents were passed on.
        if afterOthers { return nil }
        throw error
      }
      if isAtEnd { return nil }
      do throws(CommandFailure) {
        if let failure, beginning.isEmpty { throw failure }
        let bytes = try read(Self.chunkSize)
        if bytes.isEmpty {
          isAtEnd = true
          splitter.finish()
        } else {
          splitter.append(bytes)
        }
      } catch {
        failure = error
        if afterOthers { return nil }
        throw error
      }
    }
  }

  private mutating func read(_ count: Int) throws(CommandFailure) -> [UInt8] {
    if beginning.isEmpty { return try bytes.read(count) }
    let looked = Array(beginning.prefix(count))
    beginning.removeFirst(looked.count)
    return looked
  }
}
