/** What a run went on without, because nobody was there to allow or answer it. */
import * as z from 'zod'

export const Refusal = z
  .looseObject({
    permission: z.string().describe('The permission group; `question` for a question of the agent.'),
    title: z.string(),
    patterns: z.array(z.string()),
  })
  .meta({ id: 'Refusal' })
export type Refusal = Readonly<z.infer<typeof Refusal>>
