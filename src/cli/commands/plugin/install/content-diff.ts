/** What of a package is another than before: files, and what it asks for. Pure. */
import { diffLines, createTwoFilesPatch } from 'diff'
import { capabilityWords } from '../../../../protocol/plugin/capability-words.js'
import type { AgentTarget } from '../../../../protocol/plugin/plugin.js'
import type { ArchivedFile } from './tar-read.js'

export interface FileChange {
  readonly path: string
  readonly kind: 'added' | 'removed' | 'changed' | 'mode'
  /** Lines, of a text that could be compared. */
  readonly lines?: { readonly added: number; readonly removed: number }
  /** Bytes, of anything else. */
  readonly bytes: { readonly before: number; readonly after: number }
}

/** Beyond it the lines of a file are not counted. */
const COMPARED = 256 * 1024
const COMPARE_MS = 2000

/** By path; what is the same is left out. */
export function fileChanges(before: readonly ArchivedFile[], after: readonly ArchivedFile[]): FileChange[] {
  const [old, now] = [byPath(before), byPath(after)]
  return [...new Set([...old.keys(), ...now.keys()])].toSorted().flatMap((path): FileChange[] => {
    const [was, is] = [old.get(path), now.get(path)]
    const bytes = { before: was?.content.length ?? 0, after: is?.content.length ?? 0 }
    if (was === undefined) return [{ path, kind: 'added', bytes, ...linesOf(undefined, is) }]
    if (is === undefined) return [{ path, kind: 'removed', bytes, ...linesOf(was, undefined) }]
    if (Buffer.compare(was.content, is.content) !== 0) return [{ path, kind: 'changed', bytes, ...linesOf(was, is) }]
    return was.executable === is.executable ? [] : [{ path, kind: 'mode', bytes }]
  })
}

const MARKS = { added: '+', removed: '-', changed: '~', mode: '~' } as const

/** `~ agent.lua  +3 -1`. */
export function changeText({ path, kind, lines, bytes }: FileChange): string {
  if (kind === 'mode') return `${MARKS[kind]} ${path}  another mode`
  const counted = lines === undefined ? `${bytes.before} -> ${bytes.after} bytes` : `+${lines.added} -${lines.removed}`
  return `${MARKS[kind]} ${path}  ${counted}`
}

/** As `diff -u` prints it; what is no text is named only. */
export function patchText(before: readonly ArchivedFile[], after: readonly ArchivedFile[]): string {
  const [old, now] = [byPath(before), byPath(after)]
  return fileChanges(before, after)
    .map((change) => {
      const [was, is] = [textOf(old.get(change.path)), textOf(now.get(change.path))]
      if (was === undefined || is === undefined || change.kind === 'mode') return `${changeText(change)}\n`
      return (
        createTwoFilesPatch(`before/${change.path}`, `after/${change.path}`, was, is, undefined, undefined, { timeout: COMPARE_MS }) ??
        `${changeText(change)}\n`
      )
    })
    .join('')
}

/** What it may do that it might not, and the other way round; a sentence each. */
export function targetChanges(was: AgentTarget | undefined, after: AgentTarget): string[] {
  const before = was ?? { ...after, capabilities: [] }
  const added = after.capabilities.filter((name) => !before.capabilities.includes(name))
  const removed = before.capabilities.filter((name) => !after.capabilities.includes(name))
  const kept = after.capabilities.filter((name) => before.capabilities.includes(name))
  const said = (what: string, old: string, now: string) => (old === now ? [] : [`~ ${what}: ${old || '-'} -> ${now || '-'}`])
  return [
    ...added.map((name) => `+ ${name}: ${capabilityWords(name, after)}`),
    ...removed.map((name) => `- ${name}: ${capabilityWords(name, before)}`),
    ...kept.flatMap((name) => said(name, capabilityWords(name, before), capabilityWords(name, after))),
    ...said('scope', before.scope, after.scope),
    ...said('runs', runs(before), runs(after)),
    ...said('runs inside of the server where that is approved', before.native?.entrypoint ?? '', after.native?.entrypoint ?? ''),
  ]
}

function runs({ runtime, command, entrypoint }: AgentTarget): string {
  return runtime === 'lua' ? `Lua ${entrypoint}` : command.length > 0 ? command.join(' ') : entrypoint
}

function byPath(files: readonly ArchivedFile[]): ReadonlyMap<string, ArchivedFile> {
  return new Map(files.map((file) => [file.path, file]))
}

function linesOf(was: ArchivedFile | undefined, is: ArchivedFile | undefined): Pick<FileChange, 'lines'> {
  const [before, after] = [textOf(was), textOf(is)]
  if (before === undefined || after === undefined) return {}
  const parts = diffLines(before, after, { timeout: COMPARE_MS })
  if (parts === undefined) return {}
  const count = (of: 'added' | 'removed') => parts.reduce((sum, part) => sum + (part[of] ? part.count : 0), 0)
  return { lines: { added: count('added'), removed: count('removed') } }
}

/** `''` for no file; undefined for what is no text, or too long. */
function textOf(file: ArchivedFile | undefined): string | undefined {
  if (file === undefined) return ''
  if (file.content.length > COMPARED || file.content.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file.content)
  } catch {
    return undefined
  }
}
