/** Tool `edit`: replaces text in one file (sessions-events §10.8). */
import * as z from 'zod'
import type { ToolContribution } from '../../../ports/plugin.js'
import { defineTool, ToolError } from '../../../ports/plugin.js'
import { recordChange } from './changes.js'
import { missingFile } from '../places/missing.js'
import { planReplacement, type Replacement } from '../text/replacement.js'
import type { Target } from '../places/targets.js'
import { decodeText, encodeText, normaliseEndings, replaceSpans, type TextFile } from '../text/text.js'
import { type ChangeTools, MAX_FILE_BYTES, readPresent, writeFile } from './write.js'

const Input = z.strictObject({
  filePath: z.string().min(1).max(4096).describe('File to change: absolute, or relative to the session directory.'),
  oldString: z
    .string()
    .min(1)
    .describe('The text to replace, without the line numbers of "read". It must mean one place only, unless replaceAll is set.'),
  newString: z.string().describe('The text to put in its place.'),
  replaceAll: z.boolean().optional().describe('Replace every occurrence instead of exactly one. Default false.'),
})
type Input = z.infer<typeof Input>

const DESCRIPTION = `Replaces text in a file.
- Read the file first, and copy oldString exactly, with its indentation. Small differences of white space are forgiven.
- When oldString fits more than one place nothing is changed: add lines around it, or set replaceAll to rename throughout the file.
- To create a file use "write".`

export function editTool({ effects, states, targets, locks, pause, formatting }: ChangeTools): ToolContribution {
  return defineTool<Input>({
    id: 'edit',
    description: DESCRIPTION,
    input: Input,
    permission: 'edit',
    notesChanges: true,
    needs: async (input, context) => targets.judgeShowing(input.filePath, context, { permission: 'edit', verb: 'Edit', changes: true }),
    async invoke(input, context) {
      const target = await targets.confirm(input.filePath, context)
      await formatting.ask([target], context)
      return locks.hold(target.path, context.signal, async () => {
        const before = await readPresent(effects.files, target)
        if (before === undefined) throw await missingFile(target, context.directory, effects.files)
        const { content, replaced } = replaceIn(readable(before, target), input, target)
        const edited = new TextEncoder().encode(content)
        context.signal.throwIfAborted()
        const mode = (await effects.files.entry(target.path))?.mode
        await writeFile(effects.files, target, edited)
        const formatted = await formatting.apply([{ target, content: edited }], context)
        const after = formatted.contents.get(target.path) ?? edited
        await pause()
        const record = await recordChange({ target, before, after, mode }, effects.files, states.begin(context.sessionId))
        return {
          title: target.display,
          output: `Edited ${target.display}: ${replaced === 1 ? '1 replacement' : `${replaced} replacements`}, +${record.additions} -${record.deletions} lines.${formatted.told}`,
          metadata: {
            path: target.display,
            replaced,
            bytes: after.length,
            previousBytes: before.length,
            ...(formatted.paths.length > 0 && { formatted: formatted.paths }),
            ...record.metadata,
          },
        }
      })
    },
  })
}

function readable(content: Uint8Array, target: Target): TextFile {
  const decoded = decodeText(content)
  if (decoded.status === 'text') return decoded.file
  throw new ToolError(
    `${target.display} is ${decoded.status === 'binary' ? 'a binary file' : 'not valid UTF-8 text'} and cannot be edited.`,
  )
}

function replaceIn(file: TextFile, input: Input, target: Target): { readonly content: string; readonly replaced: number } {
  const oldString = normaliseEndings(input.oldString)
  const newString = normaliseEndings(input.newString)
  if (oldString === newString) throw new ToolError('oldString and newString are the same: there is nothing to change.')
  const plan = planReplacement(file.text, oldString, input.replaceAll === true)
  if (plan.status !== 'found') throw refusal(plan, target)
  const growth = plan.starts.length * (newString.length - plan.length)
  if (file.stored.length + growth > MAX_FILE_BYTES)
    throw new ToolError(`The edit would make ${target.display} larger than ${MAX_FILE_BYTES} bytes.`)
  return { content: encodeText(file, replaceSpans(file, plan.starts, plan.length, newString)), replaced: plan.starts.length }
}

function refusal(plan: Exclude<Replacement, { status: 'found' }>, target: Target): ToolError {
  if (plan.status === 'absent') {
    return new ToolError(`oldString was not found in ${target.display}. Read the file again and copy the text exactly as it is now.`)
  }
  if (plan.status === 'too-many') return new ToolError(`oldString occurs too often in ${target.display} to be replaced in one edit.`)
  const places = plan.candidates.map((place, index) => `${index + 1}. line ${place.line}: ${place.text}`)
  const advice = 'Add lines around it so that it means one place only, or set replaceAll.'
  return new ToolError([`oldString fits more than one place in ${target.display}:`, ...places, advice].join('\n'), {
    path: target.display,
    candidates: plan.candidates,
  })
}
