/**
 * Formats what a tool has written (sessions-events §10.8; subsystems b.12), while the tool holds the file.
 *
 * I1 A formatter that fails, is late, or leaves no file or an empty one changes nothing: the file gets back what it held before.
 * I2 Only the installation names formatters and switches them on, and all start by the door to programs of workspaces (choice 34): no program
 *    that lies in the project, and one that would run code of it (`judgeFormatter`) only in the sandbox, or once somebody has accepted it. What
 *    rules of the run deny in the shell tool does not run.
 * I3 A protected file stays as it was written: that is what was answered for.
 */
import type { NativeHost, ToolContext } from '../../../ports/plugin.js'
import type { ProcessResult } from '../../../ports/effects.js'
import { configuredFormatters, FILE, type Formatter } from '../../../protocol/format/formatters.js'
import { isWithin } from '../../../protocol/caller.js'
import { toFailure } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createLru, type Lru } from '../../../kernel/lru.js'
import { dirname, extension, resolvePath } from '../../../protocol/text/paths.js'
import type { Target } from '../places/targets.js'
import { decodeText } from '../text/text.js'
import { judgeFormatter } from './guards.js'
import { formatterProgram } from './formatter-program.js'
import { createFormatterQuestion } from './formatter-question.js'

/** As large as a file that tools change. */
const MAX_BYTES = 10 * 1024 * 1024

interface Written {
  readonly target: Target
  readonly content: Uint8Array
}

export interface Formatted {
  /** What each file holds now, by its canonical path: those that formatters have run on. */
  readonly contents: ReadonlyMap<string, Uint8Array>
  /** For `metadata.formatted`: files that formatters have run on. */
  readonly paths: readonly string[]
  /** What the model is told; empty when nothing has changed. */
  readonly told: string
}

export interface Formatting {
  /** Asks for formatters that wait to be accepted, before these files are changed and while nothing is held. Never rejects. */
  ask(targets: readonly Target[], context: ToolContext): Promise<void>
  /** Runs every formatter that is for these files. Never rejects. */
  apply(written: readonly Written[], context: ToolContext): Promise<Formatted>
}

const NOTHING: Formatted = { contents: new Map(), paths: [], told: '' }

type Host = Pick<NativeHost, 'config' | 'installationConfig' | 'protectedFiles' | 'programs' | 'questions'> & {
  readonly effects: Pick<NativeHost['effects'], 'clock' | 'files' | 'childEnv' | 'log'>
}

/** What formatting is done with. */
interface Tools extends Host {
  /** What was said once and need not be said at every change. */
  readonly said: Lru<string, true>
  readonly question: ReturnType<typeof createFormatterQuestion>
}

export function createFormatting(host: Host): Formatting {
  const { log } = host.effects
  const tools: Tools = { ...host, said: createLru(256), question: createFormatterQuestion(host) }
  return {
    async ask(targets, context) {
      if (context.bounds !== undefined) return // Nothing runs for strangers that they did not ask for.
      await askFor(tools, targets, context).catch((error: unknown) =>
        log.warn('a formatter could not be asked about', { directory: context.directory, reason: String(error) }),
      )
    },
    async apply(written, context) {
      if (context.bounds !== undefined) return NOTHING
      try {
        return await formatAll(tools, written, context)
      } catch (error) {
        log.warn('formatting after a change failed', { directory: context.directory, reason: String(error) })
        return NOTHING
      }
    },
  }
}

async function formattersOf({ config }: Host, { directory }: ToolContext): Promise<readonly Formatter[]> {
  return configuredFormatters((await config(directory))['formatter'])
}

async function askFor(tools: Tools, targets: readonly Target[], context: ToolContext): Promise<void> {
  const formatters = await formattersOf(tools, context)
  const wanted = targets.flatMap((target) => {
    const some = fitting(formatters, target)
    return some.length === 0 ? [] : [{ target, formatters: some }]
  })
  if (wanted.length === 0) return
  const guarded = await tools.protectedFiles.reasons(wanted.map(({ target }) => target.path))
  await tools.question(
    wanted.filter((_, index) => guarded[index] === undefined), // I3
    context,
  )
}

async function formatAll(tools: Tools, written: readonly Written[], context: ToolContext): Promise<Formatted> {
  const formatters = await formattersOf(tools, context)
  const wanted = written.filter(({ target, content }) => fitting(formatters, target).length > 0 && isText(content))
  if (wanted.length === 0) return NOTHING
  const guarded = await tools.protectedFiles.reasons(wanted.map(({ target }) => target.path))
  const ends = tools.effects.clock.monotonic() + LIMITS.formatters.callTimeout
  const contents = new Map<string, Uint8Array>()
  const changes = new Map<string, Set<string>>()
  for (const [index, { target, content }] of wanted.entries()) {
    if (guarded[index] !== undefined) continue // I3
    for (const formatter of fitting(formatters, target)) {
      const before = contents.get(target.path) ?? content
      const after = await formatOne(tools, formatter, { target, content: before }, { context, ends })
      if (after === undefined) continue
      contents.set(target.path, after)
      if (!isSame(before, after)) changes.set(formatter.id, (changes.get(formatter.id) ?? new Set()).add(target.display))
    }
  }
  const paths = wanted.filter(({ target }) => contents.has(target.path)).map(({ target }) => target.display)
  return { contents, paths, told: toldOf(changes) }
}

/** What the file holds then; undefined when the formatter did not run, or failed. */
async function formatOne(tools: Tools, formatter: Formatter, written: Written, call: Call): Promise<Uint8Array | undefined> {
  const { programs, effects } = tools
  const { path } = written.target
  const { context, ends } = call
  const left = ends - effects.clock.monotonic()
  if (left <= 0 || context.signal.aborted) return undefined
  const unfit = (reason: string) => once(tools, formatter, reason, context)
  const verdict = await judgeFormatter(formatter, path, effects.files)
  if (verdict.type === 'unwanted') return undefined
  const program = await formatterProgram(tools, formatter, context.directory, verdict)
  const { message } = await programs.standing(program)
  if (message !== null) return unfit(verdict.type === 'refused' ? `${verdict.reason}; ${message}` : message)
  const [name = ''] = formatter.command
  if ((await programs.find(name, context.directory)) === undefined)
    return unfit(`the program "${name}" was not found outside of the project`)
  const words = [...formatter.command, ...(verdict.args ?? [])].map((word) => word.replaceAll(FILE, path))
  const isFilter = !formatter.command.some((word) => word.includes(FILE))
  const cwd = verdict.cwd ?? context.directory
  const stray = await strayArgument(tools, formatter, cwd)
  if (stray !== undefined) return unfit(`its argument "${stray}" names a file of the project; name a file by its absolute path`)
  const env = { ...effects.childEnv, ...formatter.environment }
  const directories = isWithin(context.directory, path) ? [] : [dirname(path)]
  const started = { program, words, run: context, directories, writes: [path] }
  const result = await programs
    .run(started, {
      cwd,
      env,
      signal: context.signal,
      timeoutMs: Math.min(left, LIMITS.formatters.timeout),
      captureBytes: isFilter ? MAX_BYTES : LIMITS.formatters.output,
      ...(isFilter && { stdin: new TextDecoder('utf-8', { ignoreBOM: true }).decode(written.content) }),
    })
    .catch((error: unknown) => toFailure(error).message)
  if (typeof result === 'string') return unfit(`it could not be started: ${result}`)
  const after = await outcome(tools, result, written, isFilter)
  if (typeof after !== 'string') return after
  effects.log.warn('a formatter failed; the file is as it was written', { formatter: formatter.id, path, reason: after })
  return undefined
}

/** The content that is on disk when it settles, or why there is none of the formatter's: then the one before is (I1). */
async function outcome(
  { effects: { files } }: Host,
  result: ProcessResult,
  { target, content }: Written,
  isFilter: boolean,
): Promise<Uint8Array | string> {
  const failure = failureOf(result, isFilter)
  const now = await files.read(target.path, MAX_BYTES, { canonical: true }).catch(() => undefined)
  const made = isFilter ? new TextEncoder().encode(result.stdout) : now
  const reason = failure ?? (made === undefined ? 'it left no file, or a larger one than tools change' : emptied(made))
  const kept = reason === undefined && made !== undefined ? made : content
  const kind = (await files.entry(target.path))?.kind
  if (kind !== undefined && kind !== 'file') await files.remove(target.path, { canonical: true })
  if (now === undefined || !isSame(now, kept)) await files.writeAtomic(target.path, kept, { canonical: true })
  return reason ?? kept
}

function once({ said, effects }: Tools, { id }: Formatter, reason: string, { directory }: ToolContext): undefined {
  const key = `${id}\0${directory}\0${reason}`
  if (said.get(key) !== undefined) return
  said.set(key, true)
  effects.log.warn('a formatter does not run', { formatter: id, directory, reason })
}

/** I2: an interpreter would take the file from the project it runs in. */
async function strayArgument({ effects: { files } }: Host, { command }: Formatter, cwd: string): Promise<string | undefined> {
  for (const word of command.slice(1)) {
    if (word.startsWith('-') || word.startsWith('/') || word.includes(FILE)) continue
    if ((await files.stat(resolvePath(cwd, word)).catch(() => undefined))?.kind === 'file') return word
  }
  return undefined
}

interface Call {
  readonly context: ToolContext
  /** When no further formatter starts, on the monotonic clock. */
  readonly ends: number
}

function fitting(formatters: readonly Formatter[], { path }: Target): readonly Formatter[] {
  const own = extension(path)
  return formatters.filter(({ fault, extensions }) => fault === undefined && extensions.includes(own))
}

function failureOf(result: ProcessResult, isFilter: boolean): string | undefined {
  if (result.timedOut) return 'it took too long and was ended'
  if (result.aborted) return 'it was ended together with the call'
  if (result.exitCode === 0) return isFilter && result.captureTruncated ? 'it prints more than a file may have' : undefined
  const how = result.exitCode === null ? `was ended by ${result.signal ?? 'a signal'}` : `ended with code ${result.exitCode}`
  return `it ${how}: ${(result.stderr.trim() || result.stdout.trim()).slice(0, LIMITS.formatters.told)}`
}

function isText(content: Uint8Array): boolean {
  return content.length > 0 && decodeText(content).status === 'text'
}

function emptied(content: Uint8Array): string | undefined {
  return content.length === 0 ? 'it left an empty file' : undefined
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}

function toldOf(changes: ReadonlyMap<string, ReadonlySet<string>>): string {
  if (changes.size === 0) return ''
  const names = [...changes.keys()].join(' and ')
  const all = [...new Set([...changes.values()].flatMap((paths) => [...paths]))]
  const what = all.length === 1 ? 'the file' : `${all.slice(0, 10).join(', ')}${all.length > 10 ? ` and ${all.length - 10} more` : ''}`
  return `\nFormatted with ${names} afterwards: read ${what} again before you edit there.`
}
