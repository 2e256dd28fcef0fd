/** A saved trace of the inspector, read from its text. */
import { InspectorTrace } from './inspector.js'
import { messageOf } from '../message-of.js'

/** Throws an `Error` with a sentence when the text is no trace. */
export function readTrace(text: string): InspectorTrace {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`this is not JSON: ${messageOf(error)}`, { cause: error })
  }
  const trace = InspectorTrace.safeParse(value)
  if (trace.success) return trace.data
  throw new Error('this is not a trace that this version of svc reads')
}
