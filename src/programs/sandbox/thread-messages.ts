/** What the two threads say to each other. */
import type { MessagePort } from 'node:worker_threads'
import type { Times } from './times.js'

/** To the thread of the script. */
export interface CallMessage {
  /** The frame as it came in. */
  readonly line: string
  /** The route a socket message belongs to, which the frame does not name. */
  readonly routeId?: string
}

/** The answer to a host call, as it came in. */
export interface AnswerMessage {
  readonly id: number
  readonly line: string
}

/** How a call ended; every text but `error` is JSON. */
export type CallResult =
  | { readonly type: 'result'; readonly json: string }
  /** `problem`: what would have come next is not valid. */
  | { readonly type: 'items'; readonly items: readonly string[]; readonly problem?: string }
  | { readonly type: 'error'; readonly error: string }

/** From the thread of the script. */
export type ThreadMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'print'; readonly line: string }
  | { readonly type: 'request'; readonly id: number; readonly frame: string }
  /** `fatal`: the VM must not be used any more, for this reason. */
  | { readonly type: 'done'; readonly result: CallResult; readonly fatal?: string }

/** What the thread of the script is started with. */
export interface ThreadData {
  readonly signals: SharedArrayBuffer
  readonly answers: MessagePort
  /** Canonical root of the package, and its entrypoint relative to it. */
  readonly root: string
  readonly entrypoint: string
  readonly times: Times
}
