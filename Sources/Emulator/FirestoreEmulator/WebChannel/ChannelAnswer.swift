// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreREST

/// Answers of WebChannel: text that no browser takes for a page or keeps, with the headers that its library may read.
enum ChannelAnswer {
  private static let type = "text/plain; charset=utf-8"

  /// A part of a back channel, or the beginning of it.
  static func piece(_ text: [UInt8], origin: String?) -> HTTPAnswer {
    marked(HTTPAnswer(streaming: text, type: type), origin)
  }

  static func whole(_ text: [UInt8], code: Int = 200, origin: String?) -> HTTPAnswer {
    marked(HTTPAnswer(code, type: type, text), origin)
  }

  /// A request that means nothing here. The client library looks for the words that tell it that its session is gone.
  static func refusal(_ status: RPCStatus, origin: String?) -> HTTPAnswer {
    whole(Array("\(status.message)\n".utf8), code: status.code.httpStatus, origin: origin)
  }

  static let isUnknown = RPCStatus(.invalidArgument, "There is no such session here: Unknown SID.")

  private static func marked(_ answer: HTTPAnswer, _ origin: String?) -> HTTPAnswer {
    answer.allowing(origin)
      .adding("Access-Control-Expose-Headers", "X-Client-Wire-Protocol, X-HTTP-Session-Id, X-HTTP-Initial-Response")
      .adding("X-Content-Type-Options", "nosniff")
      .adding("Cache-Control", "private, max-age=0")
  }
}
