/** Tool `read`: files, images, PDF and directories (sessions-events §10.7). */
import * as z from 'zod'
import type { NativeHost, ToolContext, ToolContribution, ToolResult } from '../../ports/plugin.js'
import { defineTool, ToolError } from '../../ports/plugin.js'
import { LIMITS } from '../../protocol/limits.js'
import { toBase64 } from './change/changes.js'
import { fileFailure } from './places/failures.js'
import { collectLines, type LineWindow } from './text/line-window.js'
import { listDirectory, type Page } from './places/listing.js'
import { isMedia, type MediaType, mediaTypeOf } from './places/media.js'
import { missingFile } from './places/missing.js'
import { nestedInstructions } from './places/nested.js'
import { basename } from '../../protocol/text/paths.js'
import type { Turn } from '../../kernel/sort.js'
import type { Target, Targets } from './places/targets.js'

/** Files up to this size are read at once, larger ones in chunks. */
const AT_ONCE = 256 * 1024
const PREVIEW_LINES = 20

const Input = z.strictObject({
  filePath: z.string().min(1).max(4096).describe('File or directory: absolute, or relative to the session directory.'),
  offset: z.int().min(1).optional().describe('First line (or directory entry) to show, counted from 1. Default 1.'),
  limit: z.int().min(1).optional().describe(`Most lines (or entries) to show. Default and maximum ${LIMITS.tools.readLines}.`),
})

const DESCRIPTION = `Reads a file or lists a directory.
- Text comes with line numbers ("12: text"), at most ${LIMITS.tools.readLines} lines or 50 KiB at a time; continue with offset. Lines over ${LIMITS.tools.lineLength} characters are cut.
- Images (jpg, png, gif, webp) and PDF files are shown to you. Other binary files are refused.
- A directory is listed with one entry per line; directories end with "/".`

export type ReadHost = Pick<NativeHost, 'instructions'> & {
  readonly effects: Pick<NativeHost['effects'], 'files'>
  readonly slices: () => Turn
}

export function readTool(host: ReadHost, targets: Targets): ToolContribution {
  const { files } = host.effects
  return defineTool<z.infer<typeof Input>>({
    id: 'read',
    description: DESCRIPTION,
    input: Input,
    permission: 'read',
    needs: async (input, context) => targets.judge(input.filePath, context, { permission: 'read', verb: 'Read', changes: false }),
    async invoke(input, context) {
      const target = await targets.confirm(input.filePath, context)
      const page = { offset: input.offset ?? 1, limit: Math.min(input.limit ?? LIMITS.tools.readLines, LIMITS.tools.readLines) }
      const stat = await files.stat(target.path).catch((error: unknown) => {
        throw fileFailure(`read ${target.display}`, error)
      })
      if (stat === undefined) throw await missingFile(target, context.directory, files)
      if (stat.kind === 'directory') return listDirectory(files, target, { ...page, turn: host.slices() })
      if (stat.kind !== 'file') throw new ToolError(`${target.display} is not a regular file.`)
      const media = mediaTypeOf(target.path)
      const shown = media === undefined ? undefined : await readMedia(files, target, { ...media, size: stat.size })
      return shown ?? readText(host, target, { page, context, size: stat.size })
    },
  })
}

/** Undefined when the content is not what the name promises. */
async function readMedia(
  files: NativeHost['effects']['files'],
  target: Target,
  media: MediaType & { size: number },
): Promise<ToolResult | undefined> {
  if (media.size > LIMITS.tools.attachmentBytes) {
    throw new ToolError(
      `${target.display} has ${media.size} bytes; images and PDF files are shown up to ${LIMITS.tools.attachmentBytes} bytes.`,
    )
  }
  const content = await readWhole(files, target, LIMITS.tools.attachmentBytes)
  if (!isMedia(target.path, content)) return undefined
  const attachment = { mime: media.mime, url: `data:${media.mime};base64,${toBase64(content)}`, filename: basename(target.path) }
  return {
    title: target.display,
    output: `${media.what} ${target.display} (${media.mime}, ${content.length} bytes) is attached.`,
    metadata: { path: target.display, type: 'media', truncated: false },
    attachments: [attachment],
  }
}

interface TextRequest {
  readonly page: Page
  readonly context: ToolContext
  readonly size: number
}

async function readText(host: ReadHost, target: Target, { page, context, size }: TextRequest): Promise<ToolResult> {
  const window = await readWindow(host.effects.files, target, { page, context, size })
  if (page.offset > Math.max(1, window.total)) {
    throw new ToolError(`Offset ${page.offset} is past the end: ${target.display} has ${window.total} lines.`)
  }
  const nested = await nestedInstructions(host.instructions, target, context)
  return {
    title: target.display,
    output: render(target, window, page.offset) + nested.reminder,
    metadata: {
      path: target.display,
      type: 'file',
      lines: window.lines.length,
      offset: page.offset,
      limit: page.limit,
      truncated: window.stop !== 'end',
      preview: window.lines.slice(0, PREVIEW_LINES).join('\n'),
      ...(nested.loaded.length > 0 && { loaded: nested.loaded }),
    },
  }
}

async function readWindow(
  files: NativeHost['effects']['files'],
  target: Target,
  { page, context, size }: TextRequest,
): Promise<LineWindow> {
  const collector = collectLines({ ...page, maxBytes: LIMITS.tools.outputBytes })
  const push = (chunk: Uint8Array) => {
    if (chunk.includes(0)) throw new ToolError(`${target.display} is a binary file and cannot be shown as text.`)
    return collector.push(chunk)
  }
  if (size <= AT_ONCE) {
    push(await readWhole(files, target, AT_ONCE))
    return collector.finish()
  }
  const { signal } = context
  try {
    for await (const chunk of files.readChunks(target.path, signal, { canonical: true })) if (!push(chunk)) break
  } catch (error) {
    if (signal.aborted) throw error
    throw fileFailure(`read ${target.display}`, error)
  }
  return collector.finish()
}

async function readWhole(files: NativeHost['effects']['files'], target: Target, maxBytes: number): Promise<Uint8Array> {
  return files.read(target.path, maxBytes, { canonical: true }).catch((error: unknown) => {
    throw fileFailure(`read ${target.display}`, error)
  })
}

function render(target: Target, window: LineWindow, offset: number): string {
  const numbered = window.lines.map((line, index) => `${offset + index}: ${line}`)
  return `<path>${target.display}</path>\n<type>file</type>\n<content>\n${[...numbered, trailer(window, offset)].join('\n')}\n</content>`
}

function trailer(window: LineWindow, offset: number): string {
  const last = offset + window.lines.length - 1
  if (window.stop === 'limit') return `(Lines ${offset}-${last}; more follow. Continue with offset=${last + 1}.)`
  if (window.stop === 'bytes') return `(Lines ${offset}-${last}; cut at 50 KiB. Continue with offset=${last + 1}.)`
  return `(End of file, ${window.total} ${window.total === 1 ? 'line' : 'lines'} in all.)`
}
