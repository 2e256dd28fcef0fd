/** What an editor sends as a prompt, as parts of a message. */
import { fileURLToPath } from 'node:url'
import { type ContentBlock, RequestError } from '@agentclientprotocol/sdk'
import type { PromptPart } from '../../../protocol/message/message.js'

/** Reads a file as the editor has it, unsaved changes and all. */
export type ReadFile = (path: string) => Promise<string>

/**
 * The blocks, with linked files as the editor has them where it reads files for agents. What it does not read stays a link, which the
 * model may read by its tools.
 */
export function withFiles(blocks: readonly ContentBlock[], read: ReadFile | undefined): Promise<ContentBlock[]> {
  return Promise.all(
    blocks.map(async (block) => {
      const path = block.type === 'resource_link' ? pathOf(block.uri) : undefined
      if (block.type !== 'resource_link' || path === undefined || read === undefined) return block
      const text = await read(path).catch(() => undefined)
      if (text === undefined) return block
      return { type: 'resource', resource: { uri: block.uri, text, mimeType: block.mimeType ?? 'text/plain' } }
    }),
  )
}

function pathOf(uri: string): string | undefined {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : undefined
  } catch {
    return undefined
  }
}

/** Throws `-32602` for what no prompt can have. Pure. */
export function promptParts(blocks: readonly ContentBlock[]): PromptPart[] {
  if (blocks.length === 0) throw RequestError.invalidParams({}, 'a prompt has at least one part')
  return blocks.map(partOf)
}

function partOf(block: ContentBlock): PromptPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
      return inline(block.mimeType, block.data, nameOf(block.uri ?? '', 'image'))
    case 'resource': {
      const { resource } = block
      const mime = resource.mimeType ?? ('text' in resource ? 'text/plain' : 'application/octet-stream')
      const data = 'text' in resource ? Buffer.from(resource.text, 'utf8').toString('base64') : resource.blob
      return inline(mime, data, nameOf(resource.uri, 'resource'))
    }
    case 'resource_link':
      return { type: 'file', url: block.uri, filename: block.name, mime: block.mimeType ?? 'application/octet-stream' }
    case 'audio':
      throw RequestError.invalidParams({ type: block.type }, 'audio is not taken: this agent says so when it is initialized')
  }
}

function inline(mime: string, data: string, filename: string): PromptPart {
  return { type: 'file', url: `data:${mime};base64,${data}`, filename, mime }
}

/** The last name of an address. */
function nameOf(uri: string, otherwise: string): string {
  const name = uri.split(/[/\\]/).at(-1)?.split(/[?#]/, 1)[0] ?? ''
  if (name === '') return otherwise
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
