// SPDX-License-Identifier: Apache-2.0

/// The messages of google.firestore.v1 as swift-protobuf generates them: the oracle of tests that compare bytes. Under short
/// names, apart from the model's types of the same names.
package enum Wire {
  package typealias Document = Google_Firestore_V1_Document
  package typealias Value = Google_Firestore_V1_Value
  package typealias ArrayValue = Google_Firestore_V1_ArrayValue
  package typealias MapValue = Google_Firestore_V1_MapValue
  package typealias FieldEntry = Google_Firestore_V1_FieldEntry
  package typealias DocumentMask = Google_Firestore_V1_DocumentMask
  package typealias Precondition = Google_Firestore_V1_Precondition
  package typealias TransactionOptions = Google_Firestore_V1_TransactionOptions
  package typealias Write = Google_Firestore_V1_Write
  package typealias WriteResult = Google_Firestore_V1_WriteResult
  package typealias FieldTransform = Google_Firestore_V1_DocumentTransform.FieldTransform
  package typealias StructuredQuery = Google_Firestore_V1_StructuredQuery
  package typealias StructuredAggregationQuery = Google_Firestore_V1_StructuredAggregationQuery
  package typealias Cursor = Google_Firestore_V1_Cursor
  package typealias Target = Google_Firestore_V1_Target
  package typealias TargetChange = Google_Firestore_V1_TargetChange
  package typealias ListenRequest = Google_Firestore_V1_ListenRequest
  package typealias ListenResponse = Google_Firestore_V1_ListenResponse
  package typealias CommitRequest = Google_Firestore_V1_CommitRequest
  package typealias BatchGetDocumentsRequest = Google_Firestore_V1_BatchGetDocumentsRequest
  package typealias BatchGetDocumentsResponse = Google_Firestore_V1_BatchGetDocumentsResponse
  package typealias RunQueryRequest = Google_Firestore_V1_RunQueryRequest
  package typealias RunQueryResponse = Google_Firestore_V1_RunQueryResponse
  package typealias RunAggregationQueryRequest = Google_Firestore_V1_RunAggregationQueryRequest
  package typealias RunAggregationQueryResponse = Google_Firestore_V1_RunAggregationQueryResponse
  package typealias ListCollectionIdsRequest = Google_Firestore_V1_ListCollectionIdsRequest
  package typealias ListCollectionIdsResponse = Google_Firestore_V1_ListCollectionIdsResponse
  package typealias ListDocumentsRequest = Google_Firestore_V1_ListDocumentsRequest
  package typealias ListDocumentsResponse = Google_Firestore_V1_ListDocumentsResponse
  package typealias WriteRequest = Google_Firestore_V1_WriteRequest
  package typealias WriteResponse = Google_Firestore_V1_WriteResponse
  package typealias CommitResponse = Google_Firestore_V1_CommitResponse
  package typealias ExistenceFilter = Google_Firestore_V1_ExistenceFilter
  package typealias BloomFilter = Google_Firestore_V1_BloomFilter
  package typealias Status = Google_Rpc_Status
}
