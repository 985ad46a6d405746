// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import NIOCore
import NIOHPACK

/// A list of headers, with what the proxy has found out about it. A block that comes again byte by byte is this same
/// object, so that nothing is found out twice.
final class HeaderBlock {
  let headers: HPACKHeaders

  init(_ headers: HPACKHeaders) { self.headers = headers }

  /// The request whose head this is.
  private(set) lazy var request = RequestHead(headers)
  /// The status in the trailers of a call; `nil` where there is none.
  private(set) lazy var status = RPCStatus(trailers: headers)
  /// The status of HTTP of an answer's head.
  private(set) lazy var httpStatus = headers.first(name: ":status").flatMap { Int($0) }
  /// The head as it goes to a server behind TLS.
  private var addressed: HeaderBlock?
  /// The bytes of these headers, which stand for them as long as a table is in this state.
  fileprivate var encoded: (state: TableState, bytes: ByteBuffer)?

  /// The head with a server's name.
  func addressed(_ rewrite: (HPACKHeaders) -> HPACKHeaders) -> HeaderBlock {
    if let addressed { return addressed }
    let block = HeaderBlock(rewrite(headers))
    addressed = block
    return block
  }
}

/// The parts of a request's head that the proxy asks for.
struct RequestHead {
  let method: ProxiedMethod
  let isGRPC: Bool
  let token: String?

  init(_ headers: HPACKHeaders) {
    method = ProxiedMethod(headers.first(name: ":method") ?? "", headers.first(name: ":path") ?? "")
    isGRPC = headers.first(name: "content-type")?.hasPrefix("application/grpc") == true
    token = headers.first(name: "authorization")
  }
}

/// A state of a table of headers (RFC 7541, 2.3.2); another one when the table changes.
private final class TableState {}

/// Reads the header blocks of one direction of a connection.
///
/// A block that changes no table means the same until one does that changes it; clients and servers say the same again and
/// again, so that most blocks are known.
struct HeaderReader {
  private static let mostKnown = 16
  private static let mostBytes = 1 << 10

  private var decoder: HPACKDecoder
  private var known: [ByteBuffer: HeaderBlock] = [:]

  /// - Parameter mostBytes: the most bytes of a list of headers (SETTINGS_MAX_HEADER_LIST_SIZE).
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
      // A copy, so that the buffer in which the block came can be used again.
      known[ByteBuffer(bytes: bytes.readableBytesView)] = block
    }
    return block
  }
}

/// Writes the header blocks of one direction of a connection.
struct HeaderWriter {
  private var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
  private var state = TableState()

  /// Follows the peer's SETTINGS_HEADER_TABLE_SIZE; the table grows no larger than it begins.
  mutating func limitTable(_ bytes: Int) throws(HTTP2Violation) {
    do { try encoder.setDynamicTableSize(min(bytes, HPACKEncoder.defaultDynamicTableSize)) } catch {
      throw HTTP2Violation(.compressionError, "a size of the table of headers that cannot be: \(error)")
    }
    state = TableState()
  }

  mutating func bytes(of block: HeaderBlock) throws(HTTP2Violation) -> ByteBuffer {
    if let (state, bytes) = block.encoded, state === self.state { return bytes }
    var bytes = ByteBuffer()
    do { try encoder.encode(headers: block.headers, to: &bytes) } catch {
      throw HTTP2Violation(.compressionError, "headers that cannot be passed on: \(error)")
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
  /// Whether a header block adds to the table of headers or changes its size (RFC 7541, 6); also where it cannot be read.
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
