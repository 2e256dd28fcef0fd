/**
 * Answers of servers as results of tools: text, and what is attached (subsystems f.4; sessions-events §3.6). Bounded. Pure.
 *
 * I1 No text of a server passes for what the runtime says.
 */
import { cut } from '../../../kernel/cut.js'
import type { ContentBlock, ReadResourceResult } from '@modelcontextprotocol/client'
import type { ToolResult } from '../../../ports/plugin.js'
import { LIMITS } from '../../../protocol/limits.js'
import { breakMarks } from '../../../protocol/text/runtime-marks.js'

const { attachmentBytes, attachments: MOST_ATTACHMENTS, contents: MOST_CONTENTS, resultText } = LIMITS.mcp
const MIME = /^[A-Za-z0-9][\w.+-]*\/[\w.+-]+$/
const TEXTUAL = /^(text\/|application\/(json|xml|javascript|yaml|toml)|.*\+(json|xml)$)/

type Attachment = NonNullable<ToolResult['attachments']>[number]
type Resource = ReadResourceResult['contents'][number]

export interface Shown {
  readonly text: string
  readonly attachments: readonly Attachment[]
}

/** What is too large or of an unknown kind is said to be left out. `structured` counts when there is no text. */
export function showContent(content: readonly ContentBlock[], structured?: unknown): Shown {
  const page = createPage()
  for (const block of content.slice(0, MOST_CONTENTS)) {
    switch (block.type) {
      case 'text':
        page.write(block.text)
        break
      case 'image':
      case 'audio':
        page.attach(block.mimeType, block.data, block.type)
        break
      case 'resource':
        showResource(page, block.resource)
        break
      case 'resource_link':
        page.write(`[resource ${block.name}: ${block.uri}${block.mimeType === undefined ? '' : ` (${block.mimeType})`}]`)
        break
      default:
        page.write('[content of a kind that is not known here was left out]')
    }
  }
  if (content.length > MOST_CONTENTS) page.write(`[${content.length - MOST_CONTENTS} further parts were left out]`)
  if (structured !== undefined && !page.hasText()) page.write(JSON.stringify(structured, null, 2))
  return page.shown()
}

export function showResources(contents: readonly Resource[]): Shown {
  const page = createPage()
  for (const resource of contents.slice(0, MOST_CONTENTS)) showResource(page, resource)
  if (contents.length > MOST_CONTENTS) page.write(`[${contents.length - MOST_CONTENTS} further parts were left out]`)
  return page.shown()
}

type Page = ReturnType<typeof createPage>

function showResource(page: Page, resource: Resource): void {
  const mime = resource.mimeType ?? 'application/octet-stream'
  if ('text' in resource) page.write(resource.text)
  else if (TEXTUAL.test(mime)) page.write(decodeText(resource.blob))
  else page.attach(mime, resource.blob, 'resource', resource.uri.split('/').at(-1))
}

function createPage() {
  const texts: string[] = []
  const attachments: Attachment[] = []
  let room = resultText
  let bytes = attachmentBytes

  function write(text: string): void {
    if (room <= 0) return
    texts.push(cut(text, room, '\n[the rest was left out]'))
    room -= text.length
  }

  return {
    write,
    hasText: () => texts.some((text) => text.trim() !== ''),
    attach(mime: string, data: string, kind: string, filename?: string) {
      if (!MIME.test(mime)) return write(`[${kind} of a kind that is not known here was left out]`)
      if (data.length > bytes || attachments.length >= MOST_ATTACHMENTS)
        return write(`[${kind} (${mime}, ${Math.floor((data.length * 3) / 4)} bytes) was left out: it is too large]`)
      bytes -= data.length
      attachments.push({ mime, url: `data:${mime};base64,${data}`, filename: filename || `${kind}-${attachments.length + 1}` })
    },
    shown: (): Shown => ({ text: breakMarks(texts.join('\n')), attachments }), // I1
  }
}

function decodeText(base64: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)))
  } catch {
    return '[a text that is not valid base64 was left out]'
  }
}
