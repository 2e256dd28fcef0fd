/**
 * The token file of a running server (subsystems d.3; threat-model T1, T5).
 *
 * I1 The file is looked at every `LIMITS.tenants.look`; whoever is no longer in it, or is there with other rights, is nobody from then on.
 * I2 What cannot be used stops the start; later the last good file counts instead, and that is said, once for each problem.
 * I3 Directories are taken in canonical form when the file is read; one that is not there yet counts as it is written, and no link that comes later widens it.
 * I4 What is read of a large file in one turn is bounded (`LIMITS.tenants.partCharacters`); until all of it was read the last one counts.
 */
import { createAlarm } from '../../../kernel/alarm.js'
import type { Effects } from '../../../ports/effects.js'
import type { CredentialSource } from '../../../ports/credentials.js'
import type { Caller } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { messageOf } from '../../../protocol/message-of.js'
import { nextTurn } from '../../../kernel/pause.js'
import { createTokensBefore, readTokens, type TokenEntry } from './token-document.js'
import { beginTokenIndex, type TokenIndex } from './token-index.js'
import { createTokenParts, Misshapen, type TokenPart } from './token-parts.js'

export interface TokenFile extends CredentialSource {
  callerOf(secret: string): Caller | undefined
  /** Why the file as it is now does not count; undefined = it does. */
  readonly problem: string | undefined
  close(): void
}

interface TokenFileDeps {
  readonly effects: Pick<Effects, 'clock' | 'files' | 'log'>
  /** Of `SVC_AGENT_AUTH_CONFIG`: an absolute path, or the document itself. */
  readonly value: string
  /** The token of the operator: it may not stand in the file as well. */
  readonly operator: string | undefined
}

/** What was read last, and of which file. */
interface Held {
  readonly index: TokenIndex
  readonly identity: string | undefined
  readonly problem: string | undefined
  /** What was read after that, and cannot be used, and why. */
  readonly refused?: { readonly identity: string; readonly problem: string }
}

export const VARIABLE = 'SVC_AGENT_AUTH_CONFIG'

const { partCharacters, pathsInTurn } = LIMITS.tenants

/** Rejects with `config.invalid` when there is no such file, or it is malformed. */
export async function openTokenFile({ effects, value, operator }: TokenFileDeps): Promise<TokenFile> {
  const { clock, files, log } = effects
  const isInline = value.trimStart().startsWith('{')
  if (!isInline && !value.startsWith('/'))
    throw new SvcError('config.invalid', `${VARIABLE} is neither an absolute path nor a JSON object: it names no token file.`)

  async function indexOf(parts: AsyncIterable<TokenPart>, before: TokenIndex | undefined): Promise<TokenIndex> {
    const tokens = createTokensBefore()
    const { add, index } = beginTokenIndex(before)
    const known = new Map<string, string>()
    for await (const { text, line } of parts) {
      tokens.line = line
      const read = readTokens(text, tokens)
      if (!read.ok) throw new Error(`line ${read.line}: ${read.reason}`)
      if (operator !== undefined && tokens.known.has(operator))
        throw new Error('the token of SVC_AGENT_TOKEN stands in it as well: nobody could tell whose it is')
      add(await canonical(files, read.tokens, known))
    }
    return index
  }

  const looking = createAlarm(clock, () => void look())
  /** Of which file the text is being judged. */
  let judged: string | undefined

  async function* partsOf(bytes: Uint8Array): AsyncGenerator<TokenPart> {
    if (bytes.length <= partCharacters) {
      yield { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), line: 1 }
      return
    }
    for await (const { text, line } of inParts(bytes)) {
      await nextTurn() // I4
      if (looking.isOver) return
      yield { text: `{"tokens":[${text}]}`, line }
    }
  }

  async function load(before: Held | undefined): Promise<Held> {
    const stat = await files.stat(value)
    if (stat === undefined) throw new Error('there is no such file')
    if (before?.identity === stat.identity && before.problem === undefined) return before
    if (before?.refused?.identity === stat.identity) throw new Error(before.refused.problem)
    const bytes = await files.read(value, LIMITS.tenants.fileBytes)
    judged = stat.identity
    const index = await indexOf(partsOf(bytes), before?.index)
    if ((stat.mode & 0o077) !== 0)
      log.warn('other users may be able to read the token file; take their access away (chmod 600)', { file: value })
    return { index, identity: stat.identity, problem: undefined }
  }

  async function first(): Promise<Held> {
    try {
      if (!isInline) return await load(undefined)
      return { index: await indexOf(inline(value), undefined), identity: undefined, problem: undefined }
    } catch (error) {
      throw new SvcError('config.invalid', `${isInline ? VARIABLE : `${VARIABLE}: ${value}`}: ${messageOf(error)}`)
    }
  }

  let held = await first()
  if (!isInline) looking.set(LIMITS.tenants.look)

  async function look(): Promise<void> {
    judged = undefined
    try {
      const next = await load(held)
      if (looking.isOver) return
      if (next !== held) log.info('the token file was read again', { file: value })
      held = next
    } catch (error) {
      const problem = messageOf(error)
      if (problem !== held.problem) log.error('the token file cannot be used; the last good one counts', { file: value, problem }) // I2
      held = { ...held, problem, ...(judged !== undefined && { refused: { identity: judged, problem } }) }
    } finally {
      looking.set(LIMITS.tenants.look * (held.problem === undefined ? 1 : LIMITS.tenants.pauseOfBad))
    }
  }

  return {
    callerOf: (token) => held.index.callerOf(token),
    stands: (caller) => (caller.hosted === true && caller.until === undefined ? held.index.has(caller) : undefined),
    get problem() {
      return held.problem
    },
    close: () => looking.end(),
  }
}

async function* inline(text: string): AsyncGenerator<TokenPart> {
  yield { text, line: 1 }
}

async function* inParts(bytes: Uint8Array): AsyncGenerator<TokenPart> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const parts = createTokenParts()
  try {
    for (let at = 0; at < bytes.length; at += partCharacters) {
      await nextTurn()
      yield* parts.push(decoder.decode(bytes.subarray(at, at + partCharacters), { stream: true }))
    }
    decoder.decode()
    parts.end()
  } catch (error) {
    throw error instanceof Misshapen ? new Error(`line ${error.line}: ${error.message}`) : error
  }
}

/** I3. What was found is in `known` from then on. */
async function canonical(
  files: Pick<Effects['files'], 'realPath'>,
  entries: readonly TokenEntry[],
  known: Map<string, string>,
): Promise<TokenEntry[]> {
  for (const path of new Set(entries.flatMap(({ directoryPrefixes }) => directoryPrefixes))) {
    if (known.has(path)) continue
    known.set(path, await files.realPath(path).catch(() => path))
    if (known.size % pathsInTurn === 0) await nextTurn() // I4
  }
  return entries.map((entry) => ({ ...entry, directoryPrefixes: entry.directoryPrefixes.map((path) => known.get(path) ?? path) }))
}
