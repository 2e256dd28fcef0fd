/** What an editor sends as a prompt, as parts of a message. Pure. */
import { type ContentBlock, RequestError } from '@agentclientprotocol/sdk'
import type { PromptPart } from '../../../protocol/message/message.js'

/** Throws `-32602` for what no prompt can have. */
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
