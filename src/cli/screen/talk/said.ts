/** What is typed, as the parts of a prompt: files and agents that it names, and images that were pasted. */
import type { PromptPart, UserModel } from '../../../protocol/message/message.js'
import type { Client } from '../../../published/client/client-types.js'
import { attachmentsOf, mentionsOf, missingFiles } from '../../commands/run/attachments.js'

export interface Said {
  readonly text: string
  /** Paths of images that were pasted. */
  readonly images: readonly string[]
}

interface Place {
  readonly client: Client
  readonly directory: string
  readonly agents: readonly string[]
  /** Who answers, as far as that is known. */
  readonly model: UserModel | string | undefined
  readonly note: (text: string) => void
}

export async function partsOf(place: Place, { text, images }: Said): Promise<PromptPart[]> {
  const { directory, agents, note } = place
  const named = mentionsOf(text).filter((name) => agents.includes(name))
  // A symbol is looked for by whoever reads the file.
  const files = text.replaceAll(/(@[^\s#]+)#[\w.$]+/g, '$1')
  for (const path of missingFiles(files, directory)) if (!agents.includes(path)) note(`@${path} leads to no file; it is sent as text`)
  const attached = attachmentsOf({ files: [], images }, files, directory)
  if (attached.some(({ mime }) => mime.startsWith('image/'))) await warnOfImages(place)
  return [{ type: 'text', text }, ...named.map((name): PromptPart => ({ type: 'agent', name })), ...attached]
}

/** A model that takes no images is told only that there was one. */
async function warnOfImages({ client, directory, model, note }: Place): Promise<void> {
  const { providers, default: usual } = await client.providers.configured({ directory })
  const [first] = providers
  const fallback = first === undefined ? '' : `${first.id}/${usual[first.id] ?? ''}`
  const name = model === undefined ? fallback : typeof model === 'string' ? model : `${model.providerId}/${model.modelId}`
  const slash = name.indexOf('/')
  const found = providers.find(({ id }) => id === name.slice(0, slash))?.models[name.slice(slash + 1)]
  const { input } = found?.capabilities ?? {}
  const takes = typeof input === 'object' && input !== null && 'image' in input && input.image === true
  if (found !== undefined && !takes) note(`${name} takes no images: it is told that there is one, and not what is on it`)
}
