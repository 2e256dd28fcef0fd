/** Tool `write`: creates or overwrites one file (sessions-events §10.4, §10.8). */
import * as z from 'zod'
import type { FileStateDoor } from '../../../ports/doors.js'
import type { NativeHost, ToolContribution } from '../../../ports/plugin.js'
import { defineTool, ToolError } from '../../../ports/plugin.js'
import type { Pause } from '../../../kernel/pause.js'
import { recordChange } from './changes.js'
import { fileFailure } from '../places/failures.js'
import type { Formatting } from '../format/format.js'
import type { Locks } from './locks.js'
import type { Target, Targets } from '../places/targets.js'
import { decodeText, inStyleOf } from '../text/text.js'

/** Largest file that is changed, in bytes. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024

const Input = z.strictObject({
  filePath: z
    .string()
    .min(1)
    .max(4096)
    .describe('File to write: absolute, or relative to the session directory. Missing directories are created.'),
  content: z.string().describe('The whole new content of the file.'),
})

const DESCRIPTION = `Writes a whole file, replacing what is there.
- Use it for new files and full rewrites; to change a part of a file use "edit".
- Read an existing file before you overwrite it.
- The byte order mark and the line endings of an existing file are kept.`

export interface ChangeTools {
  readonly effects: Pick<NativeHost['effects'], 'files'>
  readonly states: FileStateDoor
  readonly targets: Targets
  readonly locks: Locks
  /** Waited for before a change is compared, which takes a while. */
  readonly pause: Pause
  readonly formatting: Formatting
}

export function writeTool({ effects, states, targets, locks, pause, formatting }: ChangeTools): ToolContribution {
  return defineTool<z.infer<typeof Input>>({
    id: 'write',
    description: DESCRIPTION,
    input: Input,
    permission: 'edit',
    notesChanges: true,
    needs: async (input, context) => targets.judge(input.filePath, context, { permission: 'edit', verb: 'Write', changes: true }),
    async invoke(input, context) {
      const target = await targets.confirm(input.filePath, context)
      await formatting.ask([target], context)
      return locks.hold(target.path, context.signal, async () => {
        const before = await readPresent(effects.files, target)
        const content = encode(before, input.content)
        if (content.length > MAX_FILE_BYTES)
          throw new ToolError(`The content has ${content.length} bytes; files of at most ${MAX_FILE_BYTES} bytes are written.`)
        context.signal.throwIfAborted()
        const mode = (await effects.files.entry(target.path))?.mode
        await writeFile(effects.files, target, content)
        const formatted = await formatting.apply([{ target, content }], context)
        const after = formatted.contents.get(target.path) ?? content
        await pause()
        const record = await recordChange({ target, before, after, mode }, effects.files, states.begin(context.sessionId))
        return {
          title: target.display,
          output: `${before === undefined ? 'Created' : 'Wrote'} ${target.display} (${after.length} bytes).${formatted.told}`,
          metadata: {
            path: target.display,
            bytes: after.length,
            previousBytes: before?.length ?? 0,
            created: before === undefined,
            ...(formatted.paths.length > 0 && { formatted: formatted.paths }),
            ...record.metadata,
          },
        }
      })
    },
  })
}

/** The bytes of the target, or undefined when nothing is there; `ToolError` when it is not a regular file or too large to change. */
export async function readPresent(files: NativeHost['effects']['files'], target: Target): Promise<Uint8Array | undefined> {
  try {
    const stat = await files.stat(target.path)
    if (stat === undefined) return undefined
    if (stat.kind !== 'file')
      throw new ToolError(`${target.display} is ${stat.kind === 'directory' ? 'a directory' : 'not a regular file'}.`)
    if (stat.size > MAX_FILE_BYTES)
      throw new ToolError(`${target.display} has ${stat.size} bytes; files of at most ${MAX_FILE_BYTES} bytes are changed.`)
    return await files.read(target.path, MAX_FILE_BYTES, { canonical: true })
  } catch (error) {
    throw fileFailure(`read ${target.display}`, error)
  }
}

export async function writeFile(files: NativeHost['effects']['files'], target: Target, content: Uint8Array): Promise<void> {
  try {
    await files.writeAtomic(target.path, content, { canonical: true })
  } catch (error) {
    throw fileFailure(`write ${target.display}`, error)
  }
}

function encode(before: Uint8Array | undefined, content: string): Uint8Array {
  const old = before === undefined ? undefined : decodeText(before)
  return new TextEncoder().encode(old?.status === 'text' ? inStyleOf(old.file, content) : content)
}
