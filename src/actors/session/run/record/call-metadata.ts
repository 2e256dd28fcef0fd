/** What stands beside a tool call on its part. */
import type { ToolPart } from '../../../../protocol/message/message.js'
import type { ToolResult } from '../../../../ports/plugin.js'

export function metadataOf(part: ToolPart): Readonly<Record<string, unknown>> {
  return typeof part.metadata === 'object' && part.metadata !== null ? (part.metadata as Readonly<Record<string, unknown>>) : {}
}

/** Without what is said only while the call runs. */
export function settledMetadata(part: ToolPart): Readonly<Record<string, unknown>> {
  const { changing: _changing, ...rest } = metadataOf(part)
  return rest
}

/** The files a result shows. */
export function fileParts(result: ToolResult): readonly unknown[] {
  return (result.attachments ?? []).map((file) => ('type' in file ? file : { type: 'file', ...file }))
}
