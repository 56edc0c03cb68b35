import type { EvaluationDetail, EvaluationErrorCode } from '@ff/core'
import type { ClientErrorCode, ValueSource } from '../values/flag-detail.ts'

/** The result of a local evaluation. */
export interface LocalDetail<Value> extends Omit<EvaluationDetail, 'value' | 'errorCode'> {
  /** The value that `LocalClient.value` returns. */
  readonly value: Value
  /** The origin of the flag set; `fallback` if the value is the fallback. */
  readonly source: ValueSource
  /** The version of the flag set; 0 if there is none. */
  readonly version: number
  readonly errorCode?: EvaluationErrorCode | ClientErrorCode
}
