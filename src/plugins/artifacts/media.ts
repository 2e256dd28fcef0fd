/** The tool `media_make`: a provider of a plugin makes a picture or a film, which becomes an artifact of the session (plugin-protocol §7.2). */
import * as z from 'zod'
import { defineTool, type NativeHost, type ToolContribution } from '../../ports/plugin.js'
import { LIMITS } from '../../protocol/limits.js'

const { prompt: PROMPT, reference } = LIMITS.artifactTools

const Input = z.strictObject({
  kind: z.enum(['image', 'video']).describe('What is to be made.'),
  prompt: z.string().min(1).max(PROMPT).describe('What it is to show.'),
  provider: z.string().min(1).max(reference).optional().describe('Id of the provider; needed where there are several.'),
  model: z.string().min(1).max(reference).optional().describe('Id of its model; the first of the provider without it.'),
  options: z.record(z.string(), z.unknown()).optional().describe('Options of the provider, such as a size.'),
})

/** Offered where some provider makes files. */
export function mediaTool({ media }: Pick<NativeHost, 'media'>): ToolContribution {
  return defineTool<z.infer<typeof Input>>({
    id: 'media_make',
    description: 'Has a provider make an image or a video. The file becomes an artifact of this session, which the person can open.',
    input: Input,
    permission: 'media_make',
    isFor: (sessionId) => media.isThere(sessionId),
    needs: async ({ kind, prompt, provider }) => [
      {
        permission: 'media_make',
        patterns: [provider ?? '*'],
        title: `Make ${kind === 'image' ? 'an image' : 'a video'}: ${prompt.slice(0, TITLE)}`,
      },
    ],
    async invoke({ kind, prompt, provider, model, options }, { sessionId, signal }) {
      const made = await media.make(sessionId, { kind, prompt, providerId: provider, modelId: model, options }, signal)
      const { id, filename, mediaType, size, downloadUrl } = made.artifact
      const { providerId, modelId, revisedPrompt } = made
      const said = revisedPrompt === undefined ? '' : `\nThe provider took the prompt as: ${revisedPrompt}`
      return {
        title: filename,
        output: `Made artifact://upload/${id}: ${filename} (${mediaType}, ${size} bytes).${said}`,
        metadata: { artifact: id, filename, mediaType, byteCount: size, downloadUrl, providerId, modelId },
      }
    },
  })
}

/** Characters of a prompt that a question shows. */
const TITLE = 80
