/**
 * The workflow files of one configuration directory, read once and again only when they change.
 *
 * I1 What is known of a file holds while its identity is the same; a file that was modified just now is looked at again.
 * I2 The file that is read is the one that was judged: its identity is the same before and after (threat-model F1, W3).
 * I3 What is kept is bounded: files, folders and depth of a root, bytes of a file, and bytes of all files together.
 * I4 A look that meets a failure of the system as a whole rejects, and says nothing of any file.
 * I5 Every file is paid for (`work.ts`); one that is not is looked at again the next time.
 */
import { absentUnlessPassing, isPassing } from '../../../protocol/text/file-faults.js'
import { LIMITS } from '../../../protocol/limits.js'
import { LOOK, type Work, WorkExceeded } from '../../../kernel/work.js'
import type { WorkflowDefinition } from '../../../protocol/workflow/workflow.js'
import type { Effects, FileStat } from '../../../ports/effects.js'
import { parseWorkflowFile } from './file.js'
import type { Root } from './places.js'
import { type FoundFile, lookFrom, type Problem, scanRoot, whyNotRead } from './scan.js'
import { messageOf } from '../../../protocol/message-of.js'

interface Mistake {
  readonly message: string
  readonly line?: number
}

export type Content =
  | { readonly ok: true; readonly hash: string; readonly definition: WorkflowDefinition }
  | { readonly ok: false; readonly hash: string; readonly mistakes: readonly Mistake[] }

export interface Source {
  readonly path: string
  readonly order: string
  readonly identity: string
  readonly size: number
  readonly content: Content
}

/** What is known of one root. */
export interface Sources {
  readonly root: Root
  /** By canonical path, in order. */
  readonly files: ReadonlyMap<string, Source>
  readonly problems: readonly Problem[]
  /** Canonical directories that were listed. */
  readonly folders: readonly string[]
  /** Something was modified so recently that a further change might not show in its times. */
  readonly isFresh: boolean
}

/** Bytes of all files that are kept. */
export interface Budget {
  used: number
}

export interface SourceDeps {
  readonly effects: Pick<Effects, 'files' | 'clock' | 'sha256'>
  readonly budget: Budget
  readonly work: Work
}

const ATTEMPTS = 3

/** Looks at every file of a root; `known` are the files of the last look, and of the last process. */
export async function readSources(deps: SourceDeps, root: Root, known: ReadonlyMap<string, Source>): Promise<Sources> {
  const scan = await scanRoot(deps.effects, root)
  const files = new Map<string, Source>()
  let isFresh = false
  for (const found of scan.files) {
    const before = known.get(found.path)
    isFresh ||= isNew(deps, found.stat)
    if (before?.identity === found.stat.identity) {
      files.set(found.path, before.order === found.order ? before : { ...before, order: found.order }) // I1
      continue
    }
    const source = await readSource(deps, found, before)
    if (source !== undefined) files.set(found.path, source)
  }
  for (const [path, { size }] of known) if (!files.has(path)) deps.budget.used -= size
  return { root, files, problems: scan.problems, folders: scan.folders, isFresh }
}

/** Looks at one file that is known already; undefined when it has gone. */
export async function readAgain(
  deps: SourceDeps,
  known: Source,
): Promise<{ readonly source: Source | undefined; readonly isFresh: boolean }> {
  const stat = await lookFrom(deps.effects.files)(known.path)
  const canonical = await deps.effects.files.realPath(known.path).catch(absentUnlessPassing)
  if (stat === undefined || canonical !== known.path) {
    deps.budget.used -= known.size
    return { source: undefined, isFresh: false }
  }
  const isFresh = isNew(deps, stat)
  if (stat.identity === known.identity) return { source: known, isFresh }
  const source = await readSource(deps, { path: known.path, order: known.order, stat }, known)
  return { source, isFresh }
}

/**
 * Reads what is at a canonical path now, whatever is known of it: what is about to be executed is what is there. Bytes that are those of `known` are
 * not made out again.
 */
export async function readContent({ effects, budget, work }: SourceDeps, path: string, known?: Content): Promise<Content | undefined> {
  const stat = await lookFrom(effects.files)(path)
  if (stat === undefined) return undefined
  const before = known && { path, order: '', identity: '', size: 0, content: known }
  return (await readSource({ effects, budget: { used: budget.used }, work }, { path, order: '', stat }, before))?.content
}

async function readSource(deps: SourceDeps, found: FoundFile, before: Source | undefined): Promise<Source | undefined> {
  const { effects, budget, work } = deps
  const { path, order } = found
  budget.used -= before?.size ?? 0
  let { stat } = found
  const unsettled = (why: string): Source => ({ path, order, identity: '', size: 0, content: refused(why) })
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const as = (content: Content, size = 0): Source => {
      budget.used += size
      return { path, order, identity: stat.identity, size, content }
    }
    const reason = whyNotRead(stat)
    if (reason !== undefined) return as(refused(`is not read: it ${reason}`))
    if (budget.used + stat.size > LIMITS.workflows.sourceBytes) {
      return as(refused(`is not read: all workflow files together would be larger than ${LIMITS.workflows.sourceBytes} bytes`))
    }
    const bytes = await effects.files.read(path, LIMITS.workflows.fileBytes, { canonical: true }).catch(reasonOf)
    const after = await lookFrom(effects.files)(path)
    if (after === undefined) return undefined
    if (after.identity === stat.identity) {
      if (typeof bytes === 'string') return as(refused(`cannot be read: ${bytes}`))
      try {
        return as(await contentOf(effects, bytes, before, work), bytes.length) // I2
      } catch (error) {
        if (!(error instanceof WorkExceeded)) throw error
        return unsettled('is not read: reading it, with the files beside it, takes more than is spent on them') // I5
      }
    }
    stat = after
  }
  return unsettled('changes while it is read')
}

async function contentOf({ sha256 }: Pick<Effects, 'sha256'>, bytes: Uint8Array, before: Source | undefined, work: Work): Promise<Content> {
  await work.pay(bytes.length + LOOK)
  const hash = sha256(bytes)
  if (before?.content.hash === hash) return before.content
  const text = decode(bytes)
  if (text === undefined) return { ok: false, hash, mistakes: [{ message: 'is not valid UTF-8' }] }
  const parsed = await work.read(parseWorkflowFile(text))
  return parsed.ok ? { ok: true, hash, definition: parsed.definition } : { ok: false, hash, mistakes: parsed.diagnostics }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function refused(message: string): Content {
  return { ok: false, hash: '', mistakes: [{ message }] }
}

function isNew({ effects }: SourceDeps, stat: FileStat): boolean {
  return Math.abs(stat.modifiedMs - effects.clock.now()) < LIMITS.files.grain
}

/** I4. */
function reasonOf(error: unknown): string {
  if (isPassing(error)) throw error
  return messageOf(error)
}
