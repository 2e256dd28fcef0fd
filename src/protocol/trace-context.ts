/** Of which trace something is part: the headers `traceparent` and `tracestate` (W3C Trace Context, level 1). */

export interface TraceContext {
  readonly traceparent: string
  readonly tracestate?: string
}

const PARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-|$)/
/** Characters of `tracestate` that are handed on; a longer one is left out. */
const LONGEST = 512

/** Undefined of what is none: it counts as if it were not there. */
export function readParent({ traceparent }: TraceContext) {
  const [whole, traceId = '', spanId = '', flags = ''] = PARENT.exec(traceparent) ?? []
  if (whole === undefined || (traceparent.startsWith('00') && traceparent.length !== 55)) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

type Header = string | readonly string[] | undefined

/** Of the headers of a request; undefined where there is none that can be read. */
export function traceOf({ traceparent, tracestate }: Readonly<Record<string, Header>>): TraceContext | undefined {
  if (typeof traceparent !== 'string' || readParent({ traceparent }) === undefined) return undefined
  const isHandedOn = typeof tracestate === 'string' && tracestate !== '' && tracestate.length <= LONGEST
  return { traceparent, ...(isHandedOn && { tracestate }) }
}
