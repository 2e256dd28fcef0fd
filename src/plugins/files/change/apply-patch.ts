/** Tool `apply_patch`: changes several files, all or none of them (sessions-events §10.9). */
import * as z from 'zod'
import type { NativeHost, PermissionNeed, ToolContext, ToolContribution } from '../../../ports/plugin.js'
import { defineTool, ToolError } from '../../../ports/plugin.js'
import { type ChangeRecord, recordChange, recordRemoval } from './changes.js'
import type { Formatted } from '../format/format.js'
import { applyChunks, ChunkError } from './patch-chunks.js'
import { type FilePatchText, PatchTextError, readPatch } from './patch-text.js'
import type { Target } from '../places/targets.js'
import { decodeText } from '../text/text.js'
import { type ChangeTools, MAX_FILE_BYTES, readPresent, writeFile } from './write.js'
import { messageOf } from '../../../protocol/message-of.js'

const MAX_FILES = 200

const Input = z.strictObject({ patchText: z.string().min(1).describe('The whole patch, from "*** Begin Patch" to "*** End Patch".') })

const DESCRIPTION = `Changes files by a patch; all of its files are changed, or none.
*** Begin Patch
*** Add File: path       every line of the new file begins with "+"
*** Delete File: path
*** Update File: path    then, to rename it, "*** Move to: new path", and its chunks:
@@ a line above          where the chunk belongs; "@@" alone goes on from the last one
 a line that stays
-a line that goes
+a line that comes
*** End of File          ends a chunk that ends with the file
*** End Patch
- Copy lines that stay or go exactly as the file has them, and give about three of them around a change.`

/** What becomes of a file: undefined = it is not there. */
interface Planned {
  readonly target: Target
  readonly before: Uint8Array | undefined
  readonly mode: number | undefined
  after: Uint8Array | undefined
  /** Permission bits of the file it was moved from. */
  movedMode?: number | undefined
}

type Files = NativeHost['effects']['files']

export function applyPatchTool({ effects, states, targets, locks, pause, formatting }: ChangeTools): ToolContribution {
  const { files } = effects
  return defineTool<z.infer<typeof Input>>({
    id: 'apply_patch',
    description: DESCRIPTION,
    input: Input,
    permission: 'edit',
    notesChanges: true,
    async needs({ patchText }, context) {
      const needs: PermissionNeed[] = []
      for (const path of pathsOf(read(patchText)))
        needs.push(...(await targets.judge(path, context, { permission: 'edit', verb: 'Patch', changes: true })))
      return asked(needs)
    },
    async invoke({ patchText }, context) {
      const patches = read(patchText)
      const found = new Map<string, Target>()
      for (const path of pathsOf(patches)) found.set(path, await targets.confirm(path, context))
      await formatting.ask([...found.values()], context)
      const paths = [...new Set([...found.values()].map(({ path }) => path))].toSorted()
      return holdAll(paths, context, async () => {
        const plan = await planOf(patches, found, files)
        const changed = [...plan.values()].filter(({ before, after }) => before !== after)
        context.signal.throwIfAborted()
        await writeAll(changed, files)
        const written = changed.flatMap(({ target, after }) => (after === undefined ? [] : [{ target, content: after }]))
        const formatted = await formatting.apply(written, context)
        const now = changed.map((file) => ({ ...file, after: formatted.contents.get(file.target.path) ?? file.after }))
        await pause()
        return resultOf(now, formatted, { files, notes: states.begin(context.sessionId) })
      })
    },
  })

  function holdAll<T>(paths: readonly string[], context: ToolContext, work: () => Promise<T>): Promise<T> {
    const [first, ...others] = paths
    return first === undefined ? work() : locks.hold(first, context.signal, () => holdAll(others, context, work))
  }
}

function read(patchText: string): readonly FilePatchText[] {
  try {
    const patches = readPatch(patchText)
    if (pathsOf(patches).length <= MAX_FILES) return patches
    throw new ToolError(`A patch names at most ${MAX_FILES} files.`)
  } catch (error) {
    throw error instanceof PatchTextError ? new ToolError(error.message) : error
  }
}

/** Every name once, in order. */
function pathsOf(patches: readonly FilePatchText[]): readonly string[] {
  return [
    ...new Set(
      patches.flatMap((patch) => (patch.type === 'update' && patch.moveTo !== undefined ? [patch.path, patch.moveTo] : [patch.path])),
    ),
  ]
}

/** One question for all files, and one for each directory outside. */
function asked(needs: readonly PermissionNeed[]): readonly PermissionNeed[] {
  const outside = needs.filter(({ permission }) => permission !== 'edit')
  const edits = needs.filter(({ permission }) => permission === 'edit')
  const patterns = [...new Set(edits.flatMap((need) => need.patterns))]
  const explicit = edits.flatMap((need) => need.explicit ?? [])[0]
  const [only] = edits
  const title = edits.length === 1 && only !== undefined ? only.title : `Patch ${edits.length} files`
  const metadata = { paths: edits.map((need) => need.metadata?.['path']) }
  return [
    ...outside.filter(({ patterns: [pattern] }, index) => outside.findIndex((other) => other.patterns[0] === pattern) === index),
    { permission: 'edit', patterns, title, metadata, ...(explicit !== undefined && { explicit }) },
  ]
}

/** Every file as it will be, by its path. Throws `ToolError` with the first thing that does not fit; nothing is changed. */
async function planOf(patches: readonly FilePatchText[], found: ReadonlyMap<string, Target>, files: Files): Promise<Map<string, Planned>> {
  const plan = new Map<string, Planned>()
  const look = async (name: string): Promise<Planned> => {
    const target = found.get(name)
    if (target === undefined) throw new ToolError(`Access to ${name} was not checked for this call.`)
    const known = plan.get(target.path)
    if (known !== undefined) return known
    const before = await readPresent(files, target)
    const mode = before === undefined ? undefined : (await files.entry(target.path))?.mode
    const planned = { target, before, mode, after: before }
    plan.set(target.path, planned)
    return planned
  }
  for (const patch of patches) {
    const file = await look(patch.path)
    const { display } = file.target
    if (patch.type === 'add') {
      if (file.after !== undefined) throw new ToolError(`${display} exists already: to change it use "*** Update File: ".`)
      file.after = encode(patch.content, file.target)
      continue
    }
    if (file.after === undefined) throw new ToolError(`There is no file ${display}.`)
    if (patch.type === 'delete') {
      file.after = undefined
      continue
    }
    const after = patch.chunks.length === 0 ? file.after : changed(file.after, patch, file.target)
    if (patch.moveTo === undefined) {
      file.after = after
      continue
    }
    const moved = await look(patch.moveTo)
    if (moved.after !== undefined) throw new ToolError(`${moved.target.display} exists already: nothing is moved over it.`)
    moved.after = after
    moved.movedMode = file.mode ?? file.movedMode
    file.after = undefined
  }
  return plan
}

function changed(content: Uint8Array, { chunks }: Extract<FilePatchText, { type: 'update' }>, target: Target): Uint8Array {
  const decoded = decodeText(content)
  if (decoded.status !== 'text')
    throw new ToolError(
      `${target.display} is ${decoded.status === 'binary' ? 'a binary file' : 'not valid UTF-8 text'} and cannot be patched.`,
    )
  try {
    return encode(applyChunks(decoded.file, chunks), target)
  } catch (error) {
    if (!(error instanceof ChunkError)) throw error
    throw new ToolError(`${target.display}: ${error.message} Read the file again. Nothing was changed.`)
  }
}

function encode(content: string, { display }: Target): Uint8Array {
  const bytes = new TextEncoder().encode(content)
  if (bytes.length > MAX_FILE_BYTES)
    throw new ToolError(`${display} would have ${bytes.length} bytes; files have at most ${MAX_FILE_BYTES}.`)
  return bytes
}

/** All of them, or those that were written are as they were. */
async function writeAll(changed: readonly Planned[], files: Files): Promise<void> {
  const done: Planned[] = []
  try {
    for (const file of changed.toSorted((a, b) => Number(a.after === undefined) - Number(b.after === undefined))) {
      done.push(file)
      await put(file, file.after, files)
    }
  } catch (error) {
    const lost: string[] = []
    for (const file of done.toReversed()) await put(file, file.before, files).catch(() => lost.push(file.target.display))
    if (lost.length === 0) throw error
    throw new ToolError(`The patch failed, and could not be taken back in ${lost.join(', ')}: ${messageOf(error)}`)
  }
}

async function put({ target, mode, movedMode }: Planned, content: Uint8Array | undefined, files: Files): Promise<void> {
  const bits = mode ?? movedMode
  if (content === undefined) return files.remove(target.path, { canonical: true })
  if (bits === undefined) return writeFile(files, target, content)
  await files.writeAtomic(target.path, content, { canonical: true, mode: bits })
}

interface Recorder {
  readonly files: Files
  readonly notes: ReturnType<ChangeTools['states']['begin']>
}

async function resultOf(changed: readonly Planned[], formatted: Formatted, { files, notes }: Recorder) {
  const records: ChangeRecord[] = []
  for (const { target, before, after, mode } of changed) {
    records.push(
      after === undefined
        ? await recordRemoval({ target, before: before ?? new Uint8Array(), mode }, notes)
        : await recordChange({ target, before, after, mode }, files, notes),
    )
  }
  const listed = changed.map(
    ({ target, before, after }) => `${before === undefined ? 'A' : after === undefined ? 'D' : 'M'} ${target.display}`,
  )
  const all = (key: string) => records.flatMap(({ metadata }) => (Array.isArray(metadata[key]) ? (metadata[key] as unknown[]) : []))
  const additions = records.reduce((sum, record) => sum + record.additions, 0)
  const deletions = records.reduce((sum, record) => sum + record.deletions, 0)
  const diff = records.flatMap(({ metadata }) => (typeof metadata['diff'] === 'string' ? [metadata['diff']] : [])).join('\n')
  return {
    title: changed.length === 1 ? (changed[0]?.target.display ?? '') : `${changed.length} files`,
    output:
      changed.length === 0
        ? 'Every file is already as the patch wants it.'
        : `Applied the patch, +${additions} -${deletions} lines:\n${listed.join('\n')}${formatted.told}`,
    metadata: {
      snapshots: all('snapshots'),
      diffs: all('diffs'),
      files: all('files'),
      ...(diff !== '' && { diff }),
      ...(formatted.paths.length > 0 && { formatted: formatted.paths }),
      additions,
      deletions,
    },
  }
}
