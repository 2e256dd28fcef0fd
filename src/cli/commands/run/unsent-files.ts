/** Files of a prompt that a model takes none of: it is told only that there were some. */
import type { Client } from '../../../published/client/client-types.js'
import type { PromptRequest } from '../../../protocol/message/message.js'
import { isRecord } from '../../../protocol/text/json.js'
import type { Terminal } from '../../terminal/terminal.js'

/** After a prompt: `model`, `provider/model`, has answered it. Nothing of it is worth failing for. */
export async function tellUnsent(
  client: Client,
  directory: string,
  { parts = [] }: PromptRequest,
  model: string | undefined,
  { note }: Pick<Terminal, 'note'>,
): Promise<void> {
  const files = parts.flatMap((part) => (part.type === 'file' && !part.mime.startsWith('text/') ? [part] : []))
  if (files.length === 0 || model === undefined) return
  try {
    const slash = model.indexOf('/')
    const { providers } = await client.providers.configured({ directory })
    const found = providers.find(({ id }) => id === model.slice(0, slash))?.models[model.slice(slash + 1)]
    if (found === undefined) return
    const { input } = found.capabilities
    const takes = (mime: string) => isRecord(input) && input[mime === 'application/pdf' ? 'pdf' : (mime.split('/')[0] ?? '')] === true
    for (const { filename = 'a file', mime } of files) if (!takes(mime)) note(`${filename} was not sent: ${model} does not take ${mime}`)
  } catch {
    // A server may not let everybody see its models.
  }
}
