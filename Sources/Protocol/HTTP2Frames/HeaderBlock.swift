// SPDX-License-Identifier: Apache-2.0
import NIOCore
package import NIOHPACK

/// A list of headers. One object represents all blocks that have the same bytes, so that the meaning of the headers is
/// computed only once.
package final class HeaderBlock {
  package let headers: HPACKHeaders

  package init(_ headers: HPACKHeaders) { self.headers = headers }

  /// An object that the owner has computed from these headers; `nil` if there is none.
  package var meaning: AnyObject?
  /// The encoded headers, and the state of the table for which they are valid.
  fileprivate var encoded: (state: TableState, bytes: ByteBuffer)?
}

/// A state of a header table (RFC 7541, 2.3.2). Whenever the table changes, a new object replaces this one.
private final class TableState {}
/// Reads the header blocks that arrive in one direction of a connection.
///
/// If a block does not change the header table, equal blocks have the same meaning until another block changes the
/// table. Clients and servers repeat their headers, so most blocks are already known.
struct HeaderReader {
  private static let mostKnown = 16
  private static let mostBytes = 1 << 10

  private var decoder: HPACKDecoder
  private var known: [ByteBuffer: HeaderBlock] = [:]

  /// - Parameter mostBytes: the maximum size in bytes of a header list (SETTINGS_MAX_HEADER_LIST_SIZE).
  init(mostBytes: Int) {
    decoder = HPACKDecoder(
      allocator: ByteBufferAllocator(), maxDynamicTableSize: HPACKDecoder.maxDynamicTableSize,
      maxHeaderListSize: mostBytes)
  }

  mutating func read(_ bytes: ByteBuffer) throws(HTTP2Violation) -> HeaderBlock {
    if let block = known[bytes] { return block }
    var rest = bytes
    let block: HeaderBlock
    do { block = HeaderBlock(try decoder.decodeHeaders(from: &rest)) } catch {
      throw HTTP2Violation(.compressionError, "headers that cannot be read: \(error)")
    }
    if bytes.changesTable {
      known.removeAll(keepingCapacity: true)
    } else if bytes.readableBytes <= Self.mostBytes {
      if known.count == Self.mostKnown { known.removeAll(keepingCapacity: true) }
      // Stores a copy, so that the receive buffer can be reused.
      known[ByteBuffer(bytes: bytes.readableBytesView)] = block
    }
    return block
  }
}

/// Writes the header blocks of one direction of a connection.
struct HeaderWriter {
  private var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
  private var state = TableState()

  /// Applies the peer's SETTINGS_HEADER_TABLE_SIZE. The header table never grows beyond its initial size.
  mutating func limitTable(_ bytes: Int) throws(HTTP2Violation) {
    do { try encoder.setDynamicTableSize(min(bytes, HPACKEncoder.defaultDynamicTableSize)) } catch {
      throw HTTP2Violation(.compressionError, "an invalid header table size: \(error)")
    }
    state = TableState()
  }

  mutating func bytes(of block: HeaderBlock) throws(HTTP2Violation) -> ByteBuffer {
    if let (state, bytes) = block.encoded, state === self.state { return bytes }
    var bytes = ByteBuffer()
    do { try encoder.encode(headers: block.headers, to: &bytes) } catch {
      throw HTTP2Violation(.compressionError, "headers that cannot be written: \(error)")
    }
    if bytes.changesTable {
      state = TableState()
    } else {
      block.encoded = (state, bytes)
    }
    return bytes
  }
}

extension ByteBuffer {
  /// Whether a header block adds an entry to the header table or changes the table's size (RFC 7541, 6). Also true if
  /// the block cannot be read.
  fileprivate var changesTable: Bool {
    var rest = self
    while let first = rest.readInteger(as: UInt8.self) {
      switch first {
      case 0x80...:
        if rest.readPrefixed(first, bits: 7) == nil { return true }
      case 0x20..<0x80: return true
      default:
        guard let index = rest.readPrefixed(first, bits: 4) else { return true }
        for _ in 0..<(index == 0 ? 2 : 1) {
          guard let front = rest.readInteger(as: UInt8.self), let length = rest.readPrefixed(front, bits: 7),
            length <= rest.readableBytes
          else { return true }
          rest.moveReaderIndex(forwardBy: length)
        }
      }
    }
    return false
  }

  /// Reads the rest of a number that begins in the last bits of a byte (RFC 7541, 5.1).
  private mutating func readPrefixed(_ first: UInt8, bits: Int) -> Int? {
    let most = 1 << bits - 1
    let small = Int(first) & most
    if small < most { return small }
    var (number, shift) = (most, 0)
    while let byte = readInteger(as: UInt8.self), shift <= 21 {
      number += Int(byte & 0x7f) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
    return nil
  }
}

// Validates header fields (RFC 9113, 8.2 and 8.3).

extension HPACKHeaders {
  private static let ofConnections: Set<String> = [
    "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade",
  ]

  /// Whether the names and values are valid in HTTP/2.
  /// - Parameters:
  ///   - pseudoHeaders: the pseudo-headers that are allowed. Each may occur at most once, and they must precede all
  ///     other fields.
  ///   - allowsBlanks: whether values may begin and end with spaces.
  package func areFields(pseudoHeaders: Set<String>, allowsBlanks: Bool = false) -> Bool {
    var missing = pseudoHeaders
    var isPastPseudoHeaders = false
    for (name, value, _) in self {
      guard Self.isValue(value), allowsBlanks || !Self.hasBlanks(value) else { return false }
      if name.utf8.first == UInt8(ascii: ":") {
        guard !isPastPseudoHeaders, missing.remove(name) != nil else { return false }
      } else {
        isPastPseudoHeaders = true
        guard Self.isName(name), name != "te" || value == "trailers" else { return false }
      }
    }
    return true
  }

  /// The size of the list in bytes, as SETTINGS_MAX_HEADER_LIST_SIZE counts it.
  package var listSize: Int { reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 } }

  private static func isName(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !(0x41...0x5a).contains($0) && $0 != UInt8(ascii: ":") }
      && !ofConnections.contains(name)
  }

  private static func isValue(_ value: String) -> Bool {
    value.utf8.allSatisfy { $0 != 0 && $0 != 0x0a && $0 != 0x0d }
  }

  private static func hasBlanks(_ value: String) -> Bool {
    guard let first = value.utf8.first, let last = value.utf8.last else { return false }
    return isBlank(first) || isBlank(last)
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
