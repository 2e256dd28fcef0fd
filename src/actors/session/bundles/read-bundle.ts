/**
 * A bundle read as it arrives: each of its values by itself, within bounds (sessions-events §2.15).
 *
 * I1 A field that is missing or wrong is `request.invalid`; what contradicts itself, or is more than can be taken, `request.unprocessable`.
 * I2 A value that is long is handed over in another turn of the event loop than the one in which it was read.
 */
import { JSONParser, TokenType } from '@streamparser/json'
import * as z from 'zod'
import { nextTurn } from '../../../kernel/pause.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { pathText } from '../../../protocol/text/path-text.js'
import { type Message, Message as MessageSchema } from '../../../protocol/message/message.js'
import { BUNDLE_VERSION, BundledArtifact, QueuedPromptBundleItem } from '../../../protocol/session/bundle.js'
import { createAgreement } from './agreement.js'
import { followOutline, type Outline } from './outline.js'
import type { Artifact } from '../../../protocol/system/artifact.js'
import { type Session, Session as SessionSchema } from '../../../protocol/session/session.js'
import { messageOf } from '../../../protocol/message-of.js'

export type BundledPrompt = z.infer<typeof QueuedPromptBundleItem>

/** What is handed over as it arrives: a message, an artifact, or bytes of the artifact before. */
export type Arrived =
  | { readonly type: 'message'; readonly message: Message }
  | { readonly type: 'artifact'; readonly told: Artifact }
  | { readonly type: 'content'; readonly bytes: Uint8Array }

/** What a bundle says besides. */
export interface BundleHead {
  readonly session: Session
  readonly workspaceRoot: string | undefined
  readonly targetWorkspaceRoot: string
  readonly prompts: readonly BundledPrompt[]
}

const PATHS = {
  '$.targetWorkspaceRoot': pathText.min(1).max(4096),
  '$.bundle.version': z.number().int().min(1),
  '$.bundle.workspaceRoot': z.string().max(4096),
  '$.bundle.session': SessionSchema,
  '$.bundle.artifacts.*.info': BundledArtifact.shape.info,
  '$.bundle.artifacts.*.content.*': BundledArtifact.shape.content.element,
  '$.bundle.messages.*': MessageSchema,
  '$.bundle.queuedPrompts.*': QueuedPromptBundleItem,
} as const

/** Bytes of a text that are read together. */
const GATHERED = 64 * 1024

const ANY: Outline = { kind: 'object' }
const TEXT: Outline = { kind: 'string' }
const LIST: Outline = { kind: 'array' }

const REQUEST: Outline = {
  kind: 'object',
  isClosed: true,
  required: {
    targetWorkspaceRoot: TEXT,
    bundle: {
      kind: 'object',
      required: { version: { kind: 'number' }, session: ANY, messages: LIST, queuedPrompts: LIST },
      optional: {
        workspaceRoot: TEXT,
        artifacts: { kind: 'array', items: { kind: 'object', required: { info: ANY, content: LIST } } },
      },
    },
  },
}

/** Hands over what arrives in order, some at a time, with the bytes read since the last. Throws I1. */
export async function readBundle(
  chunks: AsyncIterable<Uint8Array>,
  onArrived: (arrived: readonly Arrived[], bytes: number) => Promise<void>,
): Promise<BundleHead> {
  const found: { session?: Session; workspaceRoot?: string; target?: string } = {}
  const prompts: BundledPrompt[] = []
  let arrived: Arrived[] = []
  let artifacts = 0
  let pending = 0
  let tokens = 0
  let named = 0
  let waiting = 0
  let unheard = 0
  /** Prompts that were not measured yet, and whether any value of this turn is long. */
  let unmeasured: unknown[] = []
  let isLong = false
  // Without these it makes a string of each character.
  const parser = new JSONParser({ paths: Object.keys(PATHS), keepStack: false, stringBufferSize: GATHERED, numberBufferSize: 64 })
  const agreement = createAgreement(damaged)
  const follow = followOutline(REQUEST, malformed)
  parser.onToken = (token) => {
    if (++tokens > LIMITS.bundles.tokens) throw damaged(`has a value of more than ${LIMITS.bundles.tokens} parts`)
    if (token.token === TokenType.COLON && ++named > LIMITS.bundles.names)
      throw damaged(`has a value with more than ${LIMITS.bundles.names} names of members`)
    follow(token)
  }
  parser.onValue = ({ value, key, stack }) => {
    isLong ||= pending > LIMITS.bundles.pieceBytes
    pending = 0
    tokens = 0
    named = 0
    const names = [...stack.slice(1).map((level) => level.key), key]
    const at = names.map((name) => (typeof name === 'number' ? '*' : String(name))).join('.')
    const told = names.join('.')
    if (at === 'targetWorkspaceRoot') found.target = checked(PATHS['$.targetWorkspaceRoot'], value, told)
    else if (at === 'bundle.version') expectVersion(checked(PATHS['$.bundle.version'], value, told))
    else if (at === 'bundle.workspaceRoot') found.workspaceRoot = checked(PATHS['$.bundle.workspaceRoot'], value, told)
    else if (at === 'bundle.session') found.session = checked(PATHS['$.bundle.session'], value, told)
    else if (at === 'bundle.messages.*') {
      const message = checked(PATHS['$.bundle.messages.*'], value, told)
      agreement.message(message, told)
      arrived.push({ type: 'message', message })
    } else if (at === 'bundle.artifacts.*.info') {
      if (names[2] !== artifacts++) throw damaged(`tells its artifacts out of order at ${told}`)
      arrived.push({ type: 'artifact', told: checked(PATHS['$.bundle.artifacts.*.info'], value, told) })
    } else if (at === 'bundle.artifacts.*.content.*') {
      if (names[2] !== artifacts - 1) throw damaged(`has content before it tells of what at ${told}`)
      arrived.push({ type: 'content', bytes: decoded(checked(PATHS['$.bundle.artifacts.*.content.*'], value, told), told) })
    }
    if (at === 'bundle.queuedPrompts.*') {
      const prompt = checked(PATHS['$.bundle.queuedPrompts.*'], value, told)
      agreement.prompt(prompt.request.messageId)
      prompts.push(prompt)
      unmeasured.push(value)
    }
    if (prompts.length > LIMITS.sessions.queueRows) throw tooManyPrompts()
  }
  for await (const chunk of chunks) {
    pending += chunk.byteLength
    if (pending > LIMITS.bundles.valueBytes) throw damaged(`has a value of more than ${LIMITS.bundles.valueBytes} bytes`)
    unheard += chunk.byteLength
    attempt(() => parser.write(chunk))
    if (isLong) await nextTurn() // I2
    isLong = false
    for (const each of unmeasured) waiting += Buffer.byteLength(JSON.stringify(each))
    unmeasured = []
    if (waiting > LIMITS.sessions.queueBytes) throw tooManyPrompts()
    if (arrived.length === 0) continue
    await onArrived(arrived, unheard)
    arrived = []
    unheard = 0
  }
  if (!parser.isEnded) throw malformed('', 'ends before it is whole')
  const { session, workspaceRoot, target } = found
  if (session === undefined || target === undefined) throw new SvcError('server.internal', 'A bundle was read without its session.')
  agreement.session(session.id)
  return { session, workspaceRoot, targetWorkspaceRoot: target, prompts }
}

function attempt(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (error instanceof SvcError) throw error
    throw malformed('', `is not JSON: ${messageOf(error)}`)
  }
}

function checked<T extends z.ZodType>(schema: T, value: unknown, at: string): z.infer<T> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw malformed([at, ...(issue?.path ?? [])].join('.'), `is wrong: ${issue?.message ?? 'not valid'}`)
}

/** Not what is nearly base64: two texts would have the same bytes. */
function decoded(base64: string, at: string): Uint8Array {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.toString('base64') !== base64) throw malformed(at, 'is not base64')
  return bytes
}

function expectVersion(version: number): void {
  if (version === BUNDLE_VERSION) return
  throw new SvcError(
    'request.unprocessable',
    `The bundle has version ${version}; this svc reads version ${BUNDLE_VERSION}. Import it with the svc that wrote it, or a newer one. Nothing was changed.`,
    { version, known: BUNDLE_VERSION },
  )
}

function malformed(path: string, problem: string): SvcError {
  const what = path === '' ? 'The body' : `"${path}"`
  return new SvcError('request.invalid', `${what} ${problem}. Nothing was changed.`, { issues: [{ path, message: problem }] })
}

function tooManyPrompts(): SvcError {
  return damaged('has more queued prompts than a queue holds')
}

function damaged(problem: string): SvcError {
  return new SvcError('request.unprocessable', `The bundle ${problem}. Nothing was changed.`)
}
