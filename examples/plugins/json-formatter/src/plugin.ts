/** Formats JSON before it is written, and refuses what is none: the model sees why, and writes it again. */
import { definePlugin } from './svc-plugin.js'

interface Written {
  readonly filePath?: string
  readonly content?: string
}

/** The input of the tool `write` as it shall be; other tools, and other files, as they are. */
function formatted(context: { readonly toolId?: string }, input: Written): Written {
  const { filePath = '', content } = input
  if (context.toolId !== 'write' || content === undefined || !/\.json$/i.test(filePath)) return input
  try {
    return { ...input, content: `${JSON.stringify(JSON.parse(content), null, 2)}\n` }
  } catch (error) {
    throw new Error(`${filePath} would be no JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

export const plugin = definePlugin({ name: 'JSON formatter', version: '1.0.0', hooks: { 'tool.before': formatted } })
